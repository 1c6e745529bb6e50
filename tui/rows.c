#include "tui/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/suspect.h"
#include "tui/rowfold.h"

#define GHOST_STATE 'X' /* dead, reaped: proc(5) */

const char *sort_name(enum sort s)
{
	static const char *const names[SORT_COUNT] = {
		"worst first", "by number", "youngest first", "by CPU", "by memory",
	};

	return names[s];
}

uint64_t rows_heading_tag(enum section s)
{
	return identity_tag((struct identity){-1 - (pid_t)s, 0});
}

long rows_find(const struct rows *r, uint64_t tag)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (r->list.v[i].tag == tag)
			return (long)i;
	return -1;
}

void rows_free(struct rows *r)
{
	free(r->list.v);
	free(r->sums.v);
	free(r->merged); /* the processes are borrowed */
	accounted_free(&r->accounted);
	tagset_free(&r->shown);
	tagset_free(&r->order);
	tagset_free(&r->folds);
	memset(r, 0, sizeof(*r));
}

struct builder {
	struct rows *r;
	const struct tracker *k;
	const struct rows_options *o;
	enum section section;
	bool settle;
};

static bool listed_pid(const struct rows_options *o, pid_t pid)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (o->pids[i] == pid)
			return true;
	return o->pids == NULL;
}

static bool passes(void *ctx, const struct process *p)
{
	const struct builder *b = ctx;
	struct query user = {.kind = QUERY_USER};

	if (!listed_pid(b->o, p->id.pid))
		return false;
	if (b->o->user && *b->o->user) {
		snprintf(user.text, sizeof(user.text), "%s", b->o->user);
		if (!query_matches(&user, &b->r->table, p))
			return false;
	}
	return !b->o->filter || query_matches(b->o->filter, &b->r->table, p);
}

/* Whether p belongs in the list proper. */
static bool in_list(struct builder *b, const struct process *p)
{
	bool ghost = p->state == GHOST_STATE;

	switch (b->o->list) {
	case LIST_SUSPECTS:
		return p->suspect && passes(b, p);
	case LIST_RUN:
		return run_is_member(p) && passes(b, p);
	case LIST_ALL:
		return !ghost && passes(b, p);
	}
	return false;
}

static bool in_known_fold(const struct builder *b, const struct process *p)
{
	uint64_t key;

	if (!b->r->folds.n)
		return false;
	key = rowfold_key(b->o, p, false);
	if (key && tagset_has(&b->r->folds, key))
		return true;
	key = p->sid == p->id.pid ? rowfold_key(b->o, p, true) : 0;
	return key && tagset_has(&b->r->folds, key);
}

/* Whether p has its place already: it had it when the list was settled, or it
 * goes into a fold that was there, by itself or below its parent. */
static bool has_place(const struct builder *b, const struct process *p)
{
	if (b->settle || tagset_has(&b->r->shown, identity_tag(p->id)))
		return true;
	for (int up = 0; p && up < ROWFOLD_BELOW; up++) {
		if (tagset_has(&b->r->shown, identity_tag(p->id)))
			return false; /* a newcomer below one that is shown by itself */
		if (in_known_fold(b, p))
			return true;
		p = p->ppid > 1 ? table_pid(&b->r->table, p->ppid) : NULL;
	}
	return false;
}

static bool want(void *ctx, const struct process *p)
{
	struct builder *b = ctx;

	switch (b->section) {
	case SECTION_LIST:
		return in_list(b, p) && has_place(b, p);
	case SECTION_NEW:
		return in_list(b, p) && !has_place(b, p);
	case SECTION_POSSIBLE:
		return p->evidence && !run_is_member(p) && p->state != GHOST_STATE;
	case SECTION_ELSEWHERE:
		return !p->evidence && p->state != GHOST_STATE;
	case SECTION_ENDED:
	case SECTION_COUNT:
		return false;
	case SECTION_BUCKETS:
		break;
	}
	return b->r->accounted.of[p - b->r->table.procs.v] == (int)b->section - SECTION_BUCKETS;
}

static unsigned run_rank(const struct run *run, const struct process *p)
{
	char flags[7];
	unsigned w = 1;

	if (process_is_dead(p))
		return 0;
	run_flags(run, p, flags);
	w += p->survived ? 400 : 0;
	w += p->connections ? 300 : 0;
	w += flags[3] == 'L' ? 60 : 0;
	w += flags[1] == 'S' || flags[1] == 'C' ? 50 : flags[1] == 'G' ? 20 : 0;
	w += flags[2] == 'H' ? 40 : 0;
	w += flags[0] != '-' ? 10 : 0;
	w += flags[5] == 'a' ? 5 : 0;
	return w;
}

static unsigned rank_of(const struct rows_options *o, const struct process *p)
{
	switch (o->sort) {
	case SORT_WORST:
		if (o->list == LIST_RUN)
			return run_rank(o->run, p);
		return o->list == LIST_SUSPECTS ? suspect_weight(p) : 0;
	case SORT_YOUNGEST:
		return (unsigned)(p->id.start / 10);
	case SORT_CPU:
		return p->cpu_permille;
	case SORT_MEMORY:
		return p->rss_kb > UINT32_MAX ? UINT32_MAX : (unsigned)p->rss_kb;
	case SORT_NUMBER:
	case SORT_COUNT:
		break;
	}
	return 0;
}

static unsigned rank(void *ctx, const struct process *p)
{
	const struct builder *b = ctx;
	const struct tag_at *at;

	if (b->settle || b->section != SECTION_LIST)
		return rank_of(b->o, p);
	at = tagset_find(&b->r->order, tree_session_tag(p->sid));
	return at ? UINT32_MAX - at->at : 0;
}

static bool folded(void *ctx, uint64_t tag)
{
	const struct builder *b = ctx;
	struct tree_row t = {.kind = TREE_SESSION, .tag = tag};

	return tagset_has(b->o->toggled, rowfold_tag(b->section, &t));
}

static bool is_shown_dead(const struct builder *b, const struct process *ghost)
{
	return tagset_has(&b->r->shown, identity_tag(ghost->id)) &&
	       !table_pid(b->k->now, ghost->id.pid);
}

static int by_number(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return identity_order(&x->id, &y->id);
}

/* Of two dead that had one number the later is shown.  Nothing is freed: all are borrowed. */
static void sort_borrowed(struct table *t)
{
	size_t kept = 0;

	qsort(t->procs.v, t->procs.n, sizeof(*t->procs.v), by_number);
	for (size_t i = 0; i < t->procs.n; i++)
		if (i + 1 == t->procs.n || t->procs.v[i + 1].id.pid != t->procs.v[i].id.pid)
			t->procs.v[kept++] = t->procs.v[i];
	t->procs.n = kept;
}

/* The processes of now, and the dead that are shown where they were: all borrowed. */
static int merge_dead(struct builder *b)
{
	struct table *t = &b->r->table;
	const struct table *now = b->k->now;
	size_t n = now->procs.n, dead = 0;
	struct process *v;

	*t = *now;
	if (b->settle || b->o->list == LIST_ALL)
		return 0;
	for (size_t i = 0; i < b->k->ghosts.n; i++)
		dead += is_shown_dead(b, &b->k->ghosts.v[i].p);
	if (!dead)
		return 0;
	v = realloc(b->r->merged, (n + dead) * sizeof(*v));
	if (!v)
		return -1;
	b->r->merged = v;
	memcpy(v, now->procs.v, n * sizeof(*v));
	for (size_t i = 0; i < b->k->ghosts.n; i++) {
		if (!is_shown_dead(b, &b->k->ghosts.v[i].p))
			continue;
		v[n] = b->k->ghosts.v[i].p;
		v[n++].state = GHOST_STATE;
	}
	t->procs.v = v;
	t->procs.n = n;
	sort_borrowed(t);
	return 0;
}

static int note_order(struct builder *b, const struct tree *tree)
{
	struct rows *r = b->r;
	uint32_t sessions = 0, processes = 0;

	for (size_t i = 0; i < tree->rows.n; i++) {
		const struct tree_row *t = &tree->rows.v[i];
		bool ok = true;

		if (t->kind == TREE_SESSION)
			ok = tagset_push(&r->order, t->tag, sessions++);
		else if (t->kind == TREE_PROCESS)
			ok = tagset_push(&r->shown, t->tag, processes++);
		if (!ok)
			return -1;
	}
	tagset_sort(&r->order);
	tagset_sort(&r->shown);
	return 0;
}

static int build_section(struct builder *b, enum section s, bool compact)
{
	struct tree_options to = {
		.want = want,
		.rank = s == SECTION_LIST || s == SECTION_NEW ? rank : NULL,
		.folded = b->settle && s == SECTION_LIST ? NULL : folded,
		.ctx = b,
	};
	struct err ignored = {0};
	struct tree tree;
	int r;

	b->section = s;
	r = tree_build(&b->r->table, &to, &tree, &ignored);
	if (!r && b->settle && s == SECTION_LIST) { /* also what is folded away has its place */
		struct rows scratch = {.shown = b->r->shown, .folds = b->r->folds};

		r = note_order(b, &tree);
		scratch.shown = b->r->shown;
		if (!r)
			r = rowfold_emit(&scratch, b->o, &tree, s, compact, true);
		b->r->folds = scratch.folds;
		tagset_sort(&b->r->folds);
		free(scratch.list.v);
		free(scratch.sums.v);
		b->settle = false;
		tree_free(&tree);
		return r < 0 ? r : build_section(b, s, compact);
	}
	if (!r)
		r = rowfold_emit(b->r, b->o, &tree, s, compact, false);
	tree_free(&tree);
	return r;
}

static int add_heading(struct builder *b, enum row_kind kind, enum section s, unsigned count,
		       uint8_t half)
{
	struct row row = {
		.kind = kind,
		.section = s,
		.tag = kind == ROW_RULE ? 0 : rows_heading_tag(s),
		.half = half,
		.count = count,
		.foldable = kind != ROW_RULE && kind != ROW_NEW,
	};

	if (kind == ROW_BUCKET)
		row.bucket = (enum bucket)(s - SECTION_BUCKETS);
	row.folded = row.foldable && !tagset_has(b->o->toggled, row.tag);
	if (!row.folded && row.foldable)
		row.half = 0;
	return VEC_PUSH(&b->r->list, row) ? 0 : -1;
}

static bool last_folded(const struct builder *b)
{
	return b->r->list.v[b->r->list.n - 1].folded;
}

static int build_new(struct builder *b)
{
	struct rows *r = b->r;

	b->section = SECTION_NEW;
	r->newcomers = r->newcomers_connected = 0;
	for (size_t i = 0; i < r->table.procs.n; i++) {
		const struct process *p = &r->table.procs.v[i];

		if (!want(b, p))
			continue;
		r->newcomers++;
		r->newcomers_connected += p->connections != 0;
	}
	if (!r->newcomers)
		return 0;
	if (add_heading(b, ROW_NEW, SECTION_NEW, r->newcomers, 0) < 0)
		return -1;
	return build_section(b, SECTION_NEW, b->o->list == LIST_ALL);
}

static int build_buckets(struct builder *b)
{
	uint8_t half = 1;

	if (add_heading(b, ROW_RULE, SECTION_BUCKETS, 0, 0) < 0)
		return -1;
	for (enum bucket k = 0; k < BUCKET_COUNT; k++) {
		enum section s = SECTION_BUCKETS + k;
		unsigned n = b->r->accounted.sums[k].processes;

		if (!n)
			continue;
		if (add_heading(b, ROW_BUCKET, s, n, half) < 0)
			return -1;
		if (last_folded(b)) {
			half = half == 1 ? 2 : 1;
			continue;
		}
		half = 1;
		if (build_section(b, s, true) < 0)
			return -1;
	}
	return 0;
}

/* Nothing where it is shown in the place it had.  0 or -1. */
static int add_ended(struct rows *r, const struct process *p)
{
	struct row row = {.kind = ROW_PROCESS, .section = SECTION_ENDED};

	row.tag = identity_tag(p->id);
	if (tagset_has(&r->shown, row.tag))
		return 0;
	row.t = (struct tree_row){.kind = TREE_PROCESS, .tag = row.tag, .p = p};
	return VEC_PUSH(&r->list, row) ? 0 : -1;
}

/* Whom the journal saw end, then whom the tracker alone did. */
static int build_ended(struct builder *b)
{
	const struct gone *gone = b->o->gone;
	struct rows *r = b->r;
	size_t heading = r->list.n - 1, known = gone ? gone->n : 0;

	for (size_t i = 0; gone && i < gone->n; i++)
		if (add_ended(r, &gone->v[i]) < 0)
			return -1;
	for (size_t i = 0; i < b->k->ghosts.n; i++) {
		const struct process *p = &b->k->ghosts.v[i].p;

		if (!p->evidence || (gone && tagset_has(&gone->tags, identity_tag(p->id))))
			continue;
		known += run_is_member(p);
		if (add_ended(r, p) < 0)
			return -1;
	}
	if (known < r->list.v[heading].count)
		r->list.v[heading].left = r->list.v[heading].count - (unsigned)known;
	return 0;
}

static int build_run_end(struct builder *b)
{
	unsigned possible = 0, elsewhere = 0;
	int r = 0;

	for (size_t i = 0; i < b->r->table.procs.n; i++) {
		b->section = SECTION_POSSIBLE;
		possible += want(b, &b->r->table.procs.v[i]);
		b->section = SECTION_ELSEWHERE;
		elsewhere += want(b, &b->r->table.procs.v[i]);
	}
	if (possible) {
		r = add_heading(b, ROW_POSSIBLE, SECTION_POSSIBLE, possible, 0);
		if (!r && !last_folded(b))
			r = build_section(b, SECTION_POSSIBLE, false);
	}
	if (!r)
		r = add_heading(b, ROW_ENDED, SECTION_ENDED, (unsigned)b->o->run->ended, 1);
	if (!r && !last_folded(b))
		r = build_ended(b);
	if (!r)
		r = add_heading(b, ROW_ELSEWHERE, SECTION_ELSEWHERE, elsewhere, 2);
	if (!r && !last_folded(b))
		r = build_section(b, SECTION_ELSEWHERE, true);
	return r;
}

static int by_rank(const void *a, const void *b, void *ctx)
{
	const struct builder *builder = ctx;
	const struct row *x = a, *y = b;
	unsigned rx = rank_of(builder->o, x->t.p), ry = rank_of(builder->o, y->t.p);

	if (rx != ry)
		return rx > ry ? -1 : 1;
	return (x->t.p->id.pid > y->t.p->id.pid) - (x->t.p->id.pid < y->t.p->id.pid);
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct builder *builder = ctx;
	const struct row *x = a, *y = b;
	const struct tag_at *px = tagset_find(&builder->r->shown, x->tag);
	const struct tag_at *py = tagset_find(&builder->r->shown, y->tag);

	if (px && py)
		return (px->at > py->at) - (px->at < py->at);
	return (px == NULL) - (py == NULL);
}

/* No sessions, no tree: one process a row. */
static int build_flat(struct builder *b)
{
	struct rows *r = b->r;

	b->section = SECTION_LIST;
	for (size_t i = 0; i < r->table.procs.n; i++) {
		const struct process *p = &r->table.procs.v[i];
		struct row row = {.kind = ROW_PROCESS, .tag = identity_tag(p->id)};

		row.t = (struct tree_row){.kind = TREE_PROCESS, .tag = row.tag, .p = p};
		if (want(b, p) && !VEC_PUSH(&r->list, row))
			return -1;
	}
	if (r->list.n)
		qsort_r(r->list.v, r->list.n, sizeof(*r->list.v), b->settle ? by_rank : by_place,
			b);
	for (size_t i = 0; b->settle && i < r->list.n; i++)
		if (!tagset_push(&r->shown, r->list.v[i].tag, (uint32_t)i))
			return -1;
	if (b->settle)
		tagset_sort(&r->shown);
	b->settle = false;
	return 0;
}

static void number_lines(struct rows *r)
{
	unsigned line = 0;

	for (size_t i = 0; i < r->list.n; i++) {
		struct row *row = &r->list.v[i];

		if (row->half == 2 && (i == 0 || r->list.v[i - 1].half != 1))
			row->half = 1; /* its left neighbour was unfolded */
		if (row->half == 2)
			line--;
		row->line = line++;
	}
	r->lines = line;
}

static int build(struct builder *b)
{
	int r;

	if (merge_dead(b) < 0)
		return -1;
	if (b->o->list == LIST_SUSPECTS &&
	    accounted_count(&b->r->table, passes, b, &b->r->accounted, NULL) < 0)
		return -1;
	if (b->settle) {
		b->r->shown.n = b->r->order.n = b->r->folds.n = 0;
		b->r->settled = true;
	}
	r = b->o->flat ? build_flat(b) : build_section(b, SECTION_LIST, b->o->list == LIST_ALL);
	if (!r)
		r = build_new(b);
	if (!r && b->o->list == LIST_SUSPECTS)
		r = build_buckets(b);
	else if (!r && b->o->list == LIST_RUN)
		r = build_run_end(b);
	number_lines(b->r);
	return r;
}

int rows_build(struct rows *r, const struct tracker *k, const struct rows_options *o, bool settle,
	       struct err *err)
{
	struct builder b = {.r = r, .k = k, .o = o, .settle = settle || !r->settled};

	r->list.n = r->sums.n = 0;
	r->lines = 0;
	accounted_free(&r->accounted);
	if (!k->now)
		return 0;
	if (build(&b) == 0)
		return 0;
	r->list.n = 0;
	return err_nomem(err);
}

bool rows_in_fold(const struct rows *r, const struct row *fold, const struct rows_options *o,
		  const struct process *p)
{
	uint64_t key = r->sums.v[fold->count].key;

	if (p->sid == p->id.pid && rowfold_key(o, p, true) == key)
		return true;
	for (int up = 0; p && up < ROWFOLD_BELOW; up++) {
		if (rowfold_key(o, p, false) == key)
			return true;
		p = p->ppid > 1 ? table_pid(&r->table, p->ppid) : NULL;
	}
	return false;
}
