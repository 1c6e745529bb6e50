/*
 * Writes a comparison as stray.diff/1 (doc/FORMATS.md).
 *
 * changed: [{pid, start_ticks, comm, fields: {NAME: {from, to}}}];
 * restarted: [{before, after}]; kernel_threads: {before, after} (counts);
 * elsewhere: {added, removed} (counts) where it was restricted to members,
 * else null.  A restart is in neither added nor removed.
 */
#ifndef STRAY_RECORD_DIFF_JSON_H
#define STRAY_RECORD_DIFF_JSON_H

#include "model/diff.h"
#include "record/process_json.h"

#include <stdio.h>

#define DIFF_SCHEMA "stray.diff/1"

struct diff_json_options {
	bool pretty;
	struct process_json_options process; /* .host is set by the writer */
};

/* options may be NULL.  0, -ENOMEM or the first -errno of writing. */
int diff_json(FILE *out, const struct diff *d, const struct diff_json_options *options,
	      struct err *err);

#endif
