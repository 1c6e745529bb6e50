#include "model/tree.h"

#include "model/family.h"

#include <errno.h>
#include <string.h>

struct node {
	const struct process *p;
	unsigned rank;        /* the session's: the largest of its members */
	uint32_t first, next; /* first child, next sibling; NONE: none */
};

#define NONE UINT32_MAX

struct builder {
	const struct table *t;
	const struct tree_options *o;
	struct tree *out;
	struct node *nodes;
	size_t n;
	struct family family;
	uint32_t *node_of; /* by index in the table; NONE: not wanted */
	pid_t *controlled; /* sorted: groups that are not orphaned */
	size_t n_controlled;
};

uint64_t tree_session_tag(pid_t sid)
{
	return identity_tag((struct identity){sid, UINT64_MAX});
}

uint64_t tree_group_tag(pid_t sid, pid_t pgid)
{
	return identity_tag((struct identity){pgid, UINT64_MAX - 1 - (uint64_t)(uint32_t)sid});
}

void tree_free(struct tree *tree)
{
	free(tree->rows.v);
	memset(tree, 0, sizeof(*tree));
}

static int by_place(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	const struct process *p = x->p, *q = y->p;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (p->sid != q->sid)
		return p->sid < q->sid ? -1 : 1;
	if (p->pgid != q->pgid) /* the group with the session's number first */
		return p->pgid == p->sid ? -1 : q->pgid == q->sid ? 1 : p->pgid < q->pgid ? -1 : 1;
	return p->id.pid < q->id.pid ? -1 : p->id.pid > q->id.pid;
}

static int by_session(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->p->sid > y->p->sid) - (x->p->sid < y->p->sid);
}

/* Each process gets the rank of its session's most important one. */
static void rank_sessions(struct builder *b)
{
	if (!b->o->rank)
		return;
	for (size_t i = 0; i < b->n; i++)
		b->nodes[i].rank = b->o->rank(b->o->ctx, b->nodes[i].p);
	qsort(b->nodes, b->n, sizeof(*b->nodes), by_session);
	for (size_t i = 0; i < b->n;) {
		unsigned best = 0;
		size_t j = i;

		for (; j < b->n && b->nodes[j].p->sid == b->nodes[i].p->sid; j++)
			if (b->nodes[j].rank > best)
				best = b->nodes[j].rank;
		for (; i < j; i++)
			b->nodes[i].rank = best;
	}
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * POSIX: a group is orphaned where every member's parent is in the group or
 * outside its session.  So it is not where one living member's parent is
 * elsewhere in the session; a parent that is hidden from us may be there.
 */
static void find_controlled(struct builder *b)
{
	for (size_t i = 0; i < b->t->procs.n; i++) {
		const struct process *p = &b->t->procs.v[i], *parent;
		uint32_t above = b->family.parent[i];

		if (process_is_dead(p))
			continue;
		parent = above == FAMILY_NONE ? NULL : &b->t->procs.v[above];
		if (parent ? parent->sid == p->sid && parent->pgid != p->pgid
			   : p->ppid > 0 && !table_shows_all(b->t))
			b->controlled[b->n_controlled++] = p->pgid;
	}
	qsort(b->controlled, b->n_controlled, sizeof(*b->controlled), by_number);
}

static bool orphaned(const struct builder *b, pid_t pgid)
{
	return pgid > 0 && !bsearch(&pgid, b->controlled, b->n_controlled, sizeof(pgid), by_number);
}

static int add_row(struct builder *b, struct tree_row row)
{
	return VEC_PUSH(&b->out->rows, row) ? 0 : -ENOMEM;
}

/* Depth first, without recursion: a chain of forks may be ten thousand deep. */
static int add_tree(struct builder *b, uint32_t top, uint32_t *stack)
{
	size_t depth = 0;

	stack[0] = top;
	for (;;) {
		uint32_t i = stack[depth];
		const struct node *node = &b->nodes[i];
		int shown = depth < TREE_DEPTH_MAX ? (int)depth : TREE_DEPTH_MAX - 1;
		struct tree_row row = {
			.kind = TREE_PROCESS,
			.tag = identity_tag(node->p->id),
			.sid = node->p->sid,
			.pgid = node->p->pgid,
			.p = node->p,
			.depth = shown,
			.last = node->next == NONE || depth == 0,
		};

		for (int d = 1; d < shown; d++)
			if (b->nodes[stack[d]].next != NONE)
				row.bars |= 1u << d;
		if (add_row(b, row) < 0)
			return -ENOMEM;
		if (node->first != NONE) {
			stack[++depth] = node->first;
			continue;
		}
		while (depth && b->nodes[stack[depth]].next == NONE)
			depth--;
		if (!depth)
			return 0;
		stack[depth] = b->nodes[stack[depth]].next;
	}
}

/* Where the parent of a node is, if that is in nodes[from, to) too. */
static uint32_t parent_node(const struct builder *b, size_t from, size_t to, size_t i)
{
	uint32_t above = b->family.parent[b->nodes[i].p - b->t->procs.v];
	uint32_t node = above == FAMILY_NONE ? NONE : b->node_of[above];

	return node != NONE && node >= from && node < to ? node : NONE;
}

static int add_group(struct builder *b, size_t from, size_t to)
{
	uint32_t *stack = malloc((to - from + 1) * sizeof(*stack));
	int r = stack ? 0 : -ENOMEM;

	/* from the last to the first, so that each list of children is in ascending order */
	for (size_t i = to; !r && i-- > from;) {
		uint32_t parent = parent_node(b, from, to, i);

		if (parent == NONE)
			continue;
		b->nodes[i].next = b->nodes[parent].first;
		b->nodes[parent].first = (uint32_t)i;
	}
	for (size_t i = from; !r && i < to; i++)
		if (parent_node(b, from, to, i) == NONE)
			r = add_tree(b, (uint32_t)i, stack);
	free(stack);
	return r;
}

static bool is_folded(const struct builder *b, uint64_t tag)
{
	return b->o->folded && b->o->folded(b->o->ctx, tag);
}

static const struct process *living(const struct table *t, pid_t pid)
{
	const struct process *p = pid > 0 ? table_pid(t, pid) : NULL;

	return p && !process_is_dead(p) ? p : NULL;
}

static int add_session(struct builder *b, size_t from, size_t to)
{
	const struct process *first = b->nodes[from].p;
	struct tree_row row = {
		.kind = TREE_SESSION,
		.tag = tree_session_tag(first->sid),
		.sid = first->sid,
		.p = living(b->t, first->sid),
		.processes = (unsigned)(to - from),
	};
	bool folded = is_folded(b, row.tag);
	int r;

	for (size_t i = from; i < to; i++)
		row.groups += i == from || b->nodes[i].p->pgid != b->nodes[i - 1].p->pgid;
	row.leader_gone = first->sid > 0 && !row.p && table_shows_all(b->t);
	row.one_group = row.groups == 1 && first->pgid == first->sid;
	row.pgid = row.one_group ? first->pgid : 0;
	row.orphaned = row.one_group && orphaned(b, first->pgid);
	r = add_row(b, row);
	for (size_t i = from, j; !r && !folded && i < to; i = j) {
		struct tree_row group = {
			.kind = TREE_GROUP,
			.tag = tree_group_tag(first->sid, b->nodes[i].p->pgid),
			.sid = first->sid,
			.pgid = b->nodes[i].p->pgid,
			.p = living(b->t, b->nodes[i].p->pgid),
		};

		for (j = i; j < to && b->nodes[j].p->pgid == group.pgid; j++)
			;
		group.processes = (unsigned)(j - i);
		if (group.p && group.p->pgid != group.pgid)
			group.p = NULL; /* it left the group, which keeps its number */
		group.leader_gone = !group.p && group.pgid > 0 && table_shows_all(b->t);
		group.orphaned = orphaned(b, group.pgid);
		if (!row.one_group)
			r = add_row(b, group);
		if (!r && (row.one_group || !is_folded(b, group.tag)))
			r = add_group(b, i, j);
	}
	return r;
}

static int make_builder(struct builder *b)
{
	size_t n = b->t->procs.n;

	if (family_make(b->t, &b->family) < 0)
		return -ENOMEM;
	b->nodes = calloc(n + 1, sizeof(*b->nodes));
	b->node_of = malloc((n + 1) * sizeof(*b->node_of));
	b->controlled = calloc(n + 1, sizeof(*b->controlled));
	return b->nodes && b->node_of && b->controlled ? 0 : -ENOMEM;
}

static void sort_nodes(struct builder *b)
{
	for (size_t i = 0; i < b->t->procs.n; i++) {
		const struct process *p = &b->t->procs.v[i];

		b->node_of[i] = NONE;
		if (!b->o->want || b->o->want(b->o->ctx, p))
			b->nodes[b->n++] = (struct node){p, 0, NONE, NONE};
	}
	rank_sessions(b);
	qsort(b->nodes, b->n, sizeof(*b->nodes), by_place);
	for (size_t i = 0; i < b->n; i++)
		b->node_of[b->nodes[i].p - b->t->procs.v] = (uint32_t)i;
}

int tree_build(const struct table *t, const struct tree_options *options, struct tree *out,
	       struct err *err)
{
	struct builder b = {.t = t, .o = options, .out = out};
	int r;

	memset(out, 0, sizeof(*out));
	r = make_builder(&b);
	if (!r) {
		find_controlled(&b);
		sort_nodes(&b);
	}
	for (size_t i = 0, j; !r && i < b.n; i = j) {
		for (j = i; j < b.n && b.nodes[j].p->sid == b.nodes[i].p->sid; j++)
			;
		r = add_session(&b, i, j);
	}
	family_free(&b.family);
	free(b.nodes);
	free(b.node_of);
	free(b.controlled);
	if (r < 0)
		tree_free(out);
	return r < 0 ? err_nomem(err) : 0;
}
