/*
 * What a process is and how that is known, as labelled lines of safe text:
 * what `stray why` prints and the why screen shows.
 *
 * Reads what the table knows; where something is not known the line says so
 * and why.  No line holds the value of an environment variable.  Pure but for memory.
 */
#ifndef STRAY_ENGINE_EXPLAIN_H
#define STRAY_ENGINE_EXPLAIN_H

#include "base/err.h"
#include "model/tracker.h"

struct explain_line {
	const char *label; /* "origin", "lineage", ...; a literal; "" goes on with the last */
	char *text;        /* owned, safe for a screen */
};

struct explanation {
	struct explain_line *v;
	size_t n, cap;
};

/* The signals of a mask by name: "HUP TERM"; "none" for 0. */
void explain_signals(uint64_t mask, char *out, size_t size);

/* One step of a lineage, towards PID 1. */
struct explain_ancestor {
	struct identity id;
	const struct process *p;   /* NULL: dead, or not visible */
	const struct ghost *ghost; /* of a dead one, where it was seen alive */
	enum known known;
};
#define EXPLAIN_LINEAGE_MAX 64

/*
 * p's parents up to PID 1: with p's original parent first where that is known
 * and another than the parent of now.  Returns how many, at most
 * EXPLAIN_LINEAGE_MAX; borrowed from k.
 */
size_t explain_lineage(const struct tracker *k, const struct process *p,
		       struct explain_ancestor out[static EXPLAIN_LINEAGE_MAX]);

/* What is known of id, alive or dead; NULL: nothing.  Borrowed from k. */
const struct process *explain_known(const struct tracker *k, struct identity id);

/* ascii: no character above U+007F.  0 or -ENOMEM; explanation_clear() in any case. */
int explain_process(const struct tracker *k, const struct process *p, bool ascii,
		    struct explanation *out, struct err *err);
void explanation_clear(struct explanation *e);

#endif
