/*
 * One event of a journal while it is put together: its name, and its members
 * as JSON in memory.
 *
 * It can be made in one thread and appended in another (journal_append()).
 * Knows neither the file nor its number in it.
 */
#ifndef STRAY_RECORD_JOURNAL_EVENT_H
#define STRAY_RECORD_JOURNAL_EVENT_H

#include "base/err.h"
#include "base/json_write.h"
#include "model/identity.h"

#include <stdio.h>

struct journal_event {
	const char *name; /* a literal; NULL: none */
	struct jw *body;  /* owned; NULL: ended, or out of memory */
	FILE *stream;     /* owned */
	char *text;       /* owned; "{...}\n" when ended */
	size_t len;
};

/* Its members are added to what is returned, borrowed until the end.  NULL: out of memory,
 * and journal_event_end() will say so. */
struct jw *journal_event_begin(struct journal_event *e, const char *name, enum known known);

/* No more members.  0, -ENOMEM or what went wrong with one of them. */
int journal_event_end(struct journal_event *e, struct err *err);

/* Frees; also of zeros, and midway. */
void journal_event_clear(struct journal_event *e);

#endif
