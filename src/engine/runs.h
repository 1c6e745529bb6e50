/*
 * All recorded runs of a state directory, and which of them needs eyes.
 *
 * Reads; writes nothing.  A run that cannot be read is kept in the list with
 * why, so that a damaged one never hides the others.
 */
#ifndef STRAY_ENGINE_RUNS_H
#define STRAY_ENGINE_RUNS_H

#include "engine/recorded.h"

struct runs_item {
	char id[RUN_ID_MAX + 1];
	struct recorded recorded; /* as far as it could be read */
	enum run_state state;     /* with what is seen now: recorded_state() */
	bool here;                /* of this boot and PID namespace */
	size_t alive;             /* members alive now; where it is not here, 0 */
	int watched;              /* 1: some stray watches it; 0; or -errno */
	bool others;              /* in the state directory of who called sudo(8) */
	struct err err;           /* code 0: it was read and its journal holds */
};

struct runs {
	struct runs_item *v; /* newest first */
	size_t n, cap;
};

/*
 * Reads them all; without state_dir, and as root by sudo(8), those of who called it
 * too.  k: a look at the host, whose run in view is changed on the way
 * and restored; NULL: nobody is looked for.  A state directory that is not there
 * holds none.  runs_clear() in any case.
 */
int runs_load(const char *state_dir, struct tracker *k, struct runs *out, struct err *err);
void runs_clear(struct runs *r);

/*
 * The same without those whose journals, which are read whole, need not be: runs of another boot
 * or PID namespace, and those that were closed with nobody left and have nobody now.
 */
int runs_load_alive(const char *state_dir, struct tracker *k, struct runs *out, struct err *err);

/* The one that most needs eyes (doc/stray.1): survived, leftover, then what is not over; the
 * newest first; alive and here.  NULL: none does. */
const struct runs_item *runs_needing_eyes(const struct runs *r);

#endif
