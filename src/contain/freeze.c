#include "contain/freeze.h"

#include "contain/cgroup.h"

#include <inttypes.h>
#include <signal.h>

int freeze_cgroup(const char *path, uint64_t deadline_ns, struct err *err)
{
	int r = cgroup_set_freeze(path, true, err);

	if (r < 0)
		return r;
	r = cgroup_wait_event(path, "frozen", true, deadline_ns, err);
	if (r < 0)
		cgroup_set_freeze(path, false, NULL);
	return r;
}

int thaw_cgroup(const char *path, struct err *err)
{
	return cgroup_set_freeze(path, false, err);
}

int thaw_targets(struct target_set *set, const struct act_hooks *hooks, struct err *err)
{
	int r = act_announce(hooks, SIGCONT, set, 0, err);

	if (r < 0)
		return r;
	act_send(hooks, SIGCONT, set, 0);
	for (size_t i = 0; i < set->n && r == 0; i++) {
		const struct target *t = &set->v[i];

		if (!t->gone && t->result != TARGET_SENT)
			r = err_errno(err, t->error, "%d@%" PRIu64, t->id.pid, t->id.start);
	}
	return r;
}
