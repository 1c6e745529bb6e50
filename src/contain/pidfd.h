/*
 * Handles on processes: opened by identity, waited for, asked how they died.
 *
 * A pidfd names one process for as long as it is held, also after its death.
 * This module sends nothing: see signal.h.
 */
#ifndef STRAY_CONTAIN_PIDFD_H
#define STRAY_CONTAIN_PIDFD_H

#include "base/err.h"
#include "model/identity.h"

#include <stddef.h>

/* How a process died, where that could be learned. */
struct death {
	bool known;
	bool signalled; /* by signal `code`; else it exited with status `code` */
	int code;
};

/*
 * Opens a pidfd, then checks the start time of what it opened, so that *fd names that process and
 * no later one of the same number.  *fd is owned by the caller.  A dead process that nobody
 * reaped can still be opened: see pidfd_gone.
 * -EINVAL: not a process to act on (pid <= 1); -ESRCH: gone, and where another process has its
 * number now *reused (may be NULL) is true; -EMFILE, -ENFILE, -EACCES (/proc hides it); -ENOSYS: it
 * is there, dead or not, and no pidfd can be had of anybody (an older kernel, a sandbox).
 * pidfd_open(2), Linux 5.3.
 */
int pidfd_open_identity(struct identity id, int *fd, bool *reused, struct err *err);

/* Whether every thread of it is dead; reaped or not. */
bool pidfd_gone(int fd);

enum pidfd_wait { PIDFD_WAIT_ANY, PIDFD_WAIT_ALL };

/*
 * Waits until one of them, or all, are gone, or the deadline (CLOCK_BOOTTIME, ns) has passed.
 * Negative fds count as gone.  Returns how many are alive, or -errno.
 */
int pidfd_wait(const int *fds, size_t n, enum pidfd_wait until, uint64_t deadline_ns,
	       struct err *err);

/*
 * How it died: of a reaped one through PIDFD_GET_INFO (Linux 6.15, where the pidfd was open when
 * it was reaped), of a child of ours through waitid(2) without reaping it, of another zombie
 * through /proc/PID/stat where that may be read.  Not known for one that lives.
 */
struct death pidfd_death(int fd, struct identity id);

#endif
