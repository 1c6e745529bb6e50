#include "engine/survivor.h"

#include "contain/cgroup.h"

bool survivor_is_frozen(pid_t pid)
{
	enum cgroup_frozen how;

	return cgroup_frozen(pid, &how, NULL) == 0 && how != CGROUP_THAWED;
}

const char *survivor_why(const struct process *p, const struct ladder_outcome *o)
{
	const struct detail *d = p ? p->detail : NULL;

	if (o->first == TARGET_DENIED || o->killed == TARGET_DENIED)
		return "not_permitted";
	if (!p)
		return NULL;
	if (survivor_is_frozen(p->id.pid))
		return "frozen";
	if (p->state == 'D')
		return "uninterruptible";
	if (p->state == 't')
		return "traced";
	if (p->state == 'T')
		return "stopped";
	if (d && d->n_nspid > 1 && d->nspid[d->n_nspid - 1] == 1)
		return "pidns_init";
	if (d && o->last_signal && sigmask_has(d->sig_ignored, o->last_signal))
		return "ignores_term";
	return NULL;
}
