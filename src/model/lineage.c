#include "model/lineage.h"

#include "model/origin.h"

#include <string.h>

bool lineage_is_reaper(const struct table *t, const struct process *p)
{
	const struct detail *d = p->detail;

	if (p->id.pid == 1 || origin_is_user_manager(t, p))
		return true;
	return d && d->n_nspid > 1 && d->nspid[d->n_nspid - 1] == 1;
}

bool lineage_leader_gone(const struct table *t, const struct process *p)
{
	const struct process *leader;

	if (p->sid <= 0 || p->sid == p->id.pid || t->coverage.hidepid)
		return false;
	leader = table_pid(t, p->sid);
	return !leader || process_is_dead(leader);
}

bool lineage_parent_outside(const struct table *t, const struct process *p)
{
	const struct process *parent = table_pid(t, p->ppid);
	const struct detail *d = p->detail, *pd = parent ? parent->detail : NULL;

	if (p->ppid == 0)
		return true;
	if (d && d->n_nspid > 1 && d->nspid[d->n_nspid - 1] == 1)
		return true; /* the init of its namespace: whoever made that is its parent */
	return d && pd && d->n_nspid && pd->n_nspid && d->n_nspid > pd->n_nspid;
}

/*
 * A process that is no session leader got its session from its forker.  So the
 * forker was in that session; a parent in another one is not the forker,
 * unless it called setsid(2) since: then it leads its session, and its own
 * parent is (most often) in the one it left.
 */
static bool other_session(const struct process *p, const struct process *parent)
{
	return p->sid > 0 && p->sid != p->id.pid && parent->sid != p->sid;
}

static bool parent_may_have_left(const struct table *t, const struct process *p,
				 const struct process *parent)
{
	const struct process *above = table_pid(t, parent->ppid);

	return parent->sid == parent->id.pid && parent->id.pid != 1 && above &&
	       above->sid == p->sid;
}

static bool in_scope(const struct process *p)
{
	const struct bytes *cg = p->detail ? &p->detail->cgroup : NULL;
	const char *last;
	size_t len;

	if (!cg || !cg->data)
		return false;
	last = strrchr(cg->data, '/');
	last = last ? last + 1 : cg->data;
	len = strlen(last);
	return len > 6 && strcmp(last + len - 6, ".scope") == 0 && strcmp(last, "init.scope") != 0;
}

static bool is_login_leader(const struct table *t, const struct process *p)
{
	for (size_t i = 0; i < t->host.logins.n; i++)
		if (t->host.logins.v[i].leader == p->id.pid)
			return true;
	return false;
}

static void judge_one(const struct table *t, struct process *p)
{
	const struct process *parent = table_pid(t, p->ppid);
	bool reaper;

	p->reparent_possible = false;
	if (p->reparented == KNOWN_PRESUMED)
		p->reparented = KNOWN_NOT; /* judged anew each time */
	if (p->reparented != KNOWN_NOT || process_is_kthread(p) || p->id.pid == 1)
		return;
	if (lineage_parent_outside(t, p) || !parent)
		return;
	reaper = lineage_is_reaper(t, parent);
	if (other_session(p, parent)) {
		if (parent_may_have_left(t, p, parent))
			p->reparent_possible = true;
		else
			p->reparented = KNOWN_PRESUMED;
	} else if (reaper && in_scope(p) && !is_login_leader(t, p) &&
		   (parent->id.pid == 1 || origin_is_user_manager(t, parent))) {
		p->reparented = KNOWN_PRESUMED;
	} else if (reaper) {
		p->reparent_possible = true;
	}
}

void lineage_judge(struct table *t)
{
	for (size_t i = 0; i < t->procs.n; i++)
		judge_one(t, &t->procs.v[i]);
}

bool lineage_candidate(const struct table *t, const struct process *p)
{
	const struct process *parent;

	if (process_is_kthread(p))
		return false;
	parent = table_pid(t, p->ppid);
	if (!parent || parent->id.pid == 1)
		return true;
	if (parent->ppid == 1 && parent->detail && bytes_is(&parent->detail->comm, "systemd"))
		return true;
	return other_session(p, parent) || lineage_leader_gone(t, p);
}
