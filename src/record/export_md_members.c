#include "record/export_parts.h"

#include "base/clock.h"
#include "record/markdown.h"
#include "record/phrase.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* As last known: arguments, each ended by NUL, joined for reading. */
static void write_command(struct words *w, const struct story_member *m)
{
	struct bytes command = {0};

	if (!m->args.len) {
		fputs("\\[", w->out);
		if (!w->error)
			w->error = markdown_bytes(w->out, &m->comm, EXPORT_TEXT_MAX);
		fputs("\\]", w->out);
		return;
	}
	if (!bytes_set(&command, m->args.data, m->args.len - 1)) {
		w->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < command.len; i++)
		if (!command.data[i])
			command.data[i] = ' ';
	if (!w->error)
		w->error = markdown_bytes(w->out, &command, EXPORT_TEXT_MAX);
	bytes_free(&command);
}

void export_md_member(struct words *w, const struct export *x, struct identity id)
{
	const struct story_member *m = story_member(&x->story, id);

	fprintf(w->out, "%d@%" PRIu64 " ", (int)id.pid, id.start);
	if (m)
		write_command(w, m);
	else
		fputs("(no member)", w->out);
}

/* What number says of a session or group that is not the run's. */
static void away(struct words *w, const char *what, const char *call, pid_t number, pid_t pid)
{
	if (number <= 0 || number == pid)
		fprintf(w->out, "a %s of its own (%s)", what, call);
	else
		fprintf(w->out, "in %s %d, which is not the run's", what, (int)number);
}

/* A flag shows the gravest only; the journal may tell of more. */
static void write_detached(struct words *w, const struct export *x, size_t i)
{
	const struct story_member *s = &x->story.members.v[i];
	const struct export_member *m = &x->members.v[i];
	const struct run *run = &x->story.record.run;
	bool cgroup = export_has_flag(m, "C") || export_moved(m, "left_cgroup");
	bool session = export_has_flag(m, "S") || export_moved(m, "setsid") ||
		       (s->sid > 0 && run->sid > 0 && s->sid != run->sid);
	bool group = export_has_flag(m, "G") || export_moved(m, "setpgid") ||
		     (s->pgid > 0 && run->pgid > 0 && s->pgid != run->pgid);

	if (cgroup)
		fputs("left the run's cgroup", w->out);
	if (cgroup && (session || group))
		fputs("; ", w->out);
	if (session)
		away(w, "session", "setsid", s->sid, s->id.pid);
	else if (group)
		away(w, "process group", "setpgid", s->pgid, s->id.pid);
	else if (!cgroup)
		fputs("by what is not known", w->out);
}

static void write_class(struct words *w, const struct export *x, size_t i, unsigned bit)
{
	const json_t *survivor = export_survivor(&x->members.v[i]);

	switch (bit) {
	case CLASS_LEFT:
		fputs("in the run's own group and session; nobody had signalled it then", w->out);
		return;
	case CLASS_SURVIVED:
		fputs("survived ", w->out);
		words_outlived(w, survivor);
		return;
	case CLASS_DETACHED:
		write_detached(w, x, i);
		return;
	case CLASS_HANDED_OFF:
		fputs("it asked something that is no descendant to do the work", w->out);
		return;
	default:
		fputs("it held a credential or a connection that could still be used", w->out);
	}
}

static void write_classes(struct words *w, const struct export *x, size_t i)
{
	unsigned bits = export_classes(x, i);

	if (!bits)
		fputs("- Got away: how is not known\n", w->out);
	for (; bits; bits &= bits - 1) {
		fprintf(w->out, "- Got away: **%s** (", class_name(bits & -bits));
		write_class(w, x, i, bits & -bits);
		fputs(")\n", w->out);
	}
}

static void write_evidence(struct words *w, unsigned bits)
{
	static const char *const weights[] = {[WEIGHT_POSSIBLE] = "possible",
					      [WEIGHT_LIKELY] = "likely",
					      [WEIGHT_CERTAIN] = "certain"};

	fputs("- Of the run by: ", w->out);
	if (!bits)
		fputs("evidence not known", w->out);
	for (; bits; bits &= bits - 1)
		fprintf(w->out, "%s (%s%s)%s", evidence_name(bits & -bits),
			(bits & -bits) == EVIDENCE_ROOT
				? "the process named, or the oldest that the target named; "
				: "",
			weights[evidence_weight(bits & -bits)], bits & (bits - 1) ? ", " : "");
	fputs("\n", w->out);
}

/* One event as an item below the process. */
static void write_event(struct words *w, const json_t *e)
{
	fputs("  - ", w->out);
	phrase_time(w->out, event_time(e, "at"));
	fputs(" (", w->out);
	words_text(w, event_str(e, "known"), 0);
	fputs(") ", w->out);
	words_event(w, e);
	fputs("\n", w->out);
}

static void write_lineage(struct words *w, const struct export_member *m)
{
	fputs("- Lineage, as far as it is known:\n", w->out);
	if (m->came)
		write_event(w, m->came);
	else
		fputs("  - in the timeline\n", w->out);
	for (size_t i = 0; i < m->moves.n; i++)
		write_event(w, m->moves.v[i]);
	if (m->moves_left_off)
		fprintf(w->out, "  - and %zu more, in the timeline\n", m->moves_left_off);
}

static void fact(struct words *w, const char *label, const struct export_member *m, const char *key)
{
	const json_t *v = export_fact(m, key);

	fputs(label, w->out);
	if (json_is_integer(v))
		fprintf(w->out, "%lld", (long long)json_integer_value(v));
	else if (json_is_array(v) && json_array_size(v))
		words_list(w, v);
	else if (json_is_array(v))
		fputs("none", w->out);
	else
		words_text(w, json_string_value(v), EXPORT_TEXT_MAX);
}

static void write_facts(struct words *w, const struct export *x, size_t i)
{
	const struct story_member *s = &x->story.members.v[i];
	const struct export_member *m = &x->members.v[i];
	uint64_t started = event_time(m->leftover ? m->leftover : m->came, "started_at");
	char age[16];

	fprintf(w->out, "- Parent %d, group %d, session %d", (int)s->ppid, (int)s->pgid,
		(int)s->sid);
	fact(w, ", user ", m, "user");
	fact(w, " (uid ", m, "uid");
	fact(w, "), terminal ", m, "tty");
	fact(w, ", flags ", m, "flags");
	fputs("\n- Executable ", w->out);
	if (!w->error)
		w->error = markdown_bytes(w->out, &s->exe, EXPORT_TEXT_MAX);
	fact(w, ", working directory ", m, "cwd");
	fputs(", cgroup ", w->out);
	if (!w->error)
		w->error = markdown_bytes(w->out, &s->cgroup, EXPORT_TEXT_MAX);
	fputs("\n- Started: ", w->out);
	phrase_time(w->out, started);
	if (x->over_wall_ns && started > x->over_wall_ns) {
		clock_age((started - x->over_wall_ns) / CLOCK_NS_PER_S, age);
		fprintf(w->out, ", **%s after the run was over**", age);
	}
	fputs("\n", w->out);
}

static void write_reach(struct words *w, const struct export_member *m)
{
	const json_t *names = export_fact(m, "env_credentials");

	const char *remote = event_str(m->leftover, "remote");

	if (!remote)
		remote = event_str(m->came, "remote");
	if (remote || !json_is_integer(export_fact(m, "connections"))) {
		fputs("- Could reach: connected to ", w->out);
		words_text(w, remote, EXPORT_TEXT_MAX);
	} else {
		fputs("- Could reach: no TCP connection when it was looked at", w->out);
	}
	fputs("; names of credentials in its environment at exec: ", w->out);
	if (!names)
		fputs("not known", w->out);
	else if (!json_array_size(names))
		fputs("none", w->out);
	else
		words_list(w, names);
	fputs("\n", w->out);
}

static void write_fate(struct words *w, const struct export *x, size_t i)
{
	const struct export_member *m = &x->members.v[i];

	for (size_t k = 0; k < m->survivals.n; k++) {
		fputs("- ", w->out);
		phrase_time(w->out, event_time(m->survivals.v[k], "at"));
		fputs(" it survived ", w->out);
		words_outlived(w, m->survivals.v[k]);
		fputs("\n", w->out);
	}
	if (m->exited) {
		fputs("- Gone, ", w->out);
		phrase_time(w->out, event_time(m->exited, "at"));
		fputs(" (", w->out);
		words_text(w, event_str(m->exited, "known"), 0);
		fputs("): ", w->out);
		words_event(w, m->exited);
		fputs("\n", w->out);
	} else if (x->story.members.v[i].gone) {
		fputs("- Gone, ", w->out);
		phrase_time(w->out, x->story.members.v[i].gone_wall_ns);
		fputs("\n", w->out);
	} else {
		fputs("- **ALIVE** as last known, at ", w->out);
		phrase_time(w->out, x->last_wall_ns);
		fputs("\n", w->out);
	}
}

static void write_explanation(struct words *w, const struct export *x,
			      const struct export_member *m)
{
	if (!m->explanations.n)
		fprintf(w->out, "- Explanation: **unexplained**%s\n",
			x->notes.n ? " (" EXPORT_NOTE_BELOW ")" : "");
	else
		fputs("- Explanation:\n", w->out);
	for (size_t i = 0; i < m->explanations.n; i++)
		write_event(w, m->explanations.v[i]);
}

static void write_leftover(struct words *w, const struct export *x, size_t i)
{
	const struct export_member *m = &x->members.v[i];

	fputs("\n### ", w->out);
	export_md_member(w, x, x->story.members.v[i].id);
	fputs("\n\n", w->out);
	write_fate(w, x, i);
	write_classes(w, x, i);
	write_explanation(w, x, m);
	write_evidence(w, export_evidence(x, i));
	write_reach(w, m);
	write_facts(w, x, i);
	write_lineage(w, m);
}

static void write_legend(struct words *w)
{
	fputs("\nFlags: R (observed) and r (presumed): its parent is not the process that forked "
	      "it; "
	      "C: left the run's cgroup, S: a session of its own (setsid), or another than the "
	      "run's, G: a process group likewise (setpgid), of these the gravest only; H: hands "
	      "work off; L: started after the run was over; X: survived a signal, else Z: zombie, "
	      "D: waits in the kernel, T: stopped, t: traced; A: is connected, a: had names of "
	      "credentials at exec, ?: of the run possibly only.\n",
	      w->out);
}

void export_md_leftovers(struct words *w, const struct export *x)
{
	size_t n = 0;

	fputs("\n## What got away\n\n"
	      "Every member that was alive when the run was over, or since, and every one that "
	      "lived after a signal.\n",
	      w->out);
	if (!x->over_seq)
		fputs("The run was not over when the journal ended, so none counts as left.\n",
		      w->out);
	for (size_t i = 0; i < x->members.n; i++)
		if (export_is_leftover(x, i)) {
			if (!n++)
				write_legend(w);
			write_leftover(w, x, i);
		}
	if (!n)
		fputs("\nNone is known.\n", w->out);
	if (x->story.record.launched)
		export_md_escapes(w, x);
}
