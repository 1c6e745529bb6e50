/*
 * The warden: the process that makes the command of a run, holds its unit, and ends it.
 *
 * A fork of the front, in its session and in a process group of its own, with 0 to 2 on /dev/null.
 * It never outlives its run, and writes nothing but the run's record.
 */
#ifndef STRAY_ENGINE_WARDEN_H
#define STRAY_ENGINE_WARDEN_H

#include "engine/launch.h"
#include "source/source.h"

/* What the front made before the fork; all borrowed. */
struct warden_start {
	const struct launch_options *options;
	const struct spawn_caller *caller;
	const char *id;             /* of the run */
	const char *mark;           /* by which its members are known */
	const char *exe;            /* what will be executed */
	struct unit *unit;          /* made; the warden takes it in hand */
	struct identity front;      /* the stray that was started */
	int talk_fd;                /* the warden's end */
	struct source_pulse *pulse; /* where the front sees what it reads; NULL: nowhere */
	int result_fd;              /* where the members of the result go, as one JSON object */
	bool terminal;              /* the command stays in the front's process group */
};

/* From the fork to the end of the run.  Returns the status that the process ends with. */
int warden_run(const struct warden_start *start);

#endif
