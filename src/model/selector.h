/*
 * What a command is aimed at: TARGET of the command line.
 *
 * PID, pgid:N, sid:N, run:ID, audit:N, env:NAME[=VALUE], cgroup:PATH.  There
 * is no target by command name, nor will there be.  Pure.
 */
#ifndef STRAY_MODEL_SELECTOR_H
#define STRAY_MODEL_SELECTOR_H

#include "base/err.h"
#include "model/table.h"

#define RUN_ID_MAX 64 /* [A-Za-z0-9][A-Za-z0-9._-]{0,63} */

enum selector_kind {
	SELECT_NONE, /* none given: everything, or the run that needs eyes */
	SELECT_PID,
	SELECT_GROUP,
	SELECT_SESSION,
	SELECT_RUN,
	SELECT_AUDIT,
	SELECT_ENV,
	SELECT_CGROUP,
};

struct selector {
	enum selector_kind kind;
	int64_t number; /* PID, PGID, SID, audit session */
	uint64_t start; /* of PID@START; 0: not given */
	char *name;     /* owned: run id, environment name, cgroup path */
	char *value;    /* owned: environment value; NULL: any */
};

/* -EINVAL with *err for what is no target; -ENOMEM.  selector_free() in any case. */
int selector_parse(const char *text, struct selector *out, struct err *err);
void selector_free(struct selector *t);

/* Whether p itself is what the target names (no descendants, no run). */
bool selector_matches(const struct selector *t, const struct process *p);

/* Whether p is in the cgroup of that path, or below it.  false where that is not known. */
bool selector_in_cgroup(const struct process *p, const char *path);

/* As it would be typed: "pgid:4102".  Not safe for a screen where a name is in it. */
void selector_text(const struct selector *t, char *out, size_t size);

#endif
