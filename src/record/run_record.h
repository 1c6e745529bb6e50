/*
 * The run record, stray.record/1 (doc/FORMATS.md): what a run is, written once,
 * before anything is done with it, and never changed.
 *
 * What became of the run is in its journal (story.h).  No value of an
 * environment variable is ever written, so a run adopted by env:NAME=VALUE is
 * kept as env:NAME, and who belongs to it later is told by identity.
 */
#ifndef STRAY_RECORD_RUN_RECORD_H
#define STRAY_RECORD_RUN_RECORD_H

#include "model/run.h"
#include "record/chain.h"
#include "record/operator.h"

#include <stdio.h>

#define RECORD_SCHEMA "stray.record/1"
#define RUN_RECORD_MAX (4u << 20) /* bytes; what it holds is bounded by what /proc gives */

/* One of those who asked for the run, or stand above who did. */
struct requester {
	struct identity id;
	struct bytes comm;
};

/* A descriptor that the command of a launched run was given. */
struct inherited_fd {
	int fd;
	struct bytes what; /* owned: the text of its link, "pipe:[123]" */
};

struct run_record {
	struct run run;           /* owned; run.id is the run's id */
	char target[160];         /* what the operator named, as it is written down; "": nothing */
	bool launched;            /* by stray run; else adopted */
	char unit_kind[16];       /* of a launched one: "cgroup", "subreaper" (contain/unit.h) */
	char *unit_cannot_hold;   /* owned; NULL: it is no unit */
	char *unit_fallbacks;     /* owned: what was done another way; NULL: nothing was */
	char mark[RUN_MARK_SIZE]; /* the value of RUN_MARK in its members' environment */
	struct identity front, warden;   /* the stray that launched it, and the one that holds it */
	uint64_t grace_ns;               /* between TERM and KILL at its end */
	char parent_run[RUN_ID_MAX + 1]; /* of a run in a run; "": none */
	bool root_gone;   /* nobody led it when it was adopted: its command had ended */
	struct host host; /* where and when it was recorded; no logins */
	struct coverage coverage;
	struct bytes args, exe; /* owned, of the root; args masked */
	char **secret_names;    /* owned, with their array: of the root's environment at exec */
	size_t n_secret_names;
	VEC(struct inherited_fd) inherited_fds; /* owned, of a launched one */
	uint64_t started_wall_ns;               /* 0: not known */
	enum known started_known;               /* stated, scanned, or seen */
	uint64_t deadline_wall_ns; /* when it expires or expired, as stated; 0: never */
	char *approved_by;         /* owned; NULL: not said */
	struct operator operator;
	VEC(struct requester) requested_by; /* who ran stray first, then its ancestors */
	struct bytes requester_exe;         /* owned */
	char requester_sha256[CHAIN_HEX];   /* of that file; "": not known */
	char stray_sha256[CHAIN_HEX];       /* of this program; "": not known */
	char version[32];
};

/* When its command started, where that is known, else when it was recorded; wall clock, ns. */
uint64_t run_record_began(const struct run_record *r);

/* 0, -ENOMEM or the first -errno of writing. */
int run_record_write(FILE *out, const struct run_record *r, struct err *err);

/* The same as a member of an open object or array. */
void run_record_json(struct jw *j, const char *key, const struct run_record *r);

/*
 * Reads one from fd.  name: of the file, for the text of an error.  -EINVAL for what is
 * none or of another version; run_record_clear() in any case.
 */
int run_record_read(int fd, const char *name, struct run_record *out, struct err *err);

void run_record_clear(struct run_record *r);

#endif
