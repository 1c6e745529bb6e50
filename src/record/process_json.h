/*
 * The one writer of a process as JSON (doc/FORMATS.md): snapshots, lists, whys,
 * diffs and records all have theirs from here.
 *
 * Null is "not known", never a default.  Text that is not valid UTF-8 has its
 * exact bytes in a *_b64 sibling.  Command lines are masked by the source;
 * of the environment only names are written.
 */
#ifndef STRAY_RECORD_PROCESS_JSON_H
#define STRAY_RECORD_PROCESS_JSON_H

#include "base/err.h"
#include "base/json_write.h"
#include "model/run.h"
#include "model/table.h"

struct process_json_options {
	/* For started_at; NULL: null.  Borrowed, as all here. */
	const struct host *host;
	/* The run in view: adds flags, evidence, classes and original_ppid. */
	const struct run *run;
	/* The recorded run whose members get run_id. */
	const char *run_id;
	/* Adds suspect and explained: the reasons, by name. */
	bool suspects;
};

/* options may be NULL.  0 or -ENOMEM (then nothing was written). */
int process_json(struct jw *j, const char *key, const struct process *p,
		 const struct process_json_options *options, struct err *err);

/*
 * What a journal tells of a process when it comes into view, into the open object:
 * who and what it is, and how it belongs to the run.  A choice of the members above.
 */
void process_json_facts(struct jw *j, const struct process *p, const struct host *host,
			const struct run *run);

/* What it became by execve(2), and where its arguments are from; d NULL: nothing is known. */
void process_json_execed(struct jw *j, const struct detail *d);

/* "happened_mono_ns": when, CLOCK_BOOTTIME, maybe before it was written; 0: not known, null. */
void process_json_happened(struct jw *j, uint64_t boot_ns);
/* "signal" or "status" of one that ended; status: as of wait(2). */
void process_json_status(struct jw *j, int status);

/*
 * Single members, as a process object has them: key, and b64_key where one
 * is called for; null where not known.
 */
void process_json_args(struct jw *j, const char *key, const char *b64_key,
		       const struct bytes *args);
void process_json_tty(struct jw *j, const char *key, uint32_t tty_nr); /* none: null */
void process_json_state(struct jw *j, const char *key, char state);
void process_json_pid(struct jw *j, const char *key, pid_t pid); /* below 0: null */
void process_json_uid(struct jw *j, const char *key, uid_t uid); /* (uid_t)-1: null */

/* {"pid":4131,"start_ticks":881234} */
void process_json_identity(struct jw *j, const char *key, struct identity id);

#endif
