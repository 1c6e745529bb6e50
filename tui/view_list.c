/* The cursor in the list: movement, folds, tags. */
#include "tui/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/facts.h"

const struct row *view_row(const struct view *v)
{
	return v->cursor < v->rows.list.n ? &v->rows.list.v[v->cursor] : NULL;
}

/* The first process below a row that is folded: by its numbers. */
static const struct process *first_of(const struct view *v, const struct row *row)
{
	for (size_t i = 0; i < v->rows.table.procs.n; i++) {
		const struct process *p = &v->rows.table.procs.v[i];

		if (p->sid == row->t.sid && (row->kind == ROW_SESSION || p->pgid == row->t.pgid) &&
		    !process_is_dead(p))
			return p;
	}
	return NULL;
}

const struct process *view_process(const struct view *v)
{
	const struct row *row = view_row(v);
	const struct row *next = row && v->cursor + 1 < v->rows.list.n ? row + 1 : NULL;

	if (!row)
		return NULL;
	if (row->kind == ROW_PROCESS || row->kind == ROW_FOLD)
		return row->t.p;
	if (row->kind != ROW_SESSION && row->kind != ROW_GROUP)
		return NULL;
	if (row->t.p)
		return row->t.p;
	if (next && next->kind == ROW_GROUP && v->cursor + 2 < v->rows.list.n)
		next++;
	if (next && next->kind == ROW_PROCESS && next->t.sid == row->t.sid)
		return next->t.p;
	return first_of(v, row);
}

static void note_words(struct view *v)
{
	const struct row *row = view_row(v);
	const struct process *p = view_process(v);
	struct line l;

	line_start(&l, v->o.ascii);
	if (row && row->kind == ROW_SESSION)
		line_add(&l, "session %d", row->t.sid);
	else if (row && row->kind == ROW_GROUP)
		line_add(&l, "group %d", row->t.pgid);
	else if (row && row->kind == ROW_FOLD)
		line_add(&l, "the fold of ");
	if (row && p && row->kind == ROW_PROCESS)
		line_add(&l, "%d ", p->id.pid);
	if (row && p && (row->kind == ROW_PROCESS || row->kind == ROW_FOLD))
		facts_name(&l, p);
	if (!l.len)
		line_add(&l, "a heading");
	snprintf(v->cursor_words, sizeof(v->cursor_words), "%.*s", (int)sizeof(v->cursor_words) - 1,
		 l.text);
}

void view_move_to(struct view *v, size_t i)
{
	size_t n = v->rows.list.n;

	if (!n) {
		v->cursor = 0;
		v->cursor_tag = 0;
		v->cursor_words[0] = '\0';
		return;
	}
	if (i >= n)
		i = n - 1;
	if (v->rows.list.v[i].kind == ROW_RULE)
		i = i + 1 < n ? i + 1 : i ? i - 1 : 0;
	if (v->cursor_tag != v->rows.list.v[i].tag)
		v->here_known = false;
	v->cursor = i;
	v->cursor_tag = v->rows.list.v[i].tag;
	note_words(v);
	view_scroll_to_cursor(v);
}

void view_scroll_to_cursor(struct view *v)
{
	unsigned rows = v->list_rows > 0 ? (unsigned)v->list_rows : 1;
	const struct row *row = view_row(v);
	unsigned most = v->rows.lines > rows ? v->rows.lines - rows : 0;

	if (!row)
		return;
	if (row->line < v->top)
		v->top = row->line;
	if (row->line >= v->top + rows)
		v->top = row->line - rows + 1;
	if (v->cursor == 1 && v->rows.list.v[0].kind == ROW_RULE)
		v->top = 0;
	if (v->top > most)
		v->top = most;
}

static void step(struct view *v, long by)
{
	long to = (long)v->cursor + by, n = (long)v->rows.list.n;

	v->cursor_lost = false;
	if (to >= n)
		to = n - 1;
	if (to < 0)
		to = 0;
	if (n && v->rows.list.v[to].kind == ROW_RULE)
		to = by < 0 && to > 0 ? to - 1 : by > 0 ? to + 1 : (long)v->cursor;
	view_move_to(v, (size_t)to);
}

static bool begins_part(const struct row *row)
{
	return row->kind != ROW_PROCESS && row->kind != ROW_GROUP && row->kind != ROW_RULE;
}

static void step_session(struct view *v, int by)
{
	long i = (long)v->cursor + by;

	while (i >= 0 && i < (long)v->rows.list.n && !begins_part(&v->rows.list.v[i]))
		i += by;
	if (i >= 0 && i < (long)v->rows.list.n)
		step(v, i - (long)v->cursor);
}

static void set_fold(struct view *v, const struct row *row, bool fold)
{
	if (row->folded == fold || !row->foldable)
		return;
	if (!tagset_toggle(&v->toggled, row->tag))
		view_say(v, STYLE_WARNING, "out of memory");
	view_rebuild(v, false);
}

/* Left on a process goes to its group or session. */
static void go_up(struct view *v)
{
	size_t i = v->cursor;

	while (i > 0 && v->rows.list.v[i - 1].kind == ROW_PROCESS &&
	       v->rows.list.v[i - 1].section == v->rows.list.v[v->cursor].section)
		i--;
	if (i > 0 && v->rows.list.v[i - 1].kind != ROW_RULE)
		view_move_to(v, i - 1);
}

static void fold(struct view *v, bool close)
{
	const struct row *row = view_row(v);

	v->cursor_lost = false;
	if (!row)
		return;
	if (row->foldable && row->folded != close)
		set_fold(v, row, close);
	else if (close)
		go_up(v);
	else if (row->half == 1 && v->cursor + 1 < v->rows.list.n)
		step(v, 1);
}

/* Unfolds all where something is folded, else folds all. */
static void fold_all(struct view *v)
{
	bool any = false;

	for (size_t i = 0; i < v->rows.list.n; i++)
		any |= v->rows.list.v[i].foldable && v->rows.list.v[i].folded &&
		       v->rows.list.v[i].section == SECTION_LIST;
	for (size_t i = 0; i < v->rows.list.n; i++) {
		const struct row *row = &v->rows.list.v[i];

		if (row->foldable && row->section == SECTION_LIST && row->folded == any)
			tagset_toggle(&v->toggled, row->tag);
	}
	view_rebuild(v, false);
	v->cursor_lost = false;
}

static void tag_one(struct view *v, const struct process *p, bool tag)
{
	if (process_is_dead(p))
		return;
	if (!tag)
		tagset_remove(&v->tagged, identity_tag(p->id));
	else if (!tagset_add(&v->tagged, identity_tag(p->id), 0))
		view_say(v, STYLE_WARNING, "out of memory");
}

/* Whether the row stands for p: itself, or something it is in. */
static bool stands_for(const struct view *v, const struct row *row, const struct process *p)
{
	struct rows_options o = view_rows_options(v);

	switch (row->kind) {
	case ROW_PROCESS:
		return row->t.p == p;
	case ROW_FOLD:
		return rows_in_fold(&v->rows, row, &o, p);
	case ROW_SESSION:
		return p->sid == row->t.sid;
	case ROW_GROUP:
		return p->sid == row->t.sid && p->pgid == row->t.pgid;
	default:
		return false;
	}
}

static bool below(const struct table *t, const struct process *p, const struct process *top)
{
	for (int depth = 0; p && depth < 1000; depth++) {
		if (p == top)
			return true;
		p = p->ppid > 0 ? table_pid(t, p->ppid) : NULL;
	}
	return false;
}

static void tag(struct view *v, bool children)
{
	const struct row *row = view_row(v);
	const struct process *at = view_process(v);
	const struct table *t = &v->rows.table;
	bool on;

	if (!row || !at)
		return;
	on = !tagset_has(&v->tagged, identity_tag(at->id));
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (stands_for(v, row, p) || (children && below(t, p, at)))
			tag_one(v, p, on);
	}
	view_rebuild(v, false);
	v->cursor_lost = false;
	step(v, 1);
}

bool view_list_action(struct view *v, enum action a)
{
	int page = v->list_rows > 1 ? v->list_rows - 1 : 1;

	switch (a) {
	case ACTION_UP:
		step(v, -1);
		return true;
	case ACTION_DOWN:
		step(v, 1);
		return true;
	case ACTION_PAGE_UP:
		step(v, -page);
		return true;
	case ACTION_PAGE_DOWN:
		step(v, page);
		return true;
	case ACTION_HALF_UP:
		step(v, -(page + 1) / 2);
		return true;
	case ACTION_HALF_DOWN:
		step(v, (page + 1) / 2);
		return true;
	case ACTION_TOP:
		step(v, -(long)v->rows.list.n);
		return true;
	case ACTION_BOTTOM:
		step(v, (long)v->rows.list.n);
		return true;
	case ACTION_PREV_SESSION:
		step_session(v, -1);
		return true;
	case ACTION_NEXT_SESSION:
		step_session(v, 1);
		return true;
	case ACTION_SCROLL_LEFT:
		v->sideways = v->sideways > 8 ? v->sideways - 8 : 0;
		return true;
	case ACTION_SCROLL_RIGHT:
		v->sideways += 8;
		return true;
	case ACTION_FOLD:
		fold(v, true);
		return true;
	case ACTION_UNFOLD:
		fold(v, false);
		return true;
	case ACTION_FOLD_ALL:
		fold_all(v);
		return true;
	case ACTION_TAG:
		tag(v, false);
		return true;
	case ACTION_TAG_CHILDREN:
		tag(v, true);
		return true;
	case ACTION_UNTAG_ALL:
		v->tagged.n = 0;
		view_rebuild(v, false);
		v->cursor_lost = false;
		return true;
	default:
		return false;
	}
}

int view_targets(const struct view *v, struct identity **ids, size_t *n, bool *picked)
{
	const struct table *t = v->k->now;
	const struct row *row = view_row(v);
	const struct process *at = view_process(v);
	struct rows_options o = view_rows_options(v);

	*picked = v->tagged.n > 0 || (row && row->kind == ROW_FOLD);
	*n = 0;
	*ids = calloc(t->procs.n + 1, sizeof(**ids));
	if (!*ids)
		return -ENOMEM;
	if (!*picked) {
		if (at && !process_is_dead(at))
			(*ids)[(*n)++] = at->id;
		return 0;
	}
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (process_is_dead(p))
			continue;
		if (v->tagged.n ? tagset_has(&v->tagged, identity_tag(p->id))
				: rows_in_fold(&v->rows, row, &o, p))
			(*ids)[(*n)++] = p->id;
	}
	return 0;
}
