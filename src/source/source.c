#include "source/source_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"

#include "source/hostinfo.h"
#include "source/pids.h"
#include "source/replay.h"
#include "source/statfds.h"

#include "model/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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
	if (options->lean) {
		r = statfds_open(s->proc_fd, false, &s->statfds, err);
		if (r < 0)
			goto fail;
	}
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
	table_free(s->spare);
	table_free(s->recorded);
	free(s->avoid);
	free(s->watched.v);
	free(s->seen.v);
	free(s->now.v);
	free(s);
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
	struct process p = {.id = id};
	int r;

	if (s->recorded)
		return detail_recorded(s, id, out, err);
	r = source_process(s, bits, &p, err);
	*out = p.detail;
	return r;
}

int source_process(struct source *s, unsigned bits, struct process *p, struct err *err)
{
	int r = details_read_process(&s->details, p, bits);

	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		return err_set(err, -r, "%d: %s", p->id.pid,
			       r == -ESRCH ? "has ended" : "cannot be read");
	return 0;
}

int source_exec(struct source *s, struct identity id, struct detail **out, struct err *err)
{
	const unsigned bits = DETAIL_COMM | DETAIL_CMDLINE | DETAIL_EXE;
	struct detail *d;
	int r;

	*out = NULL;
	if (!s->recorded && proc_is_gone(id.pid))
		return err_set(err, ESRCH, "%d: has ended", id.pid);
	r = source_detail(s, id, bits, out, err);
	d = r < 0 ? NULL : *out;
	if (!d || d->exe.data || d->cmdline.len)
		return r;
	/* dead by now: what it was called is left, its arguments are not */
	if (!d->packed)
		bytes_free(&d->cmdline);
	d->cmdline = (struct bytes){0};
	d->have &= ~(unsigned)DETAIL_CMDLINE;
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
	hostinfo_read(s->proc_fd, host, coverage);
	r = hostinfo_read_logins(host, err);
	if (!r && !s->pids)
		r = pids_open(&s->pids, err);
	return r ? r : pids_stream(s->pids, stream_process, &e, err);
}

const struct source_pulse *source_reading(const struct source *s)
{
	return s->details.pulse;
}

pid_t source_hangs(const struct source_pulse *pulse, uint64_t after_ns)
{
	pid_t pid = atomic_load_explicit(&pulse->pid, memory_order_acquire);
	uint64_t since = atomic_load_explicit(&pulse->since_ns, memory_order_relaxed);

	return pid && clock_boot_ns() > since + after_ns ? pid : 0;
}
