/*
 * A line of text for people: put together from pieces, cut or folded to the terminal,
 * coloured by what a piece means.
 *
 * Every line of the commands' text goes through here, so that none is wider
 * than the terminal and no escape goes where none may.  It decides neither
 * whether there is colour nor how wide the terminal is (cmd.h does).
 */
#ifndef STRAY_CMD_LINE_H
#define STRAY_CMD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum role {
	ROLE_NORMAL,
	ROLE_HEAD,      /* a session, a group, a count */
	ROLE_SUSPECT,   /* looks left behind */
	ROLE_SURVIVOR,  /* lived on after what should have ended it */
	ROLE_AUTHORITY, /* can still act: a connection */
	ROLE_GOOD,      /* is over, or holds */
	ROLE_DIM,       /* known, but not the point */
	ROLE_COUNT
};

#define LINE_PIECES_MAX 32

struct line {
	FILE *out;
	int columns; /* 0: never cut */
	bool color, ascii;
	char *text; /* owned, safe */
	size_t len, cap;
	struct {
		size_t at;
		enum role role;
	} pieces[LINE_PIECES_MAX]; /* beyond: the role of the last */
	unsigned n;
	bool failed; /* out of memory: a line, or more, is not whole */
};

void line_init(struct line *l, FILE *out, int columns, bool color, bool ascii);
void line_free(struct line *l);

/* Our own words.  What came from a process goes through line_safe(). */
void line_put(struct line *l, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Bytes of a process, made safe; no more of them than a line can show. */
void line_safe(struct line *l, enum role role, const char *data, size_t len);

/* Cuts, prints, begins anew. */
void line_end(struct line *l);

/*
 * As line_end, but nothing is lost: what is wider goes on below, hang cells to the right, broken
 * at blanks where it can be, and never within a character or the escape of one.
 */
void line_end_folded(struct line *l, int hang);

#endif
