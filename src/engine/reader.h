/*
 * A source that is read in a thread of its own, so that a process that does not let itself be read
 * holds nobody up: any user can make one (its mmap_lock, held by a fault that nobody answers, keeps
 * whoever reads its command line waiting, for ever).  It is left alone from there on, with its
 * details unread (ETIMEDOUT), and the scan is made again without it.
 *
 * For who waits for a scan; who must not wait at all has engine/scanner.h.
 */
#ifndef STRAY_ENGINE_READER_H
#define STRAY_ENGINE_READER_H

#include "source/source.h"

struct reader; /* opaque */

/* options: what it points to is borrowed for as long as the reader lives, but for avoid and pulse,
 * which are not looked at.  Errors as source_open(). */
int reader_open(const struct source_options *options, struct reader **out, struct err *err);
void reader_close(struct reader *r); /* NULL is fine */

/* To be asked between two scans; another one after a scan that failed or was made again.  NULL,
 * with *err: that cannot be opened. */
struct source *reader_source(struct reader *r, struct err *err);

/* source_detail() of that. */
int reader_detail(struct reader *r, struct identity id, unsigned bits, struct detail **out,
		  struct err *err);

/* Begins a scan of all (pids NULL), or of those n, which ascend (source_scan_some()). */
int reader_begin(struct reader *r, const pid_t *pids, size_t n, struct err *err);

/* How long one process may hold up a scan: ERRAND_HANG_NS if not set. */
void reader_patience(struct reader *r, uint64_t ns);

/* From the next scan on it runs as promptly as this user may (prompt.h). */
void reader_prompt(struct reader *r);

/* Waits for it: as source_scan(). */
int reader_await(struct reader *r, struct table **out, struct err *err);

#endif
