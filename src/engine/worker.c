#include "engine/worker.h"

#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct item {
	struct worker_job job;
	uint64_t since_ns;
	struct item *next;
};

struct queue {
	struct item *first, *last;
};

/* Shared by the thread and its asker; the last to let go frees it.  All below lock is under it. */
struct worker {
	void *own;
	void (*free_own)(void *own);
	int fd;
	struct err alone;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	struct queue waiting, done;
	struct item *doing;
	unsigned refs; /* the thread's and the asker's */
	bool closed;   /* the asker has let go */
};

static void push(struct queue *q, struct item *i)
{
	i->next = NULL;
	if (q->last)
		q->last->next = i;
	else
		q->first = i;
	q->last = i;
}

static struct item *pull(struct queue *q)
{
	struct item *i = q->first;

	if (!i)
		return NULL;
	q->first = i->next;
	if (!q->first)
		q->last = NULL;
	return i;
}

static void drop_all(struct queue *q)
{
	struct item *i;

	while ((i = pull(q))) {
		i->job.drop(i->job.ctx);
		free(i);
	}
}

static void unref(struct worker *w)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	last = --w->refs == 0;
	pthread_mutex_unlock(&w->lock);
	if (!last)
		return;
	drop_all(&w->waiting);
	drop_all(&w->done);
	w->free_own(w->own);
	pthread_cond_destroy(&w->wake);
	pthread_cond_destroy(&w->idle);
	pthread_mutex_destroy(&w->lock);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

static void tell(struct worker *w)
{
	uint64_t one = 1;
	ssize_t n = write(w->fd, &one, sizeof(one)); /* fails only after 2^64 that nobody took */

	(void)n;
}

static void do_one(struct worker *w, struct item *i)
{
	w->doing = i;
	pthread_mutex_unlock(&w->lock);
	i->job.run(w->own, i->job.ctx);
	pthread_mutex_lock(&w->lock);
	w->doing = NULL;
	push(&w->done, i);
	tell(w);
	pthread_cond_signal(&w->idle);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct item *i;

	pthread_mutex_lock(&w->lock);
	while (!w->closed) {
		i = pull(&w->waiting);
		if (i)
			do_one(w, i);
		else
			pthread_cond_wait(&w->wake, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	unref(w);
	return NULL;
}

static void start(struct worker *w)
{
	int r;

	w->refs = 2;
	r = thread_start(&w->thread, work, w);
	if (r == 0)
		return;
	w->refs = 1;
	err_errno(&w->alone, r, "no thread to write in");
}

/* Who waits for it does so by a clock that nobody sets. */
static void init_idle(struct worker *w)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->idle, &attr);
	pthread_condattr_destroy(&attr);
}

int worker_open(void *own, void (*free_own)(void *own), struct worker **out, struct err *err)
{
	struct worker *w = calloc(1, sizeof(*w));
	int code;

	if (!w) {
		free_own(own);
		return err_nomem(err);
	}
	w->own = own;
	w->free_own = free_own;
	w->refs = 1;
	pthread_mutex_init(&w->lock, NULL); /* neither fails on Linux: pthread_mutex_init(3) */
	pthread_cond_init(&w->wake, NULL);
	init_idle(w);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fd < 0) {
		code = errno;
		unref(w);
		return err_errno(err, code, "no descriptor for a thread");
	}
	start(w);
	*out = w;
	return 0;
}

const struct err *worker_alone(const struct worker *w)
{
	return &w->alone;
}

int worker_fd(const struct worker *w)
{
	return w->fd;
}

int worker_add(struct worker *w, const struct worker_job *job, uint64_t boot_ns, struct err *err)
{
	struct item *i = calloc(1, sizeof(*i));

	if (!i) {
		job->drop(job->ctx);
		return err_nomem(err);
	}
	i->job = *job;
	i->since_ns = boot_ns;
	pthread_mutex_lock(&w->lock);
	if (w->alone.code) {
		do_one(w, i);
	} else {
		push(&w->waiting, i);
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return 0;
}

void *worker_take(struct worker *w)
{
	uint64_t count;
	void *ctx = NULL;
	struct item *i;

	pthread_mutex_lock(&w->lock);
	i = pull(&w->done);
	if (!w->done.first) { /* empties it; EAGAIN where it is */
		ssize_t n = read(w->fd, &count, sizeof(count));

		(void)n;
	}
	pthread_mutex_unlock(&w->lock);
	if (i)
		ctx = i->job.ctx;
	free(i);
	return ctx;
}

const void *worker_first(struct worker *w, uint64_t *since_boot_ns)
{
	const struct item *i;
	const void *ctx = NULL;

	pthread_mutex_lock(&w->lock);
	i = w->doing ? w->doing : w->waiting.first;
	if (i) {
		*since_boot_ns = i->since_ns;
		ctx = i->job.ctx;
	}
	pthread_mutex_unlock(&w->lock);
	return ctx;
}

int worker_wait(struct worker *w, uint64_t until_boot_ns)
{
	struct timespec until;
	uint64_t now = clock_boot_ns(), left = until_boot_ns > now ? until_boot_ns - now : 0;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	left += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(left / CLOCK_NS_PER_S);
	until.tv_nsec = (long)(left % CLOCK_NS_PER_S);
	pthread_mutex_lock(&w->lock);
	while (!r && (w->doing || w->waiting.first))
		r = pthread_cond_timedwait(&w->idle, &w->lock, &until);
	r = w->doing || w->waiting.first ? -ETIMEDOUT : 0;
	pthread_mutex_unlock(&w->lock);
	return r;
}

void worker_close(struct worker *w)
{
	bool busy;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->closed = true;
	busy = w->doing != NULL;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (!w->alone.code && busy)
		pthread_detach(w->thread);
	else if (!w->alone.code)
		pthread_join(w->thread, NULL);
	unref(w);
}
