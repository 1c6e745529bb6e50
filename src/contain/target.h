/*
 * Sets of processes to act on: identities with their handles and what came of it.
 *
 * Each target keeps a pidfd from the moment it is added, so that its number
 * may be reused later without harm.  Where descriptors run out the pidfd is
 * opened anew, with the identity checked, for each look; where there are no pidfds
 * the identity alone is checked, each time.  This module sends nothing: see signal.h.
 */
#ifndef STRAY_CONTAIN_TARGET_H
#define STRAY_CONTAIN_TARGET_H

#include "base/err.h"
#include "contain/guard.h"
#include "contain/pidfd.h"
#include "model/identity.h"

#include <stddef.h>
#include <sys/resource.h>

struct identity_list {
	struct identity *v; /* owned: free(v) */
	size_t n, cap;
	bool unsteady; /* some that were listed had ended when they were read: whom they forked
			* meanwhile may be missing */
	size_t hidden; /* how many more there are, at least, of whom nothing can be read */
};

enum target_result {
	TARGET_UNTRIED,
	TARGET_SENT,
	TARGET_GONE,   /* dead before, reaped or not: nothing was sent */
	TARGET_REUSED, /* dead before, and its number is another process's now */
	TARGET_DENIED, /* not permitted: EPERM */
	TARGET_MOVED,  /* alive, and no longer in the group aimed at */
	TARGET_FAILED, /* another errno, in `error` */
};

struct target {
	struct identity id;
	int pidfd;                 /* owned; -1: gone, or none could be had */
	enum target_result result; /* of the last signal */
	int error;                 /* errno of that, or 0 */
	bool gone;                 /* seen dead: stays so */
	bool stopped_by_us;        /* had a STOP from us, and no CONT since */
	struct guard *guard;       /* borrowed, of its set; NULL: none */
};

struct target_set {
	struct target *v; /* owned, in order of adding; pointers hold until the next target_add */
	size_t n, cap;
	uint32_t *slot;      /* owned: index + 1 by hash of the identity, 0 empty */
	size_t slots;        /* a power of two, or 0 */
	rlim_t fd_end;       /* descriptors from here on are left to all else; 0: not known */
	struct guard *guard; /* borrowed: told of each STOP and CONT; NULL: none */
};

/* "sent", "gone", "reused", "not_permitted", "moved", "failed", "untried" */
const char *target_result_name(enum target_result r);

/*
 * Adds a process, alive or not: gone ones are kept, with their result.  Adding one again changes
 * nothing.  *added (may be NULL): the index of it, in either case.  Of the descriptors that may be
 * open (file_raise_limit() first) some are left to all else: beyond, it is had without one.
 * -EINVAL for a pid <= 1 or our own; -ENOMEM; -EACCES as pidfd_open_identity.
 */
int target_add(struct target_set *set, struct identity id, size_t *added, struct err *err);

/*
 * The same with a pidfd that is had already, and from here on the set's: as target_handle_of() made
 * it after id was seen, and before id was seen again.
 */
int target_take(struct target_set *set, struct identity id, int pidfd, struct err *err);

/* A pidfd of whoever has the number now, for target_take(); -1: none can be had. */
int target_handle_of(pid_t pid);

void target_set_clear(struct target_set *set); /* closes and frees; CONT is not sent */

struct target *target_find(const struct target_set *set, struct identity id);

/* From here on g is told of each STOP; NULL: nobody. */
void target_set_guard(struct target_set *set, struct guard *g);

/* Whether it is alive now; updates t->gone. */
bool target_alive(struct target *t);

/*
 * A pidfd of it for one use: its own, or one opened now, in *opened, which the caller closes where
 * it is not -1.  Returns the pidfd or -errno as pidfd_open_identity.
 */
int target_handle(struct target *t, int *opened);

/* How many are alive. */
size_t target_set_alive(struct target_set *set);

/*
 * Waits until all are gone, or the deadline (CLOCK_BOOTTIME, ns).  Returns how many are alive, or
 * -errno.
 */
int target_set_wait(struct target_set *set, uint64_t deadline_ns, struct err *err);

#endif
