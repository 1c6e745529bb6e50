/*
 * Who is whose child in a table, as indexes into it.
 *
 * What holds of a process because of those above it (its mark's setter lives, a
 * suspect is above it, a member is its parent) is found in one walk down
 * `order`, however deep the tree: a chain of forks may be ten thousand long.
 * Made anew for each table; says nothing of the dead.  Pure.
 */
#ifndef STRAY_MODEL_FAMILY_H
#define STRAY_MODEL_FAMILY_H

#include "model/table.h"

#define FAMILY_NONE UINT32_MAX

struct family {
	uint32_t *parent; /* by index: the parent's index, or FAMILY_NONE: not in the table */
	uint32_t *order;  /* each index once, a parent before its children */
	pid_t *pids;      /* by index: those of the table, side by side */
	size_t n;
};

/*
 * The table must be sorted, and is not changed while the family is in use.  A
 * ring (PIDs that changed hands between two reads) is cut at one of its
 * processes, which then has no parent.  0 or -ENOMEM; family_free() in any case.
 */
int family_make(const struct table *t, struct family *out);
void family_free(struct family *f);

/* As table_pid(), for many: a search that touches a few cache lines, not a record at
 * each step.  FAMILY_NONE: no such process. */
uint32_t family_index(const struct family *f, pid_t pid);

#endif
