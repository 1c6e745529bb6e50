#include "model/tree.h"

#include "model/lineage.h"

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

/* Index of a process within nodes[from, to), which are sorted by PID. */
static uint32_t find_node(const struct builder *b, size_t from, size_t to, pid_t pid)
{
	size_t lo = from, hi = to;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->nodes[mid].p->id.pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < to && b->nodes[lo].p->id.pid == pid ? (uint32_t)lo : NONE;
}

/* POSIX: every member's parent is in the group or outside its session. */
static bool orphaned(const struct builder *b, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct process *p = b->nodes[i].p;
		const struct process *parent = table_pid(b->t, p->ppid);

		if (parent && parent->sid == p->sid && parent->pgid != p->pgid)
			return false;
	}
	return true;
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

/* Whether linking i below parent would close a ring (PIDs change hands between two reads). */
static bool would_ring(const struct builder *b, size_t from, size_t to, uint32_t i, uint32_t parent)
{
	for (size_t steps = 0; parent != NONE && steps <= to - from; steps++) {
		if (parent == i)
			return true;
		parent = find_node(b, from, to, b->nodes[parent].p->ppid);
	}
	return parent != NONE;
}

static int add_group(struct builder *b, size_t from, size_t to)
{
	uint32_t *stack = malloc((to - from + 1) * sizeof(*stack));
	bool *top = calloc(to - from + 1, sizeof(*top));
	int r = stack && top ? 0 : -ENOMEM;

	/* from the last to the first, so that each list of children is in ascending order */
	for (size_t i = to; !r && i-- > from;) {
		uint32_t parent = find_node(b, from, to, b->nodes[i].p->ppid);

		if (parent == NONE || (b->nodes[parent].p->id.start > b->nodes[i].p->id.start &&
				       would_ring(b, from, to, (uint32_t)i, parent))) {
			top[i - from] = true;
			continue;
		}
		b->nodes[i].next = b->nodes[parent].first;
		b->nodes[parent].first = (uint32_t)i;
	}
	for (size_t i = from; !r && i < to; i++)
		if (top[i - from])
			r = add_tree(b, (uint32_t)i, stack);
	free(stack);
	free(top);
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
	row.leader_gone = first->sid > 0 && !row.p && !b->t->coverage.hidepid;
	row.one_group = row.groups == 1 && first->pgid == first->sid;
	row.pgid = row.one_group ? first->pgid : 0;
	row.orphaned = row.one_group && orphaned(b, from, to);
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
		group.leader_gone = !group.p && !b->t->coverage.hidepid && group.pgid > 0;
		group.orphaned = orphaned(b, i, j);
		if (!row.one_group)
			r = add_row(b, group);
		if (!r && (row.one_group || !is_folded(b, group.tag)))
			r = add_group(b, i, j);
	}
	return r;
}

int tree_build(const struct table *t, const struct tree_options *options, struct tree *out,
	       struct err *err)
{
	struct builder b = {.t = t, .o = options, .out = out};
	int r = 0;

	memset(out, 0, sizeof(*out));
	b.nodes = calloc(t->procs.n + 1, sizeof(*b.nodes));
	if (!b.nodes)
		return err_nomem(err);
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (!options->want || options->want(options->ctx, p))
			b.nodes[b.n++] = (struct node){p, 0, NONE, NONE};
	}
	rank_sessions(&b);
	qsort(b.nodes, b.n, sizeof(*b.nodes), by_place);
	for (size_t i = 0, j; !r && i < b.n; i = j) {
		for (j = i; j < b.n && b.nodes[j].p->sid == b.nodes[i].p->sid; j++)
			;
		r = add_session(&b, i, j);
	}
	free(b.nodes);
	if (r < 0)
		tree_free(out);
	return r < 0 ? err_nomem(err) : 0;
}
