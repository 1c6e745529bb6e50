#include "engine/act_state.h"

#include "engine/survivor.h"

#include <errno.h>
#include <string.h>

static int add_item(struct act *a, const struct process *p, struct act_item *item)
{
	if (p && process_command(p, &item->command) < 0)
		return -ENOMEM;
	if (!VEC_PUSH(&a->outcome.items, *item)) {
		bytes_free(&item->command);
		return -ENOMEM;
	}
	return 0;
}

static int add_outcome(struct act *a, const struct ladder_outcome *o)
{
	const struct process *now = table_find(a->look.tracker.now, o->id);
	const struct process *was = table_find(a->outcome.before, o->id);
	struct act_item item = {
		.id = o->id,
		.result = o->gone ? ACT_RESULT_GONE : ACT_RESULT_ALIVE,
		.died_of = o->death.known && o->death.signalled ? o->death.code : 0,
		.last_signal = o->last_signal,
		.after_ns = ladder_after_ns(o),
		.error = o->error,
	};

	if (!o->gone)
		item.why = survivor_why(now ? now : was, o);
	a->outcome.hit++;
	a->outcome.gone += o->gone;
	a->outcome.alive += !o->gone;
	return add_item(a, was ? was : now, &item);
}

static int add_outcomes(struct act *a)
{
	size_t n;
	const struct ladder_outcome *o = ladder_outcomes(a->ladder, &n);

	for (size_t i = 0; i < n; i++)
		if (add_outcome(a, &o[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* One that was to stop or go on: what it is doing now. */
static int add_frozen(struct act *a, const struct target *t)
{
	const struct process *now = table_find(a->look.tracker.now, t->id);
	const struct process *was = table_find(a->outcome.before, t->id);
	struct act_item item = {
		.id = t->id,
		.result = ACT_RESULT_GONE,
		.last_signal = t->result == TARGET_SENT ? a->aim.signal : 0,
		.error = t->error,
	};
	bool stopped =
		now && (now->state == 'T' || now->state == 't' || survivor_is_frozen(t->id.pid));

	if (now && !process_is_dead(now))
		item.result = !stopped                        ? ACT_RESULT_THAWED
			      : a->options.kind == ACT_FREEZE ? ACT_RESULT_FROZEN
							      : ACT_RESULT_ALIVE;
	if (item.result == ACT_RESULT_THAWED && a->options.kind == ACT_FREEZE)
		item.result = ACT_RESULT_ALIVE;
	if (item.result == ACT_RESULT_ALIVE && t->result == TARGET_DENIED)
		item.why = "not_permitted";
	a->outcome.hit++;
	a->outcome.gone += item.result == ACT_RESULT_GONE;
	a->outcome.alive += item.result != ACT_RESULT_GONE;
	return add_item(a, was ? was : now, &item);
}

static bool is_item(const struct act *a, struct identity id)
{
	for (size_t i = 0; i < a->outcome.items.n; i++)
		if (identity_same(a->outcome.items.v[i].id, id))
			return true;
	return false;
}

/*
 * Members that nobody aimed at, and those that were not there before, also possible
 * ones: what a process forks away as the signal ends it has no parent to be known by.
 */
static int add_others(struct act *a)
{
	const struct table *now = a->look.tracker.now;

	for (size_t i = 0; a->has_run && i < now->procs.n; i++) {
		const struct process *p = &now->procs.v[i];
		struct act_item item = {.id = p->id};

		if (!p->evidence || process_is_dead(p) || is_item(a, p->id))
			continue;
		if (!run_is_member(p)) {
			if (table_find(a->outcome.before, p->id))
				continue;
			item.why = "possible_member";
		}
		if (table_find(a->outcome.before, p->id)) {
			item.result = ACT_RESULT_NOT_AIMED;
			a->outcome.not_aimed++;
		} else {
			item.result = ACT_RESULT_APPEARED;
			a->outcome.appeared++;
		}
		if (add_item(a, p, &item) < 0)
			return -ENOMEM;
	}
	return 0;
}

int act_fill_outcome(struct act *a, bool last)
{
	for (size_t i = 0; i < a->outcome.items.n; i++)
		bytes_free(&a->outcome.items.v[i].command);
	a->outcome.items.n = 0;
	a->outcome.hit = a->outcome.gone = a->outcome.alive = 0;
	a->outcome.appeared = a->outcome.not_aimed = 0;
	if (a->ladder && add_outcomes(a) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < a->frozen.n; i++)
		if (add_frozen(a, &a->frozen.v[i]) < 0)
			return -ENOMEM;
	return last ? add_others(a) : 0;
}

#define ELSEWHERE_MAX 64 /* newcomers elsewhere on the host that are read to be named */

/* What the act's own lean scans did not read, of those that the record and the view show. */
void act_complete_details(struct act *a)
{
	struct table *now = a->look.tracker.now;
	size_t elsewhere = 0;

	for (size_t i = 0; i < now->procs.n; i++) {
		struct process *p = &now->procs.v[i];
		struct detail *d;
		bool shown = p->evidence || is_item(a, p->id);

		if (!shown && !p->detail && !table_find(a->outcome.before, p->id))
			shown = elsewhere++ < ELSEWHERE_MAX;
		if (!shown || (p->detail && (p->detail->have & DETAIL_BASIC) == DETAIL_BASIC &&
			       !is_item(a, p->id)))
			continue;
		if (reader_detail(a->look.reader, p->id, DETAIL_BASIC, &d, NULL) < 0)
			continue;
		detail_unref(p->detail);
		p->detail = d;
	}
}

/* Members and those that were hit; the rest of the host is counted. */
int act_compare(struct act *a, struct err *err)
{
	struct identity *shown = calloc(a->outcome.items.n + 1, sizeof(*shown));
	struct diff_options o = {.members = shown, .n_members = a->outcome.items.n};
	int r;

	if (!shown)
		return err_nomem(err);
	for (size_t i = 0; i < a->outcome.items.n; i++)
		shown[i] = a->outcome.items.v[i].id;
	r = diff_tables(a->outcome.before, a->outcome.after, &o, a->outcome.diff, err);
	free(shown);
	return r;
}

void act_clear_lists(struct act_outcome *o)
{
	for (size_t i = 0; i < o->items.n; i++)
		bytes_free(&o->items.v[i].command);
	free(o->items.v);
	for (size_t i = 0; i < o->sent.n; i++)
		free(o->sent.v[i].to);
	free(o->sent.v);
	free(o->connections.v);
}

static bool copy_item(struct act_outcome *to, const struct act_item *from)
{
	struct act_item item = *from;

	item.command = (struct bytes){0};
	if (from->command.data && !bytes_set(&item.command, from->command.data, from->command.len))
		return false;
	if (VEC_PUSH(&to->items, item))
		return true;
	bytes_free(&item.command);
	return false;
}

static bool copy_sent(struct act_outcome *to, const struct act_sent *from)
{
	struct act_sent s = *from;

	s.to = calloc(from->n + 1, sizeof(*s.to));
	if (s.to && from->n)
		memcpy(s.to, from->to, from->n * sizeof(*s.to));
	if (s.to && VEC_PUSH(&to->sent, s))
		return true;
	free(s.to);
	return false;
}

struct act_outcome *act_outcome_copy(const struct act *a)
{
	const struct act_outcome *o = &a->outcome;
	struct act_outcome *copy = calloc(1, sizeof(*copy));
	bool ok = copy != NULL;

	if (!ok)
		return NULL;
	*copy = *o;
	memset(&copy->items, 0, sizeof(copy->items));
	memset(&copy->sent, 0, sizeof(copy->sent));
	memset(&copy->connections, 0, sizeof(copy->connections));
	for (size_t i = 0; ok && i < o->items.n; i++)
		ok = copy_item(copy, &o->items.v[i]);
	for (size_t i = 0; ok && i < o->sent.n; i++)
		ok = copy_sent(copy, &o->sent.v[i]);
	for (size_t i = 0; ok && i < o->connections.n; i++)
		ok = VEC_PUSH(&copy->connections, o->connections.v[i]);
	if (ok)
		return copy;
	act_outcome_free(copy);
	return NULL;
}

void act_outcome_free(struct act_outcome *copy)
{
	if (!copy)
		return;
	act_clear_lists(copy);
	free(copy);
}
