/*
 * The rows of the list: which there are, in which order, what is folded.
 *
 * Nothing boils: the order is made when the list is settled (on a key) and
 * kept from then on.  What comes later waits in a section of its own at the
 * end; what was there and died stays in its place until the next settling;
 * quiet identical ones are one row ("37 × cc1 under 4150 make").  Each row has a
 * stable tag.  Pure: built anew after each fold of a scan.
 */
#ifndef STRAY_TUI_ROWS_H
#define STRAY_TUI_ROWS_H

#include "model/tracker.h"
#include "model/tree.h"
#include "tui/accounted.h"
#include "tui/gone.h"
#include "tui/query.h"
#include "tui/tagset.h"

enum list_kind { LIST_SUSPECTS, LIST_RUN, LIST_ALL };

enum sort { SORT_WORST, SORT_NUMBER, SORT_YOUNGEST, SORT_CPU, SORT_MEMORY, SORT_COUNT };

const char *sort_name(enum sort s); /* "worst first", ... */

enum row_kind {
	ROW_SESSION,
	ROW_GROUP,
	ROW_PROCESS,
	ROW_FOLD, /* several processes that are alike */
	ROW_NEW,  /* heading: what came since the list was settled */
	ROW_RULE, /* heading of the accounted for; the cursor passes it by */
	ROW_BUCKET,
	ROW_POSSIBLE,  /* heading: possible members */
	ROW_ENDED,     /* heading: dead members */
	ROW_ELSEWHERE, /* heading: no members */
};

enum section {
	SECTION_LIST,
	SECTION_NEW,
	SECTION_POSSIBLE,
	SECTION_ENDED,
	SECTION_ELSEWHERE,
	SECTION_BUCKETS, /* and one each from there on */
	SECTION_COUNT = SECTION_BUCKETS + BUCKET_COUNT
};

struct row {
	enum row_kind kind;
	enum section section;
	uint64_t tag;
	unsigned line;  /* of the list, from 0 */
	uint8_t half;   /* 0: the whole line; 1, 2: its left, its right half */
	bool foldable;  /* something can be below it */
	bool folded;    /* and is not shown */
	unsigned count; /* headings: processes below; ROW_FOLD: an index of rows.sums */
	unsigned left;  /* ROW_ENDED, unfolded: how many of them nothing is kept of */
	enum bucket bucket;
	struct tree_row t; /* sessions, groups, processes; ROW_FOLD: the place in the tree */
};

/* What one ROW_FOLD stands for. */
struct row_sum {
	uint64_t key;
	unsigned units;     /* those that are alike */
	unsigned processes; /* with what is below them */
	unsigned cwd_deleted, newcomers;
	uint64_t rss_kb;
	uint64_t oldest, newest; /* start times, ticks */
	const struct process *sample;
};

struct rows_options {
	enum list_kind list;
	enum sort sort;
	bool flat;
	const struct run *run;      /* NULL: none */
	const struct query *filter; /* QUERY_NONE: all */
	const char *user;           /* by name or number; NULL or "": any */
	const pid_t *pids;          /* only these; NULL: any */
	size_t n_pids;
	const struct tagset *toggled; /* folds that are not as they are by default */
	const struct tagset *tagged;
	const struct gone *gone; /* members whom a journal saw end; NULL: none */
};

struct rows {
	struct {
		struct row *v;
		size_t n, cap;
	} list;
	struct {
		struct row_sum *v;
		size_t n, cap;
	} sums;
	unsigned lines;
	struct table table;     /* now's processes and the dead that are still shown: borrowed */
	struct process *merged; /* owned: both in one, where there are such dead */
	struct accounted accounted;
	unsigned newcomers;           /* processes that wait in SECTION_NEW */
	unsigned newcomers_connected; /* of those */
	struct tagset shown; /* processes that were there when the list was settled, in order */
	struct tagset order; /* sessions, by tree_session_tag, likewise */
	struct tagset folds; /* keys of the folds that there were then */
	bool settled;
};

/*
 * Builds the rows from the tracker's newest table.  settle: also makes the
 * order anew.  Rows borrow from the tracker until its next fold.  0 or -ENOMEM
 * (then there are no rows).
 */
int rows_build(struct rows *r, const struct tracker *k, const struct rows_options *o, bool settle,
	       struct err *err);
void rows_free(struct rows *r);

/* Index of the row with that tag, or -1. */
long rows_find(const struct rows *r, uint64_t tag);

/* Tags of headings. */
uint64_t rows_heading_tag(enum section s);

/* Whether p belongs to what the fold row stands for. */
bool rows_in_fold(const struct rows *r, const struct row *fold, const struct rows_options *o,
		  const struct process *p);

/* A dead process that is shown in the place it had. */
static inline bool row_is_dead(const struct row *row)
{
	return row->kind == ROW_PROCESS &&
	       (row->section == SECTION_ENDED || process_is_dead(row->t.p));
}

#endif
