/*
 * One line of text put together from facts.
 *
 * What is added must be safe already (text_safe()); what does not fit is left
 * off, at a character's border.
 */
#ifndef STRAY_TUI_LINE_H
#define STRAY_TUI_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

#define LINE_MAX_BYTES 1024

struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
	bool ascii; /* for line_bytes() */
};

void line_start(struct line *l, bool ascii);
void line_add(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* " · " unless the line is empty: between facts. */
void line_dot(struct line *l);
void line_comma(struct line *l);

/* As line_bytes, of a C string that may not be safe: a name, a path. */
void line_text(struct line *l, const char *s, int cells);

/* Bytes of a process, made safe, at most cells wide; "?" where not known. */
void line_bytes(struct line *l, const struct bytes *b, int cells);

#endif
