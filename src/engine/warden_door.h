/*
 * How who ends a running run tells its warden, so that one of them does it: a
 * socket in the run's directory.
 *
 * The caller knocks before its first signal, and says when it is done; meanwhile the warden
 * watches, and writes down, and ends nothing.  Should the caller die, the warden goes on in its
 * place.  Only root and who runs the warden are let in.  Neither side waits for the other but at
 * the knock, DOOR_WAIT_MS at most.
 */
#ifndef STRAY_ENGINE_WARDEN_DOOR_H
#define STRAY_ENGINE_WARDEN_DOOR_H

#include "base/err.h"
#include "model/run_state.h"
#include "record/rundir.h"

#include <sys/types.h>

#define DOOR_WAIT_MS 1000

/* --- the warden's side; descriptors are owned by the caller --- */

/* A listening socket in the directory `dir`, or -errno. */
int door_open(int dir, struct err *err);

/* Takes who knocked: a descriptor, the warden's yes is sent; -EAGAIN: nobody; -EPERM: of another
 * user, turned away. */
int door_let_in(int door, pid_t *who);

/* What the visitor says: 1: done, and *closed_as; 0: nothing yet; -EPIPE: it is gone. */
int door_hear(int visitor, enum run_state *closed_as);

/* --- the caller's side --- */

/* A descriptor, to be kept until all is done; -ENOENT, -ECONNREFUSED: no warden is there;
 * -ETIMEDOUT: it does not answer. */
int door_knock(int dir, struct err *err);

/* All is done, and the journal says so. */
void door_done(int visit, enum run_state closed_as);

#endif
