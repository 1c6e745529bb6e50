/*
 * What became of a recorded run, told from its record and its journal alone:
 * its state, its members as last known, who ended it.
 *
 * Folds events in order; asks neither the host nor the clock, so it tells the
 * same of a run of another boot.  Events that it does not know change nothing.
 */
#ifndef STRAY_RECORD_STORY_H
#define STRAY_RECORD_STORY_H

#include "model/run_state.h"
#include "record/journal_read.h"
#include "record/rundir.h"

/* A member as the journal last knew it. */
struct story_member {
	struct identity id;
	unsigned evidence; /* evidence_bits */
	bool gone;
	uint64_t heard_boot_ns; /* of the last of its events that was heard, not looked for */
	uint64_t gone_wall_ns;  /* when that was told; 0: not known */
	bool survived;          /* an act of ours found it alive after a signal */
	pid_t ppid, pgid, sid;
	struct bytes comm, exe, args, cgroup; /* owned; args masked, each ended by NUL */
};

struct story {
	struct run_record record; /* owned */
	struct journal_verdict verdict;
	enum run_state state;
	uint64_t state_wall_ns;              /* when it came to be so */
	uint64_t over_wall_ns, over_mono_ns; /* when it was over first; 0: it is not */
	uint64_t last_wall_ns;               /* of the last event */
	struct identity watcher;             /* of the last watch_started without its end */
	uint64_t unwatched_wall_ns;          /* since when nobody watches; 0: somebody does */
	struct identity ender;               /* who asked for its end last */
	size_t notes;
	char record_sha256[CHAIN_HEX]; /* that it was opened with; "": no such event */
	bool record_changed;           /* run.json is another: whom it means is not to be trusted */
	VEC(struct story_member) members; /* in order of appearance */
	VEC(uint32_t) by_identity;        /* of members, sorted by identity */
};

/*
 * Reads the run in d.  A journal that does not hold is read up to its fault,
 * which story.verdict tells.  story_clear() in any case.
 */
int story_read(const struct rundir *d, struct story *out, struct err *err);
void story_clear(struct story *s);

/*
 * The record, and of the journal the last lines alone: where they closed the run, its state; else
 * that is not known.  Whether they hold together is not asked.  story_clear() in any case.
 */
int story_glance(const struct rundir *d, struct story *out, struct err *err);

/*
 * A copy of its own for who shows it: of the record without what was read of the root and of who
 * asked for it, beyond the run.  0 or -ENOMEM, then to is cleared.
 */
int story_copy(struct story *to, const struct story *from);

/* One event more; the journal's own order is the caller's business.  0 or -ENOMEM. */
int story_event(struct story *s, const json_t *event, struct err *err);

/* Borrowed until the next event; NULL: no member. */
struct story_member *story_member(const struct story *s, struct identity id);

/* The last that had that PID; NULL: none. */
struct story_member *story_latest(const struct story *s, pid_t pid);

/* The same as story_member(), made where there is none.  NULL: out of memory. */
struct story_member *story_add(struct story *s, struct identity id);

/* It is gone, as was told at wall_ns; the first time counts. */
void story_gone(struct story_member *m, uint64_t wall_ns);

/* How many certain and likely members the journal knows of that it did not see end. */
size_t story_alive(const struct story *s);

/* {"pid","start_ticks"}; zeros where there is none. */
struct identity story_identity(const json_t *event, const char *key);

#endif
