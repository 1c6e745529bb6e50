#include "record/export_parts.h"

#include "record/markdown.h"
#include "record/phrase.h"

#include <inttypes.h>
#include <string.h>

#define STEPS_MAX 16 /* of how it ended, in one line; all are in the chapter What was done */

static void text_item(struct words *w, const char *label, const char *text)
{
	fprintf(w->out, "- %s: ", label);
	words_text(w, text, EXPORT_TEXT_MAX);
	fputs("\n", w->out);
}

static void write_unit(struct words *w, const struct export *x)
{
	const json_t *unit = json_object_get(x->record, "containment");

	fputs("- Held by: ", w->out);
	words_text(w, event_str(unit, "kind"), EXPORT_TEXT_MAX);
	if (event_str(unit, "path")) {
		fputs(" ", w->out);
		words_text(w, event_str(unit, "path"), EXPORT_TEXT_MAX);
	}
	fputs("\n", w->out);
	text_item(w, "What that cannot hold", event_str(unit, "cannot_hold"));
	if (event_str(unit, "fallbacks"))
		text_item(w, "Refused by this host, and done another way",
			  event_str(unit, "fallbacks"));
}

static void write_descriptors(struct words *w, const struct export *x)
{
	const struct run_record *r = &x->story.record;

	fputs("- Descriptors given: ", w->out);
	if (!r->inherited_fds.n)
		fputs("none", w->out);
	for (size_t i = 0; i < r->inherited_fds.n; i++) {
		fprintf(w->out, "%s%d ", i ? ", " : "", r->inherited_fds.v[i].fd);
		if (!w->error)
			w->error = markdown_bytes(w->out, &r->inherited_fds.v[i].what,
						  EXPORT_TEXT_MAX);
	}
	fputs("\n", w->out);
}

void export_md_held(struct words *w, const struct export *x)
{
	const struct run_record *r = &x->story.record;

	fputs("\nHow it was held:\n\n", w->out);
	write_unit(w, x);
	fputs("- Deadline: ", w->out);
	if (r->deadline_wall_ns)
		phrase_time(w->out, r->deadline_wall_ns);
	else
		fputs("none", w->out);
	fputs("; grace ", w->out);
	phrase_seconds(w->out, r->grace_ns);
	fprintf(w->out,
		" between TERM and KILL\n- Launched by %d@%" PRIu64 ", held by %d@%" PRIu64 "\n",
		(int)r->front.pid, r->front.start, (int)r->warden.pid, r->warden.start);
	if (*r->parent_run)
		text_item(w, "In the run", r->parent_run);
	write_descriptors(w, x);
}

/* --- how it ended --- */

void words_cause(struct words *w, const json_t *event)
{
	static const struct {
		const char *cause, *words;
	} causes[] = {
		{"parent_died", "the process that it was not to outlive died"},
		{"runner_lost", "the stray that launched it was killed"},
		{"ender_died", "the stray that was ending it did not come to the end of that"},
		{"leftover", "what it left was to be ended"},
	};
	const char *cause = event_str(event, "cause");

	if (cause && strcmp(cause, "signal") == 0) {
		fputs("stray got the signal ", w->out);
		words_text(w, event_str(event, "signal"), EXPORT_TEXT_MAX);
		return;
	}
	for (size_t i = 0; cause && i < sizeof(causes) / sizeof(causes[0]); i++)
		if (strcmp(cause, causes[i].cause) == 0) {
			fputs(causes[i].words, w->out);
			return;
		}
	words_text(w, cause, EXPORT_TEXT_MAX);
}

static void write_command_end(struct words *w, const json_t *e)
{
	if (event_str(e, "signal")) {
		fputs("the command ended by signal ", w->out);
		words_text(w, event_str(e, "signal"), EXPORT_TEXT_MAX);
	} else if (json_is_integer(json_object_get(e, "status"))) {
		fprintf(w->out, "the command ended with status %" PRIu64, event_uint(e, "status"));
	} else {
		fputs("the command ended, how is not known", w->out);
	}
}

static void write_step(struct words *w, const json_t *e)
{
	if (event_is(e, "exited")) {
		write_command_end(w, e);
	} else if (event_is(e, "end_requested") && event_str(e, "cause")) {
		words_cause(w, e);
	} else if (event_is(e, "end_requested")) {
		fputs("its end was asked for by ", w->out);
		words_operator(w, e);
	} else if (event_is(e, "deadline_expired")) {
		fputs("the deadline passed ", w->out);
		phrase_time(w->out, event_time(e, "deadline_at"));
	} else {
		words_event(w, e);
	}
}

/* Of the runner that was lost two events tell, of the end that followed a third. */
static bool is_step(const json_t *e)
{
	const char *cause = event_str(e, "cause");

	if (event_is(e, "end_requested"))
		return !cause || strcmp(cause, "runner_lost") != 0;
	return event_is(e, "deadline_expired") || event_is(e, "runner_lost");
}

static int by_seq(const void *a, const void *b)
{
	uint64_t x = event_uint(*(json_t *const *)a, "seq");
	uint64_t y = event_uint(*(json_t *const *)b, "seq");

	return x < y ? -1 : x > y;
}

void export_md_ended(struct words *w, const struct export *x)
{
	json_t *steps[STEPS_MAX];
	size_t n = 0;

	if (event_str(x->closed, "error")) {
		fputs("it never ran: ", w->out);
		words_text(w, event_str(x->closed, "error"), EXPORT_TEXT_MAX);
		return;
	}
	if (x->command_exited)
		steps[n++] = x->command_exited;
	for (size_t i = 0; i < x->acts.n; i++)
		for (size_t k = 0; k < x->acts.v[i].events.n && n < STEPS_MAX; k++)
			if (is_step(x->acts.v[i].events.v[k]))
				steps[n++] = x->acts.v[i].events.v[k];
	if (n)
		qsort(steps, n, sizeof(*steps), by_seq);
	else
		fputs("that is not in the journal", w->out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "; " : "", w->out);
		write_step(w, steps[i]);
	}
}

/* --- what left it another way --- */

static void write_list(struct words *w, const char *title, const struct events *l)
{
	if (!l->n)
		return;
	fprintf(w->out, "\n### %s\n\n", title);
	for (size_t i = 0; i < l->n; i++) {
		fputs("- ", w->out);
		phrase_time(w->out, event_time(l->v[i], "at"));
		fputs(" ", w->out);
		words_event(w, l->v[i]);
		fputs("\n", w->out);
	}
}

void export_md_escapes(struct words *w, const struct export *x)
{
	write_list(w, "Work that was handed off", &x->handed_off);
	if (x->handed_off.n)
		fputs("\nWhat these asked another host, an engine or a service for is no member, "
		      "and was not ended.\n",
		      w->out);
	write_list(w, "Refused to detach", &x->detach_denied);
}
