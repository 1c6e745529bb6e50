/*
 * Heads of journals sent where who can write the journal cannot rewrite them:
 * to the system log.
 *
 * Speaks syslog's datagrams to /dev/log itself, since syslog(3) does not tell
 * whether anybody listened.  A line: "stray: run ID event N head HASH".  A host
 * without a log has no anchor, and the record says so.
 */
#ifndef STRAY_RECORD_ANCHOR_H
#define STRAY_RECORD_ANCHOR_H

#include "record/journal.h"

#define ANCHOR_SOCKET "/dev/log"

/*
 * Sends the head of j, and where it was taken adds the event `anchored` (to,
 * anchored_seq, anchored_head) to j.  0; -errno where nobody took it (no event then) or
 * where the event could not be written.  sync: not before that is on the disk.
 */
int anchor(struct journal *j, const char *run, const char *socket_path, bool sync, struct err *err);

/* Sends a line that tells of a trial, and no head.  0 or -errno. */
int anchor_try(const char *socket_path, struct err *err);

#endif
