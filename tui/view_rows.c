/* How the rows of the list look.  Only those on the screen are formatted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/origin.h"
#include "tui/facts.h"
#include "tui/frame.h"

/* --- many processes -------------------------------------------------------- */

static const struct process *sample(const struct frame *f, size_t i)
{
	const struct row *row = &f->v->rows.list.v[i];

	if (row->t.p)
		return row->t.p;
	for (i++; i < f->v->rows.list.n && f->v->rows.list.v[i].kind != ROW_SESSION; i++)
		if (f->v->rows.list.v[i].t.p)
			return f->v->rows.list.v[i].t.p;
	return NULL;
}

/* Who is alive below a session or group row, also where that is folded. */
static unsigned alive_below(const struct frame *f, const struct row *row)
{
	const struct table *t = &f->v->rows.table;
	unsigned n = 0;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (p->sid != row->t.sid || process_is_dead(p) ||
		    (row->kind == ROW_GROUP && p->pgid != row->t.pgid))
			continue;
		n += f->v->list == LIST_RUN && row->section == SECTION_LIST ? run_is_member(p) : 1;
	}
	return n;
}

static void leader_words(const struct frame *f, const struct row *row, struct line *l)
{
	const struct tracker *k = f->v->k;
	pid_t number = row->kind == ROW_GROUP ? row->t.pgid : row->t.sid;
	char when[9];

	if (!row->t.leader_gone || (row->kind == ROW_GROUP && row->t.pgid == row->t.sid))
		return;
	line_dot(l);
	line_add(l, "leader ");
	for (size_t i = k->ghosts.n; i-- > 0;) {
		if (k->ghosts.v[i].p.id.pid != number)
			continue;
		facts_name(l, &k->ghosts.v[i].p);
		clock_hms(k->ghosts.v[i].gone_wall_ns, when);
		line_add(l, " gone %s", when);
		return;
	}
	line_add(l, "gone");
}

static void session_words(const struct frame *f, size_t i, struct line *l)
{
	const struct row *row = &f->v->rows.list.v[i];
	const struct process *p = sample(f, i);

	if (row->t.sid == 0) {
		line_add(l, p && process_is_kthread(p)
				    ? "session 0 · kernel threads"
				    : "session 0 · led outside this PID namespace");
		return;
	}
	line_add(l, "session %d", row->t.sid);
	if (row->t.one_group)
		line_add(l, " = group %d", row->t.pgid);
	leader_words(f, row, l);
	if (!p)
		return;
	line_dot(l);
	facts_tty(l, p);
	if (row->t.p && row->t.p->suspect && row->t.p->sid == row->t.p->id.pid &&
	    row->t.p->reparented != KNOWN_NOT)
		line_add(l, " · setsid away");
	if (p->origin_name.len || origin_login_state(f->t, p) != LOGIN_NONE) {
		line_dot(l);
		facts_origin(l, f->t, p);
	}
}

static enum style draw_moved(const struct frame *f, const struct row *row, const char **word)
{
	const struct run *run = &f->v->run;

	*word = NULL;
	if (!f->v->has_run || f->v->list != LIST_RUN || row->section > SECTION_NEW)
		return STYLE_NORMAL;
	if (run->sid && row->t.sid != run->sid)
		*word = row->kind == ROW_SESSION ? "DETACHED" : NULL;
	else if (row->kind == ROW_GROUP && run->pgid)
		*word = row->t.pgid == run->pgid ? "the run's" : "REGROUPED";
	return *word && **word != 't' ? STYLE_DETACHED : STYLE_DIM;
}

static void draw_unit_row(const struct frame *f, int y, size_t i)
{
	const struct row *row = &f->v->rows.list.v[i];
	int x = row->kind == ROW_GROUP ? 3 : 1, end = f->a->cols;
	const char *moved;
	enum style style;
	char right[24];
	struct line l;

	draw_text(f->a, y, x, STYLE_HEADER, row->folded ? "▸" : "▾");
	line_start(&l, f->v->o.ascii);
	if (row->kind == ROW_SESSION) {
		session_words(f, i, &l);
	} else {
		line_add(&l, "group %d", row->t.pgid);
		leader_words(f, row, &l);
	}
	style = draw_moved(f, row, &moved);
	if (row->t.orphaned && row->t.sid > 0 && f->v->list == LIST_RUN)
		line_add(&l, " · orphaned");
	if (f->v->list == LIST_RUN || row->folded) {
		snprintf(right, sizeof(right), "%u alive", alive_below(f, row));
		end = draw_right(f->a, y, f->a->cols - 1, STYLE_DIM, right) - 1;
	}
	x = draw_cut(f->a, y, x + 2, end - x - 2 - (moved ? 12 : 0), STYLE_HEADER, l.text);
	if (moved) {
		x = draw_text(f->a, y, x, STYLE_DIM, " · ");
		draw_cut(f->a, y, x, end - x, style, moved);
	}
}

/* "37 × cc1 under 4150 make · 1.2G · oldest 4m, newest 2s" */
static void draw_fold(const struct frame *f, int y, const struct row *row)
{
	const struct row_sum *sum = &f->v->rows.sums.v[row->count];
	const struct process *p = sum->sample, *parent = table_pid(f->t, p->ppid);
	uint64_t hz = (uint64_t)f->t->host.ticks_per_second;
	uint64_t now = f->t->host.boot_ns / CLOCK_NS_PER_S;
	char rss[8], oldest[16], newest[16], flags[7];
	struct line l;
	int x;

	facts_size(sum->rss_kb, rss);
	clock_age(now > sum->oldest / hz ? now - sum->oldest / hz : 0, oldest);
	clock_age(now > sum->newest / hz ? now - sum->newest / hz : 0, newest);
	line_start(&l, f->v->o.ascii);
	line_add(&l, "%u × ", sum->units);
	facts_name(&l, p);
	if (sum->processes > sum->units)
		line_add(&l, " (%u processes)", sum->processes);
	if (parent) {
		line_add(&l, " under %d ", p->ppid);
		facts_name(&l, parent);
	}
	if (sum->cwd_deleted)
		line_add(&l, " · %u with deleted cwd", sum->cwd_deleted);
	line_add(&l, " · %s · %s to %s old", rss, newest, oldest);
	if (sum->newcomers)
		line_add(&l, " · %u new", sum->newcomers);
	draw_text(f->a, y, 1, STYLE_HEADER, row->folded ? "▸" : "▾");
	x = FRAME_LEFT;
	if (f->v->list == LIST_RUN) {
		run_flags(&f->v->run, p, flags);
		frame_draw_flags(f, y, x, p, false);
		x += 7;
	}
	draw_cut(f->a, y, x, f->a->cols - x, f->v->list == LIST_ALL ? STYLE_NORMAL : STYLE_SUSPECT,
		 l.text);
}

/* --- headings -------------------------------------------------------------- */

static void draw_bucket(const struct frame *f, int y, int x, int cols, const struct row *row)
{
	const struct bucket_sum *sum = &f->v->rows.accounted.sums[row->bucket];
	char count[16];
	int wide = cols > 34 ? 34 : cols - 2;

	draw_text(f->a, y, x, STYLE_HEADER, row->folded ? "▸" : "▾");
	draw_cut(f->a, y, x + 2, 16, STYLE_NORMAL, bucket_name(row->bucket));
	snprintf(count, sizeof(count), "%u", sum->processes);
	draw_right(f->a, y, x + wide, STYLE_NORMAL, count);
	if (19 + text_cells(sum->text) + (int)strlen(count) < wide)
		draw_text(f->a, y, x + 19, STYLE_DIM, sum->text);
}

static void draw_new(const struct frame *f, int y, const struct row *row)
{
	int x = draw_format(f->a, y, 1, STYLE_WARNING, "+%u new", row->count);

	if (f->v->rows.newcomers_connected)
		x = draw_format(f->a, y, x, STYLE_AUTHORITY, " · %u CONNECTED OUT",
				f->v->rows.newcomers_connected);
	draw_cut(f->a, y, x + 1, f->a->cols - x - 1, STYLE_DIM, "· S sorts them in");
	(void)row;
}

static void draw_rule(const struct frame *f, int y)
{
	draw_hline(f->a, y, 1, f->a->cols - 2, STYLE_DIM);
	draw_text(f->a, y, 3, STYLE_HEADER,
		  f->a->cols < 60 ? " accounted for " : " accounted for (Enter unfolds) ");
}

static void draw_heading(const struct frame *f, int y, int x, const struct row *row)
{
	static const char *const words[] = {
		[ROW_POSSIBLE] = "possible, never signalled unasked",
		[ROW_ENDED] = "ended",
		[ROW_ELSEWHERE] = "elsewhere on this host",
	};

	draw_text(f->a, y, x, STYLE_HEADER, row->folded ? "▸" : "▾");
	x = draw_text(f->a, y, x + 2, STYLE_NORMAL, words[row->kind]);
	x = draw_format(f->a, y, x + 2, STYLE_DIM, "%u", row->count);
	if (row->left)
		draw_format(f->a, y, x, STYLE_DIM,
			    f->v->vigil ? " · not listed: %u, E tells of them"
					: " · not listed: %u",
			    row->left);
}

static void draw_row(const struct frame *f, int y, size_t i)
{
	const struct row *row = &f->v->rows.list.v[i];
	int half = f->a->cols / 2, x = row->half == 2 ? half : 1;
	struct area part = draw_part(f->a, y, row->half == 2 ? half - 1 : 0, 1,
				     row->half ? half - (row->half == 1) : f->a->cols);

	switch (row->kind) {
	case ROW_SESSION:
	case ROW_GROUP:
		draw_unit_row(f, y, i);
		break;
	case ROW_PROCESS:
		frame_draw_process(f, y, row);
		break;
	case ROW_FOLD:
		draw_fold(f, y, row);
		break;
	case ROW_NEW:
		draw_new(f, y, row);
		break;
	case ROW_RULE:
		draw_rule(f, y);
		break;
	case ROW_BUCKET:
		draw_bucket(f, y, x, row->half ? half - 2 : f->a->cols, row);
		break;
	case ROW_POSSIBLE:
	case ROW_ENDED:
	case ROW_ELSEWHERE:
		draw_heading(f, y, x, row);
		break;
	}
	if (i != f->v->cursor)
		return;
	draw_text(&part, 0, 0, STYLE_KEY, ">");
	draw_select(&part, 0);
}

/* Newcomers below the last line are not to be missed. */
static void draw_more(const struct frame *f, int y)
{
	const struct rows *r = &f->v->rows;

	if (!r->newcomers)
		return;
	draw_fill(f->a, y, 0, 1, f->a->cols, STYLE_NORMAL, ' ');
	draw_new(f, y, &(struct row){.count = r->newcomers});
	draw_right(f->a, y, f->a->cols - 1, STYLE_DIM, "below ↓");
}

void view_draw_list(struct view *v, const struct area *a)
{
	struct frame f = {.v = v, .t = v->k->now, .a = a};
	unsigned rows = (unsigned)v->list_rows, end;
	bool new_below = false;

	view_scroll_to_cursor(v);
	frame_lay_out(&f);
	frame_draw_names(&f);
	end = v->top + rows;
	for (size_t i = 0; i < v->rows.list.n; i++) {
		const struct row *row = &v->rows.list.v[i];

		if (row->line >= v->top && row->line < end)
			draw_row(&f, (int)(row->line - v->top) + 1, i);
		new_below |= row->kind == ROW_NEW && row->line >= end;
	}
	if (new_below && view_row(v) && view_row(v)->line != end - 1)
		draw_more(&f, (int)rows);
}
