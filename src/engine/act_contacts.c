/* The connections of those that an act is about: what could act on before it, and still can. */
#include "engine/act_state.h"

#include <string.h>

static void note_unasked(struct act_outcome *o, const struct contacts *c)
{
	if (c->unread > o->unasked)
		o->unasked = c->unread;
	if (!o->unasked_error)
		o->unasked_error = c->error;
}

static struct act_connection *find(const struct act_outcome *o, const struct contact *c)
{
	for (size_t i = 0; i < o->connections.n; i++) {
		const struct contact *have = &o->connections.v[i].contact;

		if (identity_same(have->id, c->id) && strcmp(have->remote, c->remote) == 0 &&
		    strcmp(have->local, c->local) == 0)
			return &o->connections.v[i];
	}
	return NULL;
}

int act_contacts_before(struct act *a, const struct plan *plan, struct err *err)
{
	size_t n = 0;
	struct identity *ids = calloc(plan->hit.n + plan->not_hit.n + 1, sizeof(*ids));
	struct contacts now;
	int r = ids ? 0 : err_nomem(err);

	for (size_t i = 0; ids && i < plan->hit.n; i++)
		ids[n++] = plan->hit.v[i].id;
	for (size_t i = 0; ids && i < plan->not_hit.n; i++)
		ids[n++] = plan->not_hit.v[i].id;
	if (!r)
		r = contacts_list(ids, n, &now, err);
	free(ids);
	if (r < 0)
		return r;
	note_unasked(&a->outcome, &now);
	for (size_t i = 0; !r && i < now.n; i++) {
		struct act_connection c = {now.v[i], .before = true};

		if (!VEC_PUSH(&a->outcome.connections, c))
			r = err_nomem(err);
	}
	contacts_clear(&now);
	return r;
}

int act_contacts_after(struct act *a, struct err *err)
{
	struct act_outcome *o = &a->outcome;
	struct identity *ids = calloc(o->items.n + 1, sizeof(*ids));
	struct contacts now;
	size_t n = 0;
	int r = ids ? 0 : err_nomem(err);

	for (size_t i = 0; ids && i < o->items.n; i++)
		if (o->items.v[i].result != ACT_RESULT_GONE)
			ids[n++] = o->items.v[i].id;
	if (!r)
		r = contacts_list(ids, n, &now, err);
	free(ids);
	if (r < 0)
		return r;
	note_unasked(o, &now);
	for (size_t i = 0; !r && i < now.n; i++) {
		struct act_connection fresh = {now.v[i], .after = true};
		struct act_connection *was = find(o, &now.v[i]);

		if (was)
			was->after = true;
		else if (!VEC_PUSH(&o->connections, fresh))
			r = err_nomem(err);
	}
	contacts_clear(&now);
	return r;
}
