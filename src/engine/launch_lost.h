/*
 * The front in place of a warden that was killed: ends what it left, and says so.
 */
#ifndef STRAY_ENGINE_LAUNCH_LOST_H
#define STRAY_ENGINE_LAUNCH_LOST_H

#include "engine/launch.h"

/* What the front is told meanwhile. */
struct launch_lost_signals {
	int fd;                   /* readable when there is one */
	bool (*hurry)(void *ctx); /* takes them; whether the end has been asked for again */
	void *ctx;
};

/* The warden is dead and reaped: its orphans are ours.  Fills in out. */
void launch_lost(const struct launch_options *o, struct unit *unit, struct identity front,
		 const struct launch_lost_signals *signals, struct launch_result *out,
		 launch_say_fn *say, void *ctx);

#endif
