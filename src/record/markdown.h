/*
 * Text of processes in Markdown, so that it stays text.
 *
 * A record is read raw in a terminal and rendered in a browser: in neither may
 * a command line make a heading, a link, an image, HTML, code, a table's cell
 * or a new line.  The one way in for bytes that are not ours.
 */
#ifndef STRAY_RECORD_MARKDOWN_H
#define STRAY_RECORD_MARKDOWN_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Writes s within a line, behind words of ours: first made safe as for a screen
 * (base/text.h), then what CommonMark or GitHub's dialect (tables, strikethrough,
 * autolinks, math) gives a meaning to is escaped by a backslash or as an entity.
 * Rendered, it reads as text_safe() has it.  A mail address stays one: a viewer
 * may make it a link to itself.  max: bytes of s that are written at most, then
 * "…"; 0: all.  0 or -ENOMEM (nothing written); errors of out are for its owner
 * to find.
 */
int markdown_text(FILE *out, const char *s, size_t len, size_t max);

/* The same for a known text, "not known" for another. */
int markdown_bytes(FILE *out, const struct bytes *b, size_t max);

#endif
