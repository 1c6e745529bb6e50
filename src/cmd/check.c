#include "cmd/cmd.h"

#include "base/mask.h"
#include "engine/chronicle.h"
#include "engine/look.h"
#include "engine/warden_door.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/*
 * A run that is held is asked at its warden's: it alone knows, and its answer stands in the journal
 * in its place.  1: answered; 0: nobody is there to answer.
 */
static int ask_warden(const struct check *c, const char *name, char id[static RUN_ID_MAX + 1],
		      enum run_state *state, struct err *err)
{
	struct door_word word = {.kind = DOOR_CHECK, .operator= operator_current()}, answer;
	struct bytes action = {0};
	struct recorded r = {0};
	int visit, rc = recorded_enter(c->common.state_dir, name, &r, NULL);

	if (rc < 0)
		return 0; /* what is wrong is said on the long way */
	if (c->action && mask_text(c->action, strlen(c->action), &action, NULL) < 0)
		rc = err_nomem(err);
	word.has_action = action.data;
	if (action.data)
		snprintf(word.action, sizeof(word.action), "%s", action.data);
	bytes_free(&action);
	snprintf(id, RUN_ID_MAX + 1, "%s", r.dir.id);
	visit = rc < 0 ? rc : door_visit(r.dir.fd, &word, &answer, NULL);
	recorded_close(&r);
	if (visit < 0)
		return rc < 0 ? rc : 0;
	close(visit);
	*state = answer.state;
	if (answer.error)
		return err_errno(err, answer.error, "run %s: its answer was not recorded", id);
	return 1;
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

/* What the journal says, and what is seen of it now. */
static int ask_host(const struct check *c, const char *name, char id[static RUN_ID_MAX + 1],
		    enum run_state *state, struct err *err)
{
	struct recorded r = {0};
	struct look look = {0};
	int rc = recorded_open(c->common.state_dir, name, true, &r, err);

	if (!rc)
		rc = look_at(&r, &c->common, &look, state, err);
	while (!rc && (rc = answer(&r, c, *state, err)) == -EAGAIN) {
		rc = recorded_refresh(&r, err);
		rc = rc < 0 ? rc : 0;
		*state = r.story.state;
	}
	if (!rc)
		snprintf(id, RUN_ID_MAX + 1, "%s", r.dir.id);
	look_close(&look);
	recorded_close(&r);
	return rc;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct check c = {0};
	struct err err = {0};
	char id[RUN_ID_MAX + 1];
	enum run_state state = RUN_UNKNOWN;
	int rest, rc;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &c.common, set_option, &c, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest != 1)
		return cmd_troublef("check: the id of one run is needed: see stray runs");
	rc = ask_warden(&c, cmd_run_name(argv[rest]), id, &state, &err);
	if (rc == 0)
		rc = ask_host(&c, cmd_run_name(argv[rest]), id, &state, &err);
	if (rc >= 0 && c.common.json)
		printf("{\"schema\":\"stray.check/1\",\"run_id\":\"%s\",\"may_act\":%s,"
		       "\"state\":\"%s\"}\n",
		       id, run_state_may_act(state) ? "true" : "false", run_state_name(state));
	else if (rc >= 0)
		printf("%s: %s\n", id, run_state_name(state));
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
