/*
 * The record of one act, in the order that makes it worth something: the
 * intent and the before state are on the disk before the first signal goes.
 *
 * Turns what the engine knows into what src/record writes; formats nothing.
 */
#ifndef STRAY_ENGINE_ACT_RECORD_H
#define STRAY_ENGINE_ACT_RECORD_H

#include "contain/target.h"
#include "engine/act.h"

struct act_record; /* opaque */

/* What is about to be done; all borrowed until act_record_free(). */
struct act_request {
	enum act_kind kind;
	const char *state_dir; /* NULL: by default */
	const char *title;
	const struct table *before;
	const struct run *run;   /* NULL: none in view */
	const struct plan *plan; /* until act_record_open() returns */
	uint64_t grace_ns;
	bool freeze_first;
};

/*
 * Opens the state directory, makes the act's directory in it and writes intent
 * and before.  dir becomes its path.  On failure nothing of it is left, and
 * nothing may be sent.
 */
int act_record_open(struct act_record **out, const struct act_request *request, char *dir,
		    size_t dir_size, struct err *err);

/* These are sent another signal than their first: what is alive of the outcome lived
 * through that.  Told once. */
void act_record_outlived(struct act_record *r, const struct act_outcome *outcome);

/* sig is about to go to these: on the disk when it returns.  An error, of the first only,
 * means that it must not be sent. */
int act_record_intent(struct act_record *r, int sig, const struct identity *to, size_t n,
		      struct err *err);

/* What came of sending it to one of them. */
void act_record_sent(struct act_record *r, int sig, const struct target *t);

/* What was sent so far, and who has died, is in the journals now. */
void act_record_progress(struct act_record *r, const struct act_outcome *outcome);

/* After state, diff, the last events and the record for people.  k: the last look.  Sets
 * left_to_warden. */
int act_record_finish(struct act_record *r, struct act_outcome *outcome, const struct tracker *k,
		      struct err *err);

void act_record_free(struct act_record *r); /* NULL is fine */

#endif
