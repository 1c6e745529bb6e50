#include "model/heard.h"

static int refuse_all(struct kin *kin, const struct run *run, const struct table *t,
		      const bool *own)
{
	int r = 0;

	for (size_t i = 0; !r && i < t->procs.n; i++)
		if (own[i])
			r = kin_never(kin, t->procs.v[i].id.pid, NULL);
	for (size_t i = 0; !r && i < run->never.n; i++)
		if (table_find(t, run->never.v[i]))
			r = kin_never(kin, run->never.v[i].pid, NULL);
	return r;
}

/* Groups and sessions are judged by the run, which knows when a number is given up. */
struct kin *heard_new(const struct run *run, const struct table *t)
{
	struct kin_options o = {
		.pgid = run->pgid, .sid = run->sid, .ticks_per_second = t->host.ticks_per_second};
	const struct process *root = table_find(t, run->root);
	bool *own = run_own(t);
	struct kin *kin = NULL;

	if (!own)
		return NULL;
	if (root && !process_is_dead(root) && !own[root - t->procs.v])
		o.root = root->id;
	kin = kin_new(&o);
	if (kin && (refuse_all(kin, run, t, own) < 0 || heard_feed(kin, t) < 0)) {
		kin_free(kin);
		kin = NULL;
	}
	free(own);
	return kin;
}

void heard_apply(const struct kin *kin, struct table *t)
{
	size_t n;
	const struct kin_member *m = kin_members(kin, &n);

	for (size_t i = 0; i < n; i++) {
		struct process *p = m[i].forker_known == KNOWN_SEEN ? table_find(t, m[i].id) : NULL;

		if (!p)
			continue;
		p->evidence |= EVIDENCE_FORK;
		p->parent_was = m[i].forker;
		p->parent_known = KNOWN_SEEN;
		if (p->ppid != m[i].forker.pid)
			p->reparented = KNOWN_SEEN;
	}
}

int heard_feed(struct kin *kin, const struct table *t)
{
	VEC(struct kin_reading) v = {0};
	int r = 0;

	for (size_t i = 0; !r && i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		struct kin_reading reading = {
			.id = p->id,
			.ppid = p->ppid,
			.pgid = p->pgid,
			.sid = p->sid,
			.dead = process_is_dead(p),
			.evidence = run_is_member(p) ? p->evidence : 0,
		};

		if (!process_is_kthread(p) && !VEC_PUSH(&v, reading))
			r = -ENOMEM;
	}
	if (!r)
		r = kin_scan(kin, v.v, v.n, table_shows_all(t), t->host.boot_ns, NULL);
	kin_taken(kin); /* what a scan tells is seen in the table */
	free(v.v);
	return r;
}
