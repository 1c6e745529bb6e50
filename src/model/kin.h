/*
 * The members of one launched run, told by events, by what a scan finds, and by
 * readings of their group and session, through one fold: each corrects the
 * others, in whatever order they come.
 *
 * Keeps the living, and those of the dead that left its session, group or
 * cgroup, up to KIN_DEAD_MAX; other dead are counted.  Every change comes out as
 * a kin_change, in order, with how it is known.  Who is one only by a mark or a
 * pipe is not its business: see run.h.  Pure: no syscalls, no clock.
 *
 * Take all events that wait before you fold a scan: a death that a scan tells
 * first has no exit status.  Identities whose start time was not read but follows from the time
 * of the event are set right by the first reading.
 */
#ifndef STRAY_MODEL_KIN_H
#define STRAY_MODEL_KIN_H

#include "base/err.h"
#include "base/vec.h"
#include "model/event.h"

#define KIN_DEAD_MAX 1024

struct kin_member {
	struct identity id;
	struct identity forker;  /* who forked it; pid 0: not known */
	enum known forker_known; /* SEEN by event; SCANNED or PRESUMED by its parent then */
	pid_t ppid, pgid, sid;   /* as last known; 0: not known */
	unsigned evidence;       /* evidence_bits (process.h) */
	bool alive;
	bool reparented;          /* its parent is no longer who forked it */
	bool detached, regrouped; /* it left the run's session; only its group */
	bool left_cgroup;
	bool execed;                 /* since it was forked */
	uint64_t began_ns, ended_ns; /* CLOCK_BOOTTIME; 0: not known */
	bool status_known;
	int status; /* as of wait(2) */
};

enum kin_change_kind {
	KIN_FORKED, /* a member that came: forker made it; forker pid 0: it was found */
	KIN_EXECED,
	KIN_EXITED,
	KIN_SETSID,     /* from, to: session */
	KIN_SETPGID,    /* from, to: group */
	KIN_REPARENTED, /* from, to: parent */
};

struct kin_change {
	enum kin_change_kind kind;
	enum known known;
	uint64_t boot_ns; /* when it happened; 0: not known, between two looks */
	struct identity id, forker;
	pid_t from, to;
	bool status_known; /* EXITED */
	int status;
};

/* One reading of a process: from /proc/PID/stat, or getpgid(2) and getsid(2) with ppid 0. */
struct kin_reading {
	struct identity id;
	pid_t ppid, pgid, sid; /* 0: not read */
	bool dead;             /* a zombie without living threads */
	unsigned evidence; /* why the reader takes it for a member: cgroup, adopted; 0: no reason */
};

struct kin; /* opaque */

struct kin_options {
	struct identity root;     /* the command, made by reaper */
	pid_t pgid, sid;          /* its group and session */
	bool owns_pgid, owns_sid; /* they are the run's own: being in them is evidence */
	struct identity
		reaper; /* whose child its orphans become; never a member; pid 0: not known */
	long ticks_per_second; /* of start times; 0: 100, as on all but museum pieces */
};

struct kin *kin_new(const struct kin_options *options); /* NULL: out of memory */
void kin_free(struct kin *k);

/*
 * Never a member (stray's own helpers, the requester), until it ends, or a member's fork shows
 * that the PID is another's.  Where this is called before its own fork is folded, nor is any that
 * it forks: what a helper runs is the helper's.  0 or -ENOMEM.
 */
int kin_never(struct kin *k, pid_t pid, struct err *err);

/*
 * Whether the event is about a member.  One for which it is true the caller completes from
 * /proc (netlink_complete()) before kin_event(); others need not be folded.
 */
bool kin_wants(const struct kin *k, const struct event *e);

/* Folds one event.  0 or -ENOMEM, after which a scan sets right what is missing. */
int kin_event(struct kin *k, const struct event *e, struct err *err);

/*
 * Folds readings.  all: they are every process of the host (or at least all that could
 * be members): a member that is not among them has ended, and children of members are
 * members.  Else only those in it are told of.  boot_ns: when the reading began: a member
 * that began after it is not missed, and what is known of a later moment stays.  0 or -ENOMEM.
 */
int kin_scan(struct kin *k, const struct kin_reading *v, size_t n, bool all, uint64_t boot_ns,
	     struct err *err);

/* A member has ended, as its own parent learned (wait(2)).  Nothing where it is none. */
void kin_reaped(struct kin *k, struct identity id, int status, uint64_t boot_ns);

/* A member is in another cgroup now. */
void kin_left_cgroup(struct kin *k, struct identity id);

/* Events were lost since the last scan of all: one is due. */
bool kin_unsure(const struct kin *k);

/* The changes since the last kin_taken(); borrowed until then or the next fold. */
const struct kin_change *kin_changes(const struct kin *k, size_t *n);
void kin_taken(struct kin *k);

/* Borrowed until the next fold. */
const struct kin_member *kin_member(const struct kin *k, struct identity id);
const struct kin_member *kin_pid(const struct kin *k, pid_t pid); /* the living one */

/* The living, and the dead that are kept, in order of coming; borrowed until the next fold. */
const struct kin_member *kin_members(const struct kin *k, size_t *n);

struct kin_counts {
	uint64_t forked, execed, exited; /* as told */
	uint64_t lost;                   /* events, at least */
	size_t alive;
};
struct kin_counts kin_counts(const struct kin *k);

#endif
