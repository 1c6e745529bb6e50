#include "engine/reader.h"

#include "base/clock.h"
#include "base/vec.h"
#include "contain/prompt.h"
#include "engine/errand.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 250 /* between two looks after a thread */

/* What the thread works on, and is its own meanwhile. */
struct scan {
	struct source *source;
	struct source_pulse pulse;
	bool prompt;
	pid_t *pids; /* owned; NULL: all */
	size_t n;
	struct table *table;
	int r;
	struct err err;
};

struct reader {
	struct source_options options;
	struct errand *errand; /* NULL: none can be had, the caller's own thread reads */
	struct scan *scan;     /* NULL while one is under way */
	bool prompt;
	uint64_t hang_ns;
	VEC(pid_t) avoid;
};

static void free_scan(void *ctx)
{
	struct scan *s = ctx;

	if (!s)
		return;
	source_close(s->source);
	table_free(s->table);
	free(s->pids);
	free(s);
}

static void make_scan(void *ctx)
{
	struct scan *s = ctx;

	if (s->prompt)
		prompt_thread(pthread_self());
	s->r = s->pids ? source_scan_some(s->source, s->pids, s->n, &s->table, &s->err)
		       : source_scan(s->source, &s->table, &s->err);
}

static int open_source(struct reader *r, struct err *err)
{
	struct scan *s = calloc(1, sizeof(*s));
	struct source_options o = r->options;
	int rc;

	if (!s)
		return err_nomem(err);
	o.avoid = r->avoid.v;
	o.n_avoid = r->avoid.n;
	o.pulse = &s->pulse;
	rc = source_open(&o, &s->source, err);
	if (rc < 0)
		free_scan(s);
	else
		r->scan = s;
	return rc;
}

int reader_open(const struct source_options *options, struct reader **out, struct err *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_nomem(err);
	r->options = *options;
	r->hang_ns = ERRAND_HANG_NS;
	rc = open_source(r, err);
	if (rc < 0) {
		reader_close(r);
		return rc;
	}
	if (!options->replay && errand_open(&r->errand, NULL) < 0)
		r->errand = NULL;
	*out = r;
	return 0;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	errand_close(r->errand);
	free_scan(r->scan);
	free(r->avoid.v);
	free(r);
}

void reader_patience(struct reader *r, uint64_t ns)
{
	r->hang_ns = ns;
}

void reader_prompt(struct reader *r)
{
	r->prompt = true;
}

struct source *reader_source(struct reader *r, struct err *err)
{
	return r->scan || open_source(r, err) == 0 ? r->scan->source : NULL;
}

int reader_detail(struct reader *r, struct identity id, unsigned bits, struct detail **out,
		  struct err *err)
{
	struct err why = {0};
	struct source *s = reader_source(r, &why);

	if (s)
		return source_detail(s, id, bits, out, err);
	return err_set(err, why.code, "%s", why.text);
}

static pid_t *copy(const pid_t *pids, size_t n)
{
	pid_t *to = calloc(n + 1, sizeof(*to));

	if (to && n)
		memcpy(to, pids, n * sizeof(*to));
	return to;
}

/* Takes pids. */
static int start(struct reader *r, pid_t *pids, size_t n, struct err *err)
{
	struct errand_job job = {.run = make_scan, .drop = free_scan};
	int rc = r->scan ? 0 : open_source(r, err);

	if (rc < 0) {
		free(pids);
		return rc;
	}
	job.ctx = r->scan;
	free(r->scan->pids);
	r->scan->pids = pids;
	r->scan->n = n;
	r->scan->prompt = r->prompt && r->errand;
	if (!r->errand) {
		make_scan(r->scan);
		return 0;
	}
	r->scan = NULL;
	return errand_start(r->errand, &job, clock_boot_ns(), err);
}

/* The same where no thread can be had. */
static int start_here(struct reader *r, const pid_t *pids, size_t n, struct err *err)
{
	errand_close(r->errand);
	r->errand = NULL;
	return start(r, pids ? copy(pids, n) : NULL, n, err);
}

int reader_begin(struct reader *r, const pid_t *pids, size_t n, struct err *err)
{
	pid_t *own = pids ? copy(pids, n) : NULL;
	struct err why = {0};
	int rc = pids && !own ? err_nomem(&why) : start(r, own, n, &why);

	if (rc == -EAGAIN || rc == -EMFILE)
		return start_here(r, pids, n, err);
	if (rc < 0 && err)
		*err = why;
	return rc;
}

/* The same scan once more, without him. */
static int begin_without(struct reader *r, const struct scan *late, pid_t pid, struct err *err)
{
	pid_t *pids = late->pids ? copy(late->pids, late->n) : NULL;
	size_t n = late->n;

	if ((late->pids && !pids) || !VEC_PUSH(&r->avoid, pid)) {
		free(pids);
		return err_nomem(err);
	}
	errand_leave(r->errand);
	return start(r, pids, n, err);
}

/* Until the thread is done, or another that left somebody out. */
static int await(struct reader *r, struct err *err)
{
	struct pollfd p = {.fd = errand_fd(r->errand), .events = POLLIN};
	int look_ms = r->hang_ns / 1000000 < LOOK_MS ? (int)(r->hang_ns / 1000000) : LOOK_MS;
	int rc = 0;

	while (!rc && !(r->scan = errand_take(r->errand))) {
		const struct scan *s = errand_late(r->errand, clock_boot_ns(), r->hang_ns);
		pid_t pid = s ? source_hangs(&s->pulse, r->hang_ns) : 0;

		if (pid)
			rc = begin_without(r, s, pid, err);
		else
			poll(&p, 1, look_ms);
	}
	return rc;
}

int reader_await(struct reader *r, struct table **out, struct err *err)
{
	struct err why = {0};
	int rc = r->errand ? await(r, &why) : 0;

	if (!rc) {
		rc = r->scan->r;
		why = r->scan->err;
		*out = r->scan->table;
		r->scan->table = NULL;
		r->scan->err = (struct err){0};
	}
	if (!rc)
		(*out)->coverage.skipped += (unsigned)r->avoid.n;
	if (rc < 0 && err)
		*err = why;
	return rc;
}
