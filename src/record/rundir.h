/*
 * The directory of a recorded run, STATE/runs/<id>/ (doc/FORMATS.md):
 *
 *   run.json        what the run is (run_record.h), written once
 *   journal.jsonl   what became of it (journal.h)
 *   before.json     its members when it was recorded (snapshot.h), written once
 *   after.json      the same when it was closed; after-2.json ... when it was again
 *   watch.lock      locked by the stray that watches it, empty
 *
 * It appears whole or not at all: it is made under another name, and renamed
 * when run.json and the first event are on the disk.  Nothing in it is ever
 * overwritten; rundir_remove() is for what is over and pruned.
 */
#ifndef STRAY_RECORD_RUNDIR_H
#define STRAY_RECORD_RUNDIR_H

#include "record/journal.h"
#include "record/run_record.h"
#include "record/snapshot.h"
#include "record/statedir.h"

#define RUNDIR_RECORD "run.json"
#define RUNDIR_JOURNAL "journal.jsonl"
#define RUNDIR_SOCKET "warden.sock" /* of a launched run, while its warden lives */

struct rundir {
	char id[RUN_ID_MAX + 1];
	char *path; /* owned: STATE/runs/<id> */
	int fd;
	struct journal *journal; /* NULL: opened to be read */
	int watch;               /* the lock of who watches; -1: not ours */
};

/* Whether id may name a run: [A-Za-z0-9][A-Za-z0-9._-]{0,63}. */
bool rundir_id_valid(const char *id);

/* "run-" and 8 hex digits at random (getrandom(2)); out holds RUN_ID_MAX + 1. */
int rundir_new_id(char out[static RUN_ID_MAX + 1], struct err *err);

/*
 * Makes the directory of the run that r tells, with run.json and a journal whose
 * first event is run_opened, and notes it in the ledger (ledger.h).  s must be
 * open to be written to.  -EEXIST: there is a run of that id.  Where it fails
 * nothing of it is left.  rundir_close() in the end.
 */
int rundir_create(const struct statedir *s, const struct run_record *r, struct rundir *out,
		  struct err *err);

/*
 * Opens the run of that id; write: its journal too, to be added to.  -ENOENT: no
 * such run.
 */
int rundir_open(const struct statedir *s, const char *id, bool write, struct rundir *out,
		struct err *err);
void rundir_close(struct rundir *d); /* also of zeros with fd -1 */

/*
 * Takes the lock of who watches, so that no event is written by two.  1: it is
 * ours until rundir_close(); 0: another stray has it; or -errno.
 */
int rundir_watch(struct rundir *d, struct err *err);

void rundir_unwatch(struct rundir *d);

/* How long its journal is; 0 where that cannot be told. */
uint64_t rundir_journal_bytes(const struct rundir *d);

/* Whether some stray watches it now: 1, 0 or -errno. */
int rundir_is_watched(const struct rundir *d);

/*
 * The id that `name` means: itself where there is such a run, else the only one
 * that begins with it.  -ENOENT; -ENOTUNIQ, with some of them in *err.
 */
int rundir_find(const struct statedir *s, const char *name, char id[static RUN_ID_MAX + 1],
		struct err *err);

/* A file of the directory that an event names. */
struct rundir_file {
	char name[24];
	char sha256[CHAIN_HEX];
};

/*
 * Writes a snapshot of members of t (any order, borrowed) on the disk, under the first name
 * of its kind that is free.  *out: which, and what it holds.  before: -EEXIST where there is
 * one; after: -EMFILE where there are a thousand.
 */
int rundir_before(const struct rundir *d, const struct table *t, const struct identity *members,
		  size_t n_members, const struct process_json_options *options,
		  struct rundir_file *out, struct err *err);
int rundir_after(const struct rundir *d, const struct table *t, const struct identity *members,
		 size_t n_members, const struct process_json_options *options,
		 struct rundir_file *out, struct err *err);

/* Whether a snapshot in it may have that name. */
bool rundir_is_snapshot(const char *name);

/* Whether all in it is stray's: 0; -ENOTEMPTY: others put something there. */
int rundir_is_ours(const struct rundir *d, struct err *err);

/* Removes it, with all that is in it: rundir_is_ours() is the caller's to ask. */
int rundir_remove(const struct statedir *s, const struct rundir *d, struct err *err);

/*
 * Removes what strays that died left of runs while they made or removed them, an hour ago or
 * more.  0, also where something stayed; or -errno.
 */
int rundir_sweep(const struct statedir *s, struct err *err);

/* Ids of all runs, sorted; *ids owned, and each of them. */
struct rundir_list {
	char **v;
	size_t n, cap;
};
int rundir_list(const struct statedir *s, struct rundir_list *out, struct err *err);
void rundir_list_clear(struct rundir_list *l);

#endif
