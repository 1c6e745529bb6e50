/*
 * Quiet identical processes become one row: the part of tui/rows.h that
 * decides which are, and puts a tree's rows into the list.
 */
#ifndef STRAY_TUI_ROWFOLD_H
#define STRAY_TUI_ROWFOLD_H

#include "tui/rows.h"

#define ROWFOLD_MIN 4   /* fewer are shown one by one */
#define ROWFOLD_BELOW 8 /* a process with more below it is never folded away */

/*
 * The key of the fold that p may be in, 0: none (it needs eyes, or was
 * tagged).  alone: the only one of its session, which is then folded with it.
 */
uint64_t rowfold_key(const struct rows_options *o, const struct process *p, bool alone);

/*
 * Appends the tree's rows to r.  compact: a session of one process has no row of
 * its own.  settle: keys of folds are noted in r->folds.  0 or -ENOMEM.
 */
int rowfold_emit(struct rows *r, const struct rows_options *o, const struct tree *tree,
		 enum section section, bool compact, bool settle);

/* The tag of a row of a tree: sessions and groups may stand in several sections. */
uint64_t rowfold_tag(enum section section, const struct tree_row *t);

#endif
