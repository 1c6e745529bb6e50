/*
 * The record of a launched run, written by a thread of its own, so that the end
 * of the run never waits for a disk longer than it was told to.  The thread begins with
 * runlog_start(), or with the first event that is waited for.
 *
 * Events are put together by the caller and queued; the thread appends them in order.  Process
 * events may be some RUNLOG_LAG_NS behind; a change of state or an intent is waited for, with a
 * limit: what could not be made durable in time is done all the same, and the next event says so.
 * What cannot be written is counted and told, in the journal by an event `events_lost` as soon as
 * that can be written to again, and ends nothing.  NULL as the log: nothing is
 * recorded, and all calls do nothing.
 */
#ifndef STRAY_ENGINE_RUNLOG_H
#define STRAY_ENGINE_RUNLOG_H

#include "engine/recorded.h"

#define RUNLOG_LAG_NS 50000000ull

struct runlog; /* opaque */

struct runlog_options {
	uint64_t process_bytes_max; /* in the journal, of each class that has a limit; 0: none */
};

/* Takes r, which is the thread's alone until runlog_close().  0 or -ENOMEM. */
int runlog_open(struct recorded *r, const struct runlog_options *options, struct runlog **out,
		struct err *err);

/*
 * Starts the thread, and one that tells the ledger; what was queued before is written by it.
 * 0; -errno where none can be made (a sandbox that answers EPERM to clone3): all is written by the
 * caller, who then waits for the disk.  Later calls do nothing.
 */
int runlog_start(struct runlog *l, struct err *err);

/* Begins an event: its members are added to what is returned, NULL too, borrowed until it is
 * added.  One at a time. */
struct jw *runlog_begin(struct runlog *l, const char *event, enum known known);

enum runlog_class {
	RUNLOG_PROCESS, /* what a member did: beyond process_bytes_max it is counted instead */
	/* how one left, tried to, or handed work off: the same, with bytes of its own, so that no
	 * storm of the others hides it */
	RUNLOG_ESCAPE,
	RUNLOG_FACT, /* always written */
	RUNLOG_CLASSES
};

/* Queues what was begun. */
void runlog_add(struct runlog *l, enum runlog_class class);

/*
 * Queues what was begun, and waits until it is on the disk, with all before it, or until_ns
 * (CLOCK_BOOTTIME).  to: the state that the run comes to; RUN_UNKNOWN: none.  0; -ETIMEDOUT; else
 * why it could not be written.
 */
int runlog_sync(struct runlog *l, enum run_state to, uint64_t until_ns, struct err *err);

/* The same, begun at once and not waited for: the next runlog_sync() waits for it, too. */
void runlog_push(struct runlog *l, enum run_state to);

/*
 * Queues a snapshot of t, members of run, into what.json in the run's directory, and the event
 * `snapshot` that names it with its digest.  Both are copied: the thread makes the text.  act,
 * what: as the event has them, literals; act NULL: it is of the run.
 */
void runlog_snapshot(struct runlog *l, const char *act, const char *what, const struct table *t,
		     const struct run *run);

/* The run is being ended: from now on it is written as promptly as this user may (prompt.h). */
void runlog_hurry(struct runlog *l);

/* Hashes the programs of stray and of who requested the run, where the record lacks that (false: it
 * does not), when nothing else is to be written; and tells in an event `hashed`. */
bool runlog_hash(struct runlog *l);

/* The first thing that could not be written; code 0: all was, so far. */
struct err runlog_lost(struct runlog *l);

/* How many events were counted and not written. */
uint64_t runlog_counted(struct runlog *l);

/* How many should have been written and could not be, so far. */
uint64_t runlog_unwritten(struct runlog *l);

/* Writes what is queued until until_ns, ends the thread and closes the run.  0; -ETIMEDOUT where
 * the disk hangs: the thread is left behind. */
int runlog_close(struct runlog *l, uint64_t until_ns);

#endif
