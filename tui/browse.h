/*
 * A list with a cursor that is no list of processes: runs, events.
 *
 * Knows which items there are to be seen by number only: what they say, and whether they
 * match what is looked for, is their owner's.  Pure but for memory.
 */
#ifndef STRAY_TUI_BROWSE_H
#define STRAY_TUI_BROWSE_H

#include "tui/keymap.h"
#include "tui/query.h"

#define BROWSE_NONE ((size_t)-1)

struct browse {
	struct {
		size_t *v;
		size_t n, cap;
	} shown;            /* the items that the filter leaves, in order */
	size_t cursor, top; /* indices of shown */
	int rows;           /* of the last drawing */
	bool follow;        /* the cursor stays on the last */
	struct query find, filter;
};

typedef bool browse_match_fn(const void *ctx, size_t item, const struct query *q);

void browse_free(struct browse *b);

/* There are n items: builds shown anew.  keep: the item to stand on (BROWSE_NONE: none such). */
void browse_fill(struct browse *b, size_t n, size_t keep, browse_match_fn *fn, const void *ctx);

/* The item under the cursor, or BROWSE_NONE. */
size_t browse_at(const struct browse *b);

/* Moves; false where the action does not. */
bool browse_action(struct browse *b, enum action a);

/* To the next item that find matches; direction 0: also the one it stands on.  false: none. */
bool browse_find(struct browse *b, int direction, browse_match_fn *fn, const void *ctx);

/* So many rows are drawn: the cursor is among them. */
void browse_lay_out(struct browse *b, int rows);

/* To the item in that row of the last drawing. */
void browse_click(struct browse *b, int row);

/* Whether text (safe) holds what is looked for, in any letter case. */
bool browse_text(const struct query *q, const char *text);

#endif
