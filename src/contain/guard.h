/*
 * What is stopped on the way to a KILL goes on again if who stopped it is killed in between.
 *
 * A process of its own, a fork of this one in a session of its own, knows by memory that is
 * shared whom we have stopped.  When we end without having closed it, it sends a CONT to each, by
 * identity, and ends.  It holds no descriptor of ours and does nothing else.  Who stops for
 * good (a freeze) wants none.
 */
#ifndef STRAY_CONTAIN_GUARD_H
#define STRAY_CONTAIN_GUARD_H

#include "base/err.h"
#include "model/identity.h"

#include <stdbool.h>

#define GUARD_MAX 65536 /* stops it knows of; for those beyond nobody would send a CONT */

struct guard; /* opaque */

/* -EAGAIN, -ENOMEM, -EMFILE: there is none, and nobody would let them go on. */
int guard_open(struct guard **out, struct err *err);

/* It ends, and is waited for; nobody gets a CONT.  NULL is fine. */
void guard_close(struct guard *g);

/* Before the STOP: id was running, and would have to go on. */
void guard_note(struct guard *g, struct identity id);

/* It goes on again, by us. */
void guard_forget(struct guard *g, struct identity id);

/* Whether pid is the guard itself: no member of anything.  g may be NULL. */
bool guard_is(const struct guard *g, pid_t pid);

#endif
