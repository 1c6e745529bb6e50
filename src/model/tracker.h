/*
 * Folds scan after scan into one table: what a single scan cannot tell.
 *
 * Details are carried over, parents that change are noticed, CPU use is taken
 * between two scans, and the dead are kept as ghosts as long as something alive
 * refers to them.  Where the events of the run in view are heard (kin.h), scans and
 * events learn from one another.  Then the judges run (origin, lineage, suspect, run).
 * Pure: no clock, no syscalls.
 */
#ifndef STRAY_MODEL_TRACKER_H
#define STRAY_MODEL_TRACKER_H

#include "model/kin.h"
#include "model/run.h"
#include "model/table.h"

#define TRACKER_GHOSTS_MAX 4096 /* a storm's dead are counted, not kept */
#define TRACKER_SUSPECT_S 600   /* how long a suspect that ended is kept, beside members */

struct ghost {
	struct process p;      /* as last seen */
	uint64_t gone_wall_ns; /* when a scan first missed it */
};

struct tracker {
	struct table *now;   /* owned; NULL before the first fold */
	struct table *spare; /* owned: the one before that, emptied; NULL: none, or taken */
	struct run *run;     /* borrowed; NULL: none in view */
	struct kin *kin;     /* borrowed: what is heard of run; NULL: nothing is */
	VEC(struct identity) heard_ended; /* since the last fold */
	VEC(struct ghost) ghosts;
	VEC(struct identity)
	unscanned; /* of a copy: members that were heard of, and are not in now */
	size_t suspects;
	uint64_t scans;
};

void tracker_init(struct tracker *k);
void tracker_free(struct tracker *k);

/* Takes scan in any case.  -ENOMEM where a judge ran out of memory: the facts of
 * the scan are in, its judgements may be of the scan before. */
int tracker_fold(struct tracker *k, struct table *scan, struct err *err);

/*
 * An empty table with the room of the one that was folded away, for the next scan to fill
 * (source_reuse()): of what is taken and given back with each scan holes would remain.  The
 * caller's now; NULL: none.
 */
struct table *tracker_take_spare(struct tracker *k);

/* Changes the run in view (borrowed; NULL: none) and judges anew.  What was heard was of another
 * run: kin becomes NULL. */
int tracker_set_run(struct tracker *k, struct run *run, struct err *err);

/* Judges anew what was added to the table in place.  -ENOMEM as above. */
int tracker_judge(struct tracker *k, struct err *err);

/* What was heard of a member: who came and ended between two scans has ended, too. */
void tracker_heard(struct tracker *k, const struct kin_change *c);

/* Whether a member of that identity was heard of. */
bool tracker_heard_of(const struct tracker *k, struct identity id);

/*
 * What another thread needs to tell of k: its table, its run (a copy of its own, too), and who was
 * heard of; no ghosts.  Only details are shared, which are counted and never change.
 * tracker_copy_free() in any case.  0 or -ENOMEM.
 */
int tracker_copy(const struct tracker *k, struct tracker *out, struct err *err);
void tracker_copy_free(struct tracker *copy); /* of zeros, too */

/* The last known state of a dead process, or NULL. */
const struct ghost *tracker_ghost(const struct tracker *k, struct identity id);

#endif
