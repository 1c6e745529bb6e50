/*
 * Members that a run's journal saw end, as processes that the list can show.
 *
 * Of them is known what the journal has: who they were and with which command, not when
 * they ended.  Pure; asks nothing of the host.
 */
#ifndef STRAY_TUI_GONE_H
#define STRAY_TUI_GONE_H

#include "model/process.h"
#include "record/story.h"
#include "tui/tagset.h"

#define GONE_MAX 1000 /* the newest: nobody reads more of a list */

struct gone {
	struct process *v; /* owned, in order of appearance; state 'X' */
	size_t n, cap;
	struct tagset tags; /* of their identities, sorted */
	size_t of;          /* how many the journal knew of */
};

/* Anew where more or fewer have ended since the last time.  0 or -ENOMEM: then there are none. */
int gone_take(struct gone *g, const struct story *s);
void gone_free(struct gone *g);

#endif
