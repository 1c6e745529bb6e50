#include "engine/launch_lost.h"

#include "base/clock.h"
#include "contain/ladder.h"
#include "engine/recorded.h"
#include "engine/sent_json.h"
#include "engine/survivor.h"
#include "record/operator.h"
#include "record/process_json.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define KILL_WAIT_NS 2000000000ull
#define PATIENCE_NS 200000000ull

struct lost {
	struct unit *unit;
	struct recorded run; /* open where it is recorded */
	bool recorded;
	uint64_t grace_ns;
	int signal; /* of the batch under way */
	struct {
		struct target *v;
		size_t n, cap;
	} sent; /* in it: copies, without a handle */
};

static void tell_sent(struct lost *l)
{
	struct jw *j = l->recorded && l->sent.n ? recorded_begin(&l->run, "signal_sent", KNOWN_SEEN)
						: NULL;

	if (j) {
		jw_str(j, "act", "end");
		sent_json_signal(j, "signal", l->signal);
		jw_array(j, "to");
		for (size_t i = 0; i < l->sent.n; i++) {
			const struct target *t = &l->sent.v[i];

			sent_json_to(j, t->id, t->result, t->error);
		}
		jw_array_end(j);
		recorded_commit(&l->run, false, NULL);
	}
	l->sent.n = 0;
}

static void after_signal(void *ctx, int sig, const struct target *t)
{
	struct lost *l = ctx;
	struct target copy = *t;

	(void)sig;
	copy.pidfd = -1;
	VEC_PUSH(&l->sent, copy);
}

static int before_signal(void *ctx, int sig, const struct identity *to, size_t n, struct err *err)
{
	struct lost *l = ctx;
	struct operator o = operator_current();
	struct jw *j;

	(void)err;
	if (!l->recorded)
		return 0;
	tell_sent(l); /* of the batch before */
	l->signal = sig;
	j = recorded_begin(&l->run, "signal_intent", KNOWN_SEEN);
	if (j) {
		jw_str(j, "act", "end");
		operator_json(j, "operator", &o);
		sent_json_signal(j, "signal", sig);
		jw_str(j, "unit", "run");
		jw_null(j, "number");
		jw_uint(j, "grace_ns", l->grace_ns);
		jw_array(j, "to");
		for (size_t i = 0; i < n; i++)
			process_json_identity(j, NULL, to[i]);
		jw_array_end(j);
		jw_array(j, "not_aimed");
		jw_array_end(j);
	}
	recorded_commit(&l->run, true, NULL);
	return 0;
}

static int members(void *ctx, struct identity_list *out, struct err *err)
{
	return unit_members(((struct lost *)ctx)->unit, out, err);
}

static int kill_unit(void *ctx, struct err *err)
{
	return unit_kill(((struct lost *)ctx)->unit, err);
}

static int is_empty(void *ctx)
{
	return unit_is_empty(((struct lost *)ctx)->unit, NULL);
}

static void tell_lost(struct lost *l)
{
	struct jw *j = recorded_begin(&l->run, "runner_lost", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "process", l->run.story.record.warden);
		jw_str(j, "role", "warden");
	}
	recorded_change(&l->run, "runner_lost", RUN_LOST, NULL);
}

static void tell_outcome(struct lost *l, const struct ladder_outcome *o)
{
	struct jw *j = recorded_begin(&l->run, o->gone ? "exited" : "survivor",
				      o->gone ? KNOWN_SEEN : KNOWN_SCANNED);

	if (j) {
		jw_str(j, "act", "end");
		process_json_identity(j, "process", o->id);
		if (!o->gone) {
			sent_json_signal(j, "signal", o->last_signal ? o->last_signal : SIGTERM);
			jw_str(j, "why", survivor_why(NULL, o));
			jw_str(j, "errno", o->error ? err_name(o->error) : NULL);
		} else if (o->death.known && o->death.signalled) {
			sent_json_signal(j, "signal", o->death.code);
		} else if (o->death.known) {
			jw_int(j, "status", o->death.code);
		}
		if (ladder_after_ns(o))
			jw_uint(j, "after_ns", ladder_after_ns(o));
	}
	recorded_commit(&l->run, false, NULL);
}

/* What became of each; of who was reaped the kernel tells how it died. */
static void tell_outcomes(struct lost *l, struct ladder *ladder)
{
	const struct ladder_outcome *o;
	size_t n = 0;

	tell_sent(l);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	o = ladder_outcomes(ladder, &n);
	for (size_t i = 0; l->recorded && i < n; i++)
		tell_outcome(l, &o[i]);
}

static void tell_closed(struct lost *l, enum run_state to, size_t alive)
{
	struct jw *j = recorded_begin(&l->run, "run_closed", KNOWN_SCANNED);

	if (j) {
		jw_str(j, "act", "end");
		jw_str(j, "state", run_state_name(to));
		jw_uint(j, "alive", alive);
		if (!alive && to == RUN_SURVIVED)
			jw_str(j, "unread", "nobody is seen in it, and it is not empty");
	}
	recorded_change(&l->run, "run_closed", to, NULL);
}

void launch_lost(const struct launch_options *o, struct unit *unit, struct identity front,
		 struct launch_result *out, launch_say_fn *say, void *ctx)
{
	struct ladder_plan plan = {
		.first = SIGTERM,
		.grace_ns = o->grace_ns,
		.kill = true,
		.stop_first = unit->kind != UNIT_CGROUP,
		.kill_wait_ns = KILL_WAIT_NS,
	};
	struct lost l = {.unit = unit, .grace_ns = o->grace_ns};
	struct act_hooks hooks = {
		.ctx = &l,
		.before_signal = before_signal,
		.after_signal = after_signal,
		.members = members,
		.kill_unit = unit->kind == UNIT_CGROUP ? kill_unit : NULL,
		.is_empty = is_empty,
	};
	struct identity_list ids = {0};
	struct ladder *ladder;
	char line[200];
	size_t alive;
	bool empty;
	int r;

	say(ctx, "the warden of this run was killed: ending the run from here");
	unit->reaper = front;
	if (!o->no_record && recorded_open(o->state_dir, out->id, true, &l.run, NULL) == 0) {
		l.recorded = true;
		journal_patience(l.run.dir.journal, PATIENCE_NS);
		tell_lost(&l);
	}
	ladder = ladder_new(&plan, &hooks);
	if (ladder && unit_members(unit, &ids, NULL) == 0)
		for (size_t i = 0; i < ids.n; i++)
			ladder_add(ladder, ids.v[i], NULL);
	r = ladder ? ladder_run(ladder, NULL) : -ENOMEM;
	if (r < 0 && hooks.kill_unit) {
		before_signal(&l, SIGKILL, ids.v, ids.n, NULL);
		kill_unit(&l, NULL);
	}
	free(ids.v);
	if (ladder)
		tell_outcomes(&l, ladder);
	alive = ladder ? ladder_alive(ladder) : 0;
	ladder_free(ladder);
	empty = !alive && unit_await_empty(unit, clock_boot_ns() + UNIT_EMPTY_NS, NULL) == 1;
	out->state = empty ? RUN_ENDED : RUN_SURVIVED;
	out->status = 128 + SIGKILL;
	out->unit = unit->kind;
	if (empty)
		snprintf(line, sizeof(line), "all of it is gone");
	else if (!alive)
		snprintf(line, sizeof(line), "WHO OF IT IS ALIVE COULD NOT BE READ");
	else if (o->no_record)
		snprintf(line, sizeof(line), "%zu of it ALIVE", alive);
	else
		snprintf(line, sizeof(line), "%zu of it ALIVE: see stray list run:%s", alive,
			 out->id);
	say(ctx, line);
	if (l.recorded)
		tell_closed(&l, out->state, alive);
	recorded_close(&l.run);
	free(l.sent.v);
	unit_remove(unit);
}
