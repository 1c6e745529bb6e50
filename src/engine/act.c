#include "engine/act_state.h"

#include "base/clock.h"
#include "contain/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define ACT_LOOKS_MAX 40

void act_free(struct act *a)
{
	if (!a)
		return;
	if (a->ladder)
		ladder_free(a->ladder);
	target_set_clear(&a->frozen);
	act_record_free(a->record);
	look_close(&a->look);
	run_clear(&a->run);
	free(a->ids);
	free(a->added);
	act_clear_lists(&a->outcome);
	if (a->outcome.diff) {
		diff_clear(a->outcome.diff);
		free(a->outcome.diff);
	}
	table_free(a->outcome.before);
	table_free(a->outcome.after);
	free(a);
}

/* What membership is decided by must be read of new processes; no more. */
static unsigned details_for(const struct run *run)
{
	switch (run ? run->chosen.kind : SELECT_NONE) {
	case SELECT_ENV:
		return DETAIL_ENVIRON;
	case SELECT_CGROUP:
		return DETAIL_CGROUP;
	case SELECT_AUDIT:
		return DETAIL_LOGIN;
	default:
		return 0;
	}
}

static int copy_aim(struct act *a, const struct plan *plan, struct err *err)
{
	a->ids = calloc(plan->hit.n + 1, sizeof(*a->ids));
	a->added = calloc(plan->hit.n + 1, sizeof(*a->added));
	if (!a->ids || !a->added)
		return err_nomem(err);
	a->aim = (struct aim){
		.scope = plan->scope,
		.signal = plan->signal,
		.ids = a->ids,
		.added = a->added,
		.possible = plan->possible,
		.number = plan->scope == SCOPE_PROCESS ? 0 : plan->number,
		.holder_known = true,
		.holder = plan->holder,
	};
	for (size_t i = 0; i < plan->hit.n; i++) {
		a->ids[a->aim.n_ids++] = plan->hit.v[i].id;
		if (!plan->hit.v[i].member)
			a->added[a->aim.n_added++] = plan->hit.v[i].id;
	}
	return 0;
}

/* The members of this moment, by a scan made now (struct act_hooks). */
static int find_members(void *ctx, struct identity_list *out, struct err *err)
{
	struct act *a = ctx;
	struct plan plan;
	int r = look_again(&a->look, err);

	if (r < 0)
		return r;
	r = plan_make(a->look.tracker.now, a->has_run ? &a->run : NULL, &a->aim, &plan, err);
	for (size_t i = 0; !r && i < plan.hit.n; i++)
		if (!VEC_PUSH(out, plan.hit.v[i].id))
			r = err_nomem(err);
	plan_clear(&plan);
	return r;
}

int act_before_signal(void *ctx, int sig, const struct identity *to, size_t n, struct err *err)
{
	struct act *a = ctx;
	struct act_sent s = {
		.signal = sig,
		.wall_ns = clock_wall_ns(),
		.to = calloc(n + 1, sizeof(*s.to)),
		.n = n,
	};

	if (!s.to)
		return err_nomem(err);
	if (n)
		memcpy(s.to, to, n * sizeof(*to));
	if (!VEC_PUSH(&a->outcome.sent, s)) {
		free(s.to);
		return err_nomem(err);
	}
	if (!a->outcome.sent_wall_ns)
		a->outcome.sent_wall_ns = s.wall_ns;
	if (a->record && sig != a->outcome.sent.v[0].signal)
		act_record_outlived(a->record, &a->outcome);
	return a->record ? act_record_intent(a->record, sig, to, n, err) : 0;
}

static void after_signal(void *ctx, int sig, const struct target *t)
{
	struct act *a = ctx;

	if (a->record)
		act_record_sent(a->record, sig, t);
}

static bool in_plan(const struct plan *plan, struct identity id)
{
	for (size_t i = 0; i < plan->hit.n; i++)
		if (identity_same(plan->hit.v[i].id, id))
			return true;
	return false;
}

/*
 * Looks again before anything is sent.  Who has ended since is no matter; who came since is, where
 * that asks for more than the plan was confirmed for.
 */
static int check_again(struct act *a, const struct plan *plan, struct plan *fresh, struct err *err)
{
	int r;

	/* in a chain of forks a look may fall between two generations */
	for (int looks = 0; looks < ACT_LOOKS_MAX; looks++) {
		plan_clear(fresh);
		r = look_again(&a->look, err);
		if (!r)
			r = plan_make(a->look.tracker.now, a->has_run ? &a->run : NULL, &a->aim,
				      fresh, err);
		if (r < 0)
			return r;
		if (fresh->hit.n || !fresh->dead.n)
			break;
	}
	if (fresh->refused[0])
		return err_set(err, fresh->hit.n ? EAGAIN : ESRCH, "%s", fresh->refused);
	for (size_t i = 0; i < fresh->hit.n; i++)
		if (!in_plan(plan, fresh->hit.v[i].id) && (plan->confirm || fresh->confirm))
			return err_set(err, EAGAIN, "%d is new there since: look again",
				       fresh->hit.v[i].id.pid);
	return 0;
}

bool act_ends_by_default(int sig)
{
	static const int harmless[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
				       SIGCONT, SIGCHLD, SIGURG,  SIGWINCH};

	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (sig == harmless[i])
			return false;
	return true;
}

static struct ladder_plan ladder_for(const struct act *a, const struct plan *plan)
{
	struct ladder_plan l = {
		.first = plan->signal,
		.pgid = plan->scope == SCOPE_GROUP ? plan->number : 0,
		.grace_ns = a->options.grace_ns,
		.kill_wait_ns = ACT_KILL_WAIT_NS,
	};

	if (a->options.kind == ACT_END) {
		l.kill = l.stop_first = l.guarded = true;
	} else if (plan->signal == SIGKILL && plan->scope != SCOPE_GROUP) {
		/* one by one loses to those that fork meanwhile */
		l.first = 0;
		l.kill = true;
		l.stop_first = l.guarded = plan->scope != SCOPE_PROCESS;
	} else if (plan->signal == SIGKILL) {
		l.grace_ns = ACT_KILL_WAIT_NS;
	} else if (!act_ends_by_default(plan->signal)) {
		l.grace_ns = 0;
	}
	return l;
}

static void set_title(struct act *a, const struct plan *plan)
{
	static const char *const verbs[] = {"", "end: ", "freeze: ", "thaw: "};
	const char *sig = sigabbrev_np(plan->signal);
	char unit[80];

	if (plan->scope == SCOPE_RUN)
		snprintf(unit, sizeof(unit), "%s", a->has_run ? a->run.id : "run");
	else if (plan->number)
		snprintf(unit, sizeof(unit), "%s %d",
			 plan->scope == SCOPE_MEMBERS ? "members of group"
						      : scope_name(plan->scope),
			 plan->number);
	else
		snprintf(unit, sizeof(unit), "%zu processes", plan->hit.n);
	snprintf(a->outcome.title, sizeof(a->outcome.title), "%s%s to %s", verbs[a->options.kind],
		 sig ? sig : "signal", unit);
}

/* The first signal; with freeze_first it finds all of them stopped, and they go on when it
 * is pending with each: nobody forks away from it in between. */
static int first_step(struct act *a, const struct plan *plan, const struct act_hooks *hooks,
		      struct err *err)
{
	struct target_set stopped = {0};
	struct guard *guard = NULL;
	int r = 0;

	if (a->options.freeze_first)
		r = guard_open(&guard, err);
	target_set_guard(&stopped, guard);
	for (size_t i = 0; !r && a->options.freeze_first && i < plan->hit.n; i++)
		r = target_add(&stopped, plan->hit.v[i].id, NULL, err);
	if (!r && a->options.freeze_first) {
		r = stop_all(&stopped, hooks, clock_boot_ns() + ACT_FREEZE_NS, err);
		r = r == -ETIME ? 0 : r;
	}
	for (size_t i = 0; !r && i < stopped.n; i++) /* those that were found while stopping */
		r = ladder_add(a->ladder, stopped.v[i].id, err);
	if (!r)
		r = ladder_step(a->ladder, clock_boot_ns(), err);
	signal_undo_stop(&stopped);
	target_set_clear(&stopped);
	guard_close(guard);
	return r < 0 ? r : 0;
}

static int start_ladder(struct act *a, const struct plan *plan, struct err *err)
{
	struct ladder_plan l = ladder_for(a, plan);
	struct act_hooks hooks = {
		.ctx = a,
		.before_signal = act_before_signal,
		.after_signal = after_signal,
		.members = find_members,
	};
	int r;

	if (a->options.kind == ACT_FREEZE || a->options.kind == ACT_THAW)
		return act_freeze_or_thaw(a, plan, &hooks, err);
	a->ladder = ladder_new(&l, &hooks);
	if (!a->ladder)
		return err_nomem(err);
	for (size_t i = 0; i < plan->hit.n; i++) {
		r = ladder_add(a->ladder, plan->hit.v[i].id, err);
		if (r < 0)
			return r;
	}
	return first_step(a, plan, &hooks, err);
}

static int open_record(struct act *a, const struct plan *plan, struct err *err)
{
	struct act_request q = {
		.kind = a->options.kind,
		.state_dir = a->options.state_dir,
		.title = a->outcome.title,
		.before = a->outcome.before,
		.run = a->has_run ? &a->run : NULL,
		.plan = plan,
		.grace_ns = a->options.grace_ns,
		.freeze_first = a->options.freeze_first,
	};

	return act_record_open(&a->record, &q, a->outcome.dir, sizeof(a->outcome.dir), err);
}

int act_start(const struct table *now, const struct run *run, const struct plan *plan,
	      const struct act_options *options, struct act **out, struct err *err)
{
	struct act *a = calloc(1, sizeof(*a));
	/* of those that lost their parent also what makes one a possible member */
	struct source_options source = {
		.details = details_for(run),
		.candidate_details = DETAIL_STATUS | DETAIL_CWD,
	};
	struct plan fresh = {0};
	int r;

	if (!a)
		return err_nomem(err);
	a->options = *options;
	r = look_open(&a->look, &source, err);
	if (r < 0)
		goto done;
	r = -ENOMEM;
	a->outcome.before = table_clone(now);
	a->look.tracker.now = table_clone(now);
	a->has_run = run != NULL;
	if (!a->outcome.before || !a->look.tracker.now || (run && !run_copy(&a->run, run))) {
		err_nomem(err);
		goto done;
	}
	a->look.tracker.run = run ? &a->run : NULL;
	r = copy_aim(a, plan, err);
	if (!r)
		r = check_again(a, plan, &fresh, err);
	if (r < 0)
		goto done;
	set_title(a, &fresh);
	r = act_contacts_before(a, &fresh, err);
	if (!r && !options->no_record)
		r = open_record(a, &fresh, err);
	if (!r)
		r = start_ladder(a, &fresh, err);
	if (!r && a->record)
		act_record_progress(a->record, &a->outcome);
done:
	plan_clear(&fresh);
	if (r < 0) {
		act_free(a);
		return r;
	}
	*out = a;
	return 0;
}

int act_fd(const struct act *a)
{
	return a->outcome.done || !a->ladder ? -1 : ladder_fd(a->ladder);
}

uint64_t act_wakes_at(const struct act *a)
{
	uint64_t now = clock_boot_ns(), in;

	if (a->outcome.done)
		return UINT64_MAX;
	in = a->ladder ? ladder_timeout_ns(a->ladder, now) : 0;
	return in == UINT64_MAX ? now : now + in;
}

const struct act_outcome *act_outcome(const struct act *a)
{
	return &a->outcome;
}

static int finish(struct act *a, struct err *err)
{
	int r = look_again(&a->look, err);

	if (!r && act_fill_outcome(a, false) < 0)
		r = err_nomem(err);
	if (!r) {
		act_complete_details(a);
		if (act_fill_outcome(a, true) < 0)
			r = err_nomem(err);
	}
	for (size_t i = 0; !r && i < a->outcome.items.n; i++) {
		const struct act_item *item = &a->outcome.items.v[i];
		struct process *p = table_find(a->look.tracker.now, item->id);

		if (p && item->result == ACT_RESULT_ALIVE && act_ends_by_default(item->last_signal))
			p->survived = true;
	}
	if (!r) {
		a->outcome.after = table_clone(a->look.tracker.now);
		a->outcome.diff = calloc(1, sizeof(*a->outcome.diff));
		if (!a->outcome.after || !a->outcome.diff)
			r = err_nomem(err);
	}
	if (!r)
		r = act_compare(a, err);
	if (!r)
		r = act_contacts_after(a, err);
	if (!r && a->record)
		r = act_record_finish(a->record, &a->outcome, &a->look.tracker, err);
	a->outcome.done = true;
	return r;
}

int act_step(struct act *a, uint64_t boot_ns, struct err *err)
{
	int r;

	if (a->outcome.done)
		return 1;
	r = a->ladder ? ladder_step(a->ladder, boot_ns, err) : 1;
	if (r == 0) {
		if (act_fill_outcome(a, false) < 0)
			err_nomem(err);
		if (a->record)
			act_record_progress(a->record, &a->outcome);
		return 0;
	}
	finish(a, err);
	return 1;
}

void act_stop(struct act *a, struct err *err)
{
	if (a->outcome.done)
		return;
	if (a->ladder)
		ladder_abandon(a->ladder);
	a->outcome.interrupted = true;
	finish(a, err);
}

int act_run(struct act *a, int stop_fd, struct err *err)
{
	while (!act_step(a, clock_boot_ns(), err)) {
		struct pollfd p[] = {
			{.fd = act_fd(a), .events = POLLIN},
			{.fd = stop_fd, .events = POLLIN},
		};
		uint64_t now = clock_boot_ns(), at = act_wakes_at(a);
		struct timespec wait = {0};

		if (at > now) {
			wait.tv_sec = (time_t)((at - now) / CLOCK_NS_PER_S);
			wait.tv_nsec = (long)((at - now) % CLOCK_NS_PER_S);
		}
		if (ppoll(p, 2, &wait, NULL) > 0 && p[1].revents)
			act_stop(a, err);
	}
	return err && err->code ? -err->code : 0;
}
