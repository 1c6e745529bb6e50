#include "engine/contacts.h"

#include "reach/reach.h"

#include <errno.h>
#include <string.h>

struct contacts_ask {
	struct identity *ids;
	struct reach *found; /* as many */
	size_t n;
	_Atomic size_t at; /* of ids: being read; n: none */
	int socks;         /* 0, or -errno of the table of sockets */
	int result;        /* 0 or -ENOMEM */
};

struct wanted {
	const struct process **v;
	size_t n, cap;
};

static int by_age(const void *a, const void *b)
{
	const struct process *p = *(struct process *const *)a, *q = *(struct process *const *)b;

	return (p->reach_scan > q->reach_scan) - (p->reach_scan < q->reach_scan);
}

_Static_assert(CONTACT_TEXT_MAX == SOCK_TEXT_MAX, "both hold what sock_remote_text() writes");

static bool is_avoided(const struct identity *avoid, size_t n, struct identity id)
{
	for (size_t i = 0; i < n; i++)
		if (identity_same(avoid[i], id))
			return true;
	return false;
}

static int choose(const struct tracker *k, const struct process *also, const struct identity *avoid,
		  size_t n_avoid, struct wanted *w, struct err *err)
{
	for (size_t i = 0; i < k->now->procs.n; i++) {
		const struct process *p = &k->now->procs.v[i];

		if (process_is_kthread(p) || process_is_dead(p) ||
		    (!p->suspect && !p->evidence && p != also) || is_avoided(avoid, n_avoid, p->id))
			continue;
		if (!VEC_PUSH(w, p))
			return err_nomem(err);
	}
	if (w->n > CONTACTS_MAX) {
		qsort(w->v, w->n, sizeof(*w->v), by_age);
		w->n = CONTACTS_MAX;
	}
	return 0;
}

int contacts_ask_new(const struct tracker *k, const struct process *also,
		     const struct identity *avoid, size_t n_avoid, struct contacts_ask **out,
		     struct err *err)
{
	struct contacts_ask *ask = calloc(1, sizeof(*ask));
	struct wanted w = {0};
	int r;

	if (!ask)
		return err_nomem(err);
	r = choose(k, also, avoid, n_avoid, &w, err);
	if (!r) {
		ask->ids = calloc(w.n + 1, sizeof(*ask->ids));
		ask->found = calloc(w.n + 1, sizeof(*ask->found));
		if (!ask->ids || !ask->found)
			r = err_nomem(err);
	}
	for (size_t i = 0; !r && i < w.n; i++)
		ask->ids[ask->n++] = w.v[i]->id;
	free(w.v);
	if (r < 0) {
		contacts_ask_free(ask);
		return r;
	}
	ask->at = ask->n;
	*out = ask;
	return 0;
}

void contacts_ask_run(void *ctx)
{
	struct contacts_ask *ask = ctx;
	struct sock_table socks = {0};

	if (!ask->n)
		return;
	ask->socks = sock_table_read(&socks, NULL);
	if (ask->socks < 0)
		return;
	for (size_t i = 0; !ask->result && i < ask->n; i++) {
		ask->at = i;
		ask->result = reach_read(&socks, &ask->ids[i], 1, &ask->found[i], NULL);
	}
	ask->at = ask->n;
	sock_table_clear(&socks);
}

struct identity contacts_ask_at(const struct contacts_ask *ask)
{
	size_t at = ask->at;

	return at < ask->n ? ask->ids[at] : (struct identity){0};
}

static int fill(struct process *p, const struct reach *r)
{
	char remote[SOCK_TEXT_MAX];

	p->reach_error = (uint8_t)r->error;
	p->connections = r->outside < UINT16_MAX ? (uint16_t)r->outside : UINT16_MAX;
	bytes_free(&p->remote);
	if (reach_remote(r, remote) && !bytes_set(&p->remote, remote, strlen(remote)))
		return -ENOMEM;
	return 0;
}

int contacts_ask_apply(const struct contacts_ask *ask, struct tracker *k, struct err *err)
{
	if (ask->result == -ENOMEM || ask->socks == -ENOMEM)
		return err_nomem(err);
	for (size_t i = 0; i < ask->n; i++) {
		struct process *p = table_find(k->now, ask->ids[i]);

		if (!p)
			continue;
		p->reach_known = true;
		p->reach_scan = k->scans;
		p->reach_error = (uint8_t)-ask->socks;
		if (!ask->socks && fill(p, &ask->found[i]) < 0)
			return err_nomem(err);
	}
	return 0;
}

void contacts_ask_free(void *ctx)
{
	struct contacts_ask *ask = ctx;

	if (!ask)
		return;
	for (size_t i = 0; ask->found && i < ask->n; i++)
		reach_clear(&ask->found[i]);
	free(ask->found);
	free(ask->ids);
	free(ask);
}

int contacts_read(struct tracker *k, const struct process *also, struct err *err)
{
	struct contacts_ask *ask;
	int r = contacts_ask_new(k, also, NULL, 0, &ask, err);

	if (r < 0)
		return r;
	contacts_ask_run(ask);
	r = contacts_ask_apply(ask, k, err);
	contacts_ask_free(ask);
	return r;
}

static int by_process_and_ends(const void *a, const void *b)
{
	const struct contact *x = a, *y = b;
	int ends = strcmp(x->remote, y->remote);

	if (x->id.pid != y->id.pid)
		return (x->id.pid > y->id.pid) - (x->id.pid < y->id.pid);
	return ends ? ends : strcmp(x->local, y->local);
}

static int list_one(const struct sock_table *socks, struct identity id, struct contacts *out,
		    struct err *err)
{
	struct reach reach;
	int r = reach_read(socks, &id, 1, &reach, err);

	if (r < 0)
		return r;
	if (reach.error && reach.error != ESRCH) {
		out->unread++;
		out->error = out->error ? out->error : reach.error;
	}
	for (size_t i = 0; !r && i < reach.n; i++) {
		struct contact c = {.id = id};

		sock_local_text(&reach.v[i].sock, c.local);
		sock_remote_text(&reach.v[i].sock, c.remote);
		if (!VEC_PUSH(out, c))
			r = err_nomem(err);
	}
	reach_clear(&reach);
	return r;
}

int contacts_list(const struct identity *ids, size_t n, struct contacts *out, struct err *err)
{
	size_t asked = n < CONTACTS_MAX ? n : CONTACTS_MAX;
	struct sock_table socks = {0};
	int r = n ? sock_table_read(&socks, NULL) : 0;

	*out = (struct contacts){.unread = n - asked, .error = n > asked ? E2BIG : 0};
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		out->unread = n;
		out->error = -r;
		return 0;
	}
	for (size_t i = 0; !r && i < asked; i++)
		r = list_one(&socks, ids[i], out, err);
	if (n)
		sock_table_clear(&socks);
	if (r < 0) {
		contacts_clear(out);
		return r;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_process_and_ends);
	return 0;
}

void contacts_clear(struct contacts *c)
{
	free(c->v);
	*c = (struct contacts){0};
}
