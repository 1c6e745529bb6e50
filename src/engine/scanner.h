/*
 * Scans in a thread of their own, so that nothing blocks the keys.
 *
 * A read of /proc can hang in the kernel (the environ of a process in D state,
 * a cwd on a dead NFS server).  The scanner's thread may be lost to one: then
 * it is given up, the process it hung on is left alone from there on, and a new
 * thread goes on; coverage.skipped counts that.  Requests and tables are
 * handed over whole: no process record is ever shared by two threads.
 */
#ifndef STRAY_ENGINE_SCANNER_H
#define STRAY_ENGINE_SCANNER_H

#include "base/err.h"
#include "model/table.h"
#include "engine/look.h"
#include "source/source.h"

#define SCANNER_HANG_NS 2000000000ULL /* a single read that takes longer is given up */

struct scanner; /* opaque */

int scanner_open(const struct source_options *options, struct scanner **out, struct err *err);

/* Ends the thread; one that hangs is left behind, with what it holds. */
void scanner_close(struct scanner *s);

/* Readable (poll) when a result waits. */
int scanner_fd(const struct scanner *s);

/* Asks for a scan; no effect while one is under way. */
void scanner_request(struct scanner *s);

/*
 * What scans look at more closely from the next one on: what the run in view wants,
 * and whether those n processes (copied) were moved to another cgroup.  0 or -ENOMEM.
 */
int scanner_watch(struct scanner *s, const struct look_wanted *wanted, const struct identity *ids,
		  size_t n);

/* Whether a scan is under way. */
bool scanner_busy(const struct scanner *s);

/* The next scan fills t, which is empty (source_reuse()).  Takes t; NULL is fine. */
void scanner_reuse(struct scanner *s, struct table *t);

/*
 * Takes a finished scan: 1 and *out (owned), 0 where none is ready yet, or
 * -errno with *err where the scan failed.  Never blocks.
 */
int scanner_take(struct scanner *s, struct table **out, struct err *err);

/* To be called now and then: gives up on a hanging read.  Returns true where it did. */
bool scanner_check(struct scanner *s, uint64_t now_boot_ns);

#endif
