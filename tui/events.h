/*
 * A run's journal as lines for a screen: each event with its process and a few words.
 *
 * All text is safe.  Takes events one by one; reads no file and asks nobody.  The
 * newest EVENTS_MAX are kept.
 */
#ifndef STRAY_TUI_EVENTS_H
#define STRAY_TUI_EVENTS_H

#include "base/json_read.h"
#include "model/identity.h"
#include "tui/query.h"
#include "tui/style.h"

#define EVENTS_MAX 20000
#define EVENTS_WORDS 200 /* bytes */

struct event_line {
	uint64_t seq, wall_ns;
	struct identity process, other; /* other: the child of a fork; zeros: none */
	char name[24];
	char known[10];
	char words[EVENTS_WORDS];
};

struct events {
	struct event_line *v;
	size_t n, cap;
	uint64_t left_off; /* older ones that are not kept */
};

void events_free(struct events *e);

/* One event more.  0 or -ENOMEM. */
int events_take(struct events *e, const json_t *event);

/* One event, as it is told of; for who prints one at a time. */
void events_read(const json_t *event, struct event_line *out);

/* How it is to look: what wants eyes stands out. */
enum style events_style(const struct event_line *e);

/* A number means a PID, a time the event's, all else a piece of its text. */
bool events_match(const struct event_line *e, const struct query *q);

#endif
