/*
 * One line of text being typed: a search, a filter, a count.
 *
 * Pure: events in, text out; it draws into an area and knows no terminal.
 * A character and its combining marks move and go together.
 */
#ifndef STRAY_TUI_LINEEDIT_H
#define STRAY_TUI_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/draw.h"
#include "tui/input.h"

#define LINEEDIT_MAX 256

enum lineedit_result {
	LINEEDIT_IGNORED, /* not a key of the editor */
	LINEEDIT_MOVED,   /* the text is what it was */
	LINEEDIT_CHANGED,
	LINEEDIT_DONE,   /* Enter */
	LINEEDIT_CANCEL, /* Esc, ^C, or Backspace where there is nothing left */
};

/* Zeroed it is an empty line that takes any text. */
struct lineedit {
	char text[LINEEDIT_MAX]; /* valid UTF-8, NUL-terminated; takes only what may be shown */
	size_t len;
	size_t at;        /* byte offset of the cursor */
	bool digits_only; /* a count: nothing else is taken, and nothing pasted */
};

/* Sets the text (cut where it is too long), the cursor behind it. */
void lineedit_set(struct lineedit *ed, const char *text);

/*
 * Typing, Backspace, Del, Left, Right, Home, End, ^A ^E ^B ^F ^H ^D ^K,
 * ^U (all before the cursor), ^W (the word before it), and a paste.
 */
enum lineedit_result lineedit_input(struct lineedit *ed, const struct input *in);

/* Draws it into cols cells, scrolled so that the cursor shows, and sets the cursor. */
void lineedit_draw(const struct lineedit *ed, const struct area *area, int y, int x, int cols);

#endif
