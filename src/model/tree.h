/*
 * SID > PGID > process tree: a table as rows, top to bottom.
 *
 * Which processes, in which order, and what is folded is the caller's choice;
 * each row has a stable tag, by which selection, folds and marks are found
 * again.  Within a group children stand below their parent, if that is in
 * the same group; a process whose parent is elsewhere begins a tree.  Pure.
 */
#ifndef STRAY_MODEL_TREE_H
#define STRAY_MODEL_TREE_H

#include "base/err.h"
#include "model/table.h"

enum tree_row_kind { TREE_SESSION, TREE_GROUP, TREE_PROCESS };

struct tree_row {
	enum tree_row_kind kind;
	uint64_t tag;            /* of the session, the group or the process */
	pid_t sid, pgid;         /* pgid 0 in a session row */
	const struct process *p; /* process rows: it; others: the leader, or NULL: gone */
	unsigned processes;      /* below a session or group row */
	unsigned groups;         /* below a session row */
	bool one_group;   /* session row: its one group has the session's number, and no row */
	bool leader_gone; /* session and group rows */
	bool orphaned;    /* group rows: POSIX orphaned process group */
	int depth;        /* process rows: 0 begins a tree */
	bool last;        /* process rows: no sibling below */
	uint32_t bars;    /* bit d: the ancestor at depth d has siblings below */
};

struct tree {
	VEC(struct tree_row) rows;
};

struct tree_options {
	/* which processes; NULL: all */
	bool (*want)(void *ctx, const struct process *p);
	/* rank of a session: larger first, then by number; NULL: by number */
	unsigned (*rank)(void *ctx, const struct process *p);
	/* whether what is below a session or group row is left out; NULL: never */
	bool (*folded)(void *ctx, uint64_t tag);
	void *ctx;
};

#define TREE_DEPTH_MAX 32 /* deeper trees are shown at this depth */

uint64_t tree_session_tag(pid_t sid);
uint64_t tree_group_tag(pid_t sid, pid_t pgid);

/* Rows borrow from t.  0 or -ENOMEM; tree_free() in any case. */
int tree_build(const struct table *t, const struct tree_options *options, struct tree *out,
	       struct err *err);
void tree_free(struct tree *tree);

#endif
