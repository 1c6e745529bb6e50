#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/subject.h"
#include "engine/chronicle.h"
#include "engine/contacts.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { OPT_STARTED = 300, OPT_EXPIRED, OPT_ID, OPT_APPROVED };

static const struct cmd_option options[] = {
	{OPT_ID, "id", "ID", "the run's id (run- and 8 hex digits)"},
	{OPT_STARTED, "started-at", "TIME",
	 "when it began, as you know it: 14:00 or RFC 3339, UTC"},
	{OPT_EXPIRED, "expired-at", "TIME", "when it was, or is, to be over, as you know it"},
	{OPT_APPROVED, "approved-by", "TEXT", "who answers for it"},
	{0, NULL, NULL, NULL},
};

#define GROUPS_MAX 4 /* named in a refusal */

struct adopt {
	struct cmd_common common;
	struct adoption how;
};

/* "14:03" and "14:03:07": the last time that it was so late, UTC; else RFC 3339. */
static int parse_time(const char *name, const char *text, uint64_t *wall_ns, struct err *err)
{
	time_t now = (time_t)(clock_wall_ns() / CLOCK_NS_PER_S);
	int h, m, s = 0, end = 0;
	struct tm tm;

	if (clock_parse_rfc3339(text, wall_ns) == 0)
		return 0;
	if ((sscanf(text, "%2d:%2d%n", &h, &m, &end) == 2 && !text[end]) ||
	    (sscanf(text, "%2d:%2d:%2d%n", &h, &m, &s, &end) == 3 && !text[end])) {
		time_t t;

		gmtime_r(&now, &tm);
		tm.tm_hour = h;
		tm.tm_min = m;
		tm.tm_sec = s;
		t = timegm(&tm);
		if (h >= 0 && h < 24 && m >= 0 && m < 60 && s >= 0 && s < 61) {
			*wall_ns = (uint64_t)(t > now ? t - 24 * 3600 : t) * CLOCK_NS_PER_S;
			return 0;
		}
	}
	return err_set(err, EINVAL, "%s: not a time '%s': try 14:03 or 2026-07-24T14:03:00Z (UTC)",
		       name, text);
}

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct adopt *a = ctx;

	switch (id) {
	case OPT_ID:
		a->how.id = arg;
		return 0;
	case OPT_STARTED:
		return parse_time("--started-at", arg, &a->how.started_wall_ns, err);
	case OPT_EXPIRED:
		return parse_time("--expired-at", arg, &a->how.expired_wall_ns, err);
	default:
		a->how.approved_by = arg;
		return 0;
	}
}

/* Which day "14:03" was taken to be, and whether that can be. */
static void say_deadline(struct line *o, const struct story *s, const struct table *now)
{
	char when[CLOCK_RFC3339_MAX];
	uint64_t started;

	if (!s->record.deadline_wall_ns)
		return;
	clock_rfc3339(s->record.deadline_wall_ns, when);
	line_put(o, ROLE_NORMAL, "to be over at %s, as you say", when);
	if (host_started_wall_ns(&now->host, s->record.run.since_ticks, &started) &&
	    s->record.deadline_wall_ns < started)
		line_put(o, ROLE_SUSPECT, ": before the first of it that is alive began");
	line_end(o);
}

static int print_text(const struct adopt *a, const struct recorded *r, const struct tracker *k,
		      struct err *err)
{
	enum run_state state = recorded_state(r, k->now);
	struct line o;

	cmd_line_init(&a->common, &o);
	line_put(&o, ROLE_HEAD, "%s", r->dir.id);
	line_put(&o, ROLE_NORMAL, "%s%s%s%zu alive%s%s", cmd_dot(), run_state_name(state),
		 cmd_dot(), story_alive(&r->story), cmd_dot(), r->dir.path);
	line_end(&o);
	say_deadline(&o, &r->story, k->now);
	return cmd_line_finish(&o, err);
}

static int print_json(const struct recorded *r, const struct tracker *k, struct err *err)
{
	struct jw *j = jw_open(stdout, false);
	int rc;

	if (!j)
		return err_nomem(err);
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.adopt/1");
	jw_str(j, "run_id", r->dir.id);
	jw_str(j, "directory", r->dir.path);
	jw_str(j, "state", run_state_name(recorded_state(r, k->now)));
	jw_uint(j, "alive", story_alive(&r->story));
	jw_uint(j, "seq", journal_seq(r->dir.journal));
	jw_str(j, "head", journal_head(r->dir.journal));
	jw_object_end(j);
	rc = jw_close(j);
	return rc < 0 ? err_errno(err, -rc, "stdout") : 0;
}

/* The groups of its members, none of which stray or an ancestor of it leads. */
static size_t list_groups(const struct tracker *k, char *out, size_t size)
{
	pid_t seen[GROUPS_MAX];
	size_t n = 0, used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < k->now->procs.n && n < GROUPS_MAX; i++) {
		const struct process *p = &k->now->procs.v[i];
		const struct process *leader = table_pid(k->now, p->pgid);
		bool known = !run_is_member(p) || process_is_dead(p) ||
			     (leader && run_is_own(k->now, leader));

		for (size_t j = 0; j < n; j++)
			known = known || seen[j] == p->pgid;
		if (known)
			continue;
		seen[n++] = p->pgid;
		used += (size_t)snprintf(out + used, size - used, " pgid:%d", p->pgid);
	}
	return n;
}

/* What is led by who asks never ends while it is asked for, and cannot be ended whole. */
static int refuse(const struct tracker *k, struct err *err)
{
	const struct process *root = table_find(k->now, k->run->root);
	char groups[GROUPS_MAX * sizeof(" pgid:2147483647")];

	if (!root || !run_is_own(k->now, root))
		return 0;
	if (!list_groups(k, groups, sizeof(groups)))
		return err_set(err, EPERM,
			       "%s: refused: %d is stray itself or an ancestor of it, never a "
			       "member of a run, and there is nobody else",
			       k->run->id, root->id.pid);
	return err_set(err, EPERM,
		       "%s: refused: %d, which leads it, is stray itself or an ancestor of it, "
		       "never a member of a run: adopt what else is in it by group:%s",
		       k->run->id, root->id.pid, groups);
}

static int adopt(struct adopt *a, const struct selector *target, struct err *err)
{
	struct source_options o;
	struct look look = {0};
	struct subject s = {0};
	struct recorded made = {0};
	int r = cmd_source_options(&a->common, target, &o, err);

	if (!r && o.replay)
		r = err_set(err, EINVAL, "a replayed file cannot be adopted");
	if (!r)
		r = look_open(&look, &o, err);
	if (!r)
		r = look_again(&look, err);
	if (!r)
		r = subject_find(&s, &a->common, target, &look, err);
	if (!r)
		r = refuse(&look.tracker, err);
	if (!r)
		r = contacts_read(&look.tracker, NULL, err);
	a->how.state_dir = a->common.state_dir;
	if (!r)
		r = recorded_adopt(&a->how, &look.tracker, &made, err);
	if (!r)
		r = chronicle_settle(&made, &look.tracker, err);
	if (!r)
		r = a->common.json ? print_json(&made, &look.tracker, err)
				   : print_text(a, &made, &look.tracker, err);
	recorded_close(&made);
	look_close(&look);
	subject_clear(&s);
	return r;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct adopt a = {0};
	struct selector target = {0};
	struct err err = {0};
	int rest, r;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &a.common, set_option, &a, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest > 1)
		return cmd_troublef("adopt: one TARGET only: see stray adopt --help");
	if (argc == rest) {
		cmd_say_candidates(cmd, &a.common);
		return STATUS_TROUBLE;
	}
	r = selector_parse(argv[rest], &target, &err);
	if (!r && target.kind == SELECT_RUN)
		r = err_set(&err, EINVAL, "%s: a run is recorded already, or none", argv[rest]);
	if (!r)
		r = adopt(&a, &target, &err);
	selector_free(&target);
	return r < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_adopt = {
	.name = "adopt",
	.args = "TARGET",
	.summary = "make a recorded run of something that runs already",
	.example = "stray adopt sid:4102 --started-at 14:00 --expired-at 14:03",
	.options = options,
	.run = run,
};
