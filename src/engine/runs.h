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
	uint64_t bytes;           /* of its journal before it was read, where that was asked */
	struct err err;           /* code 0: it was read and its journal holds */
};

struct runs {
	struct runs_item *v; /* newest first */
	size_t n, cap;
};

/*
 * Whether a run that is past need not be read: of another boot or PID namespace, or closed with
 * nobody left, nobody of it now and nobody that watches it.  A journal is read whole, and a week
 * has many.  bytes: of its journal; others: as in struct runs_item.
 */
typedef bool runs_known_fn(void *ctx, const char *id, bool others, uint64_t bytes);

/*
 * Reads them all but those that are known (NULL: all); without state_dir, and as root by sudo(8),
 * those of who called it too.  k: a look at the host, whose run in view is changed on the way
 * and restored; NULL: nobody is looked for, and none is past.  A state directory that is not there
 * holds none.  runs_clear() in any case.
 */
int runs_load(const char *state_dir, struct tracker *k, runs_known_fn *known, void *ctx,
	      struct runs *out, struct err *err);
void runs_clear(struct runs *r);

/* All of those: for who asks for the living. */
bool runs_past(void *ctx, const char *id, bool others, uint64_t bytes);

/* The one that most needs eyes (doc/stray.1): survived, leftover, then what is not over; the
 * newest first; alive and here.  NULL: none does. */
const struct runs_item *runs_needing_eyes(const struct runs *r);

#endif
