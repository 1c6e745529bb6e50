#include "cmd/cmd.h"

#include "base/mask.h"
#include "engine/recorded.h"
#include "record/process_json.h"

#include <errno.h>
#include <string.h>

#define TEXT_MAX 4096 /* bytes: an explanation, no report */
#define OPT_PROCESS 300

static const struct cmd_option options[] = {
	{OPT_PROCESS, "process", "PID", "the leftover that it explains (PID or PID@START)"},
	{0, NULL, NULL, NULL},
};

struct note {
	struct cmd_common common;
	struct selector process; /* SELECT_NONE: the run as a whole */
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct note *n = ctx;

	(void)id;
	selector_free(&n->process);
	if (selector_parse(arg, &n->process, NULL) == 0 && n->process.kind == SELECT_PID)
		return 0;
	return err_set(err, EINVAL, "--process: a PID or PID@START, not '%s'", arg);
}

/* The member meant: with that PID, the latest of them; it may be dead by now. */
static int find_member(const struct recorded *r, const struct selector *s, struct identity *out,
		       struct err *err)
{
	for (size_t i = r->story.members.n; i-- > 0;) {
		struct identity id = r->story.members.v[i].id;

		if (id.pid == (pid_t)s->number && (!s->start || s->start == id.start)) {
			*out = id;
			return 0;
		}
	}
	return err_set(err, ESRCH, "%d was never a member of run %s", (int)s->number, r->dir.id);
}

static int append(struct recorded *r, const struct note *n, const char *text, struct err *err)
{
	struct operator o = operator_current();
	struct bytes masked = {0};
	struct identity id = {0};
	struct jw *j;
	int rc = mask_text(text, strlen(text), &masked, NULL) < 0 ? err_nomem(err) : 0;

	if (!rc && n->process.kind == SELECT_PID)
		rc = find_member(r, &n->process, &id, err);
	if (!rc) {
		j = recorded_begin(r, "note", KNOWN_STATED);
		if (j) {
			operator_json(j, "operator", &o);
			jw_bytes(j, "text", &masked);
			if (identity_known(id))
				process_json_identity(j, "process", id);
			else
				jw_null(j, "process");
		}
		rc = recorded_commit(r, true, err);
	}
	bytes_free(&masked);
	return rc;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct note n = {0};
	struct recorded r = {0};
	struct err err = {0};
	int rest, rc;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &n.common, set_option, &n, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest != 2 || !*argv[rest + 1])
		return cmd_troublef("note: a run and a text are needed: stray note run-7f3c0a12 "
				    "\"the nightly backup, known to ops\"");
	if (strlen(argv[rest + 1]) > TEXT_MAX)
		return cmd_troublef("note: a text of at most %d bytes", TEXT_MAX);
	rc = recorded_open(n.common.state_dir, cmd_run_name(argv[rest]), true, &r, &err);
	if (rc == -EBADMSG) { /* said, and the note is written all the same */
		cmd_trouble(&err);
		err_clear(&err);
		rc = 0;
	}
	if (!rc)
		rc = append(&r, &n, argv[rest + 1], &err);
	recorded_close(&r);
	selector_free(&n.process);
	return rc < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_note = {
	.name = "note",
	.args = "RUN TEXT",
	.summary = "explain a leftover, or a run, in its journal",
	.example = "stray note run-7f3c0a12 --process 4131 \"log shipper, meant to stay\"",
	.options = options,
	.run = run,
};
