#include "tui/view.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/facts.h"

void view_init(struct view *v, const struct view_options *o, struct tracker *tracker)
{
	memset(v, 0, sizeof(*v));
	v->o = *o;
	v->k = tracker;
	v->screen_rows = 24;
	v->screen_cols = 80;
	v->list = o->pids ? LIST_ALL : LIST_SUSPECTS;
	snprintf(v->user, sizeof(v->user), "%s", o->user ? o->user : "");
}

void view_free(struct view *v)
{
	v->k->run = NULL;
	run_clear(&v->run);
	rows_free(&v->rows);
	tagset_free(&v->toggled);
	tagset_free(&v->tagged);
	query_free(&v->find);
	query_free(&v->filter);
	menu_close(&v->menu);
	dialog_close(&v->dialog);
	page_free(&v->page);
	plan_clear(&v->here);
	runlist_free(&v->runs);
	gone_free(&v->gone);
	browse_free(&v->runs_list);
	events_free(&v->events);
	browse_free(&v->events_list);
	detail_unref(v->why_detail);
	memset(v, 0, sizeof(*v));
}

void view_say(struct view *v, enum style style, const char *fmt, ...)
{
	char text[sizeof(v->message)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* errors may quote what a process chose */
	text_safe(v->message, sizeof(v->message), text, strlen(text), false);
	v->message_style = style;
}

struct dialog_host view_host(const struct view *v)
{
	return (struct dialog_host){v->k->now, v->has_run ? &v->run : NULL, v->freezer_works};
}

struct rows_options view_rows_options(const struct view *v)
{
	return (struct rows_options){
		.list = v->list,
		.sort = v->sort,
		.flat = v->flat,
		.run = v->has_run ? &v->run : NULL,
		.filter = &v->filter,
		.user = v->user,
		.pids = v->o.pids,
		.n_pids = v->o.n_pids,
		.toggled = &v->toggled,
		.tagged = &v->tagged,
		.gone = &v->gone,
	};
}

/* The row the cursor was on is gone: it stands on another one now, which was
 * not chosen. */
static void lose_cursor(struct view *v)
{
	v->cursor_lost = true;
	snprintf(v->lost_words, sizeof(v->lost_words), "%s", v->cursor_words);
}

/* The end of what is followed is what one follows it for. */
static void watch_followed(struct view *v)
{
	const struct row *row = view_row(v);

	if (!v->follow || !(v->cursor_lost || (row && row_is_dead(row))))
		return;
	v->follow = false;
	v->bell = true;
	view_say(v, STYLE_WARNING, "%s has ended",
		 v->cursor_lost ? v->lost_words : v->cursor_words);
}

void view_rebuild(struct view *v, bool settle)
{
	struct rows_options o = view_rows_options(v);
	const struct row *was = view_row(v);
	long line_was = was ? (long)was->line : 0, moved;
	struct err err = {0};
	size_t at = v->cursor;
	long found;

	if (rows_build(&v->rows, v->k, &o, settle, &err) < 0)
		view_say(v, STYLE_WARNING, "%s", err.text);
	found = v->cursor_tag ? rows_find(&v->rows, v->cursor_tag) : -1;
	if (found < 0 && v->cursor_tag)
		lose_cursor(v);
	view_move_to(v, found < 0 ? at : (size_t)found);
	v->here_known = false;
	if (!view_row(v))
		return;
	/* what is above came or went: the row stays where the eye is */
	moved = (long)view_row(v)->line - line_was;
	if (found >= 0 && !settle && (long)v->top + moved >= 0)
		v->top = (unsigned)((long)v->top + moved);
	view_scroll_to_cursor(v);
}

static void watch_run(struct view *v)
{
	const struct table *t = v->k->now;
	unsigned detached = 0, late = 0, alive = 0;
	char flags[7];

	run_note_end(&v->run, t);
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (!run_is_member(p) || process_is_dead(p))
			continue;
		run_flags(&v->run, p, flags);
		alive++;
		detached += flags[1] == 'S' || flags[1] == 'C';
		late += flags[3] == 'L';
	}
	if (detached && !v->told_detach) {
		v->told_detach = v->bell = true;
		view_say(v, STYLE_DETACHED, "first detach: %u of %s left its session", detached,
			 v->run.id);
	}
	if (late && !v->told_late) {
		v->told_late = v->bell = true;
		view_say(v, STYLE_WARNING, "first late start: %u began after %s was over", late,
			 v->run.id);
	}
	if (!alive && !v->told_over) {
		v->told_over = true;
		view_say(v, STYLE_GOOD, "nothing of %s is alive", v->run.id);
	}
}

int view_scanned(struct view *v, struct err *err)
{
	bool settle = v->k->scans <= 2 && !v->cursor_tag;

	if (v->vigil && gone_take(&v->gone, &v->vigil->recorded.story) < 0)
		return err_nomem(err);
	v->trouble[0] = '\0';
	if (v->has_run)
		watch_run(v);
	view_rebuild(v, settle);
	watch_followed(v);
	view_ask_again(v);
	if (v->screen != SCREEN_HELP)
		view_page_again(v);
	return 0;
}

void view_page_again(struct view *v)
{
	if (v->screen == SCREEN_WHY)
		view_why_page(v);
	else if (v->screen == SCREEN_DIFF)
		view_diff_page(v);
	else if (v->screen == SCREEN_HELP)
		view_help_page(v);
}

void view_contacts(struct view *v)
{
	bool first = v->k->scans == 1 && !v->touched;

	if (first) { /* nobody has found his place yet: the first row is the worst one */
		v->cursor_tag = 0;
		v->cursor = v->top = 0;
	}
	view_rebuild(v, first);
	view_page_again(v);
}

void view_scan_failed(struct view *v, const struct err *why)
{
	text_safe(v->trouble, sizeof(v->trouble), why->text, strlen(why->text), v->o.ascii);
}

/* run: the view's from here on; NULL: none. */
static int take_run(struct view *v, struct run *run, struct err *err)
{
	int r;

	if (!run) {
		r = tracker_set_run(v->k, NULL, err);
		run_clear(&v->run);
		v->has_run = false;
		v->list = LIST_SUSPECTS;
	} else {
		run_clear(&v->run);
		v->run = *run;
		v->has_run = true;
		v->told_detach = v->told_late = v->told_over = v->told_unwritten = false;
		v->chosen_wall_ns = v->k->now->host.wall_ns;
		v->list = LIST_RUN;
		r = tracker_set_run(v->k, &v->run, err);
		for (size_t i = 0; i < v->k->now->procs.n; i++) {
			char flags[7];

			/* what had left before is no news */
			run_flags(&v->run, &v->k->now->procs.v[i], flags);
			if (run_is_member(&v->k->now->procs.v[i]) &&
			    (flags[1] == 'S' || flags[1] == 'C'))
				v->told_detach = true;
		}
	}
	v->cursor_lost = false;
	v->cursor_tag = 0;
	v->cursor = 0;
	v->top = 0;
	view_rebuild(v, true);
	return r;
}

int view_choose(struct view *v, const struct selector *target, struct err *err)
{
	struct run run;
	int r = target ? run_choose(&run, target, v->k->now, err) : 0;

	if (r < 0)
		return r;
	v->vigil = NULL;
	gone_free(&v->gone);
	return take_run(v, target ? &run : NULL, err);
}

int view_record(struct view *v, const struct vigil *g, struct err *err)
{
	struct run run;
	int r;

	v->vigil = NULL;
	if (!g)
		return 0;
	if (!run_copy(&run, &g->recorded.run))
		return err_nomem(err);
	gone_free(&v->gone);
	if (gone_take(&v->gone, &g->recorded.story) < 0) {
		run_clear(&run);
		return err_nomem(err);
	}
	r = take_run(v, &run, err);
	v->vigil = g;
	v->runs_known = false; /* it may be a new one */
	return r;
}

int view_adopted(struct view *v, const struct vigil *g, struct err *err)
{
	struct run run;
	int r;

	if (!run_copy(&run, &g->recorded.run))
		return err_nomem(err);
	run.ended = v->run.ended;
	run_clear(&v->run);
	v->run = run;
	v->told_unwritten = false;
	v->runs_known = false; /* it is a new one */
	r = tracker_set_run(v->k, &v->run, err);
	return r ? r : view_record_again(v, g, err);
}

int view_record_again(struct view *v, const struct vigil *g, struct err *err)
{
	v->vigil = g;
	if (gone_take(&v->gone, &g->recorded.story) < 0)
		return err_nomem(err);
	view_recorded(v);
	view_rebuild(v, false);
	return 0;
}

void view_show(struct view *v, enum list_kind list)
{
	v->list = list;
	v->cursor_tag = 0;
	v->top = 0;
	v->cursor = 0;
	view_rebuild(v, true);
	v->cursor_lost = false;
}

void view_detail(struct view *v, enum reading how, struct detail *d)
{
	v->why_reading = how;
	if (d) {
		detail_unref(v->why_detail);
		v->why_detail = detail_ref(d);
	}
	if (v->screen == SCREEN_WHY)
		view_why_page(v);
}

void view_title(const struct view *v, char *out, size_t size)
{
	const struct table *t = v->k->now;
	size_t alive = 0;

	if (!t) {
		snprintf(out, size, "stray");
		return;
	}
	for (size_t i = 0; v->has_run && i < t->procs.n; i++)
		alive += run_is_member(&t->procs.v[i]) && !process_is_dead(&t->procs.v[i]);
	if (v->has_run)
		snprintf(out, size, "stray: %zu alive of a run on %s", alive, t->host.hostname);
	else
		snprintf(out, size, "stray: %zu %s on %s", v->k->suspects,
			 v->k->suspects == 1 ? "suspect" : "suspects", t->host.hostname);
}
