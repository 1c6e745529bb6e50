#include "engine/act_state.h"

#include "base/clock.h"
#include "contain/cgroup.h"
#include "contain/freeze.h"
#include "contain/stop.h"

#include <errno.h>
#include <signal.h>

const char *act_freezer(const struct table *t, const struct run *run, const struct plan *plan)
{
	if (!run || run->chosen.kind != SELECT_CGROUP || plan->scope != SCOPE_RUN || plan->own.n)
		return NULL;
	for (size_t i = 0; i < plan->hit.n; i++) {
		const struct process *p = table_find(t, plan->hit.v[i].id);

		if (p && !selector_matches(&run->chosen, p))
			return NULL;
	}
	return run->chosen.name;
}

bool act_freezer_works(const char *path)
{
	return cgroup_can_freeze(path, NULL) == 0;
}

/*
 * A run that is a control group is frozen by the kernel as a whole, newcomers
 * included.  False where that cannot be had (v1, not permitted, a member
 * elsewhere, ourselves in it): then they are stopped one by one.
 */
static bool freeze_whole_cgroup(struct act *a, const struct plan *plan, struct err *err)
{
	const char *path = act_freezer(a->look.tracker.now, a->has_run ? &a->run : NULL, plan);

	if (!path || !act_freezer_works(path))
		return false;
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
	if (!r && freeze && freeze_whole_cgroup(a, plan, err)) {
		a->outcome.by_cgroup = true;
		return 0;
	}
	if (!r && freeze) {
		r = stop_all(&a->frozen, hooks, clock_boot_ns() + ACT_FREEZE_NS, err);
		return r == -ETIME ? 0 : r; /* what was found is stopped; the rest is seen alive */
	}
	if (!r && a->has_run && a->run.chosen.kind == SELECT_CGROUP && a->aim.scope == SCOPE_RUN)
		thaw_cgroup(a->run.chosen.name, NULL); /* where it has none of its own, CONT does */
	return r ? r : thaw_targets(&a->frozen, hooks, err);
}
