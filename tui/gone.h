/*
 * Members that a run's journal saw end, as processes that the list can show.
 *
 * Of them is known what the journal has: who they were, with which command, and when they were
 * found to have ended.  Pure; asks nothing of the host.
 */
#ifndef STRAY_TUI_GONE_H
#define STRAY_TUI_GONE_H

#include "base/vec.h"
#include "model/process.h"
#include "record/story.h"
#include "tui/tagset.h"

#define GONE_MAX 1000 /* the newest: nobody reads more of a list */

struct gone {
	struct process *v; /* owned, in order of appearance; state 'X' */
	size_t n, cap;
	VEC(uint64_t) when; /* of each: wall clock, ns; 0: not known */
	struct tagset tags; /* of their identities, sorted, and which it is */
	size_t of;          /* how many the journal knew of */
};

/* Anew where more or fewer have ended since the last time.  0 or -ENOMEM: then there are none. */
int gone_take(struct gone *g, const struct story *s);
void gone_free(struct gone *g);

/* When the one of that tag was found gone; wall clock, ns; 0: not known. */
uint64_t gone_when(const struct gone *g, uint64_t tag);

#endif
