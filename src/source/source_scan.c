#include "source/source_parts.h"

#include "source/hostinfo.h"
#include "source/pids.h"
#include "source/statfds.h"

#include "model/lineage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_comm(const char *comm)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *comm; comm++)
		h = (h ^ (unsigned char)*comm) * 16777619u;
	return h;
}

static uint32_t hash_cgroup(const struct process *p)
{
	return p->detail && p->detail->cgroup.data ? hash_comm(p->detail->cgroup.data) : 0;
}

static const struct seen *find_seen(const struct source *s, pid_t pid, size_t *from)
{
	/* both come in ascending order: go on from where the last one was */
	while (*from < s->seen.n && s->seen.v[*from].id.pid < pid)
		(*from)++;
	return *from < s->seen.n && s->seen.v[*from].id.pid == pid ? &s->seen.v[*from] : NULL;
}

void source_reuse(struct source *s, struct table *t)
{
	table_free(s->spare);
	s->spare = t;
}

int source_watch(struct source *s, const struct identity *ids, size_t n)
{
	struct identity *v = n ? malloc(n * sizeof(*v)) : NULL;

	if (n && !v)
		return -ENOMEM;
	if (n) {
		memcpy(v, ids, n * sizeof(*v));
		qsort(v, n, sizeof(*v), identity_order);
	}
	free(s->watched.v);
	s->watched.v = v;
	s->watched.n = n;
	return 0;
}

/* Whether a watched process is in another cgroup than it was read in. */
static bool has_moved(struct source *s, const struct process *p, const struct seen *old)
{
	struct process now = {.id = p->id, .state = p->state};
	bool moved;

	if (!(old->have & DETAIL_CGROUP) || !s->watched.n || process_is_dead(p) ||
	    !bsearch(&p->id, s->watched.v, s->watched.n, sizeof(*s->watched.v), identity_order) ||
	    details_read(&s->details, &now, NULL, DETAIL_CGROUP) < 0)
		return false;
	moved = now.detail->cgroup.data && hash_cgroup(&now) != old->cgroup_hash;
	process_clear(&now);
	return moved;
}

struct scan {
	struct source *s;
	struct table *t;
	const pid_t *only; /* NULL: all processes */
	size_t n_only;
	size_t from;
	struct {
		char *v;
		size_t n, cap;
	} comms; /* of those whose details are put off, each ended by NUL, in the table's order */
};

static bool keep_comm(struct scan *scan, const char *comm)
{
	do
		if (!VEC_PUSH(&scan->comms, *comm))
			return false;
	while (*comm++);
	return true;
}

static int read_details(struct source *s, struct process *p, struct seen *now, const char *comm,
			unsigned bits)
{
	int r = details_read(&s->details, p, comm, bits);

	if (r < 0)
		return r;
	now->have = bits;
	now->cgroup_hash = hash_cgroup(p);
	now->tty_closed = p->tty_closed;
	return 0;
}

/*
 * A pass over kept descriptors finds few that are new: their details are read at once, before they
 * end.  In libproc2's pass all may be: put off until what it holds meanwhile is given back.
 */
static int read_or_put_off(struct scan *scan, struct process *p, struct seen *now, const char *comm)
{
	if (!scan->s->options.details || (scan->s->options.lean && process_is_kthread(p)))
		return 0;
	if (!scan->s->statfds)
		return keep_comm(scan, comm) ? 0 : -ENOMEM;
	return read_details(scan->s, p, now, comm, scan->s->options.details);
}

static int add_process(void *ctx, struct process *p, const char *comm, struct err *err)
{
	struct scan *scan = ctx;
	struct source *s = scan->s;
	const struct seen *old = find_seen(s, p->id.pid, &scan->from);
	struct seen now = {
		.id = p->id,
		.start_stack = p->start_stack,
		.comm_hash = hash_comm(comm),
	};
	/* the dead have no stack any more: that is no exec */
	bool same = old && identity_same(old->id, p->id) && old->comm_hash == now.comm_hash &&
		    (old->start_stack == now.start_stack || p->state == 'Z');
	int r = 0;

	details_correct_state(&s->details, p);
	if (same && !has_moved(s, p, old)) {
		now.have = old->have;
		now.cgroup_hash = old->cgroup_hash;
		now.tty_closed = p->tty_closed = old->tty_closed;
	} else {
		r = read_or_put_off(scan, p, &now, comm);
	}
	if (r == -ESRCH) {
		scan->t->coverage.vanished++;
		return 0;
	}
	if (r < 0 || !VEC_PUSH(&s->now, now) || !table_add(scan->t, p)) {
		process_clear(p);
		return err_nomem(err);
	}
	return 0;
}

static void leave_out_unread(struct source *s, struct table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->procs.n; i++)
		if (s->now.v[i].have) {
			t->procs.v[kept] = t->procs.v[i];
			s->now.v[kept++] = s->now.v[i];
		}
	t->coverage.vanished += (unsigned)(t->procs.n - kept);
	t->procs.n = s->now.n = kept;
}

/* What was put off; who ended meanwhile is left out. */
static int read_put_off(struct scan *scan, struct err *err)
{
	struct source *s = scan->s;
	const char *comm = scan->comms.v;

	if (!scan->comms.n)
		return 0;
	for (size_t i = 0; i < s->now.n; i++) {
		struct seen *now = &s->now.v[i];

		if (now->have)
			continue;
		if (read_details(s, &scan->t->procs.v[i], now, comm, s->options.details) == -ENOMEM)
			return err_nomem(err);
		comm += strlen(comm) + 1;
	}
	leave_out_unread(s, scan->t);
	return 0;
}

/* By what the scan under way saw of its parent: the details may be of an earlier one. */
static bool is_candidate(const struct source *s, const struct table *t, const struct process *p,
			 uint32_t systemd)
{
	const struct process *parent = table_pid(t, p->ppid);
	bool below_systemd = parent && s->now.v[parent - t->procs.v].comm_hash == systemd;

	return lineage_candidate(t, p, below_systemd);
}

/* Reads more of those whose place in the tree asks for it. */
static int read_candidates(struct source *s, struct table *t, struct err *err)
{
	unsigned want = s->options.details | s->options.candidate_details;
	uint32_t systemd = hash_comm("systemd");

	if (want == s->options.details)
		return 0;
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];
		struct seen *now = &s->now.v[i];
		int r;

		if ((now->have & want) == want || !is_candidate(s, t, p, systemd))
			continue;
		r = read_details(s, p, now, NULL, want);
		if (r == -ENOMEM) /* else it is gone since: what was read of it first stays */
			return err_nomem(err);
	}
	return 0;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->id.pid > y->id.pid) - (x->id.pid < y->id.pid);
}

static int scan_recorded(struct source *s, struct table **out, struct err *err)
{
	*out = table_clone(s->recorded);
	return *out ? 0 : err_nomem(err);
}

static int scan_listed(struct source *s, struct scan *scan, struct err *err)
{
	struct pid_list all = {0};
	int r = statfds_list(s->statfds, &all, err);

	if (!r)
		r = statfds_some(s->statfds, all.v, all.n, add_process, scan, err);
	free(all.v);
	return r;
}

/* libproc2 seeds the table; who scans on and on goes on with descriptors kept open. */
static int read_stats(struct source *s, struct scan *scan, struct err *err)
{
	int r;

	if (scan->only)
		return statfds_some(s->statfds, scan->only, scan->n_only, add_process, scan, err);
	if (s->options.lean)
		return scan_listed(s, scan, err);
	if (s->statfds)
		return statfds_each(s->statfds, add_process, scan, err);
	r = s->pids ? 0 : pids_open(&s->pids, err);
	if (!r)
		r = pids_each(s->pids, add_process, scan, err);
	if (!r && s->options.again_and_again)
		r = statfds_open(s->proc_fd, true, &s->statfds, err);
	if (s->statfds) { /* what libproc2 holds for the whole table is not small */
		pids_close(s->pids);
		s->pids = NULL;
	}
	return r;
}

static int read_all(struct scan *scan, struct err *err)
{
	struct source *s = scan->s;
	struct table *t = scan->t;
	int r = 0;

	hostinfo_read(s->proc_fd, &t->host, &t->coverage);
	if (!s->options.lean)
		r = hostinfo_read_logins(&t->host, err);
	if (!r)
		r = read_stats(s, scan, err);
	if (!r)
		r = read_put_off(scan, err);
	if (r < 0)
		return r;
	if (!t->procs.n) /* of those that were asked for all may be gone */
		return scan->only ? 0
				  : err_set(err, ENODATA,
					    "/proc shows no process at all, not even this one");
	table_sort(t);
	qsort(s->now.v, s->now.n, sizeof(*s->now.v), compare_seen);
	if (s->now.n == t->procs.n)
		return read_candidates(s, t, err);
	s->now.n = 0; /* a PID twice in one pass: read anew next time */
	return 0;
}

static int scan_proc(struct scan *scan, struct table **out, struct err *err)
{
	struct source *s = scan->s;
	struct seen_list swap;
	int r;

	scan->t = s->spare ? s->spare : table_new();
	s->spare = NULL;
	if (!scan->t)
		return err_nomem(err);
	s->now.n = 0;
	r = read_all(scan, err);
	free(scan->comms.v);
	if (r < 0) {
		table_free(scan->t);
		s->seen.n = 0; /* details handed to the failed table are lost: read anew */
		return r;
	}
	if (!s->first_scan_wall_ns)
		s->first_scan_wall_ns = scan->t->host.wall_ns;
	scan->t->coverage.first_scan_wall_ns = s->first_scan_wall_ns;
	scan->t->coverage.sources = 1u << SOURCE_PROC;
	swap = s->seen;
	s->seen = s->now;
	s->now = swap;
	*out = scan->t;
	return 0;
}

int source_scan(struct source *s, struct table **out, struct err *err)
{
	struct scan scan = {.s = s};

	return s->recorded ? scan_recorded(s, out, err) : scan_proc(&scan, out, err);
}

int source_list(struct source *s, struct pid_list *out, struct err *err)
{
	return statfds_list(s->statfds, out, err);
}

int source_scan_some(struct source *s, const pid_t *pids, size_t n, struct table **out,
		     struct err *err)
{
	static const pid_t none;
	struct scan scan = {.s = s, .only = n ? pids : &none, .n_only = n};

	return scan_proc(&scan, out, err);
}
