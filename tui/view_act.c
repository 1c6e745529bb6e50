/* Acts: which dialog a key opens, and what is told of the outcome. */
#include "tui/view.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/facts.h"

/* Whether nothing can be done to processes here; says why. */
static bool withheld(struct view *v)
{
	if (v->o.readonly)
		view_say(v, STYLE_WARNING, "acts are absent: this view is read only");
	else if (v->k->now && v->k->now->coverage.sources & 1u << SOURCE_REPLAY)
		view_say(v, STYLE_WARNING, "acts are absent: this is a recording, not this moment");
	else if (v->acting)
		view_say(v, STYLE_WARNING, "%s is under way: one act at a time", v->act_title);
	else
		return false;
	return true;
}

/* What the row under the cursor was chosen for may not hold for the one it stands on now. */
static bool cursor_moved(struct view *v)
{
	if (!v->cursor_lost || v->tagged.n)
		return false;
	view_say(v, STYLE_WARNING,
		 "%s has gone; the cursor stands on %s now: press again if that is meant",
		 v->lost_words, v->cursor_words);
	v->cursor_lost = false;
	return true;
}

enum request view_open_dialog(struct view *v, enum act_kind kind, int sig, enum scope scope)
{
	struct dialog_host h = view_host(v);
	const struct row *row = view_row(v);
	struct dialog_aim aim = {.kind = kind, .signal = sig, .scope = scope};
	struct identity *ids;
	struct err err = {0};
	size_t n;
	int r;

	if (withheld(v) || cursor_moved(v) || view_targets(v, &ids, &n, &aim.tagged) < 0)
		return REQUEST_NONE;
	if (!n && scope != SCOPE_RUN) {
		view_say(v, STYLE_DIM,
			 row && row_is_dead(row) ? "it is dead already"
						 : "no process stands in this row");
		free(ids);
		return REQUEST_NONE;
	}
	aim.ids = ids;
	aim.n_ids = n;
	if (aim.tagged && scope != SCOPE_RUN)
		aim.scope = SCOPE_PROCESS;
	else if (row && row->kind == ROW_SESSION && !row->t.one_group && scope == SCOPE_GROUP)
		aim.scope = SCOPE_SESSION;
	r = dialog_open(&v->dialog, &h, &aim, &err);
	free(ids);
	if (r < 0) {
		view_say(v, STYLE_WARNING, "%s", err.text);
		return REQUEST_NONE;
	}
	return REQUEST_FLUSH;
}

static void open_signal_menu(struct view *v)
{
	static const int signals[] = {SIGTERM, SIGKILL, SIGINT,  SIGHUP,  SIGQUIT, SIGSTOP,
				      SIGCONT, SIGUSR1, SIGUSR2, SIGABRT, SIGALRM, SIGPIPE,
				      SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
	char name[8], text[16];

	if (withheld(v) || cursor_moved(v))
		return;
	menu_open(&v->menu, "Which signal?", "Enter shows what it would hit · Esc sends nothing");
	v->popup = POPUP_SIGNAL;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		snprintf(text, sizeof(text), "%d", signals[i]);
		menu_add(&v->menu, facts_signal(signals[i], name), text, NULL, signals[i]);
	}
}

/* Whether the last act has frozen p: one in a frozen control group does not show it. */
static bool was_frozen(const struct view *v, const struct process *p)
{
	for (size_t i = 0; v->outcome && i < v->outcome->items.n; i++)
		if (identity_same(v->outcome->items.v[i].id, p->id))
			return v->outcome->items.v[i].result == ACT_RESULT_FROZEN;
	return false;
}

/* z: thaws what stands still, freezes what does not. */
static enum request freeze(struct view *v)
{
	const struct process *p = view_process(v);
	bool frozen = p && was_frozen(v, p), stopped = frozen || (p && p->state == 'T');

	return view_open_dialog(v, stopped ? ACT_THAW : ACT_FREEZE, stopped ? SIGCONT : SIGSTOP,
				frozen && v->outcome->by_cgroup && v->has_run ? SCOPE_RUN
									      : SCOPE_GROUP);
}

enum request view_act_action(struct view *v, enum action a)
{
	switch (a) {
	case ACTION_TERM:
		return view_open_dialog(v, ACT_SIGNAL, SIGTERM, SCOPE_GROUP);
	case ACTION_KILL:
		return view_open_dialog(v, ACT_SIGNAL, SIGKILL, SCOPE_GROUP);
	case ACTION_SIGNAL:
		open_signal_menu(v);
		break;
	case ACTION_FREEZE:
		return freeze(v);
	case ACTION_END_RUN:
		if (v->has_run)
			return view_open_dialog(v, ACT_END, SIGTERM, SCOPE_RUN);
		if (!withheld(v))
			view_say(v, STYLE_WARNING,
				 "x ends a run, and none is chosen: r chooses it");
		break;
	default:
		break;
	}
	return REQUEST_NONE;
}

void view_dialog_drawn(struct view *v, const char *problem)
{
	v->dialog.drawn = true;
	dialog_block(&v->dialog, problem);
}

/* What lived on keeps that flag in the table that the screen shows. */
static void mark_survivors(struct view *v, const struct act_outcome *o)
{
	for (size_t i = 0; o->after && i < o->items.n; i++) {
		const struct process *p = table_find(o->after, o->items.v[i].id);
		struct process *now = table_find(v->k->now, o->items.v[i].id);

		if (p && now && p->survived)
			now->survived = true;
	}
}

static size_t count_items(const struct act_outcome *o, enum act_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < o->items.n; i++)
		n += o->items.v[i].result == result;
	return n;
}

/* The names of doc/FORMATS.md in words. */
const char *view_why_words(const char *why)
{
	static const struct {
		const char *name, *words;
	} words[] = {
		{"ignores_term", "ignores the signal"},
		{"uninterruptible", "in uninterruptible sleep"},
		{"not_permitted", "not permitted"},
		{"pidns_init", "init of a PID namespace"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].name, why) == 0)
			return words[i].words;
	return why;
}

void view_outcome_words(const struct act_outcome *o, struct line *l)
{
	size_t frozen = count_items(o, ACT_RESULT_FROZEN),
	       again = count_items(o, ACT_RESULT_THAWED);
	size_t alive = count_items(o, ACT_RESULT_ALIVE), shown = 0;

	if (frozen)
		line_add(l, "%zu of %zu frozen", frozen, o->hit);
	else if (again)
		line_add(l, "%zu of %zu run again", again, o->hit);
	else
		line_add(l, "%zu of %zu gone", o->gone, o->hit);
	for (size_t i = 0; i < o->items.n && shown < 3; i++) {
		const struct act_item *item = &o->items.v[i];

		if (item->result != ACT_RESULT_ALIVE)
			continue;
		line_add(l, "%s%d alive", shown++ ? ", " : "; ", item->id.pid);
		if (item->why)
			line_add(l, " (%s)", view_why_words(item->why));
	}
	if (alive > shown)
		line_add(l, " and %zu more", alive - shown);
	if (o->appeared)
		line_add(l, " · %zu NEW SINCE", o->appeared);
}

void view_act_begins(struct view *v, struct plan *plan)
{
	dialog_title(&v->dialog, v->act_title, sizeof(v->act_title));
	*plan = v->dialog.plan;
	memset(&v->dialog.plan, 0, sizeof(v->dialog.plan));
	v->dialog.open = false; /* the rest of it stays: it may have to ask again */
	v->acting = v->act_begins = true;
	view_say(v, STYLE_WARNING, "%s: the intent is being written, nothing is sent yet",
		 v->act_title);
}

void view_acted(struct view *v, const struct act_outcome *outcome, const struct err *unrecorded)
{
	struct line l;
	char safe[320];

	if (v->act_begins) {
		v->act_begins = false;
		dialog_close(&v->dialog);
		v->tagged.n = 0;
		v->paused = false;
		if (strncmp(v->message, v->act_title, strlen(v->act_title)) == 0)
			v->message[0] = '\0'; /* that it begins */
	}
	v->outcome = outcome;
	memcpy(v->act_title, outcome->title, sizeof(v->act_title));
	v->acting = !outcome->done;
	if (outcome->done) {
		mark_survivors(v, outcome);
		line_start(&l, v->o.ascii);
		view_outcome_words(outcome, &l);
		view_say(v, outcome->alive || outcome->appeared ? STYLE_SURVIVOR : STYLE_GOOD,
			 "%s: %.160s · d: before and after", outcome->title, l.text);
	}
	if (unrecorded) {
		text_safe(safe, sizeof(safe), unrecorded->text, strlen(unrecorded->text),
			  v->o.ascii);
		view_say(v, STYLE_WARNING, "%s was done, but its record is not whole: %.200s",
			 outcome->title, safe);
	}
	if (v->screen == SCREEN_DIFF)
		view_diff_page(v);
}

void view_act_failed(struct view *v, bool again, const struct err *why)
{
	char safe[320];

	text_safe(safe, sizeof(safe), why->text, strlen(why->text), v->o.ascii);
	v->acting = v->act_begins = false;
	if (again) {
		v->dialog.open = true;
		v->dialog.drawn = false; /* no key counts until it has asked again */
		memcpy(v->changed, safe, sizeof(safe));
	} else {
		dialog_close(&v->dialog);
		view_say(v, STYLE_WARNING, "nothing was sent: %s", safe);
	}
}

void view_ask_again(struct view *v)
{
	struct dialog_host h = view_host(v);
	struct err err = {0};

	if (!v->dialog.open || !v->changed[0])
		return;
	if (dialog_again(&v->dialog, &h, v->changed, &err) < 0) {
		dialog_close(&v->dialog);
		view_say(v, STYLE_WARNING, "nothing was sent: %s", err.text);
	}
	v->changed[0] = '\0';
}
