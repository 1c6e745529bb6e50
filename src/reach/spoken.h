/*
 * With whom members of a run speak through a unix socket.
 *
 * Asks the kernel which sockets are connected to which (sock_diag(7), UNIX_DIAG_PEER; of this
 * network namespace) and reads the descriptors of members, and of those others only that have a
 * child born since the run began.  Only who is reached by a name (unix(7)) is meant: a socketpair
 * is what a parent leaves its child, no service.  A connection that comes and goes between two
 * looks is not seen, nor what may not be read.  Judges nothing: model/asked.h does.
 */
#ifndef STRAY_REACH_SPOKEN_H
#define STRAY_REACH_SPOKEN_H

#include "model/run.h"

/* What is read at one look at most; where there is more, by turns. */
#define SPOKEN_MEMBERS_MAX 256
#define SPOKEN_SERVICES_MAX 64
#define SPOKEN_FDS_MAX 16384 /* descriptors of all of them: some 70 ms */

/* What is looked for: by value, so that another thread can look. */
struct spoken_wanted {
	uint64_t since, until; /* whose birth matters, in ticks since boot */
	uint64_t turn;
	size_t n;                                    /* 0: nothing is looked for */
	struct identity members[SPOKEN_MEMBERS_MAX]; /* by PID */
};

/* Of the run's members in t, which may be NULL, as run_judge() left them; run NULL: nothing. */
void spoken_wanted(const struct run *run, const struct table *t, uint64_t turn,
		   struct spoken_wanted *out);

/* Fills in spoke_from and spoke_until of those processes of t that a member speaks with.
 * 0 or -ENOMEM. */
int spoken_read(const struct spoken_wanted *w, struct table *t);

#endif
