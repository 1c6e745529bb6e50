/*
 * --detach=deny: setsid(2) and setpgid(2) fail with EPERM in a run, and each try is told.
 *
 * A seccomp filter with a listener (seccomp_unotify(2), Linux 5.0), made in the held child and
 * inherited by whatever it starts; x86's other two ABIs are filtered too.  Where an outer filter
 * has a listener already, ours can have none: then the calls fail and the tries are not told.  An
 * ordinary user's needs no_new_privs, so that sudo(8) and the like fail in the run.
 * The one file that knows libseccomp.
 */
#ifndef STRAY_CONTAIN_DENY_H
#define STRAY_CONTAIN_DENY_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct deny {
	int child_end, our_end; /* of the way on which the listener comes; -1: none */
	int listener;           /* -1: none, the tries are not told */
};

/* Before the child is made.  0 or -errno. */
int deny_open(struct deny *d, struct err *err);
void deny_close(struct deny *d); /* of -1s too */

/* In the child (spawn_plan.prepare; ctx: a struct deny).  0 or an errno. */
int deny_install(void *ctx);

/* After it was held: takes the listener.  0, also where there is none; or -errno. */
int deny_take(struct deny *d, struct err *err);

struct denied {
	pid_t pid;
	bool setsid; /* else setpgid */
	pid_t args[2];
};

/* Answers one try, the caller of which waits: 1 and *out; 0: none waits; -errno: nobody is left. */
int deny_next(struct deny *d, struct denied *out);

#endif
