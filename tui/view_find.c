/* Finding: in the rows, then in what the rows leave out or hide. */
#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "tui/facts.h"

/* Session and group rows are found by their number, which may be a dead process's. */
static bool row_matches(const struct view *v, const struct row *row)
{
	const struct query *q = &v->find;

	if (row->kind == ROW_PROCESS) {
		/* a number is the process's own before it is its group's */
		if (q->kind == QUERY_NUMBER)
			return row->t.p->id.pid == q->number;
		return query_matches(q, &v->rows.table, row->t.p);
	}
	if (q->kind != QUERY_NUMBER)
		return false;
	return (row->kind == ROW_SESSION && row->t.sid == q->number) ||
	       (row->kind == ROW_GROUP && row->t.pgid == q->number);
}

/* From the cursor on (direction 0: the row itself counts too), around the end. */
static bool find_row(struct view *v, int direction)
{
	long n = (long)v->rows.list.n, step = direction < 0 ? -1 : 1;
	long i = (long)v->cursor + (direction == 0 ? 0 : step);

	for (long tries = 0; tries < n; tries++, i += step) {
		i = (i + n) % n;
		if (!row_matches(v, &v->rows.list.v[i]))
			continue;
		v->cursor_lost = false;
		view_move_to(v, (size_t)i);
		return true;
	}
	return false;
}

static const struct process *find_process(const struct view *v)
{
	const struct table *t = v->k->now;
	const struct process *group = NULL;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (v->find.kind == QUERY_NUMBER && p->id.pid != v->find.number) {
			if (!group && query_matches(&v->find, t, p))
				group = p;
			continue;
		}
		if (query_matches(&v->find, t, p))
			return p;
	}
	return group;
}

/* Unfolds every row that stands for p until p has a row of its own. */
static bool reveal(struct view *v, const struct process *p)
{
	uint64_t tag = identity_tag(p->id);

	for (int pass = 0; pass < 4 && rows_find(&v->rows, tag) < 0; pass++) {
		struct rows_options o = view_rows_options(v);
		size_t before = v->toggled.n;

		for (size_t i = 0; i < v->rows.list.n; i++) {
			const struct row *row = &v->rows.list.v[i];
			bool hides = false;

			if (!row->folded)
				continue;
			if (row->kind == ROW_SESSION)
				hides = row->t.sid == p->sid;
			else if (row->kind == ROW_GROUP)
				hides = row->t.pgid == p->pgid && row->t.sid == p->sid;
			else if (row->kind == ROW_FOLD)
				hides = rows_in_fold(&v->rows, row, &o, p);
			else if (row->kind == ROW_BUCKET)
				hides = v->rows.accounted.of[table_pid(&v->rows.table, p->id.pid) -
							     v->rows.table.procs.v] == row->bucket;
			else if (row->kind == ROW_ELSEWHERE)
				hides = !p->evidence;
			else if (row->kind == ROW_POSSIBLE)
				hides = p->evidence && !run_is_member(p);
			if (hides)
				tagset_toggle(&v->toggled, row->tag);
		}
		view_rebuild(v, false);
		if (v->toggled.n == before && pass > 0)
			break;
	}
	v->cursor_lost = false;
	return rows_find(&v->rows, tag) >= 0;
}

static void say_number(struct view *v)
{
	const struct row *row = view_row(v);
	const struct table *t = v->k->now;

	if (v->find.kind != QUERY_NUMBER || !row || table_pid(t, (pid_t)v->find.number))
		return;
	view_say(v, STYLE_NORMAL, "PID %d has ended; its number lives on as %s",
		 (int)v->find.number, v->cursor_words);
}

void view_find_waiting(struct view *v)
{
	if (v->find_waits && v->k->now)
		view_find(v, 0);
	v->find_waits = false;
}

void view_find(struct view *v, int direction)
{
	const struct process *p;
	char words[300];

	if (v->find.kind == QUERY_NONE) {
		view_say(v, STYLE_DIM, "nothing to find: / asks what");
		return;
	}
	if (find_row(v, direction)) {
		say_number(v);
		return;
	}
	p = find_process(v);
	if (!p) {
		query_words(&v->find, words, sizeof(words));
		view_say(v, STYLE_WARNING, "nothing alive has %s", words);
		return;
	}
	if (!reveal(v, p)) {
		view_say(v, STYLE_WARNING, "%d matches, but is left out by the filter", p->id.pid);
		return;
	}
	if (!find_row(v, 0))
		view_move_to(v, (size_t)rows_find(&v->rows, identity_tag(p->id)));
	say_number(v);
}
