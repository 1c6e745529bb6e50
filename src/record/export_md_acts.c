#include "record/export_parts.h"

#include "record/phrase.h"

#include <inttypes.h>
#include <string.h>

static void begin_item(struct words *w, const json_t *e)
{
	fputs("- ", w->out);
	phrase_time(w->out, event_time(e, "at"));
	fputs(" ", w->out);
}

static void write_asked(struct words *w, const json_t *e)
{
	begin_item(w, e);
	fputs("the end of the run was asked for", w->out);
	if (event_str(e, "cause")) {
		fputs(": ", w->out);
		words_cause(w, e);
	}
	fputs("; grace ", w->out);
	if (json_is_integer(json_object_get(e, "grace_ns")))
		phrase_seconds(w->out, event_uint(e, "grace_ns"));
	else
		fputs("not known", w->out);
	fputs("\n", w->out);
}

static void write_spared(struct words *w, const struct export *x, const json_t *e)
{
	const json_t *list = json_object_get(e, "not_aimed"), *v;
	size_t i;

	if (!json_array_size(list))
		fputs("  - NOT aimed at: none that was known\n", w->out);
	json_array_foreach(list, i, v)
	{
		fputs("  - NOT aimed at: ", w->out);
		export_md_member(w, x, event_identity(v));
		fputs(": ", w->out);
		words_text(w, event_str(v, "why") ? event_str(v, "why") : "why is not said",
			   EXPORT_TEXT_MAX);
		fputs("\n", w->out);
	}
}

static void write_intent(struct words *w, const struct export *x, const json_t *e)
{
	const json_t *list = json_object_get(e, "to"), *v;
	const json_t *grace = json_object_get(e, "in_grace");
	size_t i;

	begin_item(w, e);
	fputs("intended: ", w->out);
	words_text(w, event_str(e, "signal"), EXPORT_TEXT_MAX);
	fputs(" to ", w->out);
	words_text(w, event_str(e, "unit"), EXPORT_TEXT_MAX);
	if (event_uint(e, "number"))
		fprintf(w->out, " %" PRIu64, event_uint(e, "number"));
	fprintf(w->out, ", %zu process%s\n", json_array_size(list),
		json_array_size(list) == 1 ? "" : "es");
	if (json_is_object(grace))
		fprintf(w->out,
			"  - of the run since the TERM: %" PRIu64 " forked, %" PRIu64
			" executed, %" PRIu64 " ended\n",
			event_uint(grace, "forked"), event_uint(grace, "execed"),
			event_uint(grace, "exited"));
	json_array_foreach(list, i, v)
	{
		fputs("  - aimed at: ", w->out);
		export_md_member(w, x, event_identity(v));
		fputs("\n", w->out);
	}
	write_spared(w, x, e);
}

static void write_event(struct words *w, const struct export *x, const struct export_act *act,
			const json_t *e)
{
	if (event_is(e, "snapshot") && !export_is_own(x, act))
		return;
	if (event_is(e, "end_requested")) {
		write_asked(w, e);
	} else if (event_is(e, "signal_intent")) {
		write_intent(w, x, e);
	} else {
		begin_item(w, e);
		if (event_is(e, "signal_sent"))
			fputs("sent: ", w->out);
		words_event(w, e);
		fputs("\n", w->out);
	}
}

/* Each signal of the act that it outlived; the last as its fate, if it lives. */
static void write_outlived(struct words *w, const struct export_act *act, struct identity id,
			   const struct export_fate *f)
{
	for (size_t i = 0; i < act->events.n; i++) {
		const json_t *e = act->events.v[i];

		if (!event_is(e, "survivor") || !identity_same(story_identity(e, "process"), id))
			continue;
		fputs(e == f->survivor && !f->exited ? "**SURVIVED** " : "lived through ", w->out);
		words_outlived(w, e);
		fputs(e == f->survivor && !f->exited ? "" : "; ", w->out);
	}
}

static void write_fate(struct words *w, const struct export *x, const struct export_act *act,
		       struct identity id)
{
	struct export_fate f = export_fate(x, act, id);

	fputs("- ", w->out);
	export_md_member(w, x, id);
	fputs(": ", w->out);
	write_outlived(w, act, id, &f);
	if (f.exited) {
		bool seen = event_str(f.exited, "known") &&
			    strcmp(event_str(f.exited, "known"), "seen") == 0;

		fputs(seen ? "gone " : "found gone ", w->out);
		phrase_time(w->out, event_time(f.exited, "at"));
		fputs(", ", w->out);
		if (f.after_ns) {
			fputs(seen ? "" : "at most ", w->out);
			phrase_seconds(w->out, f.after_ns);
			fputs(" after the first signal to it", w->out);
		} else {
			fputs(f.sent_wall_ns ? "before a signal reached it"
					     : "no signal was sent to it",
			      w->out);
		}
		fputs(": ", w->out);
		words_event(w, f.exited);
	} else if (f.later) {
		fputs(f.survivor ? "; ended later, in act " : "lived on; ended later, in act ",
		      w->out);
		words_text(w, f.later, 0);
	} else if (!f.survivor) {
		fputs("what became of it was not recorded", w->out);
	}
	fputs("\n", w->out);
}

static void write_value(struct words *w, const json_t *v)
{
	char *text;

	if (json_is_string(v)) {
		words_text(w, json_string_value(v), EXPORT_TEXT_MAX);
		return;
	}
	text = v && !json_is_null(v) ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	words_text(w, text, EXPORT_TEXT_MAX);
	free(text);
}

static bool has_died(const json_t *change)
{
	const char *to =
		event_str(json_object_get(json_object_get(change, "fields"), "state"), "to");

	return to && strcmp(to, "Z") == 0;
}

/* Nothing where the journal does not tell. */
static void write_end(struct words *w, const struct export *x, const json_t *process)
{
	const struct story_member *m = story_member(&x->story, event_identity(process));
	const json_t *exited = m ? x->members.v[m - x->story.members.v].exited : NULL;

	if (!exited)
		return;
	fputs(", gone ", w->out);
	phrase_time(w->out, event_time(exited, "at"));
	fputs(" (", w->out);
	words_text(w, event_str(exited, "known"), 0);
	fputs(")", w->out);
}

static void write_change(struct words *w, const struct export *x, const json_t *change)
{
	const char *key;
	json_t *v;

	if (has_died(change)) { /* the rest of it is gone with it, and no news */
		fputs("- died: ", w->out);
		words_identity(w, change);
		write_end(w, x, change);
		fputs("; its parent has yet to reap it\n", w->out);
		return;
	}
	json_object_foreach(json_object_get(change, "fields"), key, v)
	{
		fputs("- ", w->out);
		words_identity(w, change);
		fputs(" ", w->out);
		words_text(w, key, EXPORT_TEXT_MAX);
		fputs(": ", w->out);
		write_value(w, json_object_get(v, "from"));
		fputs(" → ", w->out);
		write_value(w, json_object_get(v, "to"));
		fputs("\n", w->out);
	}
}

static void write_processes(struct words *w, const struct export *x, const json_t *list,
			    const char *label)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		fprintf(w->out, "- %s: ", label);
		words_identity(w, v);
		fputs(" ", w->out);
		words_command(w, v, EXPORT_TEXT_MAX);
		write_end(w, x, v);
		fputs("\n", w->out);
	}
}

static void write_diff(struct words *w, const struct export *x, const struct export_act *act)
{
	const json_t *v;
	size_t i, died = 0;

	fputs("\nBefore and after:\n\n", w->out);
	if (!act->diff) {
		fputs("- no comparison is there that is what the journal says\n", w->out);
		return;
	}
	json_array_foreach(json_object_get(act->diff, "changed"), i, v) died += has_died(v);
	fprintf(w->out, "- %zu went, %zu died, %zu came, %zu changed, %zu went and came back\n",
		json_array_size(json_object_get(act->diff, "removed")), died,
		json_array_size(json_object_get(act->diff, "added")),
		json_array_size(json_object_get(act->diff, "changed")) - died,
		json_array_size(json_object_get(act->diff, "restarted")));
	write_processes(w, x, json_object_get(act->diff, "removed"), "went");
	write_processes(w, x, json_object_get(act->diff, "added"), "came");
	json_array_foreach(json_object_get(act->diff, "changed"), i, v) write_change(w, x, v);
}

static void write_act(struct words *w, const struct export *x, const struct export_act *act)
{
	fputs(export_is_own(x, act) ? "\n### Its end, by the stray that held it" : "\n### Act ",
	      w->out);
	if (!export_is_own(x, act))
		words_text(w, act->name[0] ? act->name : "(without a directory of its own)", 0);
	fputs("\n\n", w->out);
	fputs("Operator: ", w->out);
	words_operator(w, export_act_operator(act));
	fputs("\n\n", w->out);
	for (size_t i = 0; i < act->events.n; i++)
		write_event(w, x, act, act->events.v[i]);
	if (act->aims.n)
		fputs("\nWhat became of whom it aimed at:\n\n", w->out);
	for (size_t i = 0; i < act->aims.n; i++)
		write_fate(w, x, act, act->aims.v[i]);
	if (!export_is_own(x, act)) /* which compares nothing, but names who is left */
		write_diff(w, x, act);
	fputs("\nIts files:\n\n", w->out);
	words_files(w, &act->files);
}

void export_md_acts(struct words *w, const struct export *x)
{
	fputs("\n## What was done\n\n"
	      "An intent, a signal that was sent and a death that was seen are three things: a "
	      "death "
	      "after a signal is not thereby of that signal.\n",
	      w->out);
	if (!x->acts.n)
		fputs("\nNothing: no act on this run is recorded.\n", w->out);
	for (size_t i = 0; i < x->acts.n; i++)
		write_act(w, x, &x->acts.v[i]);
	if (x->refusals.n)
		fputs("\n### Actions refused\n\n", w->out);
	for (size_t i = 0; i < x->refusals.n; i++) {
		begin_item(w, x->refusals.v[i]);
		words_event(w, x->refusals.v[i]);
		fputs("\n", w->out);
	}
}
