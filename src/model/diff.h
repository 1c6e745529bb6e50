/*
 * What appeared, went and changed between two tables of one host.
 *
 * Keyed by identity.  Kernel threads are counted, not compared; the stray that
 * took either table is left out.  A process that went and one that came with
 * the same executable, working directory and arguments are one restart, and
 * then neither removed nor added.  "Not known" is not a value: a field that
 * one side does not know is no change, and unknown never matches unknown in a
 * restart.  Pure: reads two sorted tables once, copies nothing out of them.
 */
#ifndef STRAY_MODEL_DIFF_H
#define STRAY_MODEL_DIFF_H

#include "base/err.h"
#include "model/table.h"

enum diff_field {
	DIFF_PPID,
	DIFF_PGID,
	DIFF_SID,
	DIFF_TTY,
	DIFF_EXE,
	DIFF_ARGS,
	DIFF_CWD,
	DIFF_UID, /* the real one */
	DIFF_CGROUP,
	DIFF_STATE, /* S, R, D and I count as one */
	DIFF_FIELDS
};

/* "ppid", ... as in snapshots; "?" beyond the last. */
const char *diff_field_name(int field);

/* A process of before and one of after, borrowed from the tables. */
struct diff_pair {
	const struct process *before, *after;
	unsigned fields; /* bits 1 << diff_field that differ; 0 in a restart */
};

struct diff_list {
	const struct process **v; /* borrowed from the tables, by pid */
	size_t n, cap;
};

struct diff_pairs {
	struct diff_pair *v;
	size_t n, cap;
};

struct diff_options {
	/* Compare these identities only, and count the others.  Any order, borrowed.
	 * NULL: compare all. */
	const struct identity *members;
	size_t n_members;
};

struct diff {
	const struct table *before, *after; /* borrowed */
	struct diff_list removed, added;
	struct diff_pairs changed;
	struct diff_pairs restarted; /* by the pid of before */
	size_t same;                 /* compared and found the same */
	size_t kthreads_before, kthreads_after;
	bool restricted; /* to the members of the options: elsewhere is meant */
	size_t elsewhere_added, elsewhere_removed;
};

/*
 * Compares.  *out is filled in and freed by diff_clear, while both tables
 * live.  0; -EXDEV for two boots, hosts or PID namespaces (also where only one
 * side knows which); -EINVAL where BEFORE is of the whole host and AFTER only
 * of a target (coverage.partial), so that nothing could be called gone;
 * -ENOMEM.
 *
 * Where BEFORE is partial, a process that is only in AFTER counts as added if
 * it started after BEFORE was taken, and is left out otherwise: it may have
 * been there all the time.
 */
int diff_tables(const struct table *before, const struct table *after,
		const struct diff_options *options, struct diff *out, struct err *err);

void diff_clear(struct diff *d);

/* Whether nothing differs among what was compared: diff(1)'s status 0. */
bool diff_is_empty(const struct diff *d);

/* The fields that differ between two records of one process, as bits. */
unsigned diff_process(const struct process *before, const struct process *after);

/* The state as a diff sees it: 'S' for S, R, D and I, else the state itself. */
char diff_state(char state);

/* Arguments compared as arguments: a last NUL that is missing makes no
 * difference.  Both must be known. */
bool diff_same_args(const struct bytes *a, const struct bytes *b);

#endif
