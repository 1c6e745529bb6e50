/*
 * The ending ladder: TERM, grace, KILL, look again.
 *
 *	state      all gone                    time over                    does on entering
 *	START      look again, else DONE       -                            first signal
 *	GRACE      look again: new ones are    KILL wanted: STOPPING        -
 *	           waited for, else DONE       or KILLING; else DONE
 *	STOPPING   (stable, or out of time) KILLING                         STOP to all, repeated
 *	KILLING    -                           -                            KILL
 *	KILLED     look again, also before:    DONE                         -
 *	           new ones STOPPING or
 *	           KILLING, a few rounds;
 *	           else DONE
 *	DONE
 *
 * KILL goes to those known before the first signal and to any member since; those that came since
 * never get the first signal.  That nobody is seen does not mean that all are gone where the look
 * failed, or a unit that can be killed is not empty: then the time runs out, too.  It works in
 * steps that never wait: ladder_fd() and ladder_timeout_ns() say when the next is due.  It decides
 * neither whom nor why.
 */
#ifndef STRAY_CONTAIN_LADDER_H
#define STRAY_CONTAIN_LADDER_H

#include "contain/act.h"

#include <stdint.h>

struct ladder_plan {
	int first;             /* as a rule SIGTERM; 0: begin with the KILL */
	pid_t pgid;            /* > 1: the first signal is one act on this group; else one by one */
	uint64_t grace_ns;     /* between the first signal and the KILL; 0: at once */
	bool kill;             /* false: end with the grace */
	bool stop_first;       /* STOP until stable before KILL: they may refork each other */
	bool guarded;          /* with a guard (guard.h) from the first STOP until it is done */
	uint64_t kill_wait_ns; /* how long to wait for the killed */
};

/* What became of one process.  Times are CLOCK_BOOTTIME, ns. */
struct ladder_outcome {
	struct identity id;
	bool late; /* not known before the first signal: a member since */
	bool gone;
	uint64_t signalled_ns; /* when the first signal was sent to it; 0: none was */
	uint64_t gone_ns;      /* when it was seen gone */
	int last_signal; /* sent to it while it lived, 0: none.  No proof that it died of that */
	struct death death;
	enum target_result first, killed; /* of the two signals; TARGET_UNTRIED: not sent */
	int error;                        /* errno of the last that was refused, or 0 */
};

/* How long it lived after the first signal to it; 0 where it lives or got none. */
static inline uint64_t ladder_after_ns(const struct ladder_outcome *o)
{
	return o->gone && o->signalled_ns ? o->gone_ns - o->signalled_ns : 0;
}

struct ladder; /* opaque */

/* plan and hooks are copied.  NULL when out of memory or descriptors. */
struct ladder *ladder_new(const struct ladder_plan *plan, const struct act_hooks *hooks);

/* Continues what it had stopped and not killed, then frees. */
void ladder_free(struct ladder *l);

/* Before the first step: who is to be ended.  As target_add; the dead are kept, as gone. */
int ladder_add(struct ladder *l, struct identity id, struct err *err);

/* The same of all in a set, which is the ladder's from here on, and empty. */
int ladder_take(struct ladder *l, struct target_set *set, struct err *err);

/*
 * Does what is due at now_ns (CLOCK_BOOTTIME).  0: goes on; 1: done, also where nobody was alive
 * or may be signalled: the outcomes say so; -ENOMEM or the error of before_signal: then it is
 * done too, that signal was not sent, and what had been stopped goes on.
 */
int ladder_step(struct ladder *l, uint64_t now_ns, struct err *err);

/* Readable when a step is due because something ended.  Borrowed: for epoll or poll. */
int ladder_fd(const struct ladder *l);

/* How long until a step is due in any case; 0: now; UINT64_MAX: it is done. */
uint64_t ladder_timeout_ns(const struct ladder *l, uint64_t now_ns);

/* Nothing more is sent: what it had stopped goes on, and it is done. */
void ladder_abandon(struct ladder *l);

/* The grace is over now. */
void ladder_hurry(struct ladder *l);

/* All of it, waiting between the steps. */
int ladder_run(struct ladder *l, struct err *err);

/* One for each process, in order of adding; borrowed until the next call.  Asks again how those
 * died that were not reaped when they were seen gone. */
const struct ladder_outcome *ladder_outcomes(struct ladder *l, size_t *n);

/* How many are alive, as far as the last step saw. */
size_t ladder_alive(const struct ladder *l);

/*
 * What went wrong on the way and did not stop it, the first of it, or code 0: members could not be
 * looked for, so only those known were signalled; the unit could not be killed as one.
 */
const struct err *ladder_note(const struct ladder *l);

#endif
