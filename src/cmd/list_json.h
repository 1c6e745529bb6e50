/*
 * `stray list --json`: stray.list/1 (doc/FORMATS.md), a tree as JSON.
 *
 * Beyond the members that are named there: suspects and processes_total
 * (counts of the whole host), a session's leader_gone, and each process's suspect and explained.
 */
#ifndef STRAY_CMD_LIST_JSON_H
#define STRAY_CMD_LIST_JSON_H

#include "cmd/subject.h"
#include "model/tracker.h"
#include "model/tree.h"

#include <stdio.h>

/* tree is of k->now, with nothing folded.  0, -ENOMEM or the -errno of writing. */
int list_json(FILE *out, const struct tracker *k, const struct subject *s, const struct tree *tree,
	      struct err *err);

#endif
