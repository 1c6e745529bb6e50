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
 * Fills in host (its logins are owned by it), and coverage.hidepid, from what
 * is visible to us (proc(5), hidepid).  Called at each scan: logins come and go.
 */
int hostinfo_read(int proc_fd, struct host *host, struct coverage *coverage, struct err *err);

#endif
