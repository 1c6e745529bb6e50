#include "record/export_parts.h"

#include "record/markdown.h"
#include "record/phrase.h"

#include <inttypes.h>
#include <string.h>

static void item(struct words *w, const char *label, const char *text)
{
	fprintf(w->out, "- %s: ", label);
	words_text(w, text && *text ? text : NULL, EXPORT_TEXT_MAX);
	fputs("\n", w->out);
}

static void time_item(struct words *w, const char *label, uint64_t wall_ns)
{
	fprintf(w->out, "- %s: ", label);
	phrase_time(w->out, wall_ns);
	fputs("\n", w->out);
}

static void write_stated(struct words *w, const struct export *x)
{
	const struct run_record *r = &x->story.record;

	fputs("\nStated by the operator, not seen:\n\n", w->out);
	item(w, "Who answers for it", r->approved_by ? r->approved_by : "nobody was named");
	if (r->target[0])
		item(w, "Named as the run", r->target);
	if (r->started_known == KNOWN_STATED)
		time_item(w, "Started", r->started_wall_ns);
	if (r->deadline_wall_ns)
		time_item(w, "Was to end, or ended", r->deadline_wall_ns);
	else
		fputs("- Deadline: none was stated\n", w->out);
}

static void write_requesters(struct words *w, const struct export *x)
{
	const struct run_record *r = &x->story.record;
	const char *sha256 = r->requester_sha256[0] ? r->requester_sha256
						    : event_str(x->hashed, "requester_sha256");

	fprintf(w->out, "\nWho %s:\n\n", r->launched ? "started it" : "asked for the record");
	if (r->launched)
		item(w, "Who answers for it", r->approved_by ? r->approved_by : "nobody was named");
	fputs("- Operator: ", w->out);
	words_by(w, &r->operator);
	fputs("\n- By the processes (innermost first): ", w->out);
	if (!r->requested_by.n)
		fputs("not known", w->out);
	for (size_t i = 0; i < r->requested_by.n; i++) {
		const struct requester *q = &r->requested_by.v[i];

		fprintf(w->out, "%s%d@%" PRIu64, i ? ", " : "", (int)q->id.pid, q->id.start);
		if (!q->comm.data)
			continue;
		fputs(" ", w->out);
		if (!w->error)
			w->error = markdown_bytes(w->out, &q->comm, EXPORT_TEXT_MAX);
	}
	fputs("\n- Program of the process that ran stray: ", w->out);
	if (!w->error)
		w->error = markdown_bytes(w->out, &r->requester_exe, EXPORT_TEXT_MAX);
	fputs(", SHA-256 ", w->out);
	words_text(w, sha256, 0);
	fputs("\n", w->out);
}

void words_files(struct words *w, const struct export_file_list *files)
{
	static const char *const states[] = {"as the journal says", "**CHANGED since**",
					     "**not there**"};

	if (!files->n)
		fputs("- none is named in the journal\n", w->out);
	for (size_t i = 0; i < files->n; i++) {
		const struct export_file *f = &files->v[i];

		fputs("- ", w->out);
		words_text(w, f->what, EXPORT_TEXT_MAX);
		fputs(": ", w->out);
		words_text(w, f->name, EXPORT_TEXT_MAX);
		fprintf(w->out, ", %s\n", states[f->state]);
	}
}

static void write_root(struct words *w, const struct export *x)
{
	const struct run_record *r = &x->story.record;

	fputs("\nWhat was seen when it was recorded:\n\n- Command: ", w->out);
	words_command(w, x->record, EXPORT_TEXT_MAX);
	fputs("\n- Executable: ", w->out);
	if (!w->error)
		w->error = markdown_bytes(w->out, &r->exe, EXPORT_TEXT_MAX);
	fputs(", working directory ", w->out);
	if (!w->error)
		w->error = markdown_bytes(w->out, &r->run.cwd, EXPORT_TEXT_MAX);
	fputs("\n- Led by: ", w->out);
	words_identity(w, json_object_get(x->record, "root"));
	fprintf(w->out, "%s\n- Group %d, session %d, ", r->root_gone ? " (gone already)" : "",
		(int)r->run.pgid, (int)r->run.sid);
	if (r->run.uid == (uid_t)-1)
		fputs("uid not known", w->out);
	else
		fprintf(w->out, "uid %" PRIu32, (uint32_t)r->run.uid);
	fputs(", cgroup ", w->out);
	if (!w->error)
		w->error = markdown_bytes(w->out, &r->run.cgroup, EXPORT_TEXT_MAX);
	fputs("\n", w->out);
	if (r->started_known != KNOWN_STATED)
		time_item(w, "Started", r->started_wall_ns);
	time_item(w, "Recorded", r->host.wall_ns);
	fputs("- Names of credentials in its environment at exec, which all of it may have had: ",
	      w->out);
	if (r->n_secret_names)
		words_list(w, json_object_get(json_object_get(x->record, "inherited"),
					      "environment_names"));
	else
		fputs("none known", w->out);
	fputs("\n", w->out);
}

void export_md_run(struct words *w, const struct export *x)
{
	const struct run_record *r = &x->story.record;

	fputs("\n## The run\n\n", w->out);
	if (!x->record) {
		fputs("**Its record cannot be read:** ", w->out);
		words_text(w, x->record_why, 0);
		fputs("\n", w->out);
		return;
	}
	fprintf(w->out, "It was %s.\n\n",
		r->launched ? "launched by stray"
			    : "running already, and was adopted by an operator");
	item(w, "Host", r->host.hostname);
	item(w, "Boot", r->host.boot_id);
	item(w, "Kernel", r->host.kernel);
	if (x->over_wall_ns)
		time_item(w, "Over since", x->over_wall_ns);
	else
		fputs("- Over since: it was not over when the journal ended\n", w->out);
	write_root(w, x);
	if (r->launched)
		export_md_held(w, x);
	else
		write_stated(w, x);
	write_requesters(w, x);
	if (r->launched && !x->files.n) /* they are of its end */
		return;
	fputs("\nIts members, before (when it was recorded) and after (when it was closed):\n\n",
	      w->out);
	words_files(w, &x->files);
}

/* It is told of what changes the state. */
static void write_last_head(struct words *w, const struct export *x, uint64_t seq)
{
	uint64_t since = x->last_seq > seq ? x->last_seq - seq : 0;

	fprintf(w->out, "its last head of this run is that of event %" PRIu64, seq);
	if (since)
		fprintf(w->out, " (%" PRIu64 " event%s since, which %s)", since,
			since == 1 ? "" : "s",
			x->state_seq > seq ? "**CHANGED the state: it was not told**"
			: since == 1       ? "changes no state"
					   : "change no state");
	fputs("\n", w->out);
}

static void write_ledger(struct words *w, const struct export *x)
{
	const struct journal_verdict *v = &x->ledger_verdict;

	fputs("- Ledger: ", w->out);
	if (x->ledger_why[0]) {
		words_text(w, x->ledger_why, 0);
		fputs(": whether the journal was cut is not known from it\n", w->out);
		return;
	}
	if (v->fault != JOURNAL_HOLDS) {
		fputs("**it does not hold**: ", w->out);
		words_text(w, v->why, 0);
		fputs("; ", w->out);
	}
	if (x->ledger.n)
		write_last_head(w, x, x->ledger.v[x->ledger.n - 1].seq);
	else
		fputs("knows nothing of this run\n", w->out);
}

static void write_record_check(struct words *w, const struct export *x)
{
	fputs("- Run record: ", w->out);
	if (!x->record_sealed)
		fputs("the journal does not tell its SHA-256\n", w->out);
	else if (strcmp(x->record_sealed, x->record_sha256) == 0)
		fputs("run.json is what the first event says it is\n", w->out);
	else
		fputs("**run.json is NOT what the first event says it is**\n", w->out);
	fputs("- SHA-256 of run.json: ", w->out);
	words_text(w, x->record_sha256[0] ? x->record_sha256 : NULL, 0);
	fputs("\n", w->out);
}

static void write_anchors(struct words *w, const struct export *x)
{
	if (!x->anchors.n)
		fputs("- Anchors: none; no head of it is kept where who can write here cannot "
		      "write\n",
		      w->out);
	for (size_t i = 0; i < x->anchors.n; i++) {
		const json_t *e = x->anchors.v[i];

		fprintf(w->out, "- Anchor: event %" PRIu64 ", head ",
			event_uint(e, "anchored_seq"));
		words_text(w, event_str(e, "anchored_head"), 0);
		fputs(", sent to ", w->out);
		words_text(w, event_str(e, "to"), 0);
		fputs(": compare it with the line there\n", w->out);
	}
}

/* Lines of sha256sum(1): only for names that need no escape anywhere. */
static void write_sums(struct words *w, const struct export_file_list *files)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789._-/";

	for (size_t i = 0; i < files->n; i++) {
		const struct export_file *f = &files->v[i];

		if (strlen(f->sha256) == CHAIN_HEX - 1 &&
		    strspn(f->sha256, plain) == CHAIN_HEX - 1 &&
		    strspn(f->name, plain) == strlen(f->name))
			fprintf(w->out, "    %s  %s\n", f->sha256, f->name);
	}
}

static void write_commands(struct words *w, const struct export *x)
{
	char *commands = export_commands(x), *rest = commands, *line;

	fputs("\nTo verify it, in the state directory (where `runs` and `ledger.jsonl` are); "
	      "`verify.sh` is a short script that needs sha256sum(1) and no stray, "
	      "in "
	      "`doc` of its source. In each line of the journal `hash` is the SHA-256 of the bytes "
	      "before `,\"hash\":\"`, closed with `}`, and `prev` is the `hash` of the line "
	      "before:\n\n",
	      w->out);
	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			fprintf(w->out, "    %s\n", line);
	free(commands);
	fputs("\nThe files of the run and of the acts, as sha256sum -c reads them there:\n\n",
	      w->out);
	write_sums(w, &x->files);
	for (size_t i = 0; i < x->acts.n; i++)
		write_sums(w, &x->acts.v[i].files);
	fputs("\nWho can write to the state directory can write all of it anew. What a head that "
	      "was "
	      "kept elsewhere (an anchor, this page) names cannot be changed without showing.\n",
	      w->out);
}

void export_md_verification(struct words *w, const struct export *x)
{
	const struct journal_verdict *v = &x->story.verdict;

	fputs("\n## Verification\n\n", w->out);
	if (v->fault == JOURNAL_HOLDS)
		fputs("- Journal: the chain holds\n", w->out);
	else
		fprintf(w->out, "- Journal: **IT DOES NOT HOLD (%s)**\n",
			journal_fault_name(v->fault));
	fprintf(w->out,
		"- Last event that holds: %" PRIu64 "\n- Its hash, the head: %s\n"
		"- Torn tails: %" PRIu64 " closed, %" PRIu64 " bytes at the end\n",
		v->seq, v->head, v->torn_closed, v->torn_bytes);
	write_record_check(w, x);
	write_anchors(w, x);
	write_ledger(w, x);
	write_commands(w, x);
}
