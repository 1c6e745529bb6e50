/*
 * Looking at the host: a source (engine/reader.h), and the tracker its scans are folded into.
 *
 * Each look reads once and judges.  It blocks as long as reading takes; the
 * live view looks through engine/scanner.h instead.  Never signals or writes.
 */
#ifndef STRAY_ENGINE_LOOK_H
#define STRAY_ENGINE_LOOK_H

#include "engine/reader.h"
#include "model/tracker.h"
#include "reach/ends.h"
#include "reach/spoken.h"
#include "source/source.h"

struct look {
	struct reader *reader; /* owned */
	struct tracker tracker;
	struct ends_reader *ends; /* owned; NULL before a run is in view */
	bool recorded;            /* a replayed file: nothing else is read */
};

int look_open(struct look *look, const struct source_options *options, struct err *err);
void look_close(struct look *look);

/* Scans and folds. */
int look_again(struct look *look, struct err *err);

/* The two steps of that, for who has something to do between them.  look_fold() takes scan. */
int look_scan(struct look *look, struct table **scan, struct err *err);
int look_fold(struct look *look, struct table *scan, struct err *err);

/* Takes run (borrowed) into view, as tracker_set_run(), and reads who holds its pipes and whom its
 * members speak with. */
int look_set_run(struct look *look, struct run *run, struct err *err);

/* What is read of other processes for the run in view: by value, so that another thread can. */
struct look_wanted {
	struct ends_wanted ends;
	struct spoken_wanted spoken;
};

void look_wanted(const struct tracker *k, struct look_wanted *out);

/* Reads it into t.  0 or -ENOMEM. */
int look_read_wanted(struct ends_reader *r, const struct look_wanted *w, struct table *t);

#define LOOK_WATCH_MAX 256 /* some 5 ms of reading */

/*
 * Those whose cgroup a source reads at each scan: members of the run in view, and suspects where
 * that leaves room; by turns where they are more than LOOK_WATCH_MAX.  *out owned (free).  Returns
 * how many, or -ENOMEM.
 */
ssize_t look_watched(const struct tracker *k, struct identity **out);

#endif
