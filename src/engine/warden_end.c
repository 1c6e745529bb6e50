/*
 * The order in which a launched run ends, each step on the disk before the next:
 *
 *	a cgroup is frozen, where there is no grace          told with its members, below
 *	deadline_expired (or end_requested, runner_lost)    from here `stray check` says no
 *	--on-expire                                          at most WARDEN_EXPIRE_NS
 *	frozen, before.json                                  the members as tracked, 20 ms
 *	signal_intent TERM, TERM, signal_sent
 *	grace, over as soon as all are gone
 *	signal_intent KILL, KILL, signal_sent
 *	a bounded wait, after.json, survivor of each
 *	run_closed
 *
 * The record holds up the way from the deadline to the TERM by WARDEN_RECORD_NS at most.
 */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "contain/signal.h"
#include "record/host_json.h"
#include "record/operator.h"
#include "record/process_json.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPIRE_NS 2000000000ull /* --on-expire gets this long, then the TERM goes */
#define HELPER_DEATH_NS 100000000ull
#define STORM_FORKS 16             /* in the tenth of a second between two ticks */
#define KILL_WAIT_NS 2000000000ull /* for the killed to be gone */
#define AFTER_NS 1000000000ull     /* for reading who is left */
#define HALT_NS 100000000ull       /* for all in the unit to be halted */
#define AGAIN_NS 200000000ull      /* for the record of each signal after the TERM */
#define CLOSE_NS 5000000000ull

static bool bytes_hold(const struct bytes *b, const char *text)
{
	return b->data && memmem(b->data, b->len, text, strlen(text));
}

const struct keep_rule *warden_keeps(const struct warden *w, const struct process *p)
{
	const struct keep_rule *found = NULL;
	struct bytes line = {0};

	if (!p->detail || !w->o->n_keep || process_command(p, &line) < 0)
		return NULL;
	for (size_t i = 0; !found && i < w->o->n_keep; i++) {
		const struct keep_rule *k = &w->o->keep[i];

		if (k->what == KEEP_EXE ? bytes_is(&p->detail->exe, k->text)
					: bytes_hold(&line, k->text))
			found = k;
	}
	bytes_free(&line);
	return found;
}

static size_t count_kept(const struct warden *w, const struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->procs.n; i++)
		n += warden_keeps(w, &t->procs.v[i]) != NULL;
	return n;
}

/* --- hooks of the ladder --- */

static int before_signal(void *ctx, int sig, const struct identity *to, size_t n, struct err *err)
{
	struct warden *w = ctx;
	struct sent_batch b = {.signal = sig, .wall_ns = clock_wall_ns()};

	(void)err;
	warden_tell_sent(w); /* of the batch before */
	if (sig == SIGSTOP && w->sent_signal == SIGSTOP)
		w->budget_ns = 0; /* the disk would lose the race: who forks is another by then */
	else if (sig != SIGTERM && clock_boot_ns() + AGAIN_NS > w->budget_ns)
		w->budget_ns = clock_boot_ns() + AGAIN_NS;
	warden_tell_intent(w, sig, to, n);
	w->sent_signal = sig;
	b.to = malloc(n * sizeof(*b.to) + 1);
	if (b.to) {
		memcpy(b.to, to, n * sizeof(*b.to));
		b.n = n;
		if (!VEC_PUSH(&w->batches, b))
			free(b.to);
	}
	return 0; /* the end may not wait on a record */
}

static void after_signal(void *ctx, int sig, const struct target *t)
{
	struct warden *w = ctx;
	struct target copy = *t;

	(void)sig;
	copy.pidfd = -1;
	VEC_PUSH(&w->sent, copy);
}

/* A rule spares it. */
static bool spares(const struct warden *w, const struct process *p)
{
	return w->kept && warden_keeps(w, p);
}

/* Whom the end is aimed at: all in the unit that no rule spares. */
static int members(void *ctx, struct identity_list *out, struct err *err)
{
	struct warden *w = ctx;
	struct identity_list all = {0};
	int r;

	if (w->halted && w->left) /* nobody came since that look */
		return 0;
	if (w->rush) { /* what the kernel has told takes long to read, and the unit has them all */
		warden_reap(w);
		r = unit_members(w->unit, &all, err);
	} else {
		r = warden_members(w, &all, err);
	}
	for (size_t i = 0; !r && i < all.n; i++) {
		bool spared = false;

		for (size_t k = 0; !spared && w->kept && w->left && k < w->left->procs.n; k++)
			spared = identity_same(w->left->procs.v[k].id, all.v[i]) &&
				 spares(w, &w->left->procs.v[k]);
		if (!spared && !VEC_PUSH(out, all.v[i]))
			r = err_nomem(err);
	}
	out->unsteady |= all.unsteady;
	free(all.v);
	return r;
}

static void go_on(struct warden *w)
{
	if (w->halted)
		unit_go_on(w->unit);
	w->halted = false;
}

static int kill_unit(void *ctx, struct err *err)
{
	struct warden *w = ctx;
	int r = unit_kill(w->unit, err);

	go_on(w); /* whom it did not kill */
	return r;
}

/* --- the steps --- */

static void tell_expired(struct warden *w)
{
	uint64_t wall = clock_wall_ns(), now = clock_boot_ns();
	uint64_t deadline = wall - (now - w->deadline_ns);
	struct jw *j = runlog_begin(w->log, "deadline_expired", KNOWN_SEEN);

	if (j) {
		time_json(j, "deadline_at", deadline);
		time_json(j, "over_at", deadline);
		jw_uint(j, "over_mono_ns", w->deadline_ns);
	}
	runlog_sync(w->log, RUN_EXPIRED, w->budget_ns, NULL);
}

static void tell_runner_lost(struct warden *w)
{
	struct jw *j = runlog_begin(w->log, "runner_lost", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "process", w->start->front);
		jw_str(j, "role", "front");
	}
	runlog_sync(w->log, RUN_LOST, w->budget_ns, NULL);
}

static const char *cause_words(enum cause c)
{
	static const char *const words[] = {
		[CAUSE_NONE] = "none",          [CAUSE_DEADLINE] = "deadline",
		[CAUSE_ASKED] = "signal",       [CAUSE_PARENT] = "parent_died",
		[CAUSE_FRONT] = "runner_lost",  [CAUSE_LEFTOVER] = "leftover",
		[CAUSE_VISITOR] = "ender_died",
	};

	return words[c];
}

static void tell_requested(struct warden *w)
{
	struct operator o = operator_current();
	struct jw *j = runlog_begin(w->log, "end_requested", KNOWN_SEEN);

	if (j) {
		jw_str(j, "act", warden_act(w));
		operator_json(j, "operator", &o);
		process_json_identity(j, "by", w->cause == CAUSE_ASKED ? w->start->front : w->self);
		jw_uint(j, "grace_ns", w->o->grace_ns);
		jw_str(j, "cause", cause_words(w->cause));
		if (w->end_signal)
			jw_str(j, "signal", sigabbrev_np(w->end_signal));
	}
	runlog_sync(w->log, RUN_ENDING, w->budget_ns, NULL);
}

/* Outside the unit, so that it is not ended with what it is to revoke. */
static void start_helper(struct warden *w)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)w->o->on_expire, NULL};
	char mark[RUN_ID_MAX + 32];
	struct spawn_plan plan = {
		.caller = w->start->caller,
		.argv = argv,
		.marks = {mark},
		.cgroup = -1,
		.null_stdio = true,
	};
	struct err why = {0};

	/* which run it is about; that mark is the run's members' alone */
	snprintf(mark, sizeof(mark), "STRAY_EXPIRED_RUN=%s", w->start->id);
	if (spawn_held(&plan, &w->helper, &why) == 0) {
		kin_never(w->kin, w->helper.id.pid, NULL);
		unit_exclude(w->unit, w->helper.id, NULL);
		if (spawn_go(&w->helper, &why) == 0) {
			w->due_ns = clock_boot_ns() + EXPIRE_NS;
			return;
		}
	}
	warden_say(w, "--on-expire: %s", why.text);
	w->due_ns = 0;
}

static void begin_ladder(struct warden *w)
{
	bool in_one_act = w->unit->kind == UNIT_CGROUP && !w->kept;
	struct ladder_plan plan = {
		.first = SIGTERM,
		.grace_ns = w->hurry ? 0 : w->o->grace_ns,
		.kill = true,
		.stop_first = !in_one_act,
		.kill_wait_ns = KILL_WAIT_NS,
	};
	struct act_hooks hooks = {
		.ctx = w,
		.before_signal = before_signal,
		.after_signal = after_signal,
		.members = members,
		.kill_unit = in_one_act ? kill_unit : NULL,
	};

	w->phase = PHASE_ENDING;
	w->ladder = ladder_new(&plan, &hooks);
	w->at_term = kin_counts(w->kin);
	for (size_t i = 0; w->ladder && w->left && i < w->left->procs.n; i++)
		if (!spares(w, &w->left->procs.v[i]))
			ladder_add(w->ladder, w->left->procs.v[i].id, NULL);
}

/* Where the KILL follows the TERM at once nothing of it runs any more: what is left to be done and
 * recorded until then does not compete with hundreds of them for the CPU, nor for the disk. */
static void halt(struct warden *w)
{
	w->rush = w->hurry || !w->o->grace_ns;
	if (!w->rush || w->halted || w->unit->kind != UNIT_CGROUP || w->cause == CAUSE_LEFTOVER)
		return;
	w->halted_ns = clock_boot_ns();
	w->halted = unit_halt(w->unit, w->halted_ns + HALT_NS, NULL) == 0;
}

static void tell_halted(struct warden *w)
{
	struct jw *j = w->halted ? runlog_begin(w->log, "frozen", KNOWN_SCANNED) : NULL;

	if (!j)
		return;
	jw_str(j, "act", warden_act(w));
	jw_array(j, "to");
	for (size_t i = 0; w->left && i < w->left->procs.n; i++)
		process_json_identity(j, NULL, w->left->procs.v[i].id);
	jw_array_end(j);
	process_json_happened(j, w->halted_ns);
	runlog_add(w->log, RUNLOG_FACT);
}

/* A command line is read under a lock that a fork holds, too (mmap_lock): of those that fork all
 * the time, and get the CPU each few seconds, that would be waited for. */
static unsigned readable_details(const struct warden *w)
{
	bool storm = kin_counts(w->kin).forked - w->forked_at_tick >= STORM_FORKS;

	return DETAIL_COMM | DETAIL_EXE | (storm && !w->halted ? 0 : DETAIL_CMDLINE);
}

static void take_before(struct warden *w)
{
	halt(w);
	if (w->rush) /* among thousands of dead the living are hard to find */
		warden_reap(w);
	warden_drain(w);
	warden_find_marked(w);
	warden_tell_changes(w);
	table_free(w->left);
	w->left = warden_look(w, readable_details(w), w->rush ? WARDEN_RUSH_NS : WARDEN_LOOK_NS);
	if (!w->left)
		return;
	if (w->cause == CAUSE_LEFTOVER)
		w->kept = count_kept(w, w->left);
	tell_halted(w);
	warden_tell_look(w, "before", w->left);
}

static int status_of(const struct warden *w)
{
	switch (w->cause) {
	case CAUSE_DEADLINE:
		return 124;
	case CAUSE_ASKED:
	case CAUSE_VISITOR:
		return 128 + w->end_signal;
	case CAUSE_PARENT:
	case CAUSE_FRONT:
		return 128 + SIGTERM;
	default:
		return 0;
	}
}

void warden_yield(struct warden *w, int visitor, pid_t pid)
{
	w->visitor = visitor;
	w->visitor_pid = pid;
	w->phase = PHASE_YIELDED;
	w->run.over_ticks = clock_boot_ns() / (CLOCK_NS_PER_S / (uint64_t)w->host.ticks_per_second);
}

void warden_yielded(struct warden *w, enum run_state closed_as)
{
	close(w->visitor);
	w->visitor = -1;
	if (closed_as == RUN_UNKNOWN) { /* it died, or was stopped, on the way */
		w->phase = PHASE_RUNNING;
		warden_end(w, CAUSE_VISITOR, SIGTERM);
		return;
	}
	warden_drain_all(w);
	warden_tell_changes(w);
	w->cause = CAUSE_ASKED;
	w->end_signal = SIGTERM;
	table_free(w->left);
	w->left = warden_look(w, DETAIL_BASIC, AFTER_NS);
	w->phase = PHASE_OVER;
	warden_finish(w, closed_as, status_of(w));
}

void warden_end(struct warden *w, enum cause cause, int signal)
{
	if (w->phase >= PHASE_EXPIRING || w->phase == PHASE_HELD)
		return;
	w->cause = cause;
	w->end_signal = signal;
	w->budget_ns = clock_boot_ns() + WARDEN_RECORD_NS;
	w->due_ns = 0;
	runlog_hurry(w->log);
	if (!w->o->on_expire)
		halt(w);
	w->run.over_ticks = clock_boot_ns() / (CLOCK_NS_PER_S / (uint64_t)w->host.ticks_per_second);
	if (cause == CAUSE_FRONT)
		tell_runner_lost(w);
	if (cause == CAUSE_DEADLINE)
		tell_expired(w);
	else
		tell_requested(w);
	w->phase = PHASE_EXPIRING;
	if (cause == CAUSE_DEADLINE && w->o->on_expire)
		start_helper(w);
}

void warden_hurry(struct warden *w)
{
	w->hurry = true;
	w->due_ns = 0;
	if (w->ladder)
		ladder_hurry(w->ladder);
}

/* What the helper left in its session was adopted here: that ends with it, and is no member. */
static void end_helpers(struct warden *w, pid_t sid)
{
	struct identity_list ids = {0};
	struct target_set set = {0};

	unit_members(w->unit, &ids, NULL);
	for (size_t i = 0; i < ids.n; i++) {
		if (getsid(ids.v[i].pid) != sid)
			continue;
		kin_never(w->kin, ids.v[i].pid, NULL);
		unit_exclude(w->unit, ids.v[i], NULL);
		target_add(&set, ids.v[i], NULL, NULL);
	}
	signal_each(&set, SIGKILL);
	target_set_clear(&set);
	free(ids.v);
}

static void kill_helper(struct warden *w)
{
	struct target_set set = {0};

	if (target_add(&set, w->helper.id, NULL, NULL) == 0) {
		signal_group(w->helper.id.pid, &set, SIGKILL, NULL);
		/* what it leaves comes to us with its death only, and is told from members here */
		target_set_wait(&set, clock_boot_ns() + HELPER_DEATH_NS, NULL);
	}
	target_set_clear(&set);
	if (w->hurry)
		warden_say(w, "--on-expire: it was killed, as the end was wanted at once");
	else
		warden_say(w, "--on-expire: not done in %d s: it was killed, and the run is ended",
			   (int)(EXPIRE_NS / CLOCK_NS_PER_S));
}

/* The helper has ended, or its time is over. */
static bool helper_is_done(struct warden *w)
{
	pid_t pid = w->helper.id.pid;
	int status = 0;

	if (!identity_known(w->helper.id))
		return true;
	if (waitpid(pid, &status, WNOHANG) != pid) {
		if (clock_boot_ns() < w->due_ns)
			return false;
		kill_helper(w);
	} else if (status) {
		warden_say(w, "--on-expire: it ended with %s %d: what it revokes may still be good",
			   WIFEXITED(status) ? "status" : "signal",
			   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
	w->helper.id = (struct identity){0};
	end_helpers(w, pid);
	return true;
}

void warden_close(struct warden *w, const char *act, enum run_state to, size_t alive,
		  const char *error)
{
	struct jw *j = runlog_begin(w->log, "run_closed", alive ? KNOWN_SCANNED : KNOWN_SEEN);
	struct kin_counts c = kin_counts(w->kin);

	if (j) {
		if (act)
			jw_str(j, "act", act);
		jw_str(j, "state", run_state_name(to));
		jw_uint(j, "alive", alive);
		jw_uint(j, "forked", c.forked);
		jw_uint(j, "execed", c.execed);
		jw_uint(j, "exited", c.exited);
		jw_uint(j, "events_lost", c.lost);
		jw_uint(j, "events_counted", runlog_counted(w->log));
		if (error)
			jw_str(j, "error", error);
	}
	w->close_late = runlog_sync(w->log, to, clock_boot_ns() + CLOSE_NS, NULL) == -ETIMEDOUT;
}

static void end_over(struct warden *w)
{
	enum run_state state = RUN_ENDED;
	bool leftover = w->cause == CAUSE_LEFTOVER;
	size_t alive = 0;

	go_on(w);
	warden_reap(w); /* how the command ended may be known by now */
	warden_tell_sent(w);
	warden_drain_all(w);
	warden_tell_changes(w);
	table_free(w->left);
	w->left = warden_look(w, DETAIL_BASIC, AFTER_NS);
	if (w->left) {
		alive = w->left->procs.n;
		w->kept = leftover ? count_kept(w, w->left) : 0;
		for (size_t i = 0; i < alive; i++)
			w->left->procs.v[i].survived =
				!leftover || !warden_keeps(w, &w->left->procs.v[i]);
		if (w->kept)
			warden_tell_leftovers(w, w->left);
		warden_tell_look(w, "after", w->left);
		warden_tell_survivors(w, w->left);
	}
	if (alive)
		state = alive > w->kept ? RUN_SURVIVED : RUN_LEFTOVER;
	warden_close(w, warden_act(w), state, alive, NULL);
	w->phase = PHASE_OVER;
	warden_finish(w, state, leftover && alive > w->kept ? 123 : status_of(w));
}

void warden_end_step(struct warden *w)
{
	if (w->phase == PHASE_EXPIRING) {
		if (!helper_is_done(w))
			return;
		if (w->o->on_expire) /* that may have taken a while */
			w->budget_ns = clock_boot_ns() + WARDEN_RECORD_NS;
		take_before(w);
		begin_ladder(w);
	}
	if (!w->ladder || ladder_step(w->ladder, clock_boot_ns(), NULL) != 0)
		end_over(w);
	else if (w->sent.n)
		warden_tell_sent(w);
}

/* --- it ended by itself --- */

static void finished(struct warden *w)
{
	warden_close(w, NULL, RUN_FINISHED, 0, NULL);
	w->phase = PHASE_OVER;
	warden_finish(w, RUN_FINISHED, 0);
}

static void left_behind(struct warden *w, size_t n)
{
	warden_tell_leftovers(w, w->left);
	warden_tell_look(w, "after", w->left);
	warden_close(w, NULL, RUN_LEFTOVER, n, NULL);
	w->phase = PHASE_OVER;
	warden_finish(w, RUN_LEFTOVER, 0);
}

void warden_settled(struct warden *w)
{
	size_t n;

	warden_drain_all(w);
	warden_find_marked(w);
	warden_tell_changes(w);
	w->run.over_ticks = w->over_ns / (CLOCK_NS_PER_S / (uint64_t)w->host.ticks_per_second);
	table_free(w->left);
	w->left = warden_look(w, DETAIL_BASIC, AFTER_NS);
	n = w->left ? w->left->procs.n : 0;
	if (!n) {
		finished(w);
		return;
	}
	w->kept = count_kept(w, w->left);
	if (w->o->leftover == LEFTOVER_END && w->kept < n)
		warden_end(w, CAUSE_LEFTOVER, 0);
	else
		left_behind(w, n);
}
