/*
 * The grid of cells that a screen is drawn into.
 *
 * A screen is text: it draws into a grid (tui/draw.h), tests read the grid as
 * text, and the driver alone brings it to a terminal.  A grid in ASCII never
 * holds a character above U+007E; what the screens' own text uses is replaced
 * one cell for one cell.  One allocation serves for all frames of one size.
 * This module knows no terminal and no locale.
 */
#ifndef STRAY_TUI_CELL_H
#define STRAY_TUI_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tui/style.h"

#define CELL_MARKS 3 /* combining marks kept on a character; more are dropped */

struct cell {
	uint32_t cp;                /* the character; ' ' where there is none */
	uint32_t marks[CELL_MARKS]; /* filled from the front, then 0 */
	uint8_t width;              /* 1, 2, or 0: the second half of a wide one */
	uint8_t style;              /* enum style */
	bool selected;              /* lies in the row under the cursor */
};

struct grid {
	int rows, cols;
	bool ascii;
	int cursor_y, cursor_x; /* where typing goes; cursor_y -1: no cursor */
	struct cell *cells;     /* owned; rows * cols */
};

/*
 * Gives the grid a size (each side at least 1) and clears it.  A zeroed grid
 * is a valid empty one.  -ENOMEM leaves it as it was.
 */
int grid_resize(struct grid *grid, int rows, int cols, struct err *err);
void grid_free(struct grid *grid);

/* All blank, no cursor. */
void grid_clear(struct grid *grid);

/* Borrowed until the grid is resized; NULL outside of it. */
const struct cell *grid_at(const struct grid *grid, int y, int x);

/*
 * Sets one character; y, x inside and width (1 or 2) within the row by
 * contract.  The other half of a wide character that is cut by this becomes
 * blank.
 */
void grid_set(struct grid *grid, int y, int x, uint32_t cp, int width, enum style style);

/* Adds a combining mark to the character at y, x (its first cell). */
void grid_mark(struct grid *grid, int y, int x, uint32_t mark);

/*
 * The rows as UTF-8, blanks at their ends trimmed, "\n" after each.  owned;
 * NULL when out of memory.
 */
char *grid_to_text(const struct grid *grid);

/*
 * As grid_to_text, with a second line below each row: style_letter() of each
 * cell, trimmed too.  A row without styles is followed by an empty line.
 */
char *grid_to_styled_text(const struct grid *grid);

#endif
