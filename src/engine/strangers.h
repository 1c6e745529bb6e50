/*
 * Which processes that are not a run's came or went while it ran: by events, a bit a PID.
 *
 * For who looks at the host around a run: only those need a look, however many there are; and a
 * process that came may carry the run's mark without being a descendant.  Judges nobody.
 */
#ifndef STRAY_ENGINE_STRANGERS_H
#define STRAY_ENGINE_STRANGERS_H

#include "model/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strangers {
	uint8_t *came; /* and have not ended; NULL: not followed */
	uint8_t *went; /* that were there before */
	size_t n;      /* PIDs that fit in each */
};

/* Empty.  Without memory nobody is followed. */
void strangers_open(struct strangers *s);
void strangers_close(struct strangers *s);

static inline bool strangers_followed(const struct strangers *s)
{
	return s->came != NULL;
}

/* A fork or an exit that is none of the run's. */
void strangers_note(struct strangers *s, const struct event *e);

/* The next that came, above pid (0: the first); 0: no more. */
pid_t strangers_next(const struct strangers *s, pid_t pid);

/* PIDs of all that came or went, ascending.  How many, or SIZE_MAX: more than max, or not known. */
size_t strangers_list(const struct strangers *s, pid_t *out, size_t max);

#endif
