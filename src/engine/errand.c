#include "engine/errand.h"

#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* What all threads of an errand count down when they come back; the last user frees it. */
struct crew {
	atomic_uint out; /* threads that have not come back */
	atomic_uint refs;
};

/* One job.  The thread and the owner hold it: the last to let go drops it. */
struct trip {
	struct errand_job job;
	struct crew *crew;
	int fd; /* its own copy of the errand's eventfd */
	atomic_uint refs;
	atomic_bool done;
};

struct errand {
	int fd;
	struct crew *crew;
	struct trip *trip; /* under way, or done and not taken; NULL */
	uint64_t since_ns;
};

static void crew_unref(struct crew *c)
{
	if (c && atomic_fetch_sub(&c->refs, 1) == 1)
		free(c);
}

static void trip_unref(struct trip *t)
{
	if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
		return;
	if (t->job.ctx)
		t->job.drop(t->job.ctx);
	crew_unref(t->crew);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

static void *work(void *arg)
{
	struct trip *t = arg;
	uint64_t one = 1;
	ssize_t n;

	t->job.run(t->job.ctx);
	atomic_fetch_sub(&t->crew->out, 1);
	atomic_store(&t->done, true);
	n = write(t->fd, &one, sizeof(one)); /* fails only after 2^64 that nobody took */
	(void)n;
	trip_unref(t);
	return NULL;
}

int errand_open(struct errand **out, struct err *err)
{
	struct errand *e = calloc(1, sizeof(*e));

	if (!e)
		return err_nomem(err);
	e->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	e->crew = calloc(1, sizeof(*e->crew));
	if (e->fd < 0 || !e->crew) {
		int code = e->crew ? errno : ENOMEM;

		errand_close(e);
		return err_errno(err, code, "no descriptor for a thread");
	}
	atomic_init(&e->crew->refs, 1);
	*out = e;
	return 0;
}

void errand_close(struct errand *e)
{
	if (!e)
		return;
	errand_leave(e);
	crew_unref(e->crew);
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}

int errand_fd(const struct errand *e)
{
	return e->fd;
}

static struct trip *trip_new(struct errand *e, const struct errand_job *job)
{
	struct trip *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->job = *job;
	t->fd = fcntl(e->fd, F_DUPFD_CLOEXEC, 0);
	t->crew = e->crew;
	atomic_fetch_add(&e->crew->refs, 1);
	atomic_init(&t->refs, 1);
	return t;
}

static int send_off(struct trip *t)
{
	pthread_t thread;
	int r;

	atomic_store(&t->refs, 2);
	atomic_fetch_add(&t->crew->out, 1);
	r = thread_start(&thread, work, t);
	if (r == 0) {
		pthread_detach(thread);
		return 0;
	}
	atomic_fetch_sub(&t->crew->out, 1);
	atomic_store(&t->refs, 1);
	return -r;
}

int errand_start(struct errand *e, const struct errand_job *job, uint64_t boot_ns, struct err *err)
{
	struct trip *t = trip_new(e, job);
	int r;

	errand_leave(e);
	if (!t) {
		job->drop(job->ctx);
		return err_nomem(err);
	}
	if (atomic_load(&e->crew->out) >= ERRAND_LEFT_MAX)
		r = err_set(err, EBUSY, "%d readings hang: no more are begun", ERRAND_LEFT_MAX);
	else if (t->fd < 0)
		r = err_errno(err, EMFILE, "no descriptor for a thread");
	else if ((r = send_off(t)) < 0)
		r = err_errno(err, -r, "no thread to read in");
	if (r < 0) {
		trip_unref(t);
		return r;
	}
	e->trip = t;
	e->since_ns = boot_ns;
	return 0;
}

bool errand_busy(const struct errand *e)
{
	return e->trip != NULL;
}

void *errand_take(struct errand *e)
{
	struct trip *t = e->trip;
	uint64_t count;
	void *ctx;
	ssize_t n;

	n = read(e->fd, &count, sizeof(count)); /* empties it; EAGAIN where it is */
	(void)n;
	if (!t || !atomic_load(&t->done))
		return NULL;
	ctx = t->job.ctx;
	t->job.ctx = NULL;
	e->trip = NULL;
	trip_unref(t);
	return ctx;
}

const void *errand_late(const struct errand *e, uint64_t boot_ns, uint64_t limit_ns)
{
	const struct trip *t = e->trip;

	if (!t || atomic_load(&t->done) || boot_ns - e->since_ns < limit_ns)
		return NULL;
	return t->job.ctx;
}

void errand_leave(struct errand *e)
{
	trip_unref(e->trip);
	e->trip = NULL;
}
