#include "record/export_parts.h"

#include "record/host_json.h"
#include "record/process_json.h"

#include <string.h>

static void write_anchors(struct jw *j, const struct export *x)
{
	jw_array(j, "anchors");
	for (size_t i = 0; i < x->anchors.n; i++) {
		const json_t *e = x->anchors.v[i];

		jw_object(j, NULL);
		jw_str(j, "to", event_str(e, "to"));
		export_json_value(j, "anchored_seq", json_object_get(e, "anchored_seq"));
		jw_str(j, "anchored_head", event_str(e, "anchored_head"));
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_ledger(struct jw *j, const struct export *x)
{
	jw_object(j, "ledger");
	jw_str(j, "verdict", x->ledger_why[0] ? NULL : journal_fault_name(x->ledger_verdict.fault));
	jw_str(j, "why", x->ledger_why[0] ? x->ledger_why : x->ledger_verdict.why);
	jw_array(j, "heads");
	for (size_t i = 0; i < x->ledger.n; i++) {
		jw_object(j, NULL);
		jw_uint(j, "seq", x->ledger.v[i].seq);
		jw_str(j, "head", x->ledger.v[i].hash);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_object_end(j);
}

static void write_record_check(struct jw *j, const struct export *x)
{
	jw_object(j, "record");
	jw_str(j, "sha256", x->record_sha256[0] ? x->record_sha256 : NULL);
	jw_str(j, "sha256_at_opening", x->record_sealed);
	if (x->record_sealed)
		jw_bool(j, "as_opened", strcmp(x->record_sealed, x->record_sha256) == 0);
	else
		jw_null(j, "as_opened");
	jw_str(j, "unreadable", x->record_why[0] ? x->record_why : NULL);
	jw_object_end(j);
}

static void write_commands(struct jw *j, const struct export *x)
{
	char *commands = export_commands(x), *rest = commands, *line;

	jw_array(j, "commands");
	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			jw_str(j, NULL, line);
	jw_array_end(j);
	free(commands);
}

void export_json_verification(struct jw *j, const struct export *x)
{
	const struct journal_verdict *v = &x->story.verdict;

	jw_object(j, "verification");
	jw_str(j, "verdict", journal_fault_name(v->fault));
	jw_bool(j, "holds", v->fault == JOURNAL_HOLDS);
	if (v->line)
		jw_uint(j, "line", v->line);
	else
		jw_null(j, "line");
	jw_str(j, "why", v->why[0] ? v->why : NULL);
	jw_uint(j, "seq", v->seq);
	jw_str(j, "head", v->head);
	jw_uint(j, "torn_bytes", v->torn_bytes);
	jw_uint(j, "torn_closed", v->torn_closed);
	write_anchors(j, x);
	write_ledger(j, x);
	write_record_check(j, x);
	write_commands(j, x);
	jw_object_end(j);
}

static void write_evidence(struct jw *j, unsigned bits)
{
	static const char *const weights[] = {[WEIGHT_POSSIBLE] = "possible",
					      [WEIGHT_LIKELY] = "likely",
					      [WEIGHT_CERTAIN] = "certain"};

	jw_array(j, "evidence");
	for (; bits; bits &= bits - 1) {
		unsigned bit = bits & -bits;

		jw_object(j, NULL);
		jw_str(j, "name", evidence_name(bit));
		jw_str(j, "weight", weights[evidence_weight(bit)]);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_classes(struct jw *j, unsigned bits)
{
	jw_array(j, "classes");
	for (; bits; bits &= bits - 1)
		jw_str(j, NULL, class_name(bits & -bits));
	jw_array_end(j);
}

static void write_seq(struct jw *j, const char *key, const json_t *event)
{
	if (event)
		jw_uint(j, key, event_uint(event, "seq"));
	else
		jw_null(j, key);
}

void export_json_seqs(struct jw *j, const char *key, const json_t *first, const struct events *l)
{
	jw_array(j, key);
	if (first)
		write_seq(j, NULL, first);
	for (size_t i = 0; i < l->n; i++)
		write_seq(j, NULL, l->v[i]);
	jw_array_end(j);
}

static void write_facts(struct jw *j, const struct export_member *m)
{
	static const char *const keys[] = {"started_at", "uid",         "user",
					   "tty",        "cwd",         "env_credentials",
					   "flags",      "connections", "remote"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		export_json_value(j, keys[i], export_fact(m, keys[i]));
}

static void write_leftover(struct jw *j, const struct export *x, size_t i)
{
	const struct story_member *s = &x->story.members.v[i];
	const struct export_member *m = &x->members.v[i];

	jw_object(j, NULL);
	jw_int(j, "pid", s->id.pid);
	jw_uint(j, "start_ticks", s->id.start);
	jw_bytes(j, "comm", &s->comm);
	jw_bytes(j, "exe", &s->exe);
	process_json_args(j, "args", "args_b64", &s->args);
	jw_int(j, "ppid", s->ppid);
	jw_int(j, "pgid", s->pgid);
	jw_int(j, "sid", s->sid);
	jw_bytes(j, "cgroup", &s->cgroup);
	write_facts(j, m);
	write_classes(j, export_classes(x, i));
	write_evidence(j, export_evidence(x, i));
	export_json_seqs(j, "lineage", m->came, &m->moves);
	jw_uint(j, "lineage_left_off", m->moves_left_off);
	jw_bool(j, "alive_as_last_known", !s->gone);
	write_seq(j, "exited", m->exited);
	write_seq(j, "survivor", export_survivor(m));
	jw_str(j, "why_alive", event_str(export_survivor(m), "why"));
	export_json_seqs(j, "explanations", NULL, &m->explanations);
	jw_bool(j, "unexplained", !m->explanations.n);
	jw_object_end(j);
}

void export_json_launched(struct jw *j, const struct export *x)
{
	write_seq(j, "command_exited", x->command_exited);
	export_json_seqs(j, "runner_lost", NULL, &x->runner_lost);
	export_json_seqs(j, "handed_off", NULL, &x->handed_off);
	export_json_seqs(j, "detach_denied", NULL, &x->detach_denied);
}

void export_json_leftovers(struct jw *j, const struct export *x)
{
	jw_array(j, "leftovers");
	for (size_t i = 0; i < x->members.n; i++)
		if (export_is_leftover(x, i))
			write_leftover(j, x, i);
	jw_array_end(j);
}

static void write_file(struct jw *j, const struct export_file *f)
{
	static const char *const states[] = {"same", "changed", "missing"};

	jw_object(j, NULL);
	jw_str(j, "what", f->what);
	jw_str(j, "file", f->name);
	jw_str(j, "sha256", f->sha256);
	jw_str(j, "state", states[f->state]);
	jw_str(j, "sha256_found", f->found[0] ? f->found : NULL);
	jw_str(j, "why", f->why[0] ? f->why : NULL);
	jw_object_end(j);
}

void export_json_files(struct jw *j, const struct export_file_list *files)
{
	jw_array(j, "files");
	for (size_t i = 0; i < files->n; i++)
		write_file(j, &files->v[i]);
	jw_array_end(j);
}

static void write_aim(struct jw *j, const struct export *x, const struct export_act *act,
		      struct identity id)
{
	struct export_fate f = export_fate(x, act, id);

	jw_object(j, NULL);
	jw_int(j, "pid", id.pid);
	jw_uint(j, "start_ticks", id.start);
	time_json(j, "first_sent_at", f.sent_wall_ns);
	write_seq(j, "exited", f.exited);
	if (f.after_ns)
		jw_uint(j, "gone_after_ns", f.after_ns);
	else
		jw_null(j, "gone_after_ns");
	write_seq(j, "survivor", f.survivor);
	jw_str(j, "why_alive", event_str(f.survivor, "why"));
	jw_object_end(j);
}

static void write_act(struct jw *j, const struct export *x, const struct export_act *act)
{
	jw_object(j, NULL);
	jw_str(j, "act", act->name[0] ? act->name : NULL);
	export_json_seqs(j, "events", NULL, &act->events);
	jw_array(j, "aimed");
	for (size_t i = 0; i < act->aims.n; i++)
		write_aim(j, x, act, act->aims.v[i]);
	jw_array_end(j);
	export_json_files(j, &act->files);
	export_json_value(j, "diff", act->diff);
	jw_object_end(j);
}

void export_json_acts(struct jw *j, const struct export *x)
{
	jw_array(j, "acts");
	for (size_t i = 0; i < x->acts.n; i++)
		write_act(j, x, &x->acts.v[i]);
	jw_array_end(j);
}
