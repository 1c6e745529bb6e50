#include "model/kin_parts.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of(const struct kin *k, pid_t pid)
{
	return ((uint32_t)pid * 2654435761u) & (k->n_buckets - 1); /* Knuth's multiplier */
}

struct node *kin_living(const struct kin *k, pid_t pid)
{
	if (pid <= 0)
		return NULL;
	for (struct node *n = k->bucket[bucket_of(k, pid)]; n; n = n->chain)
		if (n->m.id.pid == pid && n->m.alive)
			return n;
	return NULL;
}

struct node *kin_node(const struct kin *k, struct identity id)
{
	for (struct node *n = k->bucket[bucket_of(k, id.pid)]; n; n = n->chain)
		if (identity_same(n->m.id, id) && !n->never)
			return n;
	return NULL;
}

/* Without room for more buckets it gets slower, not wrong. */
static void grow(struct kin *k)
{
	struct kin wide = *k;
	struct node *n, *next;

	wide.n_buckets = k->n_buckets * 2;
	wide.bucket = calloc(wide.n_buckets, sizeof(*wide.bucket));
	if (!wide.bucket)
		return;
	for (size_t i = 0; i < k->n_buckets; i++)
		for (n = k->bucket[i]; n; n = next) {
			size_t to = bucket_of(&wide, n->m.id.pid);

			next = n->chain;
			n->chain = wide.bucket[to];
			wide.bucket[to] = n;
		}
	free(k->bucket);
	k->bucket = wide.bucket;
	k->n_buckets = wide.n_buckets;
}

static void list_member(struct kin *k, struct node *n)
{
	n->prev = k->last;
	if (k->last)
		k->last->next = n;
	else
		k->first = n;
	k->last = n;
	k->n_members++;
	k->counts.alive++;
}

struct node *kin_add(struct kin *k, struct identity id, bool never)
{
	struct node *n = calloc(1, sizeof(*n));
	size_t at;

	k->view.n = k->n_members;
	if (!n || !vec_grow((void **)&k->view.v, k->view.n, &k->view.cap, sizeof(*k->view.v))) {
		free(n);
		return NULL;
	}
	if (k->n_nodes >= k->n_buckets)
		grow(k);
	n->m.id = id;
	n->m.alive = true;
	n->never = never;
	at = bucket_of(k, id.pid);
	n->chain = k->bucket[at];
	k->bucket[at] = n;
	k->n_nodes++;
	if (!never)
		list_member(k, n);
	return n;
}

static void unlink_parent(struct node *n)
{
	if (!n->parent)
		return;
	if (n->elder)
		n->elder->younger = n->younger;
	else
		n->parent->child = n->younger;
	if (n->younger)
		n->younger->elder = n->elder;
	n->parent->n_children--;
	n->parent = n->elder = n->younger = NULL;
}

static void unlist_member(struct kin *k, struct node *n)
{
	if (n->prev)
		n->prev->next = n->next;
	else
		k->first = n->next;
	if (n->next)
		n->next->prev = n->prev;
	else
		k->last = n->prev;
	k->n_members--;
	k->counts.alive -= n->m.alive;
}

void kin_remove(struct kin *k, struct node *n)
{
	struct node **at = &k->bucket[bucket_of(k, n->m.id.pid)];

	while (*at != n)
		at = &(*at)->chain;
	*at = n->chain;
	k->n_nodes--;
	while (n->child)
		unlink_parent(n->child);
	unlink_parent(n);
	if (!n->never)
		unlist_member(k, n);
	free(n);
}

static struct ghost_slot *slot_of(const struct kin *k, pid_t pid)
{
	return &k->ghosts[(uint32_t)pid & (KIN_GHOSTS - 1)];
}

static void remember(struct kin *k, const struct node *n, uint64_t at_ns)
{
	struct ghost_slot *g = slot_of(k, n->m.id.pid);

	if (identity_known(g->id) && g->ended_ns > g->forgot_ns)
		g->forgot_ns = g->ended_ns;
	g->id = n->m.id;
	g->start_read = n->start_read;
	g->ended_ns = at_ns;
}

enum ghost kin_ghost(const struct kin *k, struct identity id, uint64_t boot_ns)
{
	const struct ghost_slot *g = slot_of(k, id.pid);

	if (g->id.pid == id.pid && kin_same_start(g->id.start, id.start, g->start_read))
		return boot_ns <= g->ended_ns ? GHOST_DEAD : GHOST_NONE;
	return boot_ns <= g->forgot_ns ? GHOST_UNSURE : GHOST_NONE;
}

static void keep_dead(struct kin *k, struct node *n)
{
	if (k->dead_last)
		k->dead_last->next_dead = n;
	else
		k->dead_first = n;
	k->dead_last = n;
	k->n_dead++;
}

void kin_trim(struct kin *k)
{
	while (k->n_dead > KIN_DEAD_MAX) {
		struct node *n = k->dead_first;

		k->dead_first = n->next_dead;
		k->n_dead--;
		kin_remove(k, n);
	}
}

void kin_bury(struct kin *k, struct node *n, uint64_t at_ns)
{
	remember(k, n, at_ns);
	unlink_parent(n);
	n->m.alive = false;
	k->counts.alive--;
	if (n->m.detached || n->m.regrouped || n->m.left_cgroup)
		keep_dead(k, n);
	else
		kin_remove(k, n);
}

void kin_set_parent(struct kin *k, struct node *n, pid_t ppid, uint64_t at_ns)
{
	struct node *p = kin_living(k, ppid);

	unlink_parent(n);
	n->m.ppid = ppid;
	n->parent_ns = at_ns;
	if (!p || p->never || p == n)
		return;
	n->parent = p;
	n->younger = p->child;
	if (p->child)
		p->child->elder = n;
	p->child = n;
	p->n_children++;
}
