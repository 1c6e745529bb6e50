/*
 * Text to read: lines with roles, scrolled in both directions.  Pure.
 */
#ifndef STRAY_TUI_PAGE_H
#define STRAY_TUI_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/draw.h"
#include "tui/keymap.h"

struct page_line {
	char *text; /* owned, safe */
	enum style style;
	int label; /* cells at its beginning that are a label: in the header's role */
	int right; /* from this cell on it is of right_style; 0: nowhere */
	enum style right_style;
};

struct page {
	char title[160]; /* safe */
	struct {
		struct page_line *v;
		size_t n, cap;
	} lines;
	size_t top;
	int sideways;
	int cols;  /* facts that are wider go on below, under their beginning; 0: never */
	int shown; /* lines of the last drawing, for paging */
};

/* Empties it; where it was scrolled to stays if the title (made safe) is the same. */
void page_start(struct page *p, const char *title);
void page_free(struct page *p);

/* Appends a line; what cannot be for want of memory is left off. */
void page_add(struct page *p, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "label      text", the label in a column of its own */
void page_fact(struct page *p, const char *label, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* What of the last line is from a cell on has a style of its own. */
void page_right(struct page *p, int cell, enum style style);

/* An empty line. */
void page_gap(struct page *p);

/* Scrolls; false where the action is none of a page's. */
bool page_action(struct page *p, enum action a);

/* Draws the lines into the area. */
void page_draw(struct page *p, const struct area *area);

#endif
