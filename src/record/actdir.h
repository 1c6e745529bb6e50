/*
 * The directory of one act: STATE/acts/<UTC>-<number>/ (doc/FORMATS.md).
 *
 *   journal.jsonl each step, chained (journal.h)
 *   intent.json   what is about to be done (intent.h)
 *   before.json   the processes concerned, before it (snapshot.h)
 *   after.json    the same afterwards; after-2.json ... where looked at again
 *   diff.json     between the two (diff_json.h)
 *   record.md     all of it for people, and the SHA-256 of the others (report.h)
 *
 * Each file is synced when its function returns 0, is 0600, and is never
 * overwritten or changed again.  actdir_open and actdir_before come before the
 * first signal: no signal without both on the disk.
 */
#ifndef STRAY_RECORD_ACTDIR_H
#define STRAY_RECORD_ACTDIR_H

#include "record/diff_json.h"
#include "record/intent.h"
#include "record/journal.h"
#include "record/report.h"
#include "record/snapshot.h"
#include "record/statedir.h"

struct actdir; /* opaque */

/*
 * Makes the directory, named by the intent's time and number (or, without one, the
 * first PID aimed at), "-2" and so on behind it where there is one; writes
 * intent.json.  Where that fails nothing of it is left.  0 or -errno.
 */
int actdir_open(const struct statedir *s, const struct intent *i, struct actdir **out,
		struct err *err);

/* STATE/acts/20260724T141109Z-4160; borrowed until the end. */
const char *actdir_path(const struct actdir *a);

int actdir_fd(const struct actdir *a); /* borrowed until the end */

/* Makes its journal; the caller's (journal_close). */
int actdir_journal(struct actdir *a, struct journal **out, struct err *err);

/* The name of the file that actdir_after() wrote last: "after.json". */
const char *actdir_after_name(const struct actdir *a);

/*
 * Snapshots of t: of members alone, or with members NULL of the whole host.
 * options may be NULL.  actdir_after may be called again after a later look;
 * actdir_before may not (-EEXIST).
 */
int actdir_before(struct actdir *a, const struct table *t, const struct identity *members,
		  size_t n_members, const struct process_json_options *options, struct err *err);
int actdir_after(struct actdir *a, const struct table *t, const struct identity *members,
		 size_t n_members, const struct process_json_options *options, struct err *err);
int actdir_diff(struct actdir *a, const struct diff *d, const struct process_json_options *options,
		struct err *err);

/* The last file: record.md, with the digests of those that were written. */
int actdir_report(struct actdir *a, const struct report *report, struct err *err);

void actdir_close(struct actdir *a); /* NULL is fine */

/* Removes all that was written, and closes: for an act that was not begun. */
void actdir_abandon(struct actdir *a);

#endif
