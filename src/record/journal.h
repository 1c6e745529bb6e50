/*
 * Writing a journal, stray.journal/1 (doc/FORMATS.md): one event a line,
 * appended under a lock, each sealed by the hash of the one before.
 *
 * Any number of processes may write to one journal: sequence number, time and
 * prev are given under the lock (flock(2)), so they rise along the file.  The
 * file is opened O_APPEND and never written to anywhere but at its end, so
 * chattr +a does no harm.  A torn tail of a writer that died is closed by the
 * next one with a torn_tail event.  This module never rewrites or shortens a
 * file and reads no further back than to the last line that holds: to check a
 * whole chain see journal_read.h.
 */
#ifndef STRAY_RECORD_JOURNAL_H
#define STRAY_RECORD_JOURNAL_H

#include "record/chain.h"
#include "record/journal_event.h"

#include <stdint.h>

#define JOURNAL_SCHEMA "stray.journal/1"
#define LEDGER_SCHEMA "stray.ledger/1"
#define JOURNAL_LINE_MAX (16u << 20) /* bytes of one line; a longer one is refused */
#define JOURNAL_PATIENCE_NS 10000000000ull

struct journal; /* opaque */

/*
 * Makes the file `name` in dirfd: 0600, new (-EEXIST).  Its name is on the disk when the caller
 * has synced dirfd.  schema is a literal.
 */
int journal_create(int dirfd, const char *name, const char *schema, struct journal **out,
		   struct err *err);

/*
 * Opens it to be added to.  -ENOENT; -ELOOP for a symbolic link; -EPERM where it
 * is no regular file, another user's, or writable by others.
 */
int journal_open(int dirfd, const char *name, const char *schema, struct journal **out,
		 struct err *err);

void journal_close(struct journal *j); /* NULL is fine */

/* How long journal_commit() waits for the lock; JOURNAL_PATIENCE_NS if not set. */
void journal_patience(struct journal *j, uint64_t ns);

/*
 * Begins an event: its members are added to what is returned (borrowed until
 * commit or cancel).  run: the run's id; NULL: null.  event is a literal.
 * NULL: out of memory, and journal_commit() will say so.  One at a time.
 */
struct jw *journal_begin(struct journal *j, const char *run, const char *event, enum known known);

/*
 * Appends the event that was begun.  sync: not before it is on the disk.
 * -ETIMEDOUT: the lock was held by another for longer than the patience;
 * -ESTALE: the file was removed; -ENOSPC and so on: then the line is not, or
 * not whole, in the file, and the next writer closes it.
 */
int journal_commit(struct journal *j, bool sync, struct err *err);

/*
 * The same, if guard allows it: it is called under the lock, with the file as it is when nobody
 * can add to it any more.  What it returns other than 0 is returned, and nothing was appended.
 */
typedef int journal_guard_fn(void *ctx, int fd, uint64_t size, struct err *err);
int journal_commit_if(struct journal *j, bool sync, journal_guard_fn *guard, void *ctx,
		      struct err *err);

/*
 * Appends n events that were put together elsewhere, all or the first of them, one after the other
 * and under one lock.  *written: how many.  Errors as journal_commit().
 */
int journal_append(struct journal *j, const char *run, const struct journal_event *v, size_t n,
		   bool sync, size_t *written, struct err *err);

/* Puts what was appended without sync on the disk.  0 or -1 with errno. */
int journal_sync(struct journal *j);

void journal_cancel(struct journal *j); /* what was begun is forgotten */

/* Of the last line that this writer appended or found; "" before any was. */
const char *journal_head(const struct journal *j);
uint64_t journal_seq(const struct journal *j);
uint64_t journal_end(const struct journal *j); /* where that line ends, bytes */

/* Whether the file still has a name: 0, or -ESTALE: what is added to it is in no journal. */
int journal_check_there(const struct journal *j, struct err *err);

/* Bytes of the file now, others' lines included; 0 where it cannot be asked. */
uint64_t journal_size(const struct journal *j);

#endif
