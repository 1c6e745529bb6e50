/*
 * Listening to the kernel beside looking: what members of the run in view do
 * between two looks.
 *
 * It is subscribed to events as long as a run is in view, and drains them by the clock, each
 * NETLINK_DRAIN_NS while some arrive; a foreign event costs a look-up.  Who was
 * forked, by whom, and how it ended comes to the tracker through the fold of events (model/heard.h)
 * and to the caller change by change.  Where nothing can be listened to it says why, and scans
 * alone have to do.  Never signals, never writes.
 *
 * It reads the arguments of members that have just exec'd in its caller's thread.
 */
#ifndef STRAY_ENGINE_LISTENER_H
#define STRAY_ENGINE_LISTENER_H

#include "base/err.h"
#include "model/tracker.h"
#include "source/source.h"

enum listener_how {
	LISTENER_AUTO,  /* where it works */
	LISTENER_NEVER, /* scans only */
	LISTENER_MUST,  /* or it is an error */
};

struct listener; /* opaque */

/* LISTENER_MUST: what netlink_open() says where it does not work. */
int listener_open(enum listener_how how, struct listener **out, struct err *err);
void listener_close(struct listener *l); /* before the tracker; NULL is fine */

/* Readable (poll) when it is time for listener_drain(). */
int listener_fd(const struct listener *l);

/*
 * Brings it to the run that k has in view now: subscribes where it has not yet, ends where none is.
 * To be called after each change of that, and after each fold.  0 or -ENOMEM.
 */
int listener_follow(struct listener *l, struct tracker *k, struct err *err);

/*
 * One change of a member, as the kernel reported it (known: seen).  detail: comm, exe and
 * arguments after an exec, counted; NULL: else, or gone before it was read.
 */
typedef void listener_fn(void *ctx, const struct kin_change *c, struct detail *detail);

/* Takes what waits, and tells k and fn (may be NULL) of it.  Before each fold, too: a death that a
 * scan shows first has no status. */
void listener_drain(struct listener *l, struct tracker *k, listener_fn *fn, void *ctx);

/* Events were lost since the last scan: one is due, LISTENER_RESCAN_NS from now at the latest. */
bool listener_wants_scan(const struct listener *l);
#define LISTENER_RESCAN_NS 1000000000ULL

/* Why nothing is listened to; code 0: it is, or no run is in view. */
const struct err *listener_why(const struct listener *l);

#endif
