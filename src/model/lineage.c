#include "model/lineage.h"

#include "model/origin.h"

#include <string.h>

bool lineage_is_reaper(const struct process *p)
{
	const struct detail *d = p->detail;

	if (p->id.pid == 1 || origin_is_user_manager(p))
		return true;
	return d && d->n_nspid > 1 && d->nspid[d->n_nspid - 1] == 1;
}

/* Whether p is of a session that others may have led, as far as the table shows. */
static bool is_led(const struct table *t, const struct process *p)
{
	return p->sid > 0 && p->sid != p->id.pid && table_shows_all(t);
}

bool lineage_leader_gone(const struct table *t, const struct process *p)
{
	const struct process *leader;

	if (!is_led(t, p))
		return false;
	leader = table_pid(t, p->sid);
	return !leader || process_is_dead(leader);
}

bool lineage_leader_gone_at(const struct table *t, const struct family *f, size_t i)
{
	const struct process *p = &t->procs.v[i];
	uint32_t leader;

	if (!is_led(t, p))
		return false;
	leader = family_index(f, p->sid);
	return leader == FAMILY_NONE || process_is_dead(&t->procs.v[leader]);
}

static bool parent_outside(const struct process *p, const struct process *parent)
{
	const struct detail *d = p->detail, *pd = parent ? parent->detail : NULL;

	if (p->ppid == 0)
		return true;
	if (d && d->n_nspid > 1 && d->nspid[d->n_nspid - 1] == 1)
		return true; /* the init of its namespace: whoever made that is its parent */
	return d && pd && d->n_nspid && pd->n_nspid && d->n_nspid > pd->n_nspid;
}

bool lineage_parent_outside(const struct table *t, const struct process *p)
{
	return parent_outside(p, table_pid(t, p->ppid));
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
	const struct process *leader = table_pid(t, p->sid);

	if (parent->sid != parent->id.pid || parent->id.pid == 1 || !above || above->sid != p->sid)
		return false;
	/* one is born into a session that was there before */
	return !leader || leader->id.start <= parent->id.start;
}

/* First seen below this very parent when nothing spoke against it: who left since is the
 * parent. */
static bool parent_is_forker(const struct process *p, const struct process *parent)
{
	return p->parent_known != KNOWN_NOT && identity_same(p->parent_was, parent->id);
}

/* Bytes of a cgroup path down to its last unit, if that is a scope (but for init.scope); or 0. */
static size_t scope_len(const struct bytes *path)
{
	size_t found = 0;

	for (size_t i = 0; i < path->len;) {
		const char *step, *slash;
		size_t len;

		i += path->data[i] == '/';
		step = path->data + i;
		slash = memchr(step, '/', path->len - i);
		len = slash ? (size_t)(slash - step) : path->len - i;
		i += len;
		if (len > 6 && memcmp(step + len - 6, ".scope", 6) == 0)
			found = len == 10 && memcmp(step, "init", 4) == 0 ? 0 : i;
		else if (len > 8 && memcmp(step + len - 8, ".service", 8) == 0)
			found = 0;
	}
	return found;
}

/*
 * Managers start services; a scope is made of processes that others started
 * (systemd.scope(5)).  So in one a manager's child is an adopted one, unless the
 * manager itself is in it (a container's PID 1).
 */
static bool in_scope(const struct process *p, const struct process *manager)
{
	const struct bytes *cg = p->detail ? &p->detail->cgroup : NULL;
	const struct bytes *above = manager->detail ? &manager->detail->cgroup : NULL;
	size_t len = cg && cg->data ? scope_len(cg) : 0;

	if (!len)
		return false;
	return !above || !above->data || above->len < len ||
	       memcmp(above->data, cg->data, len) != 0;
}

static bool is_login_leader(const struct table *t, const struct process *p)
{
	for (size_t i = 0; i < t->host.logins.n; i++)
		if (t->host.logins.v[i].leader == p->id.pid)
			return true;
	return false;
}

static void judge_one(const struct table *t, struct process *p, const struct process *parent)
{
	bool manager;

	p->reparent_possible = false;
	if (p->reparented == KNOWN_PRESUMED)
		p->reparented = KNOWN_NOT; /* judged anew each time */
	if (p->reparented != KNOWN_NOT || process_is_kthread(p) || p->id.pid == 1 || !parent)
		return;
	/* A younger parent is none: the number changed hands while the table was read. */
	if (parent->id.start > p->id.start || parent_is_forker(p, parent) ||
	    parent_outside(p, parent))
		return;
	manager = parent->id.pid == 1 || origin_is_user_manager(parent);
	if (other_session(p, parent)) {
		if (parent_may_have_left(t, p, parent))
			p->reparent_possible = true;
		else
			p->reparented = KNOWN_PRESUMED;
	} else if (manager && in_scope(p, parent) && !is_login_leader(t, p)) {
		p->reparented = KNOWN_PRESUMED;
	} else if (lineage_is_reaper(parent)) {
		p->reparent_possible = true;
	}
}

void lineage_judge(struct table *t, const struct family *f)
{
	for (size_t i = 0; i < t->procs.n; i++)
		judge_one(t, &t->procs.v[i],
			  f->parent[i] == FAMILY_NONE ? NULL : &t->procs.v[f->parent[i]]);
}

/* Who began an application's scope may hold the pipes of who is adopted from it.  What was
 * read of the parent in an earlier scan is not at hand: then it may be so. */
static bool may_begin_app(const struct process *p, const struct process *parent)
{
	const struct bytes *path = p->detail ? &p->detail->cgroup : NULL;

	if (!path || !path->data || (parent->detail && bytes_same(path, &parent->detail->cgroup)))
		return false;
	return origin_of_cgroup(path->data, path->len).kind == ORIGIN_USER_UNIT;
}

bool lineage_candidate(const struct table *t, const struct process *p, bool below_systemd)
{
	const struct process *parent;

	if (process_is_kthread(p))
		return false;
	parent = table_pid(t, p->ppid);
	if (!parent || parent->id.pid == 1)
		return true;
	if (parent->ppid == 1 && below_systemd) /* a user manager */
		return true;
	return other_session(p, parent) || lineage_leader_gone(t, p) || may_begin_app(p, parent);
}
