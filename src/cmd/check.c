#include "cmd/cmd.h"

#include "base/mask.h"
#include "engine/chronicle.h"
#include "engine/look.h"

#include <errno.h>
#include <string.h>

#define OPT_ACTION 300

static const struct cmd_option options[] = {
	{OPT_ACTION, "action", "TEXT", "what it wants to do, for the record"},
	{0, NULL, NULL, NULL},
};

struct check {
	struct cmd_common common;
	const char *action;
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	(void)id;
	(void)err;
	((struct check *)ctx)->action = arg;
	return 0;
}

static int answer(struct recorded *r, const struct check *c, enum run_state state, struct err *err)
{
	bool yes = run_state_may_act(state);
	struct operator o = operator_current();
	struct bytes action = {0};
	struct jw *j;
	int rc = 0;

	if (c->action && mask_text(c->action, strlen(c->action), &action, NULL) < 0)
		return err_nomem(err);
	j = recorded_begin(r, yes ? "action_accepted" : "action_refused", KNOWN_SEEN);
	if (j) {
		jw_bytes(j, "action", &action);
		jw_str(j, "state", run_state_name(state));
		operator_json(j, "operator", &o);
	}
	/* an acceptance must not come behind the expiry that would have refused it */
	rc = yes ? recorded_commit_in_state(r, true, err) : recorded_commit(r, true, err);
	bytes_free(&action);
	return rc;
}

static int look_at(struct recorded *r, const struct cmd_common *common, struct look *look,
		   enum run_state *state, struct err *err)
{
	struct source_options o;
	int rc;

	if (recorded_is_held(r, state))
		return 0;
	rc = cmd_source_options(common, &r->run.chosen, &o, err);

	o.candidate_details = 0;
	o.details = DETAIL_BASIC; /* a change of state tells of those who are left */
	if (!rc)
		rc = look_open(look, &o, err);
	if (!rc)
		rc = look_again(look, err);
	if (!rc && !recorded_is_here(r, &look->tracker.now->host))
		rc = err_set(err, ESRCH, "run %s is of another boot or PID namespace", r->dir.id);
	if (!rc)
		rc = tracker_set_run(&look->tracker, &r->run, err);
	if (!rc)
		rc = chronicle_settle(r, &look->tracker, err);
	*state = r->story.state;
	return rc;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct check c = {0};
	struct recorded r = {0};
	struct look look = {0};
	struct err err = {0};
	enum run_state state = RUN_UNKNOWN;
	int rest, rc;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &c.common, set_option, &c, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest != 1)
		return cmd_troublef("check: the id of one run is needed: see stray runs");
	rc = recorded_open(c.common.state_dir, cmd_run_name(argv[rest]), true, &r, &err);
	if (!rc)
		rc = look_at(&r, &c.common, &look, &state, &err);
	while (!rc && (rc = answer(&r, &c, state, &err)) == -EAGAIN) {
		rc = recorded_refresh(&r, &err);
		rc = rc < 0 ? rc : 0;
		state = r.story.state;
	}
	if (!rc && c.common.json)
		printf("{\"schema\":\"stray.check/1\",\"run_id\":\"%s\",\"may_act\":%s,"
		       "\"state\":\"%s\"}\n",
		       r.dir.id, run_state_may_act(state) ? "true" : "false",
		       run_state_name(state));
	else if (!rc)
		printf("%s: %s\n", r.dir.id, run_state_name(state));
	look_close(&look);
	recorded_close(&r);
	if (rc < 0)
		return cmd_trouble(&err);
	return run_state_may_act(state) ? STATUS_OK : STATUS_DIFFERS;
}

const struct cmd cmd_check = {
	.name = "check",
	.args = "RUN",
	.summary = "may this run still act? 0 only while it is active; the answer is recorded",
	.example = "stray check run-7f3c0a12 --action \"git push\" && git push",
	.options = options,
	.run = run,
};
