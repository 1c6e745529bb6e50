#include "source/source.h"

#include "base/file.h"

#include "source/details.h"
#include "source/hostinfo.h"
#include "source/pids.h"
#include "source/replay.h"
#include "source/statfds.h"

#include "model/lineage.h"
#include "model/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* What this source knows it has read already: one a process, sorted by PID. */
struct seen {
	struct identity id;
	uint64_t start_stack;
	uint32_t comm_hash;
	uint32_t cgroup_hash; /* where it was read */
	unsigned have;
	bool tty_closed;
};

struct seen_list {
	struct seen *v;
	size_t n, cap;
};

struct source {
	struct source_options options;
	pid_t *avoid; /* owned: options.avoid */
	int proc_fd;
	struct pids_reader *pids;
	struct statfds *statfds; /* from the second scan on, where asked for: then pids is NULL */
	struct details_reader details;
	struct seen_list seen;
	struct seen_list now; /* of the scan under way */
	struct {
		struct identity *v; /* sorted by PID */
		size_t n;
	} watched;
	uint32_t systemd_hash;
	uint64_t first_scan_wall_ns;
	struct table *recorded; /* a replayed file: then nothing of /proc is read */
};

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

static int open_replay(struct source *s, const char *path, struct err *err)
{
	AUTO_FILE *in = fopen(path, "re");

	if (!in)
		return err_errno(err, errno, "%s", path);
	return replay_read(in, path, &s->recorded, err);
}

/* How many are open at once while one process is read, and what libproc2 keeps open. */
#define SPARE_FDS 8

/*
 * libproc2 passes over what it cannot open, for whatever reason: with too few
 * descriptors left a list would be short, not an error.
 */
static int check_spare_fds(int any_fd, struct err *err)
{
	int fds[SPARE_FDS], n = 0, code = 0;

	while (n < SPARE_FDS && !code) {
		fds[n] = fcntl(any_fd, F_DUPFD_CLOEXEC, 0);
		if (fds[n] < 0)
			code = errno;
		else
			n++;
	}
	while (n)
		close(fds[--n]);
	return code ? err_errno(err, code, "/proc cannot be read (ulimit -n)") : 0;
}

int source_open(const struct source_options *options, struct source **out, struct err *err)
{
	struct source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem(err);
	s->options = *options;
	s->proc_fd = -1;
	s->systemd_hash = hash_comm("systemd");
	s->options.avoid = NULL;
	if (options->replay) {
		r = open_replay(s, options->replay, err);
		if (r < 0)
			goto fail;
		*out = s;
		return 0;
	}
	if (options->n_avoid) {
		s->avoid = malloc(options->n_avoid * sizeof(*s->avoid));
		if (!s->avoid) {
			r = err_nomem(err);
			goto fail;
		}
		memcpy(s->avoid, options->avoid, options->n_avoid * sizeof(*s->avoid));
		s->options.avoid = s->avoid;
	}
	s->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->proc_fd < 0) {
		r = err_errno(err, errno, "/proc cannot be opened: is it mounted?");
		goto fail;
	}
	r = check_spare_fds(s->proc_fd, err);
	if (r < 0)
		goto fail;
	r = pids_open(&s->pids, err);
	if (r < 0)
		goto fail;
	r = details_open(&s->details, s->proc_fd, &s->options, err);
	if (r < 0)
		goto fail;
	*out = s;
	return 0;
fail:
	source_close(s);
	return r;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	details_close(&s->details);
	pids_close(s->pids);
	statfds_close(s->statfds);
	if (s->proc_fd >= 0)
		close(s->proc_fd);
	table_free(s->recorded);
	free(s->avoid);
	free(s->watched.v);
	free(s->seen.v);
	free(s->now.v);
	free(s);
}

static const struct seen *find_seen(const struct source *s, pid_t pid, size_t *from)
{
	/* both come in ascending order: go on from where the last one was */
	while (*from < s->seen.n && s->seen.v[*from].id.pid < pid)
		(*from)++;
	return *from < s->seen.n && s->seen.v[*from].id.pid == pid ? &s->seen.v[*from] : NULL;
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
	size_t from;
};

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

	details_correct_state(&s->details, p);
	if (same && !has_moved(s, p, old)) {
		now.have = old->have;
		now.cgroup_hash = old->cgroup_hash;
		p->tty_closed = old->tty_closed;
	} else if (s->options.details) {
		int r = details_read(&s->details, p, comm, s->options.details);

		if (r == -ESRCH) {
			scan->t->coverage.vanished++;
			return 0;
		}
		if (r < 0)
			return err_nomem(err);
		now.have = s->options.details;
		now.cgroup_hash = hash_cgroup(p);
	}
	now.tty_closed = p->tty_closed;
	if (!VEC_PUSH(&s->now, now))
		return err_nomem(err);
	if (!table_add(scan->t, p)) {
		process_clear(p);
		return err_nomem(err);
	}
	return 0;
}

/* By what the scan under way saw of its parent: the details may be of an earlier one. */
static bool is_candidate(const struct source *s, const struct table *t, const struct process *p)
{
	const struct process *parent = table_pid(t, p->ppid);
	bool below_systemd = parent && s->now.v[parent - t->procs.v].comm_hash == s->systemd_hash;

	return lineage_candidate(t, p, below_systemd);
}

/* Reads more of those whose place in the tree asks for it. */
static int read_candidates(struct source *s, struct table *t, struct err *err)
{
	unsigned want = s->options.details | s->options.candidate_details;

	if (want == s->options.details)
		return 0;
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];
		struct seen *now = &s->now.v[i];
		int r;

		if ((now->have & want) == want || !is_candidate(s, t, p))
			continue;
		r = details_read(&s->details, p, NULL, want);
		if (r == -ENOMEM)
			return err_nomem(err);
		if (r < 0) /* gone since: what the first pass read of it stays */
			continue;
		now->have = want;
		now->cgroup_hash = hash_cgroup(p);
		now->tty_closed = p->tty_closed;
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

/* libproc2 seeds the table; who scans on and on goes on with descriptors kept open. */
static int read_stats(struct source *s, struct scan *scan, struct err *err)
{
	int r;

	if (s->statfds)
		return statfds_each(s->statfds, add_process, scan, err);
	r = pids_each(s->pids, add_process, scan, err);
	if (!r && s->options.again_and_again)
		r = statfds_open(s->proc_fd, &s->statfds, err);
	if (s->statfds) { /* what libproc2 holds for the whole table is not small */
		pids_close(s->pids);
		s->pids = NULL;
	}
	return r;
}

int source_scan(struct source *s, struct table **out, struct err *err)
{
	struct scan scan = {.s = s, .t = table_new()};
	struct seen_list swap;
	int r;

	if (!scan.t)
		return err_nomem(err);
	if (s->recorded) {
		table_free(scan.t);
		return scan_recorded(s, out, err);
	}
	s->now.n = 0;
	r = hostinfo_read(s->proc_fd, &scan.t->host, &scan.t->coverage, err);
	if (!r)
		r = read_stats(s, &scan, err);
	if (!r && !scan.t->procs.n)
		r = err_set(err, ENODATA, "/proc shows no process at all, not even this one");
	if (r)
		goto fail;
	table_sort(scan.t);
	qsort(s->now.v, s->now.n, sizeof(*s->now.v), compare_seen);
	if (s->now.n != scan.t->procs.n) { /* a PID twice in one pass: read anew next time */
		s->now.n = 0;
	} else {
		r = read_candidates(s, scan.t, err);
		if (r)
			goto fail;
	}
	if (!s->first_scan_wall_ns)
		s->first_scan_wall_ns = scan.t->host.wall_ns;
	scan.t->coverage.first_scan_wall_ns = s->first_scan_wall_ns;
	scan.t->coverage.sources = 1u << SOURCE_PROC;
	swap = s->seen;
	s->seen = s->now;
	s->now = swap;
	*out = scan.t;
	return 0;
fail:
	table_free(scan.t);
	s->seen.n = 0; /* details already handed to the failed table are lost: read anew */
	return r;
}

/* What the file has of it is all there is. */
static int detail_recorded(struct source *s, struct identity id, struct detail **out,
			   struct err *err)
{
	struct process *p = table_find(s->recorded, id);

	if (!p || !p->detail)
		return err_set(err, ESRCH, "%d is not in the file", id.pid);
	*out = detail_ref(p->detail);
	return 0;
}

int source_detail(struct source *s, struct identity id, unsigned bits, struct detail **out,
		  struct err *err)
{
	struct process p = {.id = id, .state = 'S'};
	int r;

	if (s->recorded)
		return detail_recorded(s, id, out, err);
	r = details_check_identity(&s->details, id);
	if (!r)
		r = details_read(&s->details, &p, NULL, bits);
	if (!r) /* the PID may have passed on between the two */
		r = details_check_identity(&s->details, id);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		process_clear(&p);
		return err_set(err, -r, "%d: %s", id.pid,
			       r == -ESRCH ? "has ended" : "cannot be read");
	}
	*out = p.detail;
	return 0;
}

struct each {
	struct source *s;
	source_each_fn *fn;
	void *ctx;
	struct host *host;
	struct coverage *coverage;
};

static int stream_process(void *ctx, struct process *p, const char *comm, struct err *err)
{
	struct each *e = ctx;
	int r;

	details_correct_state(&e->s->details, p);
	r = details_read(&e->s->details, p, comm, e->s->options.details);

	if (r == -ESRCH) {
		e->coverage->vanished++;
		return 0;
	}
	if (r < 0)
		return err_nomem(err);
	for (unsigned b = 0; b < DETAIL_COUNT; b++)
		e->coverage->unreadable[b] += p->detail->unread[b] != 0;
	if (p->id.pid == 1)
		origin_note_init(e->host, p);
	r = e->fn(e->ctx, e->host, p, err);
	process_clear(p);
	return r;
}

static int each_recorded(struct each *e, struct host *host, struct err *err)
{
	struct table *t = table_clone(e->s->recorded);
	int r = 0;

	if (!t)
		return err_nomem(err);
	*host = t->host;
	*e->coverage = t->coverage;
	memset(&t->host.logins, 0, sizeof(t->host.logins)); /* the caller's now */
	for (size_t i = 0; !r && i < t->procs.n; i++)
		r = e->fn(e->ctx, host, &t->procs.v[i], err);
	table_free(t);
	return r;
}

int source_each(struct source *s, source_each_fn *fn, void *ctx, struct host *host,
		struct coverage *coverage, struct err *err)
{
	struct each e = {s, fn, ctx, host, coverage};
	int r;

	if (s->recorded)
		return each_recorded(&e, host, err);

	memset(coverage, 0, sizeof(*coverage));
	coverage->sources = 1u << SOURCE_PROC;
	r = hostinfo_read(s->proc_fd, host, coverage, err);
	return r ? r : pids_stream(s->pids, stream_process, &e, err);
}

void source_reading(const struct source *s, pid_t *pid, unsigned *bit)
{
	*pid = atomic_load_explicit(&s->details.reading_pid, memory_order_relaxed);
	*bit = atomic_load_explicit(&s->details.reading_bit, memory_order_relaxed);
}
