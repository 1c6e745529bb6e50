/*
 * The inside of the warden, shared by the files that make it: warden.c (making and waiting),
 * warden_hold.c (what holds the command), warden_end.c (the order in which a run ends),
 * warden_helper.c (--on-expire), warden_reap.c (who has ended), warden_look.c (reading its
 * members), warden_streams.c (who keeps its streams open), warden_tell.c (its journal),
 * warden_result.c (what the front is told).
 */
#ifndef STRAY_ENGINE_WARDEN_PARTS_H
#define STRAY_ENGINE_WARDEN_PARTS_H

#include "contain/deny.h"
#include "contain/ladder.h"
#include "engine/launch_talk.h"
#include "engine/reader.h"
#include "engine/runlog.h"
#include "engine/sent_json.h"
#include "engine/strangers.h"
#include "engine/warden.h"
#include "engine/warden_door.h"
#include "model/kin.h"
#include "source/netlink.h"
#include "source/source.h"

enum phase {
	PHASE_HELD,     /* the command is made, and does not run */
	PHASE_RUNNING,  /* it runs */
	PHASE_SETTLING, /* it has ended; members get a moment */
	PHASE_YIELDED,  /* another stray ends it, and has said so: until something is due here */
	PHASE_EXPIRING, /* the expiry is on the disk; --on-expire runs */
	PHASE_ENDING,   /* the ladder */
	PHASE_OVER,
};

/* Why the run is ended; NULL words: it ended by itself. */
enum cause {
	CAUSE_NONE,
	CAUSE_DEADLINE,
	CAUSE_ASKED,    /* a signal to stray, or stray end */
	CAUSE_PARENT,   /* who started it died */
	CAUSE_FRONT,    /* the front was killed */
	CAUSE_VISITOR,  /* stray end, which died before it was done */
	CAUSE_LEFTOVER, /* the command ended, and what it left is to be */
};

/* One batch of signals, for the result. */
struct sent_batch {
	int signal;
	uint64_t wall_ns;
	struct identity *to; /* owned */
	size_t n;
};

/* An orphan that came to the warden, and its wait status. */
struct reaped {
	struct identity id;
	int status;
};

/* A member that passed work on to what is no descendant of it. */
struct handoff {
	struct identity id;
	char comm[32];
	struct bytes args; /* owned, masked */
};

/* A member that left the run's session. */
struct leaver {
	struct identity id;
	char comm[32];
	pid_t sid;
};

#define WARDEN_STREAM_MAX 64
#define WARDEN_LEAVERS_MAX 256 /* more of them are counted */

#define WARDEN_GUESTS 8

struct warden {
	const struct warden_start *start;
	const struct launch_options *o;
	enum phase phase;
	enum cause cause;
	int end_signal; /* CAUSE_ASKED */
	unsigned asked; /* how often the front was told to end it */
	bool hurry;     /* no grace */
	struct unit *unit;
	struct spawned cmd;
	struct identity self;
	pid_t pgid, sid;
	bool owns;           /* they are the run's own */
	struct netlink *net; /* NULL: none */
	struct err net_why;  /* why not */
	struct kin *kin;
	struct strangers strangers; /* others that came or went since it began */
	struct source *source;
	struct reader *marks; /* of strangers; NULL: nobody was read yet */
	struct host host;
	struct run run; /* what flags and classes are told by */
	struct runlog *log;
	struct ladder *ladder;
	struct target_set held; /* handles of who was halted, until the ladder takes them */
	struct sent_list sent;  /* of the batch under way */
	int sent_signal;
	VEC(struct sent_batch) batches;
	VEC(struct handoff) handoffs;
	VEC(struct leaver) leavers;
	size_t more_leavers, more_handoffs;
	struct deny deny;          /* --detach=deny */
	VEC(struct leaver) denied; /* who tried */
	size_t tries;              /* in all */
	struct table *left;        /* owned: the last look at who is alive; NULL: not known */
	struct err unread;         /* why not, or why not of all */
	int signal_fd, timer_fd;
	int run_dir;               /* the directory of the run; -1: none */
	int door;                  /* warden_door.h; -1: none */
	int visitor;               /* who ends the run; -1: nobody */
	int guests[WARDEN_GUESTS]; /* who came and has not said why; -1: none */
	pid_t guest_pids[WARDEN_GUESTS];
	pid_t visitor_pid;
	bool front_gone, cmd_over;
	bool stays;                /* see warden_stay() */
	bool behind;               /* the kernel has told more than was taken */
	bool orphans;              /* some have ended, and are to be reaped */
	VEC(struct reaped) reaped; /* and were just now */
	bool rush;                 /* no grace: nothing else is done until they are gone */
	bool halted;               /* all in the unit are, until the KILL */
	uint64_t halted_ns;        /* since when, CLOCK_BOOTTIME */
	bool close_late;           /* that it is over was not on the disk when it was to be */
	int cmd_status;
	uint64_t began_ns, over_ns; /* the command, CLOCK_BOOTTIME */
	uint64_t deadline_ns;       /* CLOCK_BOOTTIME; 0: none */
	uint64_t due_ns;            /* of the phase: settling, --on-expire; 0: none */
	uint64_t tick_ns;           /* the next reading of groups */
	uint64_t read_ns;           /* the next one of parents, too */
	uint64_t reading_ns;        /* the longest of them yet, as far as WARDEN_READING_MAX_NS */
	uint64_t forked_at_tick;    /* how many were told of by the last */
	uint64_t moved_ns;          /* the next look for who left the cgroup */
	size_t moved_next;          /* of kin's members: where it begins */
	uint64_t drain_ns;          /* when events are taken next; 0: once there are any */
	uint64_t heard;             /* events that were taken, strangers' too */
	uint64_t budget_ns;         /* until when the record may hold up the end */
	struct spawned helper;      /* --on-expire */
	struct kin_counts at_term;  /* when the TERM went */
	uint64_t lost_told;         /* events that were lost, as the journal has it */
	unsigned looks;             /* files of snapshots, so far */
	size_t kept;                /* leftovers spared by rule */
	/* what stdout and stderr of the command are, by number: "pipe:[4711]"; "": nobody waits */
	char streams[3][WARDEN_STREAM_MAX];
};

#define WARDEN_DRAIN_NS 5000000ull /* 0-4 % slower spawning; at each event it is 19-37 % */
#define WARDEN_TICK_NS 100000000ull
#define WARDEN_TICK_MAX_NS 5000000000ull
#define WARDEN_READ_NS 1000000000ull /* between two readings of all that is known */
#define WARDEN_READING_MAX_NS 500000000ull
#define WARDEN_MOVED_NS 1000000000ull /* between two looks at members' cgroups */
#define WARDEN_MOVED_MAX 256          /* members a look, in turn; some 20 us each */
#define WARDEN_LOOK_NS 20000000ull    /* how long the before snapshot may take */
#define WARDEN_RUSH_NS 4000000ull     /* the same where the KILL follows at once */
#define WARDEN_RECORD_NS 500000000ull /* the most that the record holds up an end */

#define WARDEN_FALLBACKS_MAX 1000
#define WARDEN_ACT "end" /* the name under which the events of an end stand together */

/* --- warden.c --- */

/* It is no short run: from now on threads write the record and the ledger, so that its end waits
 * for no disk.  Later calls do nothing. */
void warden_stay(struct warden *w);

/* --- warden_hold.c --- */

/* Makes the command, and holds it in the unit; where that cannot be in a cgroup, in another.  In
 * two steps: it takes its place meanwhile, and who it is is known after the second. */
int warden_begin_hold(struct warden *w, struct err *err);
int warden_hold(struct warden *w, struct err *err);

/* To the person who asked for more words: what holds the run, and how it is seen; path: of its
 * record, NULL: none. */
void warden_say_held(struct warden *w, const char *path);

/* What was refused here and is done another way, in words; "": nothing was. */
void warden_fallbacks(const struct warden *w, char *out, size_t size);

/* That, to the same person. */
void warden_say_fallbacks(struct warden *w);

/* --- warden_reap.c --- */

/* Learns who of its children has ended, the command first. */
void warden_reap(struct warden *w);
/* The same of the command alone, which stays a zombie. */
void warden_reap_command(struct warden *w);

/* --- warden_streams.c --- */

/* What stdout and stderr of the command are, while it is held. */
void warden_note_streams(struct warden *w);

/* Whether a process keeps them open, so that who reads them waits: ", keeps stderr open"; "": it
 * does not, or that is not known.  A literal. */
const char *warden_keeps_open(const struct warden *w, pid_t pid);

/* --- warden_marked.c --- */

/*
 * Looks among what others forked since the run began for processes that carry its mark: what was
 * asked of a service (at(1), a manager) is no descendant.  They are members from then on.
 */
void warden_find_marked(struct warden *w);

/* --- warden_look.c --- */

/* Takes some of what happened since the last time: in a storm more comes meanwhile, and what is due
 * is due all the same.  Never waits. */
void warden_drain(struct warden *w);

/* Takes all of what has happened until now. */
void warden_drain_all(struct warden *w);

/* The same of a run that is closed, for the sake of others alone.  False: some were not heard. */
bool warden_drain_others(struct warden *w);

enum reading {
	READ_GROUPS,  /* what the kernel tells nobody: who is in another group than was known */
	READ_MEMBERS, /* group, session and parent of all */
	READ_UNIT,    /* that, and who is in the unit and not known */
};
void warden_read(struct warden *w, enum reading what);

/* Looks for members that left the run's cgroup, some of them at a time, and tells of each once. */
void warden_find_moved(struct warden *w);

/* Takes who is alive now into left, with as many details as can be read within that time; where
 * that cannot be known left is NULL, and unread says why; where there are others, unread does. */
void warden_look(struct warden *w, unsigned details, uint64_t within_ns);

/* Reads these members into left, too, or anew where they are there.  0 or -errno: some of them
 * could not be. */
int warden_look_also(struct warden *w, const struct identity_list *ids, unsigned details,
		     struct err *err);

/* Certain and likely members that are alive, as the unit and the events have it. */
int warden_members(struct warden *w, struct identity_list *out, struct err *err);

/* --- warden_guests.c --- */

void warden_come_in(struct warden *w);           /* somebody is at the door */
void warden_hear_guest(struct warden *w, int i); /* guest i has something to say */
void warden_hear_visitor(struct warden *w);
void warden_look_at_visitor(struct warden *w);

/* --- warden_end.c --- */

/* Begins to end the run, for that cause, also where another stray is at it: how long that takes is
 * not known.  Nothing where it ends here already. */
void warden_end(struct warden *w, enum cause cause, int signal);

/* Goes on to the KILL. */
void warden_hurry(struct warden *w);

/* Does what is due in PHASE_EXPIRING and PHASE_ENDING. */
void warden_end_step(struct warden *w);

/* Another stray ends it: nothing is done here until that is over (closed_as), or that stray gone
 * (RUN_UNKNOWN), or something else ends it (warden_end()). */
void warden_yield(struct warden *w, int visitor, pid_t pid);
void warden_yielded(struct warden *w, enum run_state closed_as);

/* The last change of state.  act: what ended it; NULL: it ended by itself.  error: why it never
 * ran; NULL: it did. */
void warden_close(struct warden *w, const char *act, enum run_state to, size_t alive,
		  const char *error);

/* The rule that spares it as a leftover; NULL: none. */
const struct keep_rule *warden_keeps(const struct warden *w, const struct process *p);

/* The command has ended, and its members had their moment. */
void warden_settled(struct warden *w);

/* --- warden_helper.c --- */

void warden_start_helper(struct warden *w);
/* The helper has ended, or its time is over; true also where there is none. */
bool warden_helper_is_done(struct warden *w);

/* --- warden_tell.c --- */

/* Answers those who wait for leave to detach: they get none, and it is told. */
void warden_deny(struct warden *w);
/* What kin told since the last time, into the journal and to the person. */
void warden_tell_changes(struct warden *w);
void warden_tell_started(struct warden *w);
void warden_tell_moved(struct warden *w, struct identity id, const char *to);
/* That it looks from here on; reason: that it no longer does. */
void warden_tell_watch(struct warden *w, const char *reason);
/* Those who outlive the run: spared by a rule, or left. */
void warden_tell_leftovers(struct warden *w, const struct table *t);
void warden_say(struct warden *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A look as a file of the run's directory: "before", "after". */
void warden_tell_look(struct warden *w, const char *what, const struct table *t);
/* Each survivor of the signals, with the reason. */
void warden_tell_survivors(struct warden *w, const struct table *t);
/* What was sent in the batch under way. */
void warden_tell_sent(struct warden *w);
/* A signal is about to go: on the disk when it returns, or the time for it is over. */
void warden_tell_intent(struct warden *w, int sig, const struct identity *to, size_t n);

/* --- warden_result.c --- */

/* Whether somebody lives on whom no rule spares, or that is not known. */
bool warden_left_any(const struct warden *w);
/* Writes the result's members, and tells the front that it is over. */
void warden_finish(struct warden *w, enum run_state state, int status);

#endif
