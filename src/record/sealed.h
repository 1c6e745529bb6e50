/*
 * The files in a run's directory whose SHA-256 its journal holds: run.json, told of by the
 * first event, and the snapshots of its members.
 *
 * Takes the events that hold, then compares the files with what these say.  Never writes,
 * and looks at no file outside the directory.
 */
#ifndef STRAY_RECORD_SEALED_H
#define STRAY_RECORD_SEALED_H

#include "record/journal_read.h"
#include "record/rundir.h"

struct sealed_file {
	struct rundir_file file;
	uint64_t seq; /* of the event that names it */
};

struct sealed {
	VEC(struct sealed_file) files;
};

/* One event of the run of that id.  0 or -ENOMEM. */
int sealed_event(struct sealed *s, const char *id, const json_t *event, struct err *err);

/*
 * Compares them with what lies in d: the first that is gone, or is not what it was, is the
 * fault of a verdict that had none.
 */
void sealed_check(const struct sealed *s, const struct rundir *d, struct journal_verdict *v);

void sealed_clear(struct sealed *s);

#endif
