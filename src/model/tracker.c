#include "model/tracker.h"

#include "model/asked.h"
#include "model/family.h"
#include "model/heard.h"
#include "model/lineage.h"
#include "model/origin.h"
#include "model/suspect.h"

#include <string.h>

void tracker_init(struct tracker *k)
{
	memset(k, 0, sizeof(*k));
}

static void drop_ghosts(struct tracker *k)
{
	for (size_t i = 0; i < k->ghosts.n; i++)
		process_clear(&k->ghosts.v[i].p);
	k->ghosts.n = 0;
}

void tracker_free(struct tracker *k)
{
	drop_ghosts(k);
	free(k->ghosts.v);
	free(k->heard_ended.v);
	free(k->unscanned.v);
	table_free(k->now);
	table_free(k->spare);
	memset(k, 0, sizeof(*k));
}

const struct ghost *tracker_ghost(const struct tracker *k, struct identity id)
{
	for (size_t i = 0; i < k->ghosts.n; i++)
		if (identity_same(k->ghosts.v[i].p.id, id))
			return &k->ghosts.v[i];
	return NULL;
}

static void move_bytes(struct bytes *to, struct bytes *from)
{
	bytes_free(to);
	*to = *from;
	*from = (struct bytes){0};
}

/* The part of a core used between two scans, in thousandths. */
static uint32_t cpu_use(const struct process *now, const struct process *was, uint64_t elapsed_ns,
			long ticks_per_second)
{
	double permille;

	if (!elapsed_ns || ticks_per_second <= 0 || now->cpu_ticks < was->cpu_ticks)
		return 0;
	permille = (double)(now->cpu_ticks - was->cpu_ticks) * (1e12 / (double)ticks_per_second) /
		   (double)elapsed_ns;
	return permille < UINT32_MAX ? (uint32_t)permille : UINT32_MAX;
}

static void carry_over(struct tracker *k, struct table *scan, struct process *p,
		       struct process *was)
{
	const struct process *parent;

	if (p->detail && was->detail && process_is_dead(p)) {
		detail_unref(p->detail); /* /proc has forgotten what it was */
		p->detail = NULL;
	}
	if (!p->detail) {
		p->detail = was->detail;
		was->detail = NULL;
		move_bytes(&p->origin_name, &was->origin_name);
		p->origin = was->origin;
		p->unit_len = was->unit_len;
	}
	move_bytes(&p->remote, &was->remote);
	p->connections = was->connections;
	p->reach_known = was->reach_known;
	p->reach_error = was->reach_error;
	p->reach_scan = was->reach_scan;
	p->parent_was = was->parent_was;
	p->parent_known = was->parent_known;
	p->reparented = was->reparented;
	p->evidence = was->evidence;
	asked_carry_over(p, was);
	p->survived = was->survived;
	p->cpu_permille = cpu_use(p, was, scan->host.boot_ns - k->now->host.boot_ns,
				  scan->host.ticks_per_second);
	if (p->ppid == was->ppid)
		return;
	p->reparented = KNOWN_SCANNED;
	parent = table_pid(k->now, was->ppid);
	if (!parent || p->parent_known >= KNOWN_SCANNED || was->reparented != KNOWN_NOT ||
	    was->reparent_possible)
		return; /* the one it had then may have adopted it, too */
	p->parent_was = parent->id;
	p->parent_known = KNOWN_SCANNED;
}

/* The parent a process is first seen with forked it, unless it looks adopted. */
static void first_parents(struct table *t, const struct family *f)
{
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];
		struct identity parent;

		if (p->parent_known != KNOWN_NOT || f->parent[i] == FAMILY_NONE ||
		    p->reparented != KNOWN_NOT || p->reparent_possible)
			continue;
		parent = t->procs.v[f->parent[i]].id;
		if (parent.start > p->id.start) /* the number changed hands meanwhile */
			continue;
		p->parent_was = parent;
		p->parent_known = KNOWN_PRESUMED;
	}
}

static void keep_ghost(struct tracker *k, struct process *was, uint64_t wall_ns)
{
	struct ghost g = {.p = *was, .gone_wall_ns = wall_ns};

	if (k->run && run_is_member(was))
		k->run->ended++;
	if (k->ghosts.n >= TRACKER_GHOSTS_MAX || !VEC_PUSH(&k->ghosts, g))
		return;               /* a comfort of the screen: to have none is no failure */
	memset(was, 0, sizeof(*was)); /* what it owned is the ghost's now */
}

/* A dead suspect is still to be seen by whoever looked at it last. */
static bool lately_suspect(const struct tracker *k, const struct ghost *g)
{
	return g->p.suspect &&
	       k->now->host.wall_ns < g->gone_wall_ns + TRACKER_SUSPECT_S * 1000000000ULL;
}

/* Ghosts that nothing alive refers to, and that were no members, go. */
static void prune_ghosts(struct tracker *k)
{
	struct identity *parents = calloc(k->now->procs.n + 1, sizeof(*parents));
	size_t n = 0, kept = 0;

	if (!parents)
		return;
	for (size_t i = 0; i < k->now->procs.n; i++)
		if (identity_known(k->now->procs.v[i].parent_was))
			parents[n++] = k->now->procs.v[i].parent_was;
	qsort(parents, n, sizeof(*parents), identity_order);
	for (size_t i = 0; i < k->ghosts.n; i++) {
		struct ghost *g = &k->ghosts.v[i];

		if (run_is_member(&g->p) || lately_suspect(k, g) ||
		    bsearch(&g->p.id, parents, n, sizeof(*parents), identity_order))
			k->ghosts.v[kept++] = *g;
		else
			process_clear(&g->p);
	}
	k->ghosts.n = kept;
	free(parents);
}

int tracker_judge(struct tracker *k, struct err *err)
{
	struct family f;
	int r = family_make(k->now, &f);

	if (!r)
		r = origin_judge(k->now);
	if (!r) {
		lineage_judge(k->now, &f);
		first_parents(k->now, &f);
		r = suspect_judge(k->now, &f, &k->suspects);
	}
	if (!r && k->run)
		r = run_judge(k->run, k->now, &f);
	family_free(&f);
	return r < 0 ? err_nomem(err) : 0;
}

/* The process of t with that identity.  Asked for in ascending order of PID: goes on
 * from where the last one was. */
static struct process *next_same(const struct table *t, size_t *from, struct identity id)
{
	while (*from < t->procs.n && t->procs.v[*from].id.pid < id.pid)
		(*from)++;
	if (*from >= t->procs.n || !identity_same(t->procs.v[*from].id, id))
		return NULL;
	return &t->procs.v[*from];
}

/* Who was missed by a scan, and is here again, never was a ghost. */
static void take_back(struct tracker *k, struct table *scan)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->ghosts.n; i++) {
		struct ghost *g = &k->ghosts.v[i];
		struct process *p = table_find(scan, g->p.id);

		if (!p) {
			k->ghosts.v[kept++] = *g;
			continue;
		}
		if (k->run && run_is_member(&g->p))
			k->run->ended--;
		carry_over(k, scan, p, &g->p);
		process_clear(&g->p);
	}
	k->ghosts.n = kept;
}

void tracker_heard(struct tracker *k, const struct kin_change *c)
{
	if (c->kind == KIN_EXITED && k->run)
		VEC_PUSH(&k->heard_ended, c->id); /* a count on the screen: no failure */
}

bool tracker_heard_of(const struct tracker *k, struct identity id)
{
	if (k->kin)
		return kin_member(k->kin, id) != NULL;
	for (size_t i = 0; i < k->unscanned.n; i++)
		if (identity_same(k->unscanned.v[i], id))
			return true;
	return false;
}

static bool copy_unscanned(const struct tracker *k, struct tracker *out)
{
	size_t n = 0;
	const struct kin_member *m = k->kin ? kin_members(k->kin, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		if (!table_find(k->now, m[i].id) && !VEC_PUSH(&out->unscanned, m[i].id))
			return false;
	return true;
}

int tracker_copy(const struct tracker *k, struct tracker *out, struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->now = table_clone(k->now);
	out->run = k->run ? calloc(1, sizeof(*out->run)) : NULL;
	if (!out->now || (k->run && (!out->run || !run_copy(out->run, k->run))) ||
	    !copy_unscanned(k, out))
		return err_nomem(err);
	return 0;
}

void tracker_copy_free(struct tracker *copy)
{
	if (copy->run)
		run_clear(copy->run);
	free(copy->run);
	tracker_free(copy);
}

/* Those that a scan saw are counted when one misses them. */
static void count_unseen(struct tracker *k, const struct table *was, const struct table *scan)
{
	for (size_t i = 0; k->run && i < k->heard_ended.n; i++) {
		struct identity id = k->heard_ended.v[i];

		if (!table_find(scan, id) && !(was && table_find(was, id)))
			k->run->ended++;
	}
	k->heard_ended.n = 0;
}

int tracker_fold(struct tracker *k, struct table *scan, struct err *err)
{
	struct table *was = k->now;
	size_t n = was ? was->procs.n : 0, at = 0;
	bool gone = false;
	int r;

	count_unseen(k, was, scan);
	for (size_t i = 0; i < n; i++) {
		struct process *p = next_same(scan, &at, was->procs.v[i].id);

		if (p)
			carry_over(k, scan, p, &was->procs.v[i]);
	}
	if (was)
		take_back(k, scan);
	/* only now: a ghost leaves a hole in the table that parents were looked up in */
	at = 0;
	for (size_t i = 0; i < n; i++)
		if (!next_same(scan, &at, was->procs.v[i].id)) {
			gone = true;
			keep_ghost(k, &was->procs.v[i], scan->host.wall_ns);
		}
	k->now = scan;
	k->scans++;
	if (was)
		table_clear(was);
	table_free(k->spare);
	k->spare = was;
	if (gone || k->scans % 60 == 0)
		prune_ghosts(k);
	table_count_coverage(scan);
	if (k->kin)
		heard_apply(k->kin, scan);
	r = tracker_judge(k, err);
	if (!r && k->kin && heard_feed(k->kin, scan) < 0)
		r = err_nomem(err);
	return r;
}

struct table *tracker_take_spare(struct tracker *k)
{
	struct table *spare = k->spare;

	k->spare = NULL;
	return spare;
}

int tracker_set_run(struct tracker *k, struct run *run, struct err *err)
{
	k->run = run;
	k->kin = NULL;
	k->heard_ended.n = 0;
	if (run)
		run->judged_ns = 0;
	for (size_t i = 0; i < k->ghosts.n; i++)
		k->ghosts.v[i].p.evidence = 0;
	if (!k->now)
		return 0;
	for (size_t i = 0; i < k->now->procs.n; i++) {
		struct process *p = &k->now->procs.v[i];

		p->evidence = 0;
		p->spoke_from = p->spoke_until = 0;
	}
	prune_ghosts(k);
	return tracker_judge(k, err);
}
