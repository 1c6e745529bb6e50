/*
 * Writes a table of processes as a snapshot, stray.snapshot/1 (doc/FORMATS.md).
 *
 * Streaming: a process is written as it is read, nothing of it is kept, so a
 * host of any size takes the same memory.  source/replay.h reads it back.
 */
#ifndef STRAY_RECORD_SNAPSHOT_H
#define STRAY_RECORD_SNAPSHOT_H

#include "base/err.h"
#include "record/process_json.h"

#include <stdio.h>

#define SNAPSHOT_SCHEMA "stray.snapshot/1"

struct snapshot_options {
	bool pretty;                         /* one member a line; else all on one */
	struct process_json_options process; /* .host is set by the writer */
};

struct snapshot; /* opaque */

/*
 * Opens the snapshot of host, borrowed until the end, on out, which is not
 * closed.  options may be NULL; borrowed.  NULL and *err: out of memory.
 */
struct snapshot *snapshot_begin(FILE *out, const struct host *host,
				const struct snapshot_options *options, struct err *err);

/* Adds one process.  -EINVAL: its PID is not above the last one's; -ENOMEM. */
int snapshot_add(struct snapshot *s, const struct process *p, struct err *err);

/*
 * Writes the coverage (its `unreadable` counted anew from what was added),
 * flushes out and frees s, whatever is returned: 0 or the first -errno of
 * writing, after which the file is not to be kept.
 */
int snapshot_end(struct snapshot *s, const struct coverage *coverage, struct err *err);

/* Frees s midway; what was written is no snapshot.  NULL is fine. */
void snapshot_discard(struct snapshot *s);

/*
 * A whole table; with members (any order, borrowed) those alone, as a partial
 * snapshot.  members NULL: all.
 */
int snapshot_write(FILE *out, const struct table *t, const struct identity *members,
		   size_t n_members, const struct snapshot_options *options, struct err *err);

#endif
