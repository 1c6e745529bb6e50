/* The screen as a whole: what stands where, the lines above and below the list. */
#include "tui/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/pipes.h"
#include "tui/facts.h"

/* From so many rows on, a screen has room for more than the list. */
#define ROWS_FOR_COVERAGE 12
#define ROWS_FOR_PANE 14
#define ROWS_FOR_HINT 22

static int pane_rows(const struct view *v)
{
	int rows = v->screen_rows;

	if (rows >= 24)
		return 6;
	if (rows >= 18)
		return 4;
	return rows >= ROWS_FOR_PANE ? 3 : 1;
}

int view_head_rows(const struct view *v)
{
	return v->screen_rows >= ROWS_FOR_COVERAGE ? 4 : 3;
}

static bool has_hint(const struct view *v)
{
	return v->list == LIST_SUSPECTS && v->screen_rows >= ROWS_FOR_HINT;
}

/* --- the first line -------------------------------------------------------- */

/* What there is besides the host; that none is recorded is said where that is known only. */
static void add_recorded(const struct view *v, struct line *l)
{
	size_t n = v->runs.n;

	if (v->waiting)
		line_add(l, "waiting for the next run");
	else if (v->runs_known && n)
		line_add(l, "%zu %s recorded (R)", n, n == 1 ? "run" : "runs");
	else if (v->runs_known && !v->runs.trouble[0])
		line_add(l, "nothing recorded");
	else
		line_add(l, "no run in view");
}

static void add_what(const struct view *v, struct line *l)
{
	const struct table *t = v->k->now;
	char when[9];

	if (!v->has_run) {
		add_recorded(v, l);
		return;
	}
	line_text(l, v->run.id, 40);
	if (v->vigil) {
		line_add(l, " · ");
		line_text(l,
			  v->vigil->recorded.story.record.launched
				  ? "stray run"
				  : v->vigil->recorded.story.record.target,
			  40);
		return;
	}
	if (!v->run.over_before) { /* else it was chosen at the moment that is told below */
		clock_hms(v->chosen_wall_ns, when);
		line_add(l, ", chosen here %s", when);
	}
	if (v->run.over_ticks) {
		clock_hms(facts_wall_ns(&t->host, v->run.over_ticks), when);
		line_add(l,
			 v->run.over_before ? " · LEFTOVER: ended before %s"
					    : " · LEFTOVER: its root ended %s",
			 when);
	}
	line_add(l, " · not recorded");
}

static void add_user(const struct table *t, struct line *l)
{
	const struct process *self = table_find(t, t->host.self);

	if (!t->host.uid)
		line_add(l, "root");
	else if (self)
		facts_user(l, self);
	else
		line_add(l, "uid %u", t->host.uid);
}

static void draw_title(const struct view *v, const struct area *a)
{
	const struct table *t = v->k->now;
	char right[64] = "stray ", when[9];
	struct line l;
	int end;

	draw_fill(a, 0, 0, 1, a->cols, STYLE_TITLE, ' ');
	if (!t) {
		draw_cut(a, 0, 1, a->cols - 1, STYLE_TITLE, "stray · reading /proc … · q quits");
		return;
	}
	line_start(&l, v->o.ascii);
	line_text(&l, t->host.hostname, 40);
	line_add(&l, " · ");
	add_what(v, &l);
	line_add(&l, " · ");
	add_user(t, &l);
	line_add(&l, " · %s", v->o.source);
	if (v->user[0])
		line_add(&l, " · only %s", v->user);
	if (v->filter.kind != QUERY_NONE)
		line_add(&l, " · only '%s'", v->filter.text);
	if (v->follow)
		line_add(&l, " · following %s", v->cursor_words);
	clock_hms(t->host.wall_ns, when);
	snprintf(right, sizeof(right), "%s%s%s %s ", v->paused ? "PAUSED · " : "",
		 a->cols >= 60 ? "stray · " : "", when, a->cols >= 60 ? "UTC" : "");
	end = draw_right(a, 0, a->cols, STYLE_TITLE, right);
	draw_cut(a, 0, 1, end - 2, STYLE_TITLE, l.text);
}

void view_draw_title(const struct view *v, const struct area *a, const char *what,
		     const struct query *filter)
{
	char right[48] = "stray ", when[9];
	struct line l;
	int end;

	draw_fill(a, 0, 0, 1, a->cols, STYLE_TITLE, ' ');
	line_start(&l, v->o.ascii);
	if (v->k->now) {
		line_text(&l, v->k->now->host.hostname, 40);
		line_add(&l, " · ");
		clock_hms(v->k->now->host.wall_ns, when);
		snprintf(right, sizeof(right), "%s UTC ", when);
	}
	line_add(&l, "%s", what);
	if (filter->kind != QUERY_NONE)
		line_add(&l, " · only '%s'", filter->text);
	end = draw_right(a, 0, a->cols, STYLE_TITLE, right);
	draw_cut(a, 0, 1, end - 2, STYLE_TITLE, l.text);
}

/* --- the counts ------------------------------------------------------------ */

struct counts {
	size_t alive, connected, sessions, late, authority, possible;
	uint64_t youngest; /* s */
};

static bool counted(const struct view *v, const struct process *p)
{
	return v->has_run && v->list != LIST_SUSPECTS ? run_is_member(p) && !process_is_dead(p)
						      : p->suspect != 0;
}

static struct counts count(const struct view *v)
{
	const struct table *t = v->k->now;
	struct counts c = {.youngest = UINT64_MAX};
	struct tagset sessions = {0};
	char flags[7];

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		uint64_t age;

		c.possible += p->evidence && !run_is_member(p);
		if (!counted(v, p))
			continue;
		run_flags(v->has_run ? &v->run : NULL, p, flags);
		age = facts_age(&t->host, p);
		c.alive++;
		c.connected += p->connections != 0;
		c.late += flags[3] == 'L';
		c.authority += flags[5] == 'a' || flags[5] == 'A';
		c.youngest = age < c.youngest ? age : c.youngest;
		tagset_push(&sessions, (uint64_t)p->sid, 0);
	}
	tagset_sort(&sessions);
	c.sessions = sessions.n;
	tagset_free(&sessions);
	return c;
}

static int dot(const struct area *a, int x)
{
	return draw_text(a, 1, x, STYLE_DIM, " · ");
}

static bool is_filtered(const struct view *v)
{
	return v->user[0] || v->filter.kind != QUERY_NONE || v->o.pids;
}

/* Suspects that the filter leaves in the list, folded ones too. */
static size_t count_shown(const struct view *v)
{
	size_t n = v->rows.newcomers;

	for (size_t i = 0; i < v->k->now->procs.n; i++) {
		const struct process *p = &v->k->now->procs.v[i];

		n += p->suspect && tagset_has(&v->rows.shown, identity_tag(p->id));
	}
	return n;
}

static void draw_suspect_counts(const struct view *v, const struct area *a)
{
	const struct table *t = v->k->now;
	struct counts c = count(v);
	struct line l;
	char age[16];
	int x;

	if (!c.alive) {
		draw_format(a, 1, 1, STYLE_GOOD,
			    a->cols < 72 ? "nothing looks left behind · %zu processes"
					 : "nothing looks left behind · %zu processes, all "
					   "accounted for",
			    t->procs.n);
		return;
	}
	x = draw_format(a, 1, 1, STYLE_SURVIVOR, "%zu %s", c.alive,
			c.alive == 1 ? "SUSPECT" : "SUSPECTS");
	x = draw_format(a, 1, x, STYLE_NORMAL, " in %zu %s", c.sessions,
			c.sessions == 1 ? "session" : "sessions");
	if (c.connected) {
		x = dot(a, x);
		x = draw_format(a, 1, x, STYLE_AUTHORITY, "%zu CONNECTED OUT", c.connected);
	}
	if (is_filtered(v)) {
		x = dot(a, x);
		x = draw_format(a, 1, x, STYLE_WARNING, "%zu SHOWN", count_shown(v));
	}
	clock_age(c.youngest, age);
	x = dot(a, x);
	x = draw_format(a, 1, x, STYLE_NORMAL, "youngest %s", age);
	x = dot(a, x);
	line_start(&l, v->o.ascii);
	line_add(&l, "%zu processes", t->procs.n);
	if (v->list == LIST_SUSPECTS && !is_filtered(v))
		line_add(&l, ", %zu accounted for", t->procs.n - c.alive);
	if (v->list == LIST_SUSPECTS && !is_filtered(v) &&
	    x + text_cells(l.text) + text_cells(" below") < a->cols)
		line_add(&l, " below");
	draw_cut(a, 1, x, a->cols - x - 1, STYLE_DIM, l.text);
}

static int draw_count(const struct area *a, int x, enum style style, size_t n, const char *what)
{
	if (!n)
		return x;
	x = dot(a, x);
	return draw_format(a, 1, x, style, "%zu %s", n, what);
}

static void draw_run_counts(const struct view *v, const struct area *a)
{
	struct counts c = count(v);
	int x = v->vigil ? view_draw_state(v, a, 1, 1) : 1;

	if (c.alive)
		x = draw_format(a, 1, x, STYLE_SURVIVOR, "%zu ALIVE", c.alive);
	else
		x = draw_text(a, 1, x, STYLE_GOOD, "nothing of it is alive");
	x = draw_count(a, x, STYLE_WARNING, c.late, "STARTED SINCE");
	x = draw_count(a, x, STYLE_AUTHORITY, c.connected, "CONNECTED OUT");
	x = draw_count(a, x, STYLE_AUTHORITY, c.authority, "CAN AUTHORISE");
	x = draw_count(a, x, STYLE_NORMAL, c.possible, "possible");
	draw_count(a, x, STYLE_DIM, v->run.ended, "ended");
}

/* --- what is not known ----------------------------------------------------- */

struct not_known {
	struct line line;
	int room;
};

/* As many pieces as fit on the line; the help has all of them. */
static void add_not_known(void *ctx, const char *safe)
{
	struct not_known *n = ctx;
	int cells = text_cells(n->line.text) + text_cells(safe) + 3;

	if (n->line.len && cells > n->room)
		return;
	line_dot(&n->line);
	line_add(&n->line, "%s", safe);
}

static void draw_coverage(const struct view *v, const struct area *a, int y)
{
	struct not_known n = {.room = a->cols - 14};

	if (v->trouble[0]) {
		int x = draw_text(a, y, 1, STYLE_WARNING, "old: the last look failed: ");

		draw_cut(a, y, x, a->cols - x - 1, STYLE_WARNING, v->trouble);
		return;
	}
	facts_not_known(v->k->now, v->k->run, add_not_known, &n);
	if (!n.line.len)
		return;
	draw_text(a, y, 1, STYLE_HEADER, "not known:");
	draw_cut(a, y, 12, a->cols - 13, STYLE_DIM, n.line.text);
}

static void draw_unit(const struct view *v, const struct area *a, int y)
{
	struct line l;
	char unknown[160];

	line_start(&l, v->o.ascii);
	line_text(&l, v->run.id, 40);
	line_add(&l, ", held by nothing · seen: ");
	if (!facts_seen(v->k->now, &l))
		line_add(&l, ", not what lived between two");
	if (pipes_unknown(&v->run, unknown, sizeof(unknown)))
		line_add(&l, " · not known: %s", unknown);
	draw_text(a, y, 1, STYLE_HEADER, "unit:");
	draw_cut(a, y, 7, a->cols - 8, STYLE_DIM, l.text);
}

/* What has been waiting for the disk for a while. */
static void draw_writing(const struct view *v, const struct area *a, int y)
{
	struct line l;

	line_start(&l, v->o.ascii);
	line_add(&l, "%s, %u s so far%s", v->writing, v->writing_s,
		 v->leaving ? " · q again leaves at once" : "");
	draw_text(a, y, 1, STYLE_WARNING, "the disk is slow:");
	draw_cut(a, y, 19, a->cols - 20, STYLE_WARNING, l.text);
}

void view_draw_head(const struct view *v, const struct area *a)
{
	draw_title(v, a);
	if (!v->k->now)
		return;
	if (v->list == LIST_RUN)
		draw_run_counts(v, a);
	else
		draw_suspect_counts(v, a);
	if (a->rows < 4)
		return;
	if (v->writing)
		draw_writing(v, a, 2);
	else if (v->vigil && v->list == LIST_RUN && !v->trouble[0])
		view_draw_journal(v, a, 2);
	else if (v->list == LIST_RUN && !v->trouble[0])
		draw_unit(v, a, 2);
	else
		draw_coverage(v, a, 2);
}

static void draw_hint(const struct view *v, const struct area *a, int y)
{
	struct line l;
	int x = draw_text(a, y, 1, STYLE_HEADER, "What do you know?");

	line_start(&l, v->o.ascii);
	line_add(&l, "4102   14:00-14:05   198.51.100.9   :443   user:op   cwd:/srv");
	x = draw_text(a, y, x + 2, STYLE_KEY, "/");
	draw_cut(a, y, x + 2, a->cols - x - 3, STYLE_DIM, l.text);
}

/* --- all of it ------------------------------------------------------------- */

static void draw_list_screen(struct view *v, const struct area *a)
{
	int head = view_head_rows(v), pane = pane_rows(v), hint = has_hint(v) ? 2 : 0;
	struct area part = draw_part(a, 0, 0, head, a->cols);

	view_draw_head(v, &part);
	v->list_y = head;
	v->list_rows = a->rows - head - pane - hint - 1;
	part = draw_part(a, head - 1, 0, v->list_rows + 1, a->cols);
	if (v->k->now)
		view_draw_list(v, &part);
	if (hint)
		draw_hint(v, a, head + v->list_rows + 1);
	part = draw_part(a, a->rows - 1 - pane, 0, pane, a->cols);
	view_plan_here(v);
	if (v->k->now)
		view_draw_pane(v, &part);
}

static void draw_page_screen(struct view *v, const struct area *a)
{
	struct area part = draw_part(a, 0, 0, 1, a->cols);
	char when[9] = "";
	int end;

	if (v->k->now)
		clock_hms(v->k->now->host.wall_ns, when);
	draw_fill(&part, 0, 0, 1, a->cols, STYLE_TITLE, ' ');
	end = draw_format(&part, 0, a->cols - 10, STYLE_TITLE, "%s", when) - 10;
	draw_cut(&part, 0, 1, end, STYLE_TITLE, v->page.title);
	part = draw_part(a, 1, 1, a->rows - 2, a->cols - 2);
	page_draw(&v->page, &part);
}

void view_draw(struct view *v, struct grid *grid)
{
	struct area a = draw_whole(grid), part;
	struct dialog_host h = view_host(v);

	grid_clear(grid);
	v->screen_rows = grid->rows;
	v->screen_cols = grid->cols;
	if (grid->rows < VIEW_ROWS_MIN || grid->cols < VIEW_COLS_MIN) {
		draw_format(&a, 0, 0, STYLE_WARNING, "stray needs %d x %d; this is %d x %d",
			    VIEW_COLS_MIN, VIEW_ROWS_MIN, grid->cols, grid->rows);
		return;
	}
	if (v->screen == SCREEN_LIST)
		draw_list_screen(v, &a);
	else if (v->screen == SCREEN_RUNS)
		view_draw_runs(v, &a);
	else if (v->screen == SCREEN_EVENTS)
		view_draw_events(v, &a);
	else
		draw_page_screen(v, &a);
	part = draw_part(&a, a.rows - 1, 0, 1, a.cols);
	view_draw_keys(v, &part);
	if (v->prompt == PROMPT_NOTE)
		view_draw_note(v, &a);
	if (v->popup)
		menu_draw(&v->menu, &a);
	if (v->dialog.open)
		dialog_draw(&v->dialog, &h, &a);
}
