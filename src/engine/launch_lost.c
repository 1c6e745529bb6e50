#include "engine/launch_lost.h"

#include "base/clock.h"
#include "contain/ladder.h"
#include "engine/heads.h"
#include "engine/recorded.h"
#include "engine/sent_json.h"
#include "engine/survivor.h"
#include "record/ledger.h"
#include "record/operator.h"
#include "record/process_json.h"

#include <errno.h>
#include <poll.h>
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
	struct heads *heads; /* NULL: the ledger is told when it is closed */
	struct err missing;  /* the first thing that could not be recorded */
	uint64_t grace_ns;
	int signal;            /* of the batch under way */
	struct sent_list sent; /* in it */
};

static void tell_sent(struct lost *l)
{
	struct jw *j = l->recorded && l->sent.n ? recorded_begin(&l->run, "signal_sent", KNOWN_SEEN)
						: NULL;

	if (j) {
		jw_str(j, "act", "end");
		sent_json_sent(j, l->signal, &l->sent);
	}
	if (l->recorded && l->sent.n)
		recorded_commit(&l->run, false, &l->missing);
	l->sent.n = 0;
}

static void after_signal(void *ctx, int sig, const struct target *t)
{
	struct lost *l = ctx;

	(void)sig;
	if (!sent_add(&l->sent, t))
		err_nomem(&l->missing);
}

static int before_signal(void *ctx, int sig, const struct identity *to, size_t n, struct err *err)
{
	struct lost *l = ctx;
	const struct intent intent = {
		.unit = "run", .grace_ns = l->grace_ns, .operator= operator_current()};
	struct jw *j;

	(void)err;
	if (!l->recorded)
		return 0;
	tell_sent(l); /* of the batch before */
	l->signal = sig;
	j = recorded_begin(&l->run, "signal_intent", KNOWN_SEEN);
	if (j) {
		jw_str(j, "act", "end");
		sent_json_intent(j, &intent, sig, to, n);
	}
	recorded_commit(&l->run, true, &l->missing);
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
	if (recorded_commit(&l->run, true, &l->missing) < 0)
		return;
	if (l->heads) /* its lock may be held by another, and a signal is due */
		heads_note(l->heads, "runner_lost", journal_seq(l->run.dir.journal),
			   journal_head(l->run.dir.journal), RUN_LOST);
	recorded_changed(&l->run, RUN_LOST);
}

static void tell_outcome(struct lost *l, const struct ladder_outcome *o)
{
	struct jw *j = recorded_begin(&l->run, o->gone ? "exited" : "survivor",
				      o->gone ? KNOWN_SEEN : KNOWN_SCANNED);

	if (j) {
		jw_str(j, "act", "end");
		if (o->gone)
			process_json_identity(j, "process", o->id);
		else
			sent_json_survivor(j, o->id, o->last_signal ? o->last_signal : SIGTERM,
					   survivor_why(NULL, o), o->error);
		if (o->gone && o->death.known && o->death.signalled)
			sent_json_signal(j, "signal", o->death.code);
		else if (o->gone && o->death.known)
			jw_int(j, "status", o->death.code);
		if (ladder_after_ns(o))
			jw_uint(j, "after_ns", ladder_after_ns(o));
	}
	recorded_commit(&l->run, false, &l->missing);
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
	recorded_change(&l->run, "run_closed", to, &l->missing);
}

static void open_record(struct lost *l, const struct launch_options *o, const char *id)
{
	if (o->no_record || recorded_open(o->state_dir, id, true, &l->run, &l->missing) < 0)
		return;
	l->recorded = true;
	journal_patience(l->run.dir.journal, PATIENCE_NS);
	heads_open(l->run.state, l->run.dir.id, &l->heads, NULL);
	tell_lost(l);
}

/* As ladder_run(), with an ear for who wants no grace any more. */
static int run_ladder(struct ladder *ladder, const struct launch_lost_signals *s)
{
	int r;

	if (s->hurry(s->ctx))
		ladder_hurry(ladder);
	while ((r = ladder_step(ladder, clock_boot_ns(), NULL)) == 0) {
		struct pollfd p[] = {
			{.fd = ladder_fd(ladder), .events = POLLIN},
			{.fd = s->fd, .events = POLLIN},
		};
		uint64_t ns = ladder_timeout_ns(ladder, clock_boot_ns());

		if (ns > CLOCK_NS_PER_S) /* poll's clock stops with a suspend: look again */
			ns = CLOCK_NS_PER_S;
		poll(p, 2, (int)((ns + 999999) / 1000000));
		if (p[1].revents && s->hurry(s->ctx))
			ladder_hurry(ladder);
	}
	return r;
}

void launch_lost(const struct launch_options *o, struct unit *unit, struct identity front,
		 const struct launch_lost_signals *signals, struct launch_result *out,
		 launch_say_fn *say, void *ctx)
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
	char line[sizeof(l.missing.text) + 40];
	size_t alive;
	bool empty;
	int r;

	say(ctx, "the warden of this run was killed: ending the run from here");
	unit->reaper = front;
	open_record(&l, o, out->id);
	ladder = ladder_new(&plan, &hooks);
	if (ladder && unit_members(unit, &ids, NULL) == 0)
		for (size_t i = 0; i < ids.n; i++)
			ladder_add(ladder, ids.v[i], NULL);
	r = ladder ? run_ladder(ladder, signals) : -ENOMEM;
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
	heads_close(l.heads, clock_boot_ns() + LEDGER_PATIENCE_NS);
	if (l.recorded)
		tell_closed(&l, out->state, alive);
	if (l.missing.code) {
		snprintf(line, sizeof(line), "THE RECORD IS NOT WHOLE: %s", l.missing.text);
		say(ctx, line);
	}
	out->record_lost = l.missing;
	recorded_close(&l.run);
	free(l.sent.v);
	unit_remove(unit);
}
