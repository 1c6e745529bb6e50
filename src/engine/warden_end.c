/*
 * The order in which a launched run ends, each step on the disk before the next:
 *
 *	a cgroup is frozen, where there is no grace          told with its members, below
 *	deadline_expired (or end_requested, runner_lost)    from here `stray check` says no
 *	--on-expire                                          at most 2 s
 *	frozen, before.json                                  the members as tracked, 20 ms
 *	signal_intent TERM, TERM, signal_sent
 *	grace, over as soon as all are gone
 *	signal_intent KILL, KILL, signal_sent
 *	a bounded wait, after.json, survivor of each
 *	run_closed
 *
 * Who is frozen can do nothing meanwhile: they are read while the disk takes in what came before.
 *
 * The record holds up the way from the deadline to the TERM by WARDEN_RECORD_NS at most.
 */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "record/host_json.h"
#include "record/operator.h"
#include "record/process_json.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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

/* Rules spare leftovers, and nobody else. */
static bool obeys_rules(const struct warden *w)
{
	return w->cause == CAUSE_LEFTOVER && w->o->n_keep;
}

/* Whether all was read that the rules ask of it. */
static bool is_judged(const struct warden *w, const struct process *p)
{
	for (size_t i = 0; i < w->o->n_keep; i++)
		if (!detail_knows(p->detail,
				  w->o->keep[i].what == KEEP_EXE ? DETAIL_EXE : DETAIL_CMDLINE))
			return false;
	return true;
}

/* Whom a rule spares lives, and so does of whom that is not known: what lives on is told. */
static bool is_aimed_at(const struct warden *w, const struct process *p)
{
	return !obeys_rules(w) || (p && is_judged(w, p) && !warden_keeps(w, p));
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

	(void)sig;
	sent_add(&w->sent, t);
}

/* Reads those of whom the last look does not tell what the rules ask for. */
static int judge(struct warden *w, const struct identity_list *all, struct err *err)
{
	struct identity_list fresh = {0};
	int r = 0;

	for (size_t i = 0; !r && i < all->n; i++) {
		const struct process *p = w->left ? table_find(w->left, all->v[i]) : NULL;

		if ((!p || !is_judged(w, p)) && !VEC_PUSH(&fresh, all->v[i]))
			r = err_nomem(err);
	}
	if (!r && fresh.n)
		r = warden_look_also(w, &fresh, DETAIL_BASIC, err);
	free(fresh.v);
	return r;
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
	if (!r && obeys_rules(w))
		r = judge(w, &all, err);
	for (size_t i = 0; !r && i < all.n; i++)
		if (is_aimed_at(w, w->left ? table_find(w->left, all.v[i]) : NULL) &&
		    !VEC_PUSH(out, all.v[i]))
			r = err_nomem(err);
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

static int is_empty(void *ctx)
{
	return unit_is_empty(((struct warden *)ctx)->unit, NULL);
}

/* Whether all in the unit are to be ended, and the kernel does that in one act. */
static bool is_one_act(const struct warden *w)
{
	return w->unit->kind == UNIT_CGROUP && !obeys_rules(w);
}

/* --- the steps --- */

/* The intent of the first signal is waited for, with all before it. */
static void tell_change(struct warden *w, enum run_state to)
{
	if (w->halted)
		runlog_push(w->log, to);
	else
		runlog_sync(w->log, to, w->budget_ns, NULL);
}

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
	tell_change(w, RUN_EXPIRED);
}

static void tell_runner_lost(struct warden *w)
{
	struct jw *j = runlog_begin(w->log, "runner_lost", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "process", w->start->front);
		jw_str(j, "role", "front");
	}
	tell_change(w, RUN_LOST);
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
		jw_str(j, "act", WARDEN_ACT);
		operator_json(j, "operator", &o);
		process_json_identity(j, "by", w->cause == CAUSE_ASKED ? w->start->front : w->self);
		jw_uint(j, "grace_ns", w->o->grace_ns);
		jw_str(j, "cause", cause_words(w->cause));
		if (w->end_signal)
			jw_str(j, "signal", sigabbrev_np(w->end_signal));
	}
	tell_change(w, RUN_ENDING);
}

static void begin_ladder(struct warden *w)
{
	struct ladder_plan plan = {
		.first = SIGTERM,
		.grace_ns = w->hurry ? 0 : w->o->grace_ns,
		.kill = true,
		.stop_first = !is_one_act(w),
		.kill_wait_ns = KILL_WAIT_NS,
	};
	struct act_hooks hooks = {
		.ctx = w,
		.before_signal = before_signal,
		.after_signal = after_signal,
		.members = members,
		.kill_unit = is_one_act(w) ? kill_unit : NULL,
		.is_empty = is_empty,
	};

	w->phase = PHASE_ENDING;
	w->ladder = ladder_new(&plan, &hooks);
	if (!w->ladder) { /* the handles may have taken the last descriptor */
		target_set_clear(&w->held);
		w->ladder = ladder_new(&plan, &hooks);
	}
	w->at_term = kin_counts(w->kin);
	if (w->ladder)
		ladder_take(w->ladder, &w->held, NULL);
	for (size_t i = 0; w->ladder && w->left && i < w->left->procs.n; i++)
		if (is_aimed_at(w, &w->left->procs.v[i]))
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
	struct jw *j;

	if (!w->halted)
		return;
	j = runlog_begin(w->log, "frozen", KNOWN_SCANNED);
	if (j) {
		jw_str(j, "act", WARDEN_ACT);
		jw_array(j, "to");
		for (size_t i = 0; w->left && i < w->left->procs.n; i++)
			process_json_identity(j, NULL, w->left->procs.v[i].id);
		jw_array_end(j);
		process_json_happened(j, w->halted_ns);
	}
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
	if (obeys_rules(w))
		warden_look(w, DETAIL_BASIC, AFTER_NS);
	else
		warden_look(w, readable_details(w), w->rush ? WARDEN_RUSH_NS : WARDEN_LOOK_NS);
	if (!w->left) {
		warden_say(w, "who is in the run could not be read before its end: %s",
			   w->unread.text);
		return;
	}
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
	if (closed_as == RUN_UNKNOWN) { /* it died, or was stopped, on the way */
		warden_end(w, CAUSE_VISITOR, SIGTERM);
		return;
	}
	file_close_fd(&w->visitor);
	warden_drain_all(w);
	warden_tell_changes(w);
	w->cause = CAUSE_ASKED;
	w->end_signal = SIGTERM;
	warden_look(w, DETAIL_BASIC, AFTER_NS);
	w->phase = PHASE_OVER;
	warden_finish(w, closed_as, status_of(w));
}

/* Sends the visitor away; it learns that by its end of the socket.  False: it was done. */
static bool take_back(struct warden *w)
{
	struct door_word word;

	if (door_hear(w->visitor, &word) > 0 && word.kind == DOOR_DONE) {
		warden_yielded(w, word.state);
		return false;
	}
	file_close_fd(&w->visitor);
	w->phase = PHASE_RUNNING;
	return true;
}

void warden_end(struct warden *w, enum cause cause, int signal)
{
	if (w->phase >= PHASE_EXPIRING || w->phase == PHASE_HELD)
		return;
	if (w->phase == PHASE_YIELDED && !take_back(w))
		return;
	w->cause = cause;
	w->end_signal = signal;
	w->budget_ns = clock_boot_ns() + WARDEN_RECORD_NS;
	w->due_ns = 0;
	warden_stay(w);
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
		warden_start_helper(w);
}

void warden_hurry(struct warden *w)
{
	w->hurry = true;
	w->due_ns = 0;
	if (w->ladder)
		ladder_hurry(w->ladder);
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
		jw_uint(j, "events_unwritten", runlog_unwritten(w->log));
		if (error)
			jw_str(j, "error", error);
		if (w->unread.code)
			jw_str(j, "unread", w->unread.text);
	}
	w->close_late = runlog_sync(w->log, to, clock_boot_ns() + CLOSE_NS, NULL) == -ETIMEDOUT;
}

/* Who is left.  That nobody is seen is not enough: hidepid may hide who is there. */
static void look_last(struct warden *w)
{
	struct err why = {0};
	int r;

	warden_look(w, DETAIL_BASIC, AFTER_NS);
	if (!w->left || w->left->procs.n)
		return;
	r = unit_await_empty(w->unit, clock_boot_ns() + UNIT_EMPTY_NS, &why);
	if (r == 1 && w->unread.code) /* by those who were dying? */
		warden_look(w, DETAIL_BASIC, AFTER_NS);
	if (r == 1 && (!w->unread.code || !w->left || w->left->procs.n))
		return;
	if (r < 0)
		err_set(&w->unread, -r, "%s", why.text);
	else if (r == 0)
		err_set(&w->unread, EACCES,
			"nobody is seen in its %s, and that is not empty (hidepid?)",
			unit_kind_name(w->unit->kind));
	table_free(w->left);
	w->left = NULL;
}

/* Without steps: there is no room for a ladder, or it broke. */
static void end_at_once(struct warden *w)
{
	struct identity_list to = {0};

	if (!is_one_act(w))
		return;
	for (size_t i = 0; w->left && i < w->left->procs.n; i++)
		VEC_PUSH(&to, w->left->procs.v[i].id);
	warden_tell_sent(w);
	warden_tell_intent(w, SIGKILL, to.v, to.n);
	free(to.v);
	kill_unit(w, NULL);
	unit_await_empty(w->unit, clock_boot_ns() + KILL_WAIT_NS, NULL);
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
	look_last(w);
	if (w->left) {
		alive = w->left->procs.n;
		w->kept = leftover ? count_kept(w, w->left) : 0;
		for (size_t i = 0; i < alive; i++)
			w->left->procs.v[i].survived =
				!leftover || !warden_keeps(w, &w->left->procs.v[i]);
		if (obeys_rules(w))
			warden_tell_leftovers(w, w->left);
		warden_tell_look(w, "after", w->left);
	} else if (w->ladder) {
		alive = ladder_alive(w->ladder);
	}
	warden_tell_survivors(w, w->left);
	if (alive || !w->left)
		state = warden_left_any(w) ? RUN_SURVIVED : RUN_LEFTOVER;
	warden_close(w, WARDEN_ACT, state, alive, NULL);
	w->phase = PHASE_OVER;
	warden_finish(w, state, leftover && warden_left_any(w) ? 123 : status_of(w));
}

void warden_end_step(struct warden *w)
{
	int r;

	if (w->phase == PHASE_EXPIRING) {
		if (!warden_helper_is_done(w))
			return;
		if (w->o->on_expire) /* that may have taken a while */
			w->budget_ns = clock_boot_ns() + WARDEN_RECORD_NS;
		take_before(w);
		begin_ladder(w);
	}
	r = w->ladder ? ladder_step(w->ladder, clock_boot_ns(), NULL) : -ENOMEM;
	if (r < 0)
		end_at_once(w);
	if (r)
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
	if (w->left) {
		warden_tell_leftovers(w, w->left);
		warden_tell_look(w, "after", w->left);
	}
	warden_close(w, NULL, RUN_LEFTOVER, n, NULL);
	w->phase = PHASE_OVER;
	warden_finish(w, RUN_LEFTOVER, 0);
}

/* Told by the unit, and by what became of all who were ever known: no look finds more. */
static bool nobody_is_left(const struct warden *w)
{
	return !kin_counts(w->kin).alive && unit_is_empty(w->unit, NULL) == 1;
}

void warden_settled(struct warden *w)
{
	size_t n;

	warden_drain_all(w);
	warden_find_marked(w);
	warden_tell_changes(w);
	w->run.over_ticks = w->over_ns / (CLOCK_NS_PER_S / (uint64_t)w->host.ticks_per_second);
	if (nobody_is_left(w)) {
		finished(w);
		return;
	}
	look_last(w);
	n = w->left ? w->left->procs.n : 0;
	if (w->left && !n) {
		finished(w);
		return;
	}
	w->kept = w->left ? count_kept(w, w->left) : 0;
	if (w->o->leftover == LEFTOVER_END && warden_left_any(w))
		warden_end(w, CAUSE_LEFTOVER, 0);
	else
		left_behind(w, n);
}
