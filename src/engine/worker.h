/*
 * One thread that does what may wait for a disk, one thing after the other, in the order in which
 * it was asked for.
 *
 * What it works with from job to job (a journal that is open, an act under way) is the thread's
 * alone; each job owns what else it needs, and what it made is taken back by the asker, who is told
 * by a descriptor.  Where no thread can be made each job is done in its asker's thread, before
 * worker_add() returns.  It gives nothing up: see errand.h for what may be.
 */
#ifndef STRAY_ENGINE_WORKER_H
#define STRAY_ENGINE_WORKER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct worker; /* opaque */

struct worker_job {
	void (*run)(void *own, void *ctx); /* in the thread */
	void (*drop)(void *ctx);           /* frees it, in whichever thread */
	void *ctx;
};

/*
 * own: what the thread works with; free_own, in whichever thread, when nothing is done with it
 * any more.  Taken, also where it fails.
 */
int worker_open(void *own, void (*free_own)(void *own), struct worker **out, struct err *err);

/* Why there is no thread; code 0: there is one. */
const struct err *worker_alone(const struct worker *w);

/* Readable (poll) when a job is done. */
int worker_fd(const struct worker *w);

/* Takes ctx, also where it fails.  boot_ns: now.  0 or -ENOMEM. */
int worker_add(struct worker *w, const struct worker_job *job, uint64_t boot_ns, struct err *err);

/* What a job worked on, the caller's now, in the order of asking; NULL: none is done. */
void *worker_take(struct worker *w);

/*
 * What is to be done first, or is being done, and since when it is asked for: to be looked at where
 * the job never writes.  Borrowed until it is taken; NULL: nothing is left to do.
 */
const void *worker_first(struct worker *w, uint64_t *since_boot_ns);

/* Waits until all is done, what it made being there to be taken: 0, or -ETIMEDOUT. */
int worker_wait(struct worker *w, uint64_t until_boot_ns);

/*
 * What was not begun is dropped.  A thread that is at something is left behind: it finishes that,
 * if the process lives, and frees the rest.  NULL is fine.
 */
void worker_close(struct worker *w);

#endif
