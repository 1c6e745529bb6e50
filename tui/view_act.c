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
		view_say(v, STYLE_WARNING,
			 "acts are absent: this view is read only");
	else if (v->k->now && v->k->now->coverage.sources & 1u << SOURCE_REPLAY)
		view_say(v, STYLE_WARNING, "acts are absent: this is a recording, not this moment");
	else if (v->acting)
		view_say(v, STYLE_WARNING, "%s is under way: one act at a time",
			 v->outcome ? v->outcome->title : "an act");
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

/* z: thaws what stands still, freezes what does not. */
static enum request freeze(struct view *v)
{
	const struct process *p = view_process(v);
	bool stopped = p && p->state == 'T';

	return view_open_dialog(v, stopped ? ACT_THAW : ACT_FREEZE, stopped ? SIGCONT : SIGSTOP,
				SCOPE_GROUP);
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

void view_acted(struct view *v, const struct act_outcome *outcome)
{
	if (v->dialog.open) {
		dialog_close(&v->dialog);
		v->tagged.n = 0;
		v->paused = false;
	}
	v->outcome = outcome;
	v->acting = outcome && !outcome->done;
	if (outcome && outcome->done)
		view_say(v, outcome->alive ? STYLE_SURVIVOR : STYLE_GOOD,
			 "%s: %zu of %zu gone%s · d shows before and after", outcome->title,
			 outcome->gone, outcome->hit, outcome->alive ? ", the others live" : "");
	if (v->screen == SCREEN_DIFF)
		view_diff_page(v);
}

void view_act_failed(struct view *v, bool again, const struct err *why)
{
	struct dialog_host h = view_host(v);
	struct err err = {0};
	char safe[320];

	text_safe(safe, sizeof(safe), why->text, strlen(why->text), v->o.ascii);
	if (!again) {
		dialog_close(&v->dialog);
		view_say(v, STYLE_WARNING, "nothing was sent: %s", safe);
	} else if (dialog_again(&v->dialog, &h, safe, &err) < 0) {
		dialog_close(&v->dialog);
		view_say(v, STYLE_WARNING, "nothing was sent: %s", err.text);
	}
}
