/*
 * Drawing into a part of a grid.
 *
 * An area is a rectangle of a grid with coordinates of its own; whatever falls
 * outside of it is clipped, so a screen may draw at any place, also a negative
 * one (a list scrolled sideways).  A wide character that a border would split
 * leaves a blank.  Text is expected to be safe (text_safe() of base/text.h);
 * should a character still be one that must not reach a terminal, it becomes
 * '?' here.  Screens may use the drawing characters of Unicode in their text
 * (─ └ ▾ ▸ · ⇄ … and the like): a grid in ASCII gets a stand-in.
 */
#ifndef STRAY_TUI_DRAW_H
#define STRAY_TUI_DRAW_H

#include <stdint.h>

#include "tui/cell.h"

struct area {
	struct grid *grid;            /* borrowed */
	int y, x;                     /* the origin, in the grid */
	int rows, cols;               /* as asked for; parts may be clipped */
	int top, left, bottom, right; /* the clip in the grid, bottom and right outside */
};

struct area draw_whole(struct grid *grid);

/* A rectangle of an area: what of it lies outside of the area is clipped. */
struct area draw_part(const struct area *area, int y, int x, int rows, int cols);

/*
 * Draws text from y, x on and returns the column behind its last character,
 * also where that was clipped: so pieces can be chained.
 */
int draw_text(const struct area *area, int y, int x, enum style style, const char *safe);

/* As printf; at most 1023 bytes of text, of which each %s must be safe. */
int draw_format(const struct area *area, int y, int x, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Draws text so that it ends before column right; returns the column it starts at. */
int draw_right(const struct area *area, int y, int right, enum style style, const char *safe);

/*
 * Draws text into at most cols cells: what does not fit is cut, and the last
 * cell is an ellipsis.  Returns the column behind the cells used.
 */
int draw_cut(const struct area *area, int y, int x, int cols, enum style style, const char *safe);

/* Fills a rectangle with a character of one cell. */
void draw_fill(const struct area *area, int y, int x, int rows, int cols, enum style style,
	       uint32_t cp);

/* A line of cols (rows) cells. */
void draw_hline(const struct area *area, int y, int x, int cols, enum style style);
void draw_vline(const struct area *area, int y, int x, int rows, enum style style);

/*
 * A frame around the whole area, with a title (safe, may be NULL) in its upper
 * side.  The inside is left as it is.
 */
void draw_box(const struct area *area, enum style frame, enum style title_style, const char *title);

/* Marks a whole row as the one under the cursor; draw its text first. */
void draw_select(const struct area *area, int y);

/* Gives cells another role and leaves their text. */
void draw_restyle(const struct area *area, int y, int x, int cols, enum style style);

/* Where typing goes; ignored where it is clipped. */
void draw_cursor(const struct area *area, int y, int x);

#endif
