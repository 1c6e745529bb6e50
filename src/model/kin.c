#include "model/kin_parts.h"

#include <stdlib.h>
#include <string.h>

#define TICKS_PER_SECOND 100 /* USER_HZ of all but alpha and ia64 */
#define NS_PER_S 1000000000ULL

bool kin_room(struct kin *k, size_t more, uint64_t at_ns)
{
	size_t n = k->changes.n + more;

	while (k->changes.cap < n)
		if (!vec_grow((void **)&k->changes.v, k->changes.cap, &k->changes.cap,
			      sizeof(*k->changes.v))) {
			k->unsure_ns = at_ns;
			return false;
		}
	return true;
}

struct kin_change *kin_say(struct kin *k, enum kin_change_kind kind, enum known known,
			   uint64_t boot_ns, const struct node *n)
{
	struct kin_change *c = &k->changes.v[k->changes.n++];

	*c = (struct kin_change){.kind = kind,
				 .known = known,
				 .boot_ns = boot_ns,
				 .id = n->m.id,
				 .forker = n->m.forker};
	k->counts.forked += kind == KIN_FORKED;
	k->counts.execed += kind == KIN_EXECED;
	k->counts.exited += kind == KIN_EXITED;
	return c;
}

bool kin_same_start(uint64_t a, uint64_t b, bool both_read)
{
	return a == b || (!both_read && (a > b ? a - b : b - a) <= 1);
}

static bool is_reparented(const struct kin *k, const struct node *n)
{
	pid_t ppid = n->m.ppid;

	if (n->moved)
		return true;
	if (!ppid || identity_same(n->m.id, k->o.root))
		return false;
	if (n->of_reaper)
		return ppid != k->o.reaper.pid;
	return identity_known(n->m.forker) ? ppid != n->m.forker.pid : !n->parent;
}

void kin_settle(const struct kin *k, struct node *n)
{
	struct kin_member *m = &n->m;

	m->detached = m->sid && k->o.sid && m->sid != k->o.sid;
	m->regrouped = !m->detached && m->pgid && k->o.pgid && m->pgid != k->o.pgid;
	m->reparented = is_reparented(k, n);
	m->evidence = n->why;
	if (n->parent)
		m->evidence |= EVIDENCE_PARENT;
	if (k->o.owns_pgid && m->pgid == k->o.pgid)
		m->evidence |= EVIDENCE_GROUP;
	if (k->o.owns_sid && m->sid == k->o.sid)
		m->evidence |= EVIDENCE_SESSION;
	if (k->o.reaper.pid && m->ppid == k->o.reaper.pid && m->reparented)
		m->evidence |= EVIDENCE_ADOPTED;
}

static void orphan(struct kin *k, struct node *n, uint64_t when_ns, uint64_t at_ns)
{
	struct kin_change *c = kin_say(k, KIN_REPARENTED, KNOWN_PRESUMED, when_ns, n);

	c->from = n->m.ppid;
	c->to = k->o.reaper.pid;
	kin_set_parent(k, n, k->o.reaper.pid, at_ns);
	n->moved = n->parent_presumed = true;
	kin_settle(k, n);
}

void kin_end(struct kin *k, struct node *n, enum known known, uint64_t when_ns, uint64_t at_ns,
	     const int *status)
{
	struct kin_change *c = kin_say(k, KIN_EXITED, known, when_ns, n);

	n->m.ended_ns = when_ns;
	n->m.status_known = status != NULL;
	n->m.status = status ? *status : 0;
	c->status_known = n->m.status_known;
	c->status = n->m.status;
	while (n->child)
		orphan(k, n->child, when_ns, at_ns);
	kin_bury(k, n, at_ns);
}

void kin_number_taken(struct kin *k, struct identity id)
{
	if (identity_same(id, k->o.root))
		return;
	if (id.pid == k->o.pgid)
		k->o.owns_pgid = false;
	if (id.pid == k->o.sid)
		k->o.owns_sid = false;
}

void kin_reaped(struct kin *k, struct identity id, int status, uint64_t boot_ns)
{
	struct node *n = kin_node(k, id);

	if (!n)
		return;
	if (!n->m.alive) {
		if (!n->m.status_known) {
			n->m.status_known = true;
			n->m.status = status;
		}
		return;
	}
	if (kin_room(k, 1 + n->n_children, boot_ns))
		kin_end(k, n, KNOWN_SEEN, boot_ns, boot_ns, &status);
	kin_trim(k);
}

static int seed_root(struct kin *k)
{
	struct node *n = kin_add(k, k->o.root, false);

	if (!n)
		return -ENOMEM;
	n->start_read = true;
	n->m.pgid = k->o.pgid;
	n->m.sid = k->o.sid;
	n->m.ppid = k->o.reaper.pid;
	n->m.forker = k->o.reaper;
	n->m.forker_known = identity_known(k->o.reaper) ? KNOWN_PRESUMED : KNOWN_NOT;
	n->why = EVIDENCE_ROOT;
	kin_settle(k, n);
	return 0;
}

struct kin *kin_new(const struct kin_options *options)
{
	struct kin *k = calloc(1, sizeof(*k));
	long hz = options->ticks_per_second;

	if (!k)
		return NULL;
	k->o = *options;
	k->tick_ns = NS_PER_S / (uint64_t)(hz > 0 ? hz : TICKS_PER_SECOND);
	k->n_buckets = 64;
	k->bucket = calloc(k->n_buckets, sizeof(*k->bucket));
	k->ghosts = calloc(KIN_GHOSTS, sizeof(*k->ghosts));
	if (!k->bucket || !k->ghosts || (identity_known(options->root) && seed_root(k) < 0)) {
		kin_free(k);
		return NULL;
	}
	return k;
}

void kin_free(struct kin *k)
{
	if (!k)
		return;
	for (size_t i = 0; k->bucket && i < k->n_buckets; i++)
		for (struct node *n = k->bucket[i], *next; n; n = next) {
			next = n->chain;
			free(n);
		}
	free(k->bucket);
	free(k->ghosts);
	free(k->changes.v);
	free(k->view.v);
	free(k);
}

int kin_never(struct kin *k, pid_t pid, struct err *err)
{
	struct node *n = kin_living(k, pid);

	if (n && n->never)
		return 0;
	if (n)
		kin_remove(k, n);
	return kin_add(k, (struct identity){.pid = pid}, true) ? 0 : err_nomem(err);
}

void kin_left_cgroup(struct kin *k, struct identity id)
{
	struct node *n = kin_node(k, id);

	if (n && n->m.alive)
		n->m.left_cgroup = true;
}

bool kin_unsure(const struct kin *k)
{
	return k->unsure_ns != 0;
}

const struct kin_change *kin_changes(const struct kin *k, size_t *n)
{
	*n = k->changes.n;
	return k->changes.v;
}

void kin_taken(struct kin *k)
{
	k->changes.n = 0;
}

const struct kin_member *kin_member(const struct kin *k, struct identity id)
{
	const struct node *n = kin_node(k, id);

	return n ? &n->m : NULL;
}

const struct kin_member *kin_pid(const struct kin *k, pid_t pid)
{
	const struct node *n = kin_living(k, pid);

	return n && !n->never ? &n->m : NULL;
}

const struct kin_member *kin_members(const struct kin *k, size_t *n)
{
	size_t i = 0;

	for (const struct node *at = k->first; at; at = at->next)
		k->view.v[i++] = at->m; /* kin_add() made room */
	*n = i;
	return k->view.v;
}

struct kin_counts kin_counts(const struct kin *k)
{
	return k->counts;
}
