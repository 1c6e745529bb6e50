/*
 * stray watch --batch: watches a recorded run off a terminal, and prints its events as they come.
 */
#ifndef STRAY_WATCH_BATCH_H
#define STRAY_WATCH_BATCH_H

#include "cmd/cmd.h"

struct batch_options {
	const struct cmd_common *common;
	const struct source_options *source;
	enum listener_how listen;
	const char *name; /* of the run; NULL: the one that needs eyes, or the next */
	bool next;        /* waits for the next run to be recorded */
	unsigned delay_ms;
};

/* Until the run is over or TERM, INT or HUP comes.  0 or -errno. */
int batch_run(const struct batch_options *o, struct err *err);

#endif
