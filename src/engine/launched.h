/*
 * The run record of a launched run, made while its command is held: who it is,
 * who asked for it, what it is given, and what holds it.
 *
 * Reads only the processes concerned, however many the host has.  Starts nothing.
 */
#ifndef STRAY_ENGINE_LAUNCHED_H
#define STRAY_ENGINE_LAUNCHED_H

#include "contain/spawn.h"
#include "contain/unit.h"
#include "engine/recorded.h"

/* All borrowed. */
struct launched {
	const char *state_dir; /* NULL: by default */
	const char *id;
	const char *mark;                  /* by which its members are known */
	const char *approved_by;           /* NULL: not said */
	const char *parent_run;            /* of the run that stray itself is in; NULL: none */
	char *const *argv;                 /* of the command */
	const struct spawn_caller *caller; /* whose descriptors it gets */
	const char *exe;                   /* what of it will be executed */
	struct identity root;              /* the held command */
	pid_t pgid, sid;                   /* its group and session */
	bool owns_pgid, owns_sid;          /* they are the run's own */
	const struct unit *unit;
	const struct host *host; /* without its logins */
	const char *fallbacks;   /* what was refused and is done another way; NULL: nothing */
	struct identity front, warden;
	uint64_t deadline_wall_ns; /* 0: none */
	uint64_t grace_ns;
	const struct coverage *coverage;
};

/* What is told and opened before the command stands where it is held. */
struct launching {
	struct run_record record;
	struct statedir *state; /* NULL: not open */
};

/*
 * Reads who asks for the run and what it is given, and opens the state directory; of how all but
 * the root and what holds it is known.  launching_clear() in any case.
 */
int launched_prepare(const struct launched *how, struct launching *l, struct err *err);
void launching_clear(struct launching *l);

/*
 * Makes the directory of the run: run.json and the journal's first event are on the disk
 * when it returns.  Takes what is in l.  Of its story *out knows the record alone.  0; -EEXIST;
 * else why nothing can be recorded, and nothing was made.
 */
int launched_create(const struct launched *how, struct launching *l, struct recorded *out,
		    struct err *err);

#endif
