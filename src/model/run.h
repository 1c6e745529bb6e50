/*
 * The run in view, and who belongs to it.
 *
 * Of a recorded run it also holds what its journal knows: members by identity,
 * and who asked for it.
 * Membership is on evidence, kept in process.evidence, and sticky: a member
 * stays one until it exits, however it moves.  Stray itself and its ancestors
 * are never members.  Pure.
 */
#ifndef STRAY_MODEL_RUN_H
#define STRAY_MODEL_RUN_H

#include "model/family.h"
#include "model/selector.h"
#include "model/table.h"

enum weight { WEIGHT_NONE, WEIGHT_POSSIBLE, WEIGHT_LIKELY, WEIGHT_CERTAIN };

/*
 * What the environment of a launched run carries: its id, for scripts that ask for it, and a
 * number at random, by which its members are known: another state directory may have a run of the
 * same id at the same time.
 */
#define RUN_ID_NAME "STRAY_RUN_ID"
#define RUN_MARK "STRAY_RUN_MARK"
#define RUN_MARK_SIZE 17 /* of its value: 16 hex digits and a NUL */
#define RUN_ENDS 3       /* stdin, stdout, stderr */

/* One end of a pipe. */
struct pipe_end {
	uint64_t inode; /* N of "pipe:[N]"; 0: no pipe */
	uint8_t access; /* O_RDONLY, O_WRONLY or O_RDWR */
};

/* A member that the run's journal knows of. */
struct run_kept {
	struct identity id;
	unsigned evidence;
};

struct run {
	char id[65];              /* its name on screens: "session 4102"; a recorded run's id */
	bool recorded;            /* id names a run in the state directory */
	struct selector chosen;   /* what the operator named; owned */
	struct identity root;     /* the leader or chosen process; pid 0: gone or none */
	pid_t pgid, sid;          /* its reference group and session; 0: none */
	bool owns_pgid, owns_sid; /* they are the run's own, so that being in them is evidence */
	struct identity pgid_holder, sid_holder; /* who had these numbers as PID; pid 0: nobody */
	uint64_t judged_ns;  /* when members were looked for last (host.boot_ns); 0: never */
	struct bytes cgroup; /* owned: that is the run's own; unknown: none */
	uid_t uid;
	struct bytes cwd;
	uint64_t since_ticks; /* start time of its oldest process when chosen */
	uint64_t over_ticks;  /* when it expired or ended, ticks since boot; 0: not known */
	bool over_before;     /* it had ended by then: when is not known */
	size_t ended;         /* members that have exited since it was chosen */
	bool ends_asked;      /* the root's own stdin, stdout and stderr were looked at */
	uint8_t ends_error;   /* errno, where they could not be read */
	struct pipe_end ends[RUN_ENDS]; /* what they were then */
	bool ends_judged;               /* what follows was decided: once, with the first facts */
	uint8_t ends_own;               /* bits of those that nobody older than the root holds */
	uint8_t ends_unsure;            /* bits of those of which that is not known */
	unsigned ends_unread_old;   /* older processes whose descriptors were not readable then */
	unsigned ends_unread_new;   /* later ones, where they would tell; of the last scan */
	VEC(struct run_kept) kept;  /* owned, sorted by identity */
	VEC(struct identity) never; /* owned: who asked for it, and above: never members */
};

/*
 * Makes a run of what the target names in t.  -ESRCH where it names nothing.
 * run_clear() frees what it owns.
 */
int run_choose(struct run *run, const struct selector *target, const struct table *t,
	       struct err *err);
void run_clear(struct run *run);

/* Notes when the root has ended, if it has and that is not known yet.  A dead root that nobody has
 * reaped has ended, too. */
void run_note_end(struct run *run, const struct table *t);

/* A copy of its own; to need not be cleared before.  false when out of memory. */
bool run_copy(struct run *to, const struct run *from);

/* After kept was added to. */
void run_keep_sort(struct run *run);

/* Finds members in t, adding to the evidence that processes carry already.  A group or
 * session whose number may be another's by now is given up.  0 or -ENOMEM. */
int run_judge(struct run *run, struct table *t, const struct family *f);

enum weight evidence_weight(unsigned evidence);
const char *evidence_name(unsigned bit); /* one bit: "cgroup", "fork", ... */
#define EVIDENCE_COUNT 12

/* Certain and likely members: those that are ended with the run. */
static inline bool run_is_member(const struct process *p)
{
	return evidence_weight(p->evidence) >= WEIGHT_LIKELY;
}

/* Whether p is stray itself or an ancestor of it. */
bool run_is_own(const struct table *t, const struct process *p);
/* The same of all of t, by index; owned (free); NULL when out of memory. */
bool *run_own(const struct table *t);

/* Whether p is of a program that passes work on to what is no descendant (ssh, docker, ...). */
bool run_hands_off(const struct process *p);

/* Whether p is known to be in another cgroup than the run's own. */
bool run_left_cgroup(const struct run *run, const struct process *p);

/* The six flag slots of doc/WORDS.md, '-' where nothing holds; out holds 7 bytes.  What
 * tells how it left the run is said of its members (possible ones too) only. */
void run_flags(const struct run *run, const struct process *p, char out[static 7]);

/* The classes of doc/WORDS.md, "How something got away", as bits. */
enum {
	CLASS_LEFT = 1,
	CLASS_SURVIVED = 2,
	CLASS_DETACHED = 4,
	CLASS_HANDED_OFF = 8,
	CLASS_AUTHORITY = 16
};
unsigned run_classes(const struct run *run, const struct process *p);
const char *class_name(unsigned bit);
#define CLASS_COUNT 5

#endif
