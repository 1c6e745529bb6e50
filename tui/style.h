/*
 * What a piece of a screen means, and how that looks.
 *
 * Screens speak in roles ("this is a survivor"); only here does a role become
 * colour.  Every role has a look in three depths: 256 colours, 8 colours and
 * none at all.  Red is kept for what needs eyes.  No role is told by its
 * colour alone: the screens add a letter or a word.  This module knows no
 * terminal and draws nothing.
 */
#ifndef STRAY_TUI_STYLE_H
#define STRAY_TUI_STYLE_H

#include <stdbool.h>

enum style {
	STYLE_NORMAL,
	STYLE_HEADER,    /* names of columns, titles of sections */
	STYLE_MEMBER,    /* a member of the run, nothing wrong with it */
	STYLE_SUSPECT,   /* looks left behind */
	STYLE_DETACHED,  /* left its session, group or cgroup */
	STYLE_SURVIVOR,  /* lived on after what should have ended it */
	STYLE_AUTHORITY, /* can still act: connection, credential, agent */
	STYLE_DIM,       /* ghosts, rules, what is known but not the point */
	STYLE_SELECTED,  /* the choice in force, in a dialog */
	STYLE_TAGGED,    /* picked by hand as part of the target */
	STYLE_TITLE,     /* the first line */
	STYLE_WARNING,   /* says that something is wrong */
	STYLE_GOOD,      /* says that something is over, or holds */
	STYLE_KEY,       /* a key that may be pressed */
	STYLE_ENDED,     /* no longer alive */
	STYLE_INPUT,     /* text being typed */
	STYLE_COUNT
};

enum style_depth { STYLE_MONO, STYLE_COLOR8, STYLE_COLOR256 };

enum {
	STYLE_BOLD = 1 << 0,
	STYLE_FAINT = 1 << 1,
	STYLE_REVERSE = 1 << 2,
	STYLE_UNDERLINE = 1 << 3,
};

#define STYLE_DEFAULT_COLOR (-1) /* the terminal's own */

struct style_look {
	short fg, bg; /* -1: the terminal's own; else 0 to 7, or 0 to 255 */
	unsigned attr;
};

/* selected: the role within the row under the cursor. */
struct style_look style_look(enum style role, bool selected, enum style_depth depth);

/*
 * One letter for a role, so that a test can see it: ' ' for STYLE_NORMAL, else
 * a lower-case letter; selected, the letter is upper-case and normal is '_'.
 */
char style_letter(enum style role, bool selected);

/* "survivor".  For the help screen and for tests. */
const char *style_name(enum style role);

#endif
