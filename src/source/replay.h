/*
 * Reads a snapshot (stray.snapshot/1, doc/FORMATS.md) back into a table.
 *
 * The file may have come from anywhere: every type and range is checked,
 * members that are not known are passed over, a newer major version is
 * refused, and nothing in it is followed.  Read process by process, so the
 * file may be larger than what is kept of it.
 *
 * A file whose processes are not in order (it went through another tool) is
 * sorted; one that names a PID twice is refused, since one of the two is not
 * what was seen.
 */
#ifndef STRAY_SOURCE_REPLAY_H
#define STRAY_SOURCE_REPLAY_H

#include "base/err.h"
#include "base/json_read.h"
#include "model/table.h"

#include <stdio.h>

/*
 * in is read to its end; name is what errors call it.  *out is owned by the
 * caller (table_free); its coverage names SOURCE_REPLAY beside the sources of
 * the file.  -EINVAL: no snapshot, or one with a fault; -EPROTONOSUPPORT: a
 * newer major version; -ENODATA: no process in what claims to be a whole host;
 * -EFBIG, -ENOMEM, or the -errno of reading.  The text is "NAME: place: why".
 *
 * What is judged (origin apart) is not in a snapshot: judge again.  The values
 * of marks are not either: they are "".
 */
int replay_read(FILE *in, const char *name, struct table **out, struct err *err);

/* One process object into *p, which process_clear() frees whatever is returned.
 * 0, -EINVAL or -ENOMEM. */
int replay_process(const json_t *o, struct process *p, struct err *err);

#endif
