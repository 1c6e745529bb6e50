/*
 * What is known of the host and of where this stray stands in it.
 *
 * Reads /proc/sys, /proc/self and /run/systemd; writes nothing.
 */
#ifndef STRAY_SOURCE_HOSTINFO_H
#define STRAY_SOURCE_HOSTINFO_H

#include "base/err.h"
#include "model/table.h"

/*
 * Fills in host, but for its logins, and coverage.hidepid, from what is visible
 * to us (proc(5), hidepid).
 */
void hostinfo_read(int proc_fd, struct host *host, struct coverage *coverage);

/* Fills in its logins, which are owned by it: they come and go.  0 or -ENOMEM. */
int hostinfo_read_logins(struct host *host, struct err *err);

#endif
