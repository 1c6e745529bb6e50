/*
 * One question to the kernel's sock_diag, and its answers.
 *
 * Raw netlink: the messages are few, and a library would be more to read.  It only asks; ending a
 * connection (SOCK_DESTROY) is not done here.  sock_diag(7).
 */
#ifndef STRAY_REACH_DIAG_H
#define STRAY_REACH_DIAG_H

#include "base/err.h"

#include <linux/netlink.h>
#include <stddef.h>

/* Gets each answer: its payload of len bytes, borrowed.  Non-zero ends the reading. */
typedef int diag_fn(void *ctx, const void *payload, size_t len);

/*
 * Sends a SOCK_DIAG_BY_FAMILY request with that payload; flags are NLM_F_DUMP for all that match,
 * or 0 for one.  Waits at most some seconds.  0; what fn returned; -ENOENT: no such socket, or a
 * kernel without that family's diag module; -EAGAIN: no answer, or the table changed too much
 * while it was read; else -errno.
 */
int diag_ask(const void *request, size_t len, unsigned flags, diag_fn *fn, void *ctx,
	     struct err *err);

#endif
