/*
 * What a recorded run is doing, told from its events in order.
 *
 *	event               from                                      to
 *	run_opened          (none)                                    active
 *	deadline_expired    active                                    expired
 *	end_requested       any but ended, finished                   ending
 *	runner_lost         active, expired, ending                   lost
 *	run_closed          any                                       as it says
 *
 * Any other pair changes nothing: a journal may hold what a later stray wrote.
 * A closed run may be acted on again (leftovers are ended), and closed again.
 * Pure.
 */
#ifndef STRAY_MODEL_RUN_STATE_H
#define STRAY_MODEL_RUN_STATE_H

#include <stdbool.h>

enum run_state {
	RUN_UNKNOWN, /* no event yet */
	RUN_ACTIVE,
	RUN_EXPIRED,  /* its deadline passed */
	RUN_ENDING,   /* somebody asked for its end */
	RUN_ENDED,    /* nothing of it is alive */
	RUN_SURVIVED, /* it was ended, and something of it is alive */
	RUN_LOST,     /* who watched over it died */
	RUN_FINISHED, /* its command ended by itself and left nothing */
	RUN_LEFTOVER, /* its command ended by itself and members live on */
	RUN_STATES
};

const char *run_state_name(enum run_state s); /* "active", ... */
/* RUN_UNKNOWN for what is no name of one. */
enum run_state run_state_parse(const char *name);

/* The state after an event; closed_as: what a run_closed says, else RUN_UNKNOWN. */
enum run_state run_state_next(enum run_state s, const char *event, enum run_state closed_as);

/* Whether it may still act: what `stray check` answers. */
static inline bool run_state_may_act(enum run_state s)
{
	return s == RUN_ACTIVE;
}

/* How much a run wants to be looked at: survived, leftover, then active; 0 least. */
int run_state_rank(enum run_state s);

#endif
