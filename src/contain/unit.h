/*
 * The containment unit of a run: what is made before the command, holds whatever it starts, and
 * is ended whole.
 *
 * Two kinds behind one interface.  A cgroup (v2, below the one that stray itself is in, so that
 * an outer run or a service holds it too) keeps even those whose parents are gone, and is killed by
 * the kernel in one act.  Without one it is the tree below a child subreaper, to which orphans
 * come back (prctl(2), PR_SET_CHILD_SUBREAPER): nothing leaves it by setsid or a double fork.
 * It starts nothing (spawn.h does) and signals nothing but by unit_kill().
 */
#ifndef STRAY_CONTAIN_UNIT_H
#define STRAY_CONTAIN_UNIT_H

#include "base/vec.h"
#include "contain/target.h"

#include <limits.h>

enum unit_kind { UNIT_SUBREAPER, UNIT_CGROUP };

struct unit {
	enum unit_kind kind;
	char path[PATH_MAX];    /* of the cgroup in its hierarchy; "": none */
	int dir;                /* of that, O_PATH; -1: none */
	int events;             /* its cgroup.events, for POLLPRI; -1: none */
	int freeze, kill;       /* files of it, open from the start: later there may be no room */
	struct identity reaper; /* whose descendants are in it; pid 0: not yet known */
	struct identity
		*not_in; /* owned: children that the reaper had before, or makes for itself */
	size_t n_not_in;
	struct err why_not; /* why it is no cgroup; code 0: it is one */
};

/*
 * Makes the unit: a cgroup stray-ID-PID-START, by its owner; empty ones beside it whose owner is
 * gone are removed.  Where none can be made it is a subreaper's tree, and why_not says why; id
 * NULL: not even tried.  unit_close() in the end.
 */
void unit_make(struct unit *u, const char *id, struct identity owner);

/* The command cannot be put into its cgroup: it is a subreaper's tree from now on, for `why`. */
void unit_fall_back(struct unit *u, const struct err *why);

/* This process is its reaper from now on: the children that it has now are not in it.  0 or
 * -errno. */
int unit_reap_here(struct unit *u, struct err *err);

/* A child of the reaper that is none of the run's, or is dead: it is not asked for again. */
int unit_exclude(struct unit *u, struct identity id, struct err *err);

/* Appends who is alive in it, each verified to be in it.  0 or -errno. */
int unit_members(const struct unit *u, struct identity_list *out, struct err *err);
/* Who is known to have a number, so that its start time need not be read; or one not known. */
typedef struct identity unit_holder_fn(void *ctx, pid_t pid);
/*
 * The same in a fraction of the time, but for descendants that moved from the cgroup to another;
 * and a number may have changed hands since its holder (NULL: nobody is known) was known: who
 * reads them on checks it.
 */
int unit_held(const struct unit *u, unit_holder_fn *holder, void *ctx, struct identity_list *out,
	      struct err *err);

/* Whether a cgroup's path is its own or below it. */
bool unit_has_path(const struct unit *u, const char *path);

/* Whether nobody alive is in it: 1, 0 or -errno. */
int unit_is_empty(const struct unit *u, struct err *err);
/* The same, once it is or until_ns (CLOCK_BOOTTIME) is there: who has just died still counts for a
 * moment, of which UNIT_EMPTY_NS is more than enough. */
#define UNIT_EMPTY_NS 100000000ull
int unit_await_empty(const struct unit *u, uint64_t until_ns, struct err *err);

/* Takes what its cgroup.events has to tell, so that POLLPRI is of the next.  One that was removed,
 * by whoever could as nobody was in it, tells no more: events is -1 then. */
void unit_hear(struct unit *u);

/*
 * Halts all in it, newcomers included, until unit_go_on() or unit_kill(): what is to be done before
 * the KILL is done in peace then.  Waits until all are, or until_ns (CLOCK_BOOTTIME): then they
 * go on again.  -EOPNOTSUPP: this kind has no such act.
 */
int unit_halt(const struct unit *u, uint64_t until_ns, struct err *err);
void unit_go_on(const struct unit *u);

/* KILL to all in it, in one act of the kernel.  -EOPNOTSUPP: this kind has no such act. */
int unit_kill(const struct unit *u, struct err *err);

/* Whether a process group has a member.  Sends nothing. */
bool unit_group_lives(pid_t pgid);

/* What may leave it unseen, for the record: a sentence, a literal. */
const char *unit_cannot_hold(const struct unit *u);
const char *unit_kind_name(enum unit_kind kind); /* "cgroup", "subreaper" */

/* Removes the cgroup, which must be empty, with those that members made below it. */
void unit_remove(struct unit *u);
void unit_close(struct unit *u); /* removes nothing */

#endif
