/*
 * The descriptors of a process: the links in /proc/PID/fd (proc(5)).
 *
 * All is read below one descriptor of /proc/PID, which stands for that process
 * and no later one.  No link is followed, so that nothing can hang on what a
 * descriptor leads to.  Reading them takes what ptrace(2) takes (PTRACE_MODE_READ).
 */
#ifndef STRAY_REACH_FDS_H
#define STRAY_REACH_FDS_H

#include "model/identity.h"

#define FDS_MAX 65536  /* descriptors read of one process */
#define FDS_TOO_MANY 1 /* it has more */

/* The directory /proc/PID of that process: a descriptor (close it), or -ESRCH, -errno. */
int fds_open_process(struct identity id);

/* Gets each descriptor: its number as text, in the directory fds.  Non-zero ends the reading. */
typedef int fds_fn(void *ctx, int fds, const char *name);

/* dir: of fds_open_process().  0; FDS_TOO_MANY; what fn returned; -ESRCH: gone; else -errno. */
int fds_each(int dir, fds_fn *fn, void *ctx);

/* The same of whoever has that PID now, at half the cost: who finds something must then make
 * sure that it was of the process he meant. */
int fds_each_of_pid(pid_t pid, fds_fn *fn, void *ctx);

/* The N of a link "KIND:[N]" ("pipe", "socket"); false for other links. */
bool fds_inode(int fds, const char *name, const char *kind, uint64_t *inode);

/* O_RDONLY, O_WRONLY or O_RDWR, or -1: the link's own permissions tell (proc_pid_fd(5)). */
int fds_access(int fds, const char *name);

#endif
