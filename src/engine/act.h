/*
 * One act: what a plan says is done to processes, with a before and an after.
 *
 * Order: the before snapshot and the intent are on disk (unless it goes
 * unrecorded), identities are checked again through pidfds, the signal goes,
 * the survivors are looked for, the after snapshot, the diff and the record
 * are written.  Driven in steps, so that the live view never waits for it;
 * act_run() does the steps for a command.  The only module that calls contain/
 * to signal.
 */
#ifndef STRAY_ENGINE_ACT_H
#define STRAY_ENGINE_ACT_H

#include "engine/contacts.h"
#include "engine/plan.h"
#include "model/diff.h"

#define ACT_LOOK_NS \
	2000000000ULL /* a single signal is judged after 2 s, and again at grace's end */
#define ACT_GRACE_NS 5000000000ULL     /* default between TERM and KILL */
#define ACT_FREEZE_NS 1000000000ULL    /* how long STOP is repeated until nobody new appears */
#define ACT_KILL_WAIT_NS 3000000000ULL /* bounded wait after KILL */

enum act_kind {
	ACT_SIGNAL, /* one signal, then look */
	ACT_END,    /* TERM, grace, KILL, look */
	ACT_FREEZE,
	ACT_THAW,
};

struct act_options {
	enum act_kind kind;
	const char *state_dir; /* NULL: by default */
	bool no_record;
	bool freeze_first; /* stop all of it before the signal */
	uint64_t grace_ns;
};

enum act_result {
	ACT_RESULT_PENDING,
	ACT_RESULT_GONE,
	ACT_RESULT_ALIVE,
	ACT_RESULT_FROZEN,
	ACT_RESULT_THAWED,
	ACT_RESULT_NOT_AIMED, /* a member that was not aimed at, and lives */
	ACT_RESULT_APPEARED,  /* a member that was not there before */
};

struct act_item {
	struct identity id;
	struct bytes command; /* owned, raw */
	enum act_result result;
	int died_of;       /* signal; 0: not known or exited */
	int last_signal;   /* the last of ours that reached it; 0: none */
	uint64_t after_ns; /* gone: from the first of ours to it until that was seen */
	const char *why;   /* alive: "ignores_term", "stopped", ...: a literal; or NULL */
	int error;         /* errno of the last signal, or 0 */
};

/*
 * One established TCP connection of those that an act is about: whether it was there before the
 * first signal, and whether it is when all is over.
 */
struct act_connection {
	struct contact contact;
	bool before, after;
};

/* One batch, as it was announced: which of them it reached is each item's matter. */
struct act_sent {
	int signal;
	uint64_t wall_ns;
	struct identity *to; /* owned */
	size_t n;
};

struct act_outcome {
	struct {
		struct act_item *v;
		size_t n, cap;
	} items; /* hit ones first, then not aimed at, then appeared */
	size_t hit, gone, alive, appeared, not_aimed;
	char title[96];        /* "TERM to group 4160" */
	char dir[256];         /* of the record; "" where there is none */
	uint64_t sent_wall_ns; /* of the first signal */
	struct {
		struct act_sent *v;
		size_t n, cap;
	} sent; /* in order of time */
	struct {
		struct act_connection *v;
		size_t n, cap;
	} connections;       /* of the hit and of members; after: false until done */
	size_t unasked;      /* processes whose connections are not known, before or after */
	int unasked_error;   /* errno of the first of them */
	bool by_cgroup;      /* frozen by the kernel's freezer, not by STOP */
	bool interrupted;    /* act_stop() came before it was over */
	bool left_to_warden; /* who holds the run ends it, or has, in the place of this */
	bool done;
	struct table *before, *after; /* owned by the act; after: NULL until done */
	struct diff *diff;            /* owned by the act; NULL until done */
};

struct act; /* opaque */

/*
 * Checks the state directory and each identity again, writes before and
 * intent, sends the first signal.  -EAGAIN: something the plan rests on has
 * changed (*err says what): look and ask again, nothing was sent.  Any other
 * error: nothing was sent either.
 */
int act_start(const struct table *now, const struct run *run, const struct plan *plan,
	      const struct act_options *options, struct act **out, struct err *err);

/*
 * The control group that ACT_FREEZE freezes plan's processes by, in one act of the kernel; NULL:
 * they get STOP until no new one appears.  Pure; borrowed from run.
 */
const char *act_freezer(const struct table *t, const struct run *run, const struct plan *plan);

/* Whether the kernel lets us freeze it (v2, permitted, neither PID 1 nor stray in it): where not
 * STOP is what is used, too.  Writes nothing. */
bool act_freezer_works(const char *path);

/*
 * Goes on: 1 when done, 0 when not.  Where the record could not be completed it
 * is done all the same, and *err says so.  It looks by itself, by scans of its own that read
 * no more than membership needs.
 */
int act_step(struct act *a, uint64_t boot_ns, struct err *err);

/*
 * Sends nothing more: what it had stopped goes on, and what is alive is looked
 * for and recorded as after any act.  The end of a run that its warden holds is that
 * one's from here on.  *err as act_step.
 */
void act_stop(struct act *a, struct err *err);

/*
 * Waits between the steps, to the end, or until stop_fd (-1: none) is readable:
 * then as act_stop.  0, with *err as act_step.
 */
int act_run(struct act *a, int stop_fd, struct err *err);

/* Readable when something of it ended: for epoll.  -1: none. */
int act_fd(const struct act *a);

/* When act_step wants to be called at the latest, CLOCK_BOOTTIME ns. */
uint64_t act_wakes_at(const struct act *a);

/* Borrowed until act_free. */
const struct act_outcome *act_outcome(const struct act *a);

/*
 * A copy of it as it stands, to be shown while another thread goes on with the act: its tables and
 * its diff are the act's own (before never changes; the others come last).  NULL: out of memory.
 */
struct act_outcome *act_outcome_copy(const struct act *a);
void act_outcome_free(struct act_outcome *copy); /* NULL is fine */

void act_free(struct act *a); /* an unfinished one is left as it is: nothing more is sent */

#endif
