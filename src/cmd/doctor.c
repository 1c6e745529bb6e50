#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "engine/doctor.h"
#include "engine/drill.h"
#include "record/host_json.h"
#include "record/process_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPT_DRILL = 300, OPT_AFTER };

static const struct cmd_option options[] = {
	{OPT_DRILL, "drill", "[SECONDS]", "be a command for an executor to end (120)"},
	{OPT_AFTER, "after", "[NAME]",
	 "which processes of the last drill, or NAME, it did not end"},
	{0, NULL, NULL, NULL},
};

struct doctor_cmd {
	struct cmd_common common;
	bool drill, after;
	unsigned seconds;
	const char *name;
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct doctor_cmd *c = ctx;
	char *end = NULL;
	unsigned long n;

	if (id == OPT_AFTER) {
		c->after = true;
		c->name = arg;
		if (arg && strchr(arg, '/'))
			return err_set(err, EINVAL, "doctor: --after: a name, not a path: '%.60s'",
				       arg);
		return 0;
	}
	c->drill = true;
	if (!arg)
		return 0;
	n = strtoul(arg, &end, 10);
	if (end == arg || *end || n < 1 || n > 3600)
		return err_set(err, EINVAL, "doctor: --drill: seconds, 1 to 3600, not '%.40s'",
			       arg);
	c->seconds = (unsigned)n;
	return 0;
}

/* --- trials --- */

static void print_findings(const struct doctor_cmd *c, const struct doctor *d)
{
	static const enum role roles[] = {ROLE_GOOD, ROLE_HEAD, ROLE_SURVIVOR};
	struct line o;

	cmd_line_init(&c->common, &o);
	for (unsigned i = 0; i < d->n; i++) {
		const struct finding *f = &d->v[i];

		line_put(&o, roles[f->verdict], "%-7s", verdict_name(f->verdict));
		line_put(&o, ROLE_HEAD, "%-12s", f->name);
		line_put(&o, ROLE_NORMAL, "%s", f->means);
		line_end_folded(&o, 19);
		line_put(&o, ROLE_DIM, "%19s%s", "", f->found);
		line_end_folded(&o, 19);
		if (f->remedy[0]) {
			line_put(&o, ROLE_NORMAL, "%19s%s", "", f->remedy);
			line_end_folded(&o, 19);
		}
	}
	line_free(&o);
}

static int json_findings(const struct doctor *d, struct err *err)
{
	struct jw *j = jw_open(stdout, false);
	int r;

	if (!j)
		return err_nomem(err);
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.doctor/1");
	jw_array(j, "findings");
	for (unsigned i = 0; i < d->n; i++) {
		jw_object(j, NULL);
		jw_str(j, "name", d->v[i].name);
		jw_str(j, "means", d->v[i].means);
		jw_str(j, "verdict", verdict_name(d->v[i].verdict));
		jw_str(j, "found", d->v[i].found);
		jw_str(j, "remedy", d->v[i].remedy[0] ? d->v[i].remedy : NULL);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_object_end(j);
	r = jw_close(j);
	return r < 0 ? err_errno(err, -r, "stdout") : 0;
}

/* --- the drill --- */

static void print_member(struct line *o, const struct drill_member *m)
{
	line_put(o, ROLE_NORMAL, "%-8s %7d %7d %7d  %s", fixture_name(m->shape), m->id.pid, m->pgid,
		 m->sid, fixture_words(m->shape));
}

static void print_drill(const struct doctor_cmd *c, const struct drill *d)
{
	struct line o;

	cmd_line_init(&c->common, &o);
	line_put(&o, ROLE_HEAD, "%-8s %7s %7s %7s", "drill", "PID", "PGID", "SID");
	line_end(&o);
	line_put(&o, ROLE_NORMAL, "%-8s %7d %7d %7d  what your executor started", "itself",
		 d->self.pid, d->pgid, d->sid);
	line_end(&o);
	for (unsigned i = 0; i < d->n; i++) {
		print_member(&o, &d->v[i]);
		line_end(&o);
	}
	line_put(&o, ROLE_NORMAL, "waiting %u s to be ended; then: stray doctor --after=%s",
		 c->seconds, d->name);
	line_end(&o);
	line_free(&o);
	fflush(stdout);
}

static void json_drill(struct jw *j, const struct drill *d, bool after)
{
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.drill/1");
	jw_str(j, "name", d->name);
	time_json(j, "started_at", d->started_wall_ns);
	process_json_identity(j, "process", d->self);
	if (after)
		jw_bool(j, "alive", d->self_alive);
	jw_array(j, "fixtures");
	for (unsigned i = 0; i < d->n; i++) {
		jw_object(j, NULL);
		jw_str(j, "shape", fixture_name(d->v[i].shape));
		jw_str(j, "what", fixture_words(d->v[i].shape));
		jw_int(j, "pid", d->v[i].id.pid);
		jw_uint(j, "start_ticks", d->v[i].id.start);
		jw_int(j, "pgid", d->v[i].pgid);
		jw_int(j, "sid", d->v[i].sid);
		if (after)
			jw_bool(j, "outlived", d->v[i].alive);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_object_end(j);
}

static int print_drill_json(const struct drill *d, bool after, struct err *err)
{
	struct jw *j = jw_open(stdout, false);
	int r;

	if (!j)
		return err_nomem(err);
	json_drill(j, d, after);
	r = jw_close(j);
	return r < 0 ? err_errno(err, -r, "stdout") : 0;
}

static int be_drilled(const struct doctor_cmd *c, struct err *err)
{
	struct timespec left = {.tv_sec = c->seconds};
	struct drill d;
	int r = drill_start(c->common.state_dir, c->seconds, &d, err);

	if (!r && c->common.json)
		r = print_drill_json(&d, false, err);
	else if (!r)
		print_drill(c, &d);
	while (!r && nanosleep(&left, &left) < 0 && errno == EINTR)
		;
	return r;
}

static void print_after(const struct doctor_cmd *c, const struct drill *d)
{
	unsigned alive = d->self_alive;
	struct line o;

	cmd_line_init(&c->common, &o);
	for (unsigned i = 0; i < d->n; i++)
		alive += d->v[i].alive;
	if (alive)
		line_put(&o, ROLE_SURVIVOR, "%u of %u outlived it", alive, d->n + 1);
	else
		line_put(&o, ROLE_GOOD, "all %u were ended with it", d->n + 1);
	line_end(&o);
	if (d->self_alive) {
		line_put(&o, ROLE_SURVIVOR, "%-9s", "ALIVE");
		line_put(&o, ROLE_NORMAL,
			 "%-8s %7d  the drill itself: its time is not over, or "
			 "nobody ended it",
			 "itself", d->self.pid);
		line_end(&o);
	}
	for (unsigned i = 0; i < d->n; i++) {
		const struct drill_member *m = &d->v[i];

		line_put(&o, m->alive ? ROLE_SURVIVOR : ROLE_GOOD, "%-9s",
			 m->alive ? "OUTLIVED" : "gone");
		line_put(&o, ROLE_NORMAL, "%-8s %7d  %s%s", fixture_name(m->shape), m->id.pid,
			 fixture_words(m->shape), m->alive ? "; ended now" : "");
		line_end(&o);
	}
	line_free(&o);
}

static int look_after(const struct doctor_cmd *c, struct err *err)
{
	struct drill d;
	int r = drill_after(c->common.state_dir, c->name, &d, err);

	if (r < 0)
		return r;
	if (c->common.json)
		return print_drill_json(&d, true, err);
	print_after(c, &d);
	return 0;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct doctor_cmd c = {.seconds = DRILL_SECONDS};
	struct doctor d;
	struct err err = {0};
	int rest, r = 0;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &c.common, set_option, &c, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc > rest || (c.drill && c.after))
		return cmd_troublef("doctor: no TARGET, and --drill or --after: see stray doctor "
				    "--help");
	if (c.drill) {
		r = be_drilled(&c, &err);
	} else if (c.after) {
		r = look_after(&c, &err);
	} else {
		doctor_try(&d, c.common.state_dir);
		if (c.common.json)
			r = json_findings(&d, &err);
		else
			print_findings(&c, &d);
	}
	return r < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.args = "",
	.summary = "what this host lets stray see and hold, tried out; drill an executor",
	.example = "stray doctor",
	.options = options,
	.run = run,
};
