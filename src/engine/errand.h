/*
 * One thing that may hang, done in a thread of its own.
 *
 * A read of /proc can hang in the kernel (an environ behind a lock, a descriptor on a dead NFS
 * server).  Who must not wait for it hands it over as an errand, is told by a descriptor when it
 * is done, and gives it up after a time.  A thread that is given up is left behind with what it
 * holds, and frees that should it ever come back.  Nothing is shared: what a job works on is the
 * thread's alone until it is taken.
 */
#ifndef STRAY_ENGINE_ERRAND_H
#define STRAY_ENGINE_ERRAND_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define ERRAND_HANG_NS 2000000000ULL /* a reading of one process that takes longer is given up */
#define ERRAND_LEFT_MAX 8            /* threads left behind that have not come back */

struct errand; /* opaque */

struct errand_job {
	void (*run)(void *ctx);  /* in the thread */
	void (*drop)(void *ctx); /* frees it, in whichever thread */
	void *ctx;
};

int errand_open(struct errand **out, struct err *err);
void errand_close(struct errand *e); /* leaves what is under way behind; NULL is fine */

/* Readable (poll) when a job is done. */
int errand_fd(const struct errand *e);

/*
 * Starts a job; takes ctx, also where it fails.  One that is under way is left behind.
 * -EBUSY: ERRAND_LEFT_MAX have not come back; -EAGAIN, -ENOMEM: no thread.
 */
int errand_start(struct errand *e, const struct errand_job *job, uint64_t boot_ns, struct err *err);

bool errand_busy(const struct errand *e);

/* What the job worked on, the caller's now, where it is done; NULL else. */
void *errand_take(struct errand *e);

/*
 * What is under way, where that takes longer than limit_ns: to be asked where it stands (by
 * atomics alone: it is still the thread's) before errand_leave().  NULL else.
 */
const void *errand_late(const struct errand *e, uint64_t boot_ns, uint64_t limit_ns);

/* Leaves what is under way behind. */
void errand_leave(struct errand *e);

#endif
