#include "record/export_parts.h"

#include "base/clock.h"
#include "record/phrase.h"

#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SUMMARY_MAX 200 /* bytes of a text in the first lines; whole below */
#define STEP_SAID "Times are UTC, by the wall clock of the host; the order is that of the journal."

/* Said before all else, and large. */
static void write_fault(struct words *w, const struct export *x)
{
	const struct journal_verdict *v = &x->story.verdict;

	if (v->fault == JOURNAL_HOLDS)
		return;
	fputs("# THE JOURNAL OF THIS RUN DOES NOT HOLD\n\n**", w->out);
	words_text(w, v->why, 0);
	fprintf(w->out,
		".**\n\n"
		"What follows is told from the %" PRIu64
		" events before the fault. Nothing behind it "
		"is told: it proves nothing. Who could write the journal may have changed it; see "
		"the chapter Verification, and look at what the system log and backups hold.\n\n",
		v->seq);
}

static size_t n_leftovers(const struct export *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->members.n; i++)
		n += export_is_leftover(x, i);
	return n;
}

static size_t n_unexplained(const struct export *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->members.n; i++)
		n += export_is_leftover(x, i) && !x->members.v[i].explanations.n;
	return n;
}

static const char *state_words(enum run_state s)
{
	static const char *const words[RUN_STATES] = {
		[RUN_UNKNOWN] = "the journal does not tell",
		[RUN_ACTIVE] = "it may still act",
		[RUN_EXPIRED] = "its deadline has passed",
		[RUN_ENDING] = "its end was asked for, and no outcome was recorded",
		[RUN_ENDED] = "nothing of it was alive",
		[RUN_SURVIVED] = "it was ended, and something of it was alive",
		[RUN_LOST] = "who watched over it died",
		[RUN_FINISHED] = "its command ended by itself and left nothing",
		[RUN_LEFTOVER] = "its command ended by itself, and members lived on",
	};

	return words[s];
}

static void write_title(struct words *w, const struct export *x)
{
	fputs("# Incident record: run ", w->out);
	words_text(w, x->dir.id, 0);
	fprintf(w->out, "\n\n**State: %s (%s)", run_state_name(x->story.state),
		state_words(x->story.state));
	if (x->story.state_wall_ns) {
		fputs(", since ", w->out);
		phrase_time(w->out, x->story.state_wall_ns);
	}
	fprintf(w->out, ". %zu alive as last known, at ", story_alive(&x->story));
	phrase_time(w->out, x->last_wall_ns);
	fputs(".**\n\n", w->out);
}

/* One line for each question that a reader comes with. */
static void write_summary(struct words *w, const struct export *x)
{
	fputs("- What ran: ", w->out);
	words_command(w, x->record, SUMMARY_MAX);
	fputs(", on host ", w->out);
	words_text(w, event_str(x->record, "host"), 0);
	fputs("; who answers for it: ", w->out);
	words_text(w,
		   event_str(x->record, "approved_by") ? event_str(x->record, "approved_by")
						       : "nobody was named",
		   SUMMARY_MAX);
	if (x->story.record.launched) {
		fputs("\n- How it ended: ", w->out);
		export_md_ended(w, x);
	}
	fprintf(w->out,
		"\n- What got away: of %zu members that are known %zu were alive when the run was "
		"over, or since, or after a signal; %zu of these are unexplained%s\n",
		x->members.n, n_leftovers(x), n_unexplained(x),
		x->notes.n && n_unexplained(x) ? " (" EXPORT_NOTE_BELOW ")" : "");
	fprintf(w->out, "- What was done: acts on it: %zu%s", x->acts.n, x->acts.n ? ", by " : "");
	if (x->acts.n)
		words_operator(w, export_act_operator(&x->acts.v[0]));
	fprintf(w->out,
		"%s\n- What is left: %zu alive as last known\n- What could not be seen: %zu items, "
		"in "
		"the chapter Not known\n",
		x->acts.n > 1 ? " (the first)" : "", story_alive(&x->story), x->gaps.n);
}

static void write_head(struct words *w, const struct export *x)
{
	write_title(w, x);
	write_summary(w, x);
	fputs("- Written: ", w->out);
	phrase_time(w->out, x->now_wall_ns);
	fprintf(w->out,
		" by stray %s, from what was recorded; no process was looked at for it\n\n"
		"A process is written PID@START, its start in clock ticks since boot: a PID alone "
		"may "
		"name another later. Each fact is *seen* (the kernel told), *scanned* (two "
		"readings of "
		"/proc differ), *presumed* (by a rule) or *stated* (by an operator).\n",
		PACKAGE_VERSION);
}

static void write_remaining(struct words *w, const struct export *x)
{
	fputs("\n## What is left\n\nAs last known, at ", w->out);
	phrase_time(w->out, x->last_wall_ns);
	fputs("; what became of it since is not in this record.\n\n", w->out);
	if (!story_alive(&x->story))
		fputs("None: of every member that was known the end was recorded.\n", w->out);
	for (size_t i = 0; i < x->members.n; i++) {
		const struct story_member *m = &x->story.members.v[i];

		if (m->gone)
			continue;
		fputs("- ", w->out);
		export_md_member(w, x, m->id);
		fprintf(w->out, ", parent %d, group %d, session %d%s\n", (int)m->ppid, (int)m->pgid,
			(int)m->sid,
			evidence_weight(export_evidence(x, i)) < WEIGHT_LIKELY
				? "; of the run possibly only"
				: "");
	}
}

static void write_gaps(struct words *w, const struct export *x)
{
	fputs("\n## Not known\n\n", w->out);
	for (size_t i = 0; i < x->gaps.n; i++) {
		fputs("- ", w->out);
		words_text(w, x->gaps.v[i].text, 0);
		fputs("\n", w->out);
	}
}

static void write_notes(struct words *w, const struct export *x)
{
	fputs("\n## Notes on the run\n\n", w->out);
	if (!x->notes.n)
		fputs("None.\n", w->out);
	for (size_t i = 0; i < x->notes.n; i++) {
		fputs("- ", w->out);
		phrase_time(w->out, event_time(x->notes.v[i], "at"));
		fputs(" ", w->out);
		words_event(w, x->notes.v[i]);
		fputs("\n", w->out);
	}
}

struct timeline {
	struct words *w;
	uint64_t left; /* events that were read before */
};

static int take_event(void *ctx, const json_t *event, struct err *err)
{
	struct timeline *t = ctx;
	struct words *w = t->w;

	(void)err;
	if (!t->left)
		return 1; /* came since */
	fputs("- ", w->out);
	phrase_time(w->out, event_time(event, "at"));
	fprintf(w->out, " no. %" PRIu64 " (", event_uint(event, "seq"));
	words_text(w, event_str(event, "known"), 0);
	fputs(") ", w->out);
	words_event(w, event);
	fputs("\n", w->out);
	t->left--;
	return 0;
}

static int write_timeline(struct words *w, const struct export *x, struct err *err)
{
	struct timeline t = {.w = w, .left = x->story.verdict.seq};
	struct journal_reading reading = {
		.name = RUNDIR_JOURNAL, .schema = JOURNAL_SCHEMA, .fn = take_event, .ctx = &t};
	struct journal_verdict verdict;
	int r;

	fputs("\n## Timeline\n\n" STEP_SAID "\n\n", w->out);
	r = journal_read(x->journal, &reading, &verdict, err);
	if (r < 0)
		return r;
	return t.left ? err_set(err, EIO, RUNDIR_JOURNAL ": was changed while it was exported") : 0;
}

int export_markdown(FILE *out, const struct export *x, struct err *err)
{
	struct words w = {.out = out, .x = x};
	int r;

	write_fault(&w, x);
	write_head(&w, x);
	export_md_run(&w, x);
	export_md_leftovers(&w, x);
	export_md_acts(&w, x);
	write_remaining(&w, x);
	write_gaps(&w, x);
	write_notes(&w, x);
	r = write_timeline(&w, x, err);
	export_md_verification(&w, x);
	return !r && w.error ? err_nomem(err) : r;
}
