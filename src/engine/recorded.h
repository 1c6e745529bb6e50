/*
 * A recorded run in hand: its directory, what became of it, and the run as the
 * tracker looks for members of it.
 *
 * Every change of its state goes through recorded_change(): the event is on
 * the disk before the function returns, the ledger and the system log have its
 * head.  Never signals, and decides nothing: chronicle.h does, and act.h.
 */
#ifndef STRAY_ENGINE_RECORDED_H
#define STRAY_ENGINE_RECORDED_H

#include "model/tracker.h"
#include "record/story.h"

struct recorded {
	struct statedir *state;
	struct rundir dir;
	struct story story;
	struct run run;              /* owned: what tracker_set_run() is to be given */
	uint64_t seen_seq, seen_end; /* up to where the story tells the journal */
	struct rundir_file after;    /* told, but not closed yet: that failed; name "": none */
};

/* Opens the state directory; option: of --state-dir, NULL: by default. */
int recorded_state_dir(const char *option, enum statedir_use use, struct statedir **out,
		       struct err *err);

/* Ids of the runs in it, as rundir_list(); a directory that is not there holds none. */
int recorded_list(const char *option, struct rundir_list *out, struct err *err);

/*
 * Opens the run that name means, an id or the beginning of one.  write: to add
 * events.  -ENOENT, -ENOTUNIQ; -EBADMSG where its journal does not hold or its record was
 * changed (it is open all the same: story.verdict and story.record_changed tell; who is
 * meant by a changed record is nobody to be signalled).  recorded_close() in any case.
 */
int recorded_open(const char *state_dir, const char *name, bool write, struct recorded *out,
		  struct err *err);
/* Opens its directory alone, to be read; nothing of it is read yet.  Errors as recorded_open(). */
int recorded_enter(const char *state_dir, const char *name, struct recorded *out, struct err *err);
/* The same, with what story_glance() tells of it, and the run to look for as its record says. */
int recorded_glance(const char *state_dir, const char *name, struct recorded *out, struct err *err);

/* -ENOENT: what is said where there is no state directory, so no run of that name. */
int recorded_none(const char *name, struct err *err);

void recorded_close(struct recorded *r); /* of zeros too */

/* A copy of what was read of it, without its files, as story_copy().  0 or -ENOMEM. */
int recorded_copy(struct recorded *to, const struct recorded *from);

/* Closes its files; what was read of it stays, until recorded_close(). */
void recorded_release(struct recorded *r);

struct adoption {
	const char *state_dir;                     /* NULL: by default */
	const char *id;                            /* NULL: one at random */
	uint64_t started_wall_ns, expired_wall_ns; /* as stated; 0: not */
	const char *approved_by;                   /* NULL: not said */
};

/*
 * Makes a recorded run of k's run, whose members k found: run.json, and each
 * of them in the journal.  -EINVAL where it holds none; -EEXIST.
 */
int recorded_adopt(const struct adoption *how, const struct tracker *k, struct recorded *out,
		   struct err *err);

/*
 * Takes in what other strays have added to its journal since.  1: there was some
 * (run's kept members and times may have changed); 0; or -errno, -ESTALE where the
 * journal was removed.
 */
int recorded_refresh(struct recorded *r, struct err *err);

/* Whether it is of this boot and PID namespace; else nobody of it can be looked for. */
bool recorded_is_here(const struct recorded *r, const struct host *now);

/*
 * Its state by what the journal says and, as far as `now` (NULL: not looked)
 * shows more, by what is: a deadline that has passed, a root that is gone.
 * Nothing is written.
 */
enum run_state recorded_state(const struct recorded *r, const struct table *now);

/*
 * Whether the warden of a launched run lives here: then *state is its state, and nobody has to look
 * at the host's processes for it.
 */
bool recorded_is_held(const struct recorded *r, enum run_state *state);

/* An event of it: as journal_begin(). */
struct jw *recorded_begin(struct recorded *r, const char *event, enum known known);
/* Appends it, not before it is on the disk with sync. */
int recorded_commit(struct recorded *r, bool sync, struct err *err);
/*
 * The same for what rests on its state, as the story has it.  -EAGAIN: another stray has changed
 * that since, and nothing was appended: recorded_refresh() tells.
 */
int recorded_commit_in_state(struct recorded *r, bool sync, struct err *err);

/*
 * Appends what was begun as a change of state: synced, then noted in the ledger
 * and anchored.  Where only those two fail it is 0.
 */
int recorded_change(struct recorded *r, const char *event, enum run_state to, struct err *err);

/* Writes before.json: the members that k, judged for it, shows; and the event that names it. */
int recorded_before(struct recorded *r, const struct tracker *k, struct err *err);

/*
 * Closes it: after.json with the members that k shows, the event that names it, and the
 * change of state.  act: the name of the act that did it; NULL: none.  What cannot be said of
 * its members keeps no run from being closed: then it is, and the error is returned.
 */
int recorded_over(struct recorded *r, const struct tracker *k, enum run_state to, const char *act,
		  struct err *err);

/*
 * Appends events that were put together elsewhere, as journal_append(); and what is to follow where
 * the last of them was a change of state: the system log is told.  True: a line says so, that is
 * not synced.  The ledger is the caller's to tell: its lock may be held by another for long.
 */
int recorded_append(struct recorded *r, const struct journal_event *v, size_t n, bool sync,
		    size_t *written, struct err *err);
bool recorded_changed(struct recorded *r, enum run_state to);

/* Removes the directory of a run that is over; the ledger keeps its head. */
int recorded_prune(const char *state_dir, const char *id, struct err *err);

#endif
