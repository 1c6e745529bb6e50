#include "engine/act_state.h"

#include "base/clock.h"
#include "contain/freeze.h"
#include "contain/stop.h"

#include <errno.h>
#include <signal.h>

/* The control group that the run is, or NULL. */
static const char *cgroup_of(const struct act *a)
{
	return a->has_run && a->run.chosen.kind == SELECT_CGROUP && a->aim.scope == SCOPE_RUN
		       ? a->run.chosen.name
		       : NULL;
}

/*
 * A run that is a control group is frozen by the kernel as a whole, newcomers
 * included.  False where that cannot be had (v1, not permitted, a member
 * elsewhere, ourselves in it): then they are stopped one by one.
 */
static bool freeze_whole_cgroup(struct act *a, const struct plan *plan, struct err *err)
{
	const char *path = cgroup_of(a);

	if (!path || plan->own.n)
		return false;
	for (size_t i = 0; i < plan->hit.n; i++) {
		const struct process *p = table_find(a->look.tracker.now, plan->hit.v[i].id);

		if (p && !selector_matches(&a->run.chosen, p))
			return false;
	}
	if (act_before_signal(a, SIGSTOP, a->ids, a->aim.n_ids, err) < 0)
		return false;
	return freeze_cgroup(path, clock_boot_ns() + ACT_FREEZE_NS, NULL) == 0;
}

/* STOP until no new one appears, or CONT to each: over before the next step. */
int act_freeze_or_thaw(struct act *a, const struct plan *plan, const struct act_hooks *hooks,
		       struct err *err)
{
	bool freeze = a->options.kind == ACT_FREEZE;
	int r = 0;

	for (size_t i = 0; !r && i < plan->hit.n; i++)
		r = target_add(&a->frozen, plan->hit.v[i].id, NULL, err);
	if (!r && freeze && freeze_whole_cgroup(a, plan, err))
		return 0;
	if (!r && freeze) {
		r = stop_all(&a->frozen, hooks, clock_boot_ns() + ACT_FREEZE_NS, err);
		return r == -ETIME ? 0 : r; /* what was found is stopped; the rest is seen alive */
	}
	if (!r && cgroup_of(a))
		thaw_cgroup(cgroup_of(a), NULL); /* where it has none of its own, CONT does */
	return r ? r : thaw_targets(&a->frozen, hooks, err);
}
