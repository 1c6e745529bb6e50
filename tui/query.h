/*
 * What a person knows of what they look for, as typed: a number (PID, PGID,
 * SID), a time or a range of them, :port, an address, user:NAME, cwd:PATH,
 * pgid: sid: env: and the other targets, or a piece of a command line.  Pure.
 */
#ifndef STRAY_TUI_QUERY_H
#define STRAY_TUI_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/selector.h"
#include "model/table.h"

enum query_kind {
	QUERY_NONE,
	QUERY_NUMBER, /* PID, else PGID or SID */
	QUERY_TIME,   /* started between from and to, seconds of the UTC day */
	QUERY_PORT,
	QUERY_REMOTE,
	QUERY_USER,
	QUERY_CWD,
	QUERY_TARGET,
	QUERY_TEXT, /* a piece of the command line, any letter case */
};

#define QUERY_TEXT_MAX 256

struct query {
	enum query_kind kind;
	char text[QUERY_TEXT_MAX]; /* as typed */
	size_t value;              /* where in text the value begins */
	int64_t number;
	uint32_t from, to;
	struct selector target; /* owned */
};

/* Any text is a query; "" is QUERY_NONE, which matches everything. */
void query_parse(const char *text, struct query *out);
void query_free(struct query *q);

bool query_matches(const struct query *q, const struct table *t, const struct process *p);

/* "PID, PGID or SID 4102", for a message. */
void query_words(const struct query *q, char *out, size_t size);

#endif
