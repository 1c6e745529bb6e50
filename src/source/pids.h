/*
 * One pass over /proc/PID/stat by libproc2: the only file that knows it.
 *
 * Fills in what every scan reads and no details.  The comm is given as
 * libproc2 shows it, which is exact only where it has neither '?' nor '.':
 * other bytes are replaced by those (4.0.2).
 */
#ifndef STRAY_SOURCE_PIDS_H
#define STRAY_SOURCE_PIDS_H

#include "base/err.h"
#include "model/process.h"

struct pids_reader; /* opaque */

int pids_open(struct pids_reader **out, struct err *err);
void pids_close(struct pids_reader *r);

/* comm is borrowed until return; p's fields of each scan are set, all else zero. */
typedef int pids_fn(void *ctx, struct process *p, const char *comm, struct err *err);

/*
 * Calls fn for every process, in the order of /proc (ascending).  All stat
 * files are read before the first call.  A non-zero return of fn ends the pass and is returned.
 */
int pids_each(struct pids_reader *r, pids_fn *fn, void *ctx, struct err *err);

/* As pids_each, reading one process at a time: bounded memory. */
int pids_stream(struct pids_reader *r, pids_fn *fn, void *ctx, struct err *err);

#endif
