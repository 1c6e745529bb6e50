/*
 * Who holds an end of a run's pipes.
 *
 * Which pipes these are is read of the run's root; who has them is read of
 * every process once, and again after an exec.  What a process comes by later
 * (SCM_RIGHTS) is not seen.  Judges nothing: model/pipes.h does.
 */
#ifndef STRAY_REACH_ENDS_H
#define STRAY_REACH_ENDS_H

#include "model/run.h"

/* Looks at the root's stdin, stdout and stderr: fills in run->ends_asked, ends_error, ends. */
void ends_ask(struct run *run);

/* What is looked for: of a run, by value, so that another thread can look. */
struct ends_wanted {
	struct identity root; /* pid 0: nothing is looked for */
	struct pipe_end end[RUN_ENDS];
};

/* Nothing, where the run is NULL or has no pipe. */
struct ends_wanted ends_wanted(const struct run *run);

struct ends_reader; /* what it has read already; opaque */

struct ends_reader *ends_reader_new(void); /* NULL when out of memory */
void ends_reader_free(struct ends_reader *r);

/*
 * Fills in t->ends_of and process.ends, ends_known, ends_error of t, reading those that were not
 * read for the same pipes before (some 30 µs each).  0 or -ENOMEM.
 */
int ends_read(struct ends_reader *r, const struct ends_wanted *w, struct table *t);

/* Takes what t holds as read already: by another reader, for t->ends_of's pipes w. */
int ends_reader_seed(struct ends_reader *r, const struct ends_wanted *w, const struct table *t);

#endif
