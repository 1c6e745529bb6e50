/*
 * What is about to be done to processes, put on the disk before it is.
 *
 * Written as stray.act/1: who, what, at whom, resting on which look at the
 * host.  An intent, a sent signal and an observed death are three things; this
 * is the first.
 */
#ifndef STRAY_RECORD_INTENT_H
#define STRAY_RECORD_INTENT_H

#include "base/err.h"
#include "model/table.h"
#include "record/operator.h"

#include <stdio.h>

#define INTENT_SCHEMA "stray.act/1"

struct intent_process {
	struct identity id;
	const char *why; /* not aimed at: why not; NULL: no reason but the choice */
};

/* All borrowed. */
struct intent {
	const char *kind;   /* "signal", "end", "freeze", "thaw", "cut" */
	const char *title;  /* in words: "TERM to group 4160" */
	const char *target; /* as the operator named it, "pgid:4160"; NULL: picked on a screen */
	const char *unit;   /* "process", "group", "session", "run", "members" */
	pid_t number;       /* the unit's PID, PGID or SID; 0: none */
	const int *signals; /* in order, as far as needed */
	size_t n_signals;
	uint64_t grace_ns; /* before the second signal */
	bool freeze_first; /* all of it is stopped before the first signal */
	const struct intent_process *aimed, *spared;
	size_t n_aimed, n_spared;
	const struct host *host; /* of the look that it rests on */
	struct operator operator;
	uint64_t wall_ns, boot_ns; /* when it was decided */
};

/* 0, -ENOMEM or the first -errno of writing. */
int intent_json(FILE *out, const struct intent *i, struct err *err);

#endif
