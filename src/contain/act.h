/*
 * Acts of more than one signal: what is asked before, and told after, each batch.
 *
 * Whoever wants an act (the engine) gives hooks, through which the intent is recorded before the
 * signal goes.  Stopping all (stop.h) and the ladder (ladder.h) are made of these steps.
 */
#ifndef STRAY_CONTAIN_ACT_H
#define STRAY_CONTAIN_ACT_H

#include "contain/signal.h"

/* What an act of several signals asks of, and tells, whoever wanted it.  Any may be NULL. */
struct act_hooks {
	void *ctx;
	/* Before each batch: an error stops the act, and what was stopped goes on.  n 0: before
	 * kill_unit(), where nobody in the unit is seen. */
	int (*before_signal)(void *ctx, int sig, const struct identity *to, size_t n,
			     struct err *err);
	/* After each of a batch: t->result and t->error. */
	void (*after_signal)(void *ctx, int sig, const struct target *t);
	/* Appends the identities that are to be acted on now: the members of this moment. */
	int (*members)(void *ctx, struct identity_list *out, struct err *err);
	/* Ends the unit in one act of the kernel in place of a KILL to each (cgroup.kill). */
	int (*kill_unit)(void *ctx, struct err *err);
	/* Whether nobody is in it, also of those that members() may not see: 1, 0 or -errno. */
	int (*is_empty)(void *ctx);
};

/* Tells the hook of the targets from `first` on that are alive: 0, or its error. */
int act_announce(const struct act_hooks *hooks, int sig, struct target_set *set, size_t first,
		 struct err *err);

/*
 * Sends to each of those, and tells the hook of each.  A KILL goes to the youngest first: the
 * death of a parent may orphan the group of a stopped child, which the kernel then wakes (HUP and
 * CONT, setpgid(2)); with its KILL already pending it runs no further.
 */
void act_send(const struct act_hooks *hooks, int sig, struct target_set *set, size_t first);

/* The same with a KILL, for who is in the unit no more, when that was killed: what came of those in
 * it is `sent`. */
void act_send_behind_unit(const struct act_hooks *hooks, struct target_set *set, size_t first);

/* Asks who the members are now, and adds those that are new.  *fresh: how many, and
 * one more where some may be missing: ask again. */
int act_rescan(const struct act_hooks *hooks, struct target_set *set, size_t *fresh,
	       struct err *err);

#endif
