/*
 * The incident record of a run, for who knows nothing else: stray.export/1
 * (doc/FORMATS.md), or Markdown that reads raw as well.
 *
 * Told from the run's record and journal, the ledger, and the files of its acts
 * where they are there and are what the journal says; so it may be made after
 * the processes are gone, on another boot, or from a copy on another host.
 * Asks neither /proc nor any process.  A journal that does not hold is told up
 * to its fault, and the fault first.  What is not known has its own chapter.
 */
#ifndef STRAY_RECORD_EXPORT_H
#define STRAY_RECORD_EXPORT_H

#include "record/rundir.h"

#include <stdio.h>

struct export; /* opaque */

/*
 * Reads the run of that id.  now_wall_ns: when that is, for the text.  -ENOENT: no such
 * run, or no journal of it; -ENOMEM; -errno of reading.  A record that is missing, or
 * files that are not what they were, are no errors: they are told.
 */
int export_read(const struct statedir *s, const char *id, uint64_t now_wall_ns, struct export **out,
		struct err *err);
void export_free(struct export *x); /* NULL is fine */

/* Why its journal does not hold, in words, borrowed; NULL: it holds. */
const char *export_fault(const struct export *x);

/* 0; -ENOMEM; -EIO: the journal is not what it was when it was read.  Errors of writing
 * are out's, for its owner to find. */
int export_markdown(FILE *out, const struct export *x, struct err *err);

/* The same; also the first -errno of writing. */
int export_json(FILE *out, const struct export *x, struct err *err);

#endif
