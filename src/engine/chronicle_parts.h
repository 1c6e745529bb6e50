/* The inside of a chronicle.  For chronicle*.c alone. */
#ifndef STRAY_ENGINE_CHRONICLE_PARTS_H
#define STRAY_ENGINE_CHRONICLE_PARTS_H

#include "engine/chronicle.h"

struct heard {
	struct kin_change change;
	struct detail *detail; /* counted; NULL: none */
};

struct chronicle {
	struct recorded *r; /* borrowed */
	struct identity self;
	int64_t wall_less_boot; /* of the last look */
	uint64_t events;
	VEC(struct heard) heard; /* not told yet */
	size_t brief;            /* told of those that left nothing */
	uint64_t not_told;       /* process events that were counted only */
	uint64_t lost;           /* events, as last told */
};

int chronicle_commit(struct chronicle *c, struct err *err);
/* What the story must know to tell the next change.  0 or -ENOMEM. */
int chronicle_remember(struct story_member *m, const struct process *p);
/* `forked`, or `started` where nobody knows by whom.  boot_ns: when; 0: not known. */
int chronicle_came(struct chronicle *c, const struct tracker *k, const struct process *p,
		   uint64_t boot_ns, struct err *err);

/* --- chronicle_heard.c --- */

/*
 * Tells what was heard.  Not all: what may be known better at the next look waits for that, with
 * all that came after it.
 */
int chronicle_tell_heard(struct chronicle *c, const struct tracker *k, bool all, struct err *err);
/* Whether more was heard of it than k's scan can show. */
bool chronicle_heard_later(const struct chronicle *c, struct identity id, const struct tracker *k);
void chronicle_forget_heard(struct chronicle *c);

#endif
