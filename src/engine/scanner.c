#include "engine/scanner.h"

#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * What the thread and its owner share.  It has two owners, so that a thread
 * that is given up can still come back to it: the last to let go frees it.
 */
struct worker {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	unsigned refs;
	bool asked, quit, ready;
	int result_fd; /* eventfd */
	struct source *source;
	struct ends_reader *ends;  /* the thread's own */
	struct look_wanted wanted; /* what it is to look at, and what is new of that */
	struct identity *watched;
	size_t n_watched;
	bool watched_changed;
	struct table *spare; /* for the next scan to fill */
	struct table *table;
	struct err err;
	int result;
};

struct scanner {
	struct source_options options;
	struct worker *worker;
	int result_fd;
	struct look_wanted wanted; /* for a thread that takes the place of another */
	pid_t hung_pid;            /* what was being read when last looked at */
	unsigned hung_bit;
	uint64_t hung_since;
	struct {
		pid_t *v;
		size_t n, cap;
	} avoid; /* PIDs whose files hang */
};

static void worker_unref(struct worker *w)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	last = --w->refs == 0;
	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	source_close(w->source);
	ends_reader_free(w->ends);
	free(w->watched);
	table_free(w->spare);
	table_free(w->table);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	if (w->result_fd >= 0)
		close(w->result_fd);
	free(w);
}

/* The counter can only be full after 2^64 results that nobody took. */
static void tell(struct worker *w)
{
	uint64_t one = 1;
	ssize_t n = write(w->result_fd, &one, sizeof(one));

	(void)n;
}

/* A scan with all that is to be read beside it; without the lock.  watched: the thread's now. */
static int scan(struct worker *w, const struct look_wanted *wanted, const struct identity *watched,
		size_t n_watched, bool changed, struct table **out, struct err *err)
{
	int r = changed ? source_watch(w->source, watched, n_watched) : 0;

	if (r < 0)
		return err_nomem(err);
	r = source_scan(w->source, out, err);
	if (r < 0 || (*out)->coverage.sources & 1u << SOURCE_REPLAY)
		return r;
	if (look_read_wanted(w->ends, wanted, *out) < 0) {
		table_free(*out);
		*out = NULL;
		return err_nomem(err);
	}
	return 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		struct table *table = NULL, *spare;
		struct look_wanted wanted;
		struct identity *watched;
		struct err err = {0};
		size_t n_watched;
		bool changed;
		int r;

		while (!w->asked && !w->quit)
			pthread_cond_wait(&w->wake, &w->lock);
		if (w->quit)
			break;
		wanted = w->wanted;
		watched = w->watched;
		n_watched = w->n_watched;
		changed = w->watched_changed;
		w->watched = NULL;
		w->watched_changed = false;
		spare = w->spare;
		w->spare = NULL;
		pthread_mutex_unlock(&w->lock);
		source_reuse(w->source, spare);
		r = scan(w, &wanted, watched, n_watched, changed, &table, &err);
		free(watched);
		pthread_mutex_lock(&w->lock);
		w->asked = false;
		w->ready = true;
		w->result = r;
		w->err = err;
		table_free(w->table);
		w->table = table;
		tell(w);
	}
	pthread_mutex_unlock(&w->lock);
	worker_unref(w);
	return NULL;
}

static int worker_start(const struct source_options *options, int result_fd, struct worker **out,
			struct err *err)
{
	struct worker *w = calloc(1, sizeof(*w));
	pthread_t thread;
	int r;

	if (!w)
		return err_nomem(err);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->refs = 1;
	w->result_fd = fcntl(result_fd, F_DUPFD_CLOEXEC, 0);
	w->ends = ends_reader_new();
	if (w->result_fd < 0)
		r = err_errno(err, errno, "no descriptor for the scanner");
	else
		r = w->ends ? source_open(options, &w->source, err) : err_nomem(err);
	if (r < 0) {
		worker_unref(w);
		return r;
	}
	w->refs = 2;
	r = thread_start(&thread, work, w);
	if (r) {
		w->refs = 1;
		worker_unref(w);
		return err_errno(err, r, "no thread to scan in");
	}
	pthread_detach(thread);
	*out = w;
	return 0;
}

int scanner_open(const struct source_options *options, struct scanner **out, struct err *err)
{
	struct scanner *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem(err);
	s->options = *options;
	s->options.again_and_again = true;
	/* what one thread allocates the other frees: from one heap, so that it is used again */
	mallopt(M_ARENA_MAX, 1);
	s->result_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = s->result_fd < 0 ? err_errno(err, errno, "no descriptor for the scanner")
			     : worker_start(&s->options, s->result_fd, &s->worker, err);
	if (r < 0) {
		scanner_close(s);
		return r;
	}
	*out = s;
	return 0;
}

static void worker_let_go(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	worker_unref(w);
}

void scanner_close(struct scanner *s)
{
	if (!s)
		return;
	if (s->worker)
		worker_let_go(s->worker);
	if (s->result_fd >= 0)
		close(s->result_fd);
	free(s->avoid.v);
	free(s);
}

int scanner_fd(const struct scanner *s)
{
	return s->result_fd;
}

void scanner_request(struct scanner *s)
{
	pthread_mutex_lock(&s->worker->lock);
	if (!s->worker->ready) {
		s->worker->asked = true;
		pthread_cond_signal(&s->worker->wake);
	}
	pthread_mutex_unlock(&s->worker->lock);
}

int scanner_watch(struct scanner *s, const struct look_wanted *wanted, const struct identity *ids,
		  size_t n)
{
	struct identity *copy = n ? malloc(n * sizeof(*copy)) : NULL;
	struct worker *w = s->worker;

	if (n && !copy)
		return -ENOMEM;
	if (n)
		memcpy(copy, ids, n * sizeof(*copy));
	s->wanted = *wanted;
	pthread_mutex_lock(&w->lock);
	free(w->watched);
	w->watched = copy;
	w->n_watched = n;
	w->watched_changed = true;
	w->wanted = *wanted;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

bool scanner_busy(const struct scanner *s)
{
	bool busy;

	pthread_mutex_lock(&s->worker->lock);
	busy = s->worker->asked;
	pthread_mutex_unlock(&s->worker->lock);
	return busy;
}

void scanner_reuse(struct scanner *s, struct table *t)
{
	struct worker *w = s->worker;

	pthread_mutex_lock(&w->lock);
	table_free(w->spare);
	w->spare = t;
	pthread_mutex_unlock(&w->lock);
}

int scanner_take(struct scanner *s, struct table **out, struct err *err)
{
	struct worker *w = s->worker;
	uint64_t count;
	ssize_t n;
	int r = 0;

	n = read(s->result_fd, &count, sizeof(count)); /* empties it; EAGAIN where it is */
	(void)n;
	pthread_mutex_lock(&w->lock);
	if (w->ready) {
		w->ready = false;
		r = w->result < 0 ? w->result : 1;
		if (w->result < 0 && err && !err->code)
			*err = w->err;
		*out = w->table;
		w->table = NULL;
	}
	pthread_mutex_unlock(&w->lock);
	if (r == 1)
		(*out)->coverage.skipped = (unsigned)s->avoid.n;
	return r;
}

bool scanner_check(struct scanner *s, uint64_t now_boot_ns)
{
	struct worker *fresh;
	struct err err = {0};
	const struct source_pulse *pulse = source_reading(s->worker->source);
	unsigned bit = atomic_load_explicit(&pulse->bit, memory_order_relaxed);
	pid_t pid = atomic_load_explicit(&pulse->pid, memory_order_relaxed);

	if (!scanner_busy(s) || !pid || pid != s->hung_pid || bit != s->hung_bit) {
		s->hung_pid = pid;
		s->hung_bit = bit;
		s->hung_since = now_boot_ns;
		return false;
	}
	if (now_boot_ns - s->hung_since < SCANNER_HANG_NS)
		return false;
	if (!VEC_PUSH(&s->avoid, pid))
		return false;
	s->options.avoid = s->avoid.v;
	s->options.n_avoid = s->avoid.n;
	if (worker_start(&s->options, s->result_fd, &fresh, &err) < 0)
		return false;
	worker_let_go(s->worker);
	fresh->wanted = s->wanted; /* it has not been asked for anything yet */
	s->worker = fresh;
	s->hung_pid = 0;
	scanner_request(s);
	return true;
}
