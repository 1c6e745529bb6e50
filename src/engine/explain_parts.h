/*
 * The inside of an explanation: the line under way.  Private to explain*.c.
 */
#ifndef STRAY_ENGINE_EXPLAIN_PARTS_H
#define STRAY_ENGINE_EXPLAIN_PARTS_H

#include "base/text.h"
#include "engine/explain.h"

#define LINE_MAX_BYTES 8192 /* of safe text; a longer command line is cut in the middle */

struct explain_writer {
	struct explanation *out;
	const struct tracker *k;
	const struct process *p;
	bool ascii, failed;
	char line[LINE_MAX_BYTES]; /* under way */
	size_t used;
};

void explain_add(struct explain_writer *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Made safe; "not known" where it is not. */
void explain_bytes(struct explain_writer *w, const struct bytes *b);
/* The same, or why that detail could not be read. */
void explain_unread_or(struct explain_writer *w, unsigned bit, const struct bytes *b);
const char *explain_dot(const struct explain_writer *w);
/* Ends the line under way. */
void explain_end(struct explain_writer *w, const char *label);

/* Lines of what it ignores, has open and can reach. */
void explain_holds(struct explain_writer *w);

#endif
