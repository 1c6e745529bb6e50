/*
 * Running a command as a run: what `stray run` asks for, and what comes of it.
 *
 * Three processes: the front (the stray that was started, whose exit status is read),
 * the warden (its fork, which makes the command, holds its unit and ends it), and the
 * command.  The warden outlives a front that is killed just long enough to end the run;
 * a front whose warden was killed ends it in its place.  Stray never sits between the
 * command and its streams.
 */
#ifndef STRAY_ENGINE_LAUNCH_H
#define STRAY_ENGINE_LAUNCH_H

#include "contain/spawn.h"
#include "contain/unit.h"
#include "engine/baseline.h"
#include "model/run_state.h"
#include "model/selector.h"

#include <stdbool.h>
#include <stdio.h>

#define STATUS_FAILED 125 /* timeout(1): it failed itself, the command was not run */
#define LAUNCH_GRACE_NS 5000000000ull
#define LAUNCH_SETTLE_NS 200000000ull
#define LAUNCH_JOURNAL_MAX (64ull << 20)

enum leftover_rule {
	LEFTOVER_REPORT, /* name them */
	LEFTOVER_END,    /* end them */
	LEFTOVER_KEEP,   /* leave them, and say nothing */
};

/* A leftover that is spared. */
struct keep_rule {
	enum { KEEP_EXE, KEEP_ARGS } what;
	const char *text;
};

/* All borrowed. */
struct launch_options {
	char *const *argv;
	const char *state_dir;   /* NULL: by default */
	const char *id;          /* NULL: one at random */
	const char *approved_by; /* NULL: not said */
	const char *on_expire;   /* a shell command; NULL: none */
	uint64_t deadline_ns;    /* 0: none */
	uint64_t grace_ns, settle_ns;
	enum leftover_rule leftover;
	const struct keep_rule *keep;
	size_t n_keep;
	int die_with_fd;  /* a pidfd: end the run when this one dies; -1: nobody */
	bool deny_detach; /* setsid(2) and setpgid(2) fail in it */
	bool own_session; /* also on a terminal */
	bool no_record;
	bool no_events;       /* scans alone */
	bool needs_events;    /* do not start without the process connector */
	uint64_t journal_max; /* bytes of process events; 0: no limit */
	bool preserve_status; /* the command's own in place of 123 and 124 */
	bool verbose;
};

enum launch_outcome {
	LAUNCH_NOT_STARTED, /* *err says why; result.status tells the exit status */
	LAUNCH_OVER,
};

struct launch_result {
	char id[RUN_ID_MAX + 1];
	enum run_state state;
	int status;          /* what `stray run` exits with */
	bool own_status;     /* the command ended by itself; wait_status is its */
	int wait_status;     /* as of wait(2) */
	int die_of;          /* the signal that stray is to end by, too; 0: none */
	uint64_t elapsed_ns; /* from letting it go to its end */
	enum unit_kind unit;
	char *members; /* owned: one JSON object, what the warden knows of the run */
	size_t members_len;
	struct err
		record_lost; /* where it was killed: what could not be recorded; code 0: all was */
	struct baseline_diff elsewhere; /* owned: what went and came on the host */
};

/* Says a line to the person who runs it, while it runs. */
typedef void launch_say_fn(void *ctx, const char *text);

/*
 * Runs it.  In the front: LAUNCH_OVER or LAUNCH_NOT_STARTED (with *err), and *out, which
 * launch_result_clear() frees.  It returns in the warden too: then *warden is true, and all that
 * is left to do is to end with the status that is returned.
 */
enum launch_outcome launch_run(const struct launch_options *o, launch_say_fn *say, void *ctx,
			       struct launch_result *out, bool *warden, struct err *err);

void launch_result_clear(struct launch_result *r);

#endif
