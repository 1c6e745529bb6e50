/*
 * Which process a unit (a service, a scope, a container) was started for.
 *
 * /proc does not say it, so it is told from who lives in the unit: see
 * units_first().  Needs origin_judge and lineage_judge before.  Pure.
 */
#ifndef STRAY_MODEL_UNITS_H
#define STRAY_MODEL_UNITS_H

#include "model/family.h"

struct unit {
	uint32_t first, oldest; /* indexes; FAMILY_NONE: the place is free */
};

struct units {
	const struct table *t;  /* borrowed */
	const struct family *f; /* borrowed */
	struct unit *v;         /* open hash */
	size_t mask;
};

/* 0 or -ENOMEM; units_free() in any case. */
int units_make(const struct table *t, const struct family *f, struct units *out);
void units_free(struct units *u);

/*
 * The first process of p's unit; NULL: p is in none.  It is the oldest that lives
 * there, but for what was adopted, if there is one that was not: where a service
 * was restarted, what its main process of before left is older (KillMode=process,
 * systemd.kill(5)).
 */
const struct process *units_first(const struct units *u, const struct process *p);

/* The oldest process that lives in p's unit; NULL: p is in none. */
const struct process *units_oldest(const struct units *u, const struct process *p);

#endif
