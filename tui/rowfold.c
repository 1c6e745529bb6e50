#include "tui/rowfold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SALT 0x9e3779b97f4a7c15ULL /* 2^64 / golden ratio: spreads small numbers */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL; /* MurmurHash3's finalizer */
	return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, const struct bytes *b)
{
	for (size_t i = 0; i < b->len; i++)
		h = (h ^ (unsigned char)b->data[i]) * 1099511628211ULL; /* FNV-1a */
	return h ^ h >> 32;
}

uint64_t rowfold_tag(enum section section, const struct tree_row *t)
{
	if (section == SECTION_LIST || t->kind == TREE_PROCESS)
		return t->tag;
	return mix(t->tag, section * SALT);
}

/* What is alike in them besides the program; false: it needs eyes. */
static bool look(const struct rows_options *o, const struct process *p, uint64_t *h)
{
	char flags[7];

	if (p->connections || p->survived)
		return false;
	if (o->list == LIST_SUSPECTS) {
		*h = mix(*h, p->suspect & ~(unsigned)(SUSPECT_CWD_DELETED | SUSPECT_CHILD));
		return true;
	}
	if (o->list == LIST_ALL)
		return true;
	run_flags(o->run, p, flags);
	if (flags[2] != '-')
		return false;
	flags[4] = '-'; /* its state may change at any time */
	for (int i = 0; i < 6; i++)
		*h = mix(*h, (uint64_t)flags[i]);
	return true;
}

uint64_t rowfold_key(const struct rows_options *o, const struct process *p, bool alone)
{
	const struct bytes *name;
	uint64_t h = SALT;

	if (!p->detail || process_is_kthread(p) || process_is_dead(p) || o->flat ||
	    tagset_has(o->tagged, identity_tag(p->id)))
		return 0;
	name = p->detail->exe.len ? &p->detail->exe : &p->detail->comm;
	if (!name->len || !look(o, p, &h))
		return 0;
	h = mix(h, (uint64_t)(uint32_t)p->ppid);
	h = mix(h, alone ? 0 : (uint64_t)(uint32_t)p->pgid);
	h = mix_bytes(h, name);
	return h ? h : 1;
}

/* Rows of a tree that may go into one fold together. */
struct unit {
	uint64_t key;   /* 0: none begins here */
	uint32_t len;   /* rows */
	uint32_t first; /* of them the first process */
};

struct fold {
	uint64_t key;
	uint32_t total, seen, sum;
};

struct emitter {
	struct rows *r;
	const struct rows_options *o;
	const struct tree *tree;
	enum section section;
	bool compact, settle;
	struct unit *units; /* one a row of the tree */
	struct fold *folds; /* by key */
	size_t n_folds;
};

static size_t subtree_end(const struct tree *tree, size_t i)
{
	size_t j = i + 1;

	while (j < tree->rows.n && tree->rows.v[j].kind == TREE_PROCESS &&
	       tree->rows.v[j].depth > tree->rows.v[i].depth)
		j++;
	return j;
}

static void find_units(struct emitter *e)
{
	const struct tree *tree = e->tree;

	for (size_t i = 0; i < tree->rows.n; i++) {
		const struct tree_row *t = &tree->rows.v[i];
		struct unit *u = &e->units[i];
		bool session = t->kind == TREE_SESSION && t->processes == 1 &&
			       i + 1 < tree->rows.n && t[1].kind == TREE_PROCESS;
		size_t first = session ? i + 1 : i, end = subtree_end(tree, first);

		*u = (struct unit){0, 1, (uint32_t)first};
		if ((!session && t->kind != TREE_PROCESS) || end - first > ROWFOLD_BELOW)
			continue;
		u->key = rowfold_key(e->o, tree->rows.v[first].p, session);
		for (size_t j = first + 1; u->key && j < end; j++)
			if (!rowfold_key(e->o, tree->rows.v[j].p, false))
				u->key = 0;
		if (!u->key)
			continue;
		u->len = (uint32_t)(end - i);
		if (session) { /* it goes with its session or not at all */
			e->units[++i] = (struct unit){0, 1, (uint32_t)first};
		}
	}
}

static int by_key(const void *a, const void *b)
{
	const struct fold *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static struct fold *find_fold(const struct emitter *e, uint64_t key)
{
	struct fold probe = {.key = key};

	if (!key || !e->n_folds)
		return NULL;
	return bsearch(&probe, e->folds, e->n_folds, sizeof(*e->folds), by_key);
}

/* Keys that enough units have, or that had enough when the list was settled. */
static int find_folds(struct emitter *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->tree->rows.n; i++)
		if (e->units[i].key)
			e->folds[e->n_folds++] = (struct fold){e->units[i].key, 1, 0, 0};
	if (e->n_folds)
		qsort(e->folds, e->n_folds, sizeof(*e->folds), by_key);
	for (size_t i = 0, j; i < e->n_folds; i = j) {
		for (j = i; j < e->n_folds && e->folds[j].key == e->folds[i].key; j++)
			;
		if (j - i < ROWFOLD_MIN &&
		    (e->settle || !tagset_has(&e->r->folds, e->folds[i].key)))
			continue;
		if (e->settle && !tagset_push(&e->r->folds, e->folds[i].key, 0))
			return -ENOMEM;
		e->folds[kept] = e->folds[i];
		e->folds[kept++].total = (uint32_t)(j - i);
	}
	e->n_folds = kept;
	return 0;
}

static int emit_row(struct emitter *e, size_t i, int deeper)
{
	const struct tree_row *t = &e->tree->rows.v[i];
	struct row row = {
		.section = e->section,
		.tag = rowfold_tag(e->section, t),
		.t = *t,
	};

	row.kind = t->kind == TREE_SESSION ? ROW_SESSION
		   : t->kind == TREE_GROUP ? ROW_GROUP
					   : ROW_PROCESS;
	row.t.depth += deeper;
	if (row.kind != ROW_PROCESS) {
		row.foldable = true;
		row.folded = tagset_has(e->o->toggled, row.tag);
		if (e->compact && t->processes == 1 && t->kind == TREE_SESSION && !row.folded)
			return 0;
	}
	return VEC_PUSH(&e->r->list, row) ? 0 : -ENOMEM;
}

static void add_to_sum(struct emitter *e, struct row_sum *sum, const struct unit *u)
{
	size_t begin = (size_t)(u - e->units);

	sum->units++;
	for (size_t i = u->first; i < begin + u->len; i++) {
		const struct process *p = e->tree->rows.v[i].p;

		sum->processes++;
		sum->rss_kb += p->rss_kb;
		sum->cwd_deleted += p->detail && p->detail->cwd_deleted;
		sum->newcomers += !tagset_has(&e->r->shown, identity_tag(p->id));
		if (p->id.start < sum->oldest)
			sum->oldest = p->id.start;
		if (p->id.start > sum->newest)
			sum->newest = p->id.start;
	}
}

static int emit_fold(struct emitter *e, const struct unit *at)
{
	const struct tree_row *t = &e->tree->rows.v[at->first];
	struct row_sum sum = {.key = at->key, .oldest = UINT64_MAX, .sample = t->p};
	struct row row = {
		.kind = ROW_FOLD,
		.section = e->section,
		.tag = mix(at->key, SALT + e->section),
		.foldable = true,
		.count = (unsigned)e->r->sums.n,
		.t = *t,
	};
	int r = 0;

	for (size_t i = 0; i < e->tree->rows.n; i++)
		if (e->units[i].key == at->key)
			add_to_sum(e, &sum, &e->units[i]);
	row.folded = !tagset_has(e->o->toggled, row.tag);
	if (!VEC_PUSH(&e->r->sums, sum) || !VEC_PUSH(&e->r->list, row))
		return -ENOMEM;
	for (size_t i = 0; !r && !row.folded && i < e->tree->rows.n; i++) {
		const struct unit *u = &e->units[i];

		if (u->key != at->key)
			continue;
		for (size_t j = u->first; !r && j < i + u->len; j++)
			r = emit_row(e, j, 1);
	}
	return r;
}

/*
 * Siblings' fold stands where the last of them stood, so that the tree's
 * branches still end where they say; sessions' where the first stood: the worst.
 */
static int emit_all(struct emitter *e)
{
	int r = 0;

	for (size_t i = 0, step; !r && i < e->tree->rows.n; i += step) {
		const struct unit *u = &e->units[i];
		struct fold *f = find_fold(e, u->key);
		bool session = e->tree->rows.v[i].kind == TREE_SESSION;

		step = f ? u->len : 1;
		if (!f)
			r = emit_row(e, i, 0);
		else if (f->seen++ == (session ? 0 : f->total - 1))
			r = emit_fold(e, u);
	}
	return r;
}

int rowfold_emit(struct rows *r, const struct rows_options *o, const struct tree *tree,
		 enum section section, bool compact, bool settle)
{
	struct emitter e = {
		.r = r,
		.o = o,
		.tree = tree,
		.section = section,
		.compact = compact,
		.settle = settle,
		.units = calloc(tree->rows.n + 1, sizeof(*e.units)),
		.folds = calloc(tree->rows.n + 1, sizeof(*e.folds)),
	};
	int result = e.units && e.folds ? 0 : -ENOMEM;

	if (!result) {
		find_units(&e);
		result = find_folds(&e);
	}
	if (!result)
		result = emit_all(&e);
	free(e.units);
	free(e.folds);
	return result;
}
