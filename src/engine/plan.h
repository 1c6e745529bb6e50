/*
 * What a signal would hit, before any is sent: the content of the dialog and of
 * `stray end --dry-run`.
 *
 * A pure function of a table, the run in view and what is aimed at.  It decides
 * what is refused and what must be confirmed; engine/act.h does what it says.
 */
#ifndef STRAY_ENGINE_PLAN_H
#define STRAY_ENGINE_PLAN_H

#include "base/vec.h"
#include "model/run.h"
#include "model/table.h"

enum scope {
	SCOPE_PROCESS, /* the processes named alone */
	SCOPE_GROUP,   /* the process group, in one act of the kernel */
	SCOPE_SESSION, /* every process of a session, one by one */
	SCOPE_RUN,     /* all certain and likely members of the run in view */
	SCOPE_MEMBERS, /* those of a group (no number: of the run) that are members or were added,
	                * one by one; stray and its ancestors are spared, not a reason to refuse */
};

const char *scope_name(enum scope s); /* "process", "group", "session", "run", "members" */

struct plan_item {
	struct identity id;
	bool member;         /* certain or likely (a possible one is none), or no run is in view */
	const char *useless; /* why the signal will not end it, or NULL; a literal */
};

struct plan {
	enum scope scope;
	int signal;
	pid_t number;           /* PGID or SID; the PID of SCOPE_PROCESS with one target; 0 else */
	bool possible;          /* possible members were asked for too */
	struct identity holder; /* who has that number as PID; pid 0: nobody */
	struct {
		struct plan_item *v;
		size_t n, cap;
	} hit, not_hit, own, strangers, dead;
	/*
	 * hit: will be signalled.  not_hit: members that will not be.  own: stray and
	 * its ancestors, which never are.  strangers: in the unit, no members and
	 * not added (SCOPE_MEMBERS).  dead: zombies in the unit.
	 */
	char refused[256]; /* why nothing may be sent; "": it may */
	bool confirm;      /* Enter alone does not suffice: the count is typed */
	char confirm_why[160];
};

struct aim {
	enum scope scope;
	int signal;
	const struct identity *ids; /* the row under the cursor, or the tagged rows */
	size_t n_ids;
	const struct identity *added; /* strangers that the operator added */
	size_t n_added;
	bool possible;          /* possible members too (--include-possible) */
	pid_t number;           /* PGID or SID; 0: that of ids[0] */
	bool holder_known;      /* number was planned for before, when it was ... */
	struct identity holder; /* ... this one's: where it is another's now all is refused */
};

/* -ENOMEM, else 0; what may not be sent is plan.refused, no error. */
int plan_make(const struct table *t, const struct run *run, const struct aim *aim, struct plan *out,
	      struct err *err);
void plan_clear(struct plan *p);

/* Why signal sig will not end p, or NULL; a literal. */
const char *plan_useless(const struct process *p, int sig);

#endif
