/*
 * The run record of a launched run, made while its command is held: who it is,
 * who asked for it, what it is given, and what holds it.
 *
 * Reads only the processes concerned, however many the host has.  Starts nothing.
 */
#ifndef STRAY_ENGINE_LAUNCHED_H
#define STRAY_ENGINE_LAUNCHED_H

#include "contain/unit.h"
#include "engine/recorded.h"

/* All borrowed. */
struct launched {
	const char *state_dir; /* NULL: by default */
	const char *id;
	const char *mark;         /* by which its members are known */
	const char *approved_by;  /* NULL: not said */
	const char *parent_run;   /* of the run that stray itself is in; NULL: none */
	char *const *argv;        /* of the command */
	const char *exe;          /* what of it will be executed */
	struct identity root;     /* the held command */
	pid_t pgid, sid;          /* its group and session */
	bool owns_pgid, owns_sid; /* they are the run's own */
	const struct unit *unit;
	const struct host *host; /* without its logins */
	const char *fallbacks;   /* what was refused and is done another way; NULL: nothing */
	struct identity front, warden;
	uint64_t deadline_wall_ns; /* 0: none */
	uint64_t grace_ns;
	const struct coverage *coverage;
};

/*
 * Makes the directory of the run: run.json and the journal's first events are on the disk
 * when it returns.  0; -EEXIST; else why nothing can be recorded, and nothing was made.
 */
int launched_create(const struct launched *how, struct recorded *out, struct err *err);

#endif
