/*
 * What this host lets stray see and hold, tried out on processes of its own.
 *
 * Each trial leaves nothing behind but what it says: a line in the system log, an empty state
 * directory.  It touches no process that it did not make.
 */
#ifndef STRAY_ENGINE_DOCTOR_H
#define STRAY_ENGINE_DOCTOR_H

#include "base/err.h"

enum verdict {
	VERDICT_YES,
	VERDICT_PARTLY,
	VERDICT_NO,
};

const char *verdict_name(enum verdict v); /* "yes", "partly", "no" */

struct finding {
	const char *name;  /* of what was tried: a word, a literal */
	const char *means; /* what it is good for: a literal */
	enum verdict verdict;
	char found[200];  /* what was seen */
	char remedy[200]; /* what could be done; "": nothing */
};

#define DOCTOR_MAX 16

struct doctor {
	struct finding v[DOCTOR_MAX];
	unsigned n;
};

/* Tries everything.  state_dir: as of --state-dir, NULL: by default.  Some seconds at most. */
void doctor_try(struct doctor *d, const char *state_dir);

#endif
