/*
 * /proc/PID/stat of every process, read again and again by descriptors kept open.
 *
 * A read of a kept descriptor costs a third of open, read and close, and is of
 * that one process: after its end it fails with ESRCH, and whoever has the
 * number by then is opened anew (fs/proc/base.c, proc_single_show).  The kernel
 * keeps a page for each: so there is a limit, beyond which files are opened
 * each time.  For who scans on and on, or cannot wait for libproc2 (pids.h).
 */
#ifndef STRAY_SOURCE_STATFDS_H
#define STRAY_SOURCE_STATFDS_H

#include "base/err.h"
#include "source/pids.h"

#define STATFDS_MAX 16384 /* kept open: 64 MB of pages */

struct statfds; /* opaque */

/*
 * proc_fd: of /proc, borrowed.  keep: raises this process's soft RLIMIT_NOFILE to the hard one;
 * else each file is opened each time, and no owner is asked for.
 */
int statfds_open(int proc_fd, bool keep, struct statfds **out, struct err *err);
void statfds_close(struct statfds *s); /* NULL is fine */

/*
 * As pids_each, but the comm is exact.  A process that ends meanwhile is left out, and so is one
 * whose stat cannot be read.  `owner` may be up to 8 passes old, unless the process was exec'd.
 */
int statfds_each(struct statfds *s, pids_fn *fn, void *ctx, struct err *err);

/* Whom there is, ascending, but for those that are known to be threads of the kernel without a
 * look at each.  *out, empty, is the caller's to free.  0 or -ENOMEM. */
int statfds_list(struct statfds *s, struct pid_list *out, struct err *err);

/* The same of these alone, in their order, and none is kept open. */
int statfds_some(struct statfds *s, const pid_t *pids, size_t n, pids_fn *fn, void *ctx,
		 struct err *err);

#endif
