/*
 * All recorded runs as lines for a screen: plain values, that hold no file open.
 *
 * All text is safe.  Pure.
 */
#ifndef STRAY_TUI_RUNLIST_H
#define STRAY_TUI_RUNLIST_H

#include "engine/runs.h"
#include "tui/query.h"

struct runlist_item {
	char id[RUN_ID_MAX + 1];
	enum run_state state;
	uint64_t began_ns;    /* as run_record_began(); 0: not known */
	uint64_t deadline_ns; /* 0: none */
	uint64_t over_ns;     /* 0: it is not */
	size_t alive;         /* now; of another boot or PID namespace 0 */
	size_t left;          /* of a run that is over: members that its journal did not see end */
	bool here, readable;
	int watched; /* as in struct runs_item, and so are these two */
	bool others;
	uint64_t bytes;
	uint64_t noted_ns; /* when its record was begun: the list is in that order */
	char command[160]; /* else what was adopted */
	char why[200];     /* what is wrong with it; "": nothing */
};

struct runlist {
	struct runlist_item *v; /* newest first */
	size_t n, cap;
	char trouble[300];         /* why they could not be listed; "": they could */
	char eyes[RUN_ID_MAX + 1]; /* the one that most needs eyes; "": none does */
};

/* What was read, and what was kept of a list before.  0 or -ENOMEM. */
int runlist_take(struct runlist *l, const struct runs *runs, const struct runlist *kept);
int runlist_copy(struct runlist *to, const struct runlist *from); /* 0 or -ENOMEM */
void runlist_free(struct runlist *l);

/* Of that id, or NULL. */
const struct runlist_item *runlist_find(const struct runlist *l, const char *id);

bool runlist_match(const struct runlist_item *item, const struct query *q);

#endif
