/*
 * The events of one act, in its own journal and, where the run is recorded, in
 * the run's: intent, what was sent with which result, who lives and why.
 *
 * An intent is on the disk in both before the signal that it announces.  From
 * the first signal on nothing here stops an act: what cannot be written is
 * remembered, and act_journal_lost() tells.
 */
#ifndef STRAY_ENGINE_ACT_JOURNAL_H
#define STRAY_ENGINE_ACT_JOURNAL_H

#include "contain/target.h"
#include "engine/act.h"
#include "engine/recorded.h"
#include "record/actdir.h"

struct act_journal; /* opaque */

/* All borrowed, as long as the act. */
struct act_journal_request {
	const char *state_dir; /* NULL: by default */
	struct actdir *dir;
	const struct intent *intent;
	const struct run *run; /* NULL: none; where it is recorded its journal is written to */
	struct identity self;  /* this stray */
};

/*
 * Opens both, and writes what is about to be done: the files written so far and,
 * for an end, end_requested.  On failure nothing may be sent.
 */
int act_journal_open(struct act_journal **out, const struct act_journal_request *q,
		     struct err *err);
void act_journal_close(struct act_journal *a); /* NULL is fine */

/* sig is about to go to these.  An error only where none went before. */
int act_journal_intent(struct act_journal *a, int sig, const struct identity *to, size_t n,
		       struct err *err);

/* What came of sending to one; written with those of the same signal, at the next flush at
 * the latest. */
void act_journal_sent(struct act_journal *a, int sig, const struct target *t);
void act_journal_flush(struct act_journal *a);

/* What was sent, and who died, since the last time. */
void act_journal_progress(struct act_journal *a, const struct act_outcome *o);

/* It lived through a signal, and is sent another: why it did, as far as that is known. */
void act_journal_outlived(struct act_journal *a, const struct act_item *item);

/* What came of it, and that file was written ("before", ...). */
void act_journal_outcome(struct act_journal *a, const struct act_outcome *o);
void act_journal_file(struct act_journal *a, const char *what, const char *file);

/*
 * The last: what its look shows of a recorded run's members, and the run's state, unless that is
 * its warden's to tell: then true.
 */
bool act_journal_finish(struct act_journal *a, const struct act_outcome *o,
			const struct tracker *k);

/* The first thing that could not be written; code 0: all was. */
const struct err *act_journal_lost(const struct act_journal *a);

#endif
