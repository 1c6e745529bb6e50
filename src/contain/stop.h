/*
 * STOP all until no new one appears.
 *
 * Processes that fork or refork each other outrun one who kills them one by one; stopped, they
 * cannot.  So each that is found is stopped, again where something made it go on, and the finding
 * repeated until, with all of them halted, two looks in a row find nobody new.  It gives up at a
 * bound of passes and of time.  It works in steps that never wait, for a caller with a loop of its
 * own.
 */
#ifndef STRAY_CONTAIN_STOP_H
#define STRAY_CONTAIN_STOP_H

#include "contain/act.h"

#include <stdint.h>

#define STOP_RETRY_NS 1000000ULL /* how soon a step is worth repeating */

struct stop {
	struct target_set *set;        /* borrowed: those stopped, and those to stop first */
	const struct act_hooks *hooks; /* borrowed; members must be set */
	uint64_t deadline_ns;          /* CLOCK_BOOTTIME */
	uint64_t look_ns;              /* the next look for new ones, halted or not */
	size_t seen;                   /* of set: these have had their STOP */
	unsigned passes, quiet;
	bool refused; /* the error of a step is that of before_signal */
};

void stop_begin(struct stop *s, struct target_set *set, const struct act_hooks *hooks,
		uint64_t deadline_ns);

/*
 * One step.  0: not yet, come again after STOP_RETRY_NS; 1: stable; -ETIME: not stable within
 * the bounds (what was found is stopped); else the error of a hook.  It undoes nothing:
 * signal_undo_stop(set) does.
 */
int stop_step(struct stop *s, uint64_t now_ns, struct err *err);

/* Steps until the end, waiting between them: 0, -ETIME, or the error of a hook, and then what
 * was stopped goes on again. */
int stop_all(struct target_set *set, const struct act_hooks *hooks, uint64_t deadline_ns,
	     struct err *err);

/*
 * stop_all(), then a KILL to each by its pidfd: nothing of them runs in between.  Where it does
 * not become stable they are killed all the same, and *stable (may be NULL) is false.
 * 0, or the error of a hook: then nobody was killed, and what was stopped goes on.
 */
int stop_then_kill(struct target_set *set, const struct act_hooks *hooks, uint64_t deadline_ns,
		   bool *stable, struct err *err);

#endif
