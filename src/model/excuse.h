/*
 * What explains a reason to suspect a process away: that its unit, its login,
 * or cron means it to live on as it does.
 *
 * The rules and why they are so: doc/ARCHITECTURE.md "Reparented, and what
 * explains it".  An excuse is of one process and one reason; a mark has none
 * but that it is the unit's own.  Pure.
 */
#ifndef STRAY_MODEL_EXCUSE_H
#define STRAY_MODEL_EXCUSE_H

#include "model/family.h"
#include "model/units.h"

struct excuse_note {
	uint64_t first_child; /* start of its oldest living child; UINT64_MAX: none */
	bool below_cron;      /* it or one above it is cron, atd */
	bool adrift;          /* it or one above it was adopted, and is not what a unit is for */
};

struct excuses {
	const struct table *t; /* borrowed, as is f */
	const struct family *f;
	struct units units;
	struct excuse_note *notes; /* by index */
	VEC(uint64_t) ends; /* pipes and sockets that who is not adrift has as stdio; sorted */
};

/* Needs origin_judge and lineage_judge before.  0 or -ENOMEM; excuses_free() in any case. */
int excuses_make(const struct table *t, const struct family *f, struct excuses *out);
void excuses_free(struct excuses *x);

/* Which of the reasons (suspect_bits without SUSPECT_MARK) of process i are explained. */
unsigned excuses_explain(const struct excuses *x, size_t i, unsigned reasons);

/* Whether mark m, that process i is the topmost carrier of, is of its unit's own environment
 * (or cron's), so that its manager set it. */
bool excuses_mark_is_units(const struct excuses *x, size_t i, const struct mark *m);

#endif
