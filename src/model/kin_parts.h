/*
 * The inside of the fold of members: nodes, how they are found, and what is
 * remembered of those that were dropped.  For kin*.c alone.
 */
#ifndef STRAY_MODEL_KIN_PARTS_H
#define STRAY_MODEL_KIN_PARTS_H

#include "model/kin.h"
#include "model/process.h"

struct node {
	struct kin_member m;
	struct node *chain;                   /* of its bucket */
	struct node *prev, *next;             /* members, in order of coming */
	struct node *parent;                  /* the living member whose PID is ppid */
	struct node *child, *elder, *younger; /* its living children; its siblings */
	size_t n_children;
	struct node *next_dead;
	uint64_t came_ns;   /* when it was first known to be there */
	uint64_t group_ns;  /* of when pgid and sid are known, and ppid: a reading from before */
	uint64_t parent_ns; /* tells nothing new */
	uint64_t scan;      /* the last scan that found it */
	unsigned why;       /* evidence that stays */
	int main_status;    /* of its main thread, where that ended first */
	bool never;         /* no member, but to be told from one */
	bool fork_seen;     /* never: its own fork was told since: its children are like it */
	bool start_read;    /* its start time does not only follow from an event */
	bool main_ended;    /* its main thread is dead, others live */
	bool of_reaper;     /* it came as a child of the reaper: CLONE_PARENT */
	bool moved;         /* a change of parent was told */
	bool parent_presumed;
};

/*
 * Who was dropped, so that a reading from before that does not bring it back.  PIDs
 * are given in turn: a slot a PID, by its low bits, keeps the latest of some 16,000 deaths.
 */
#define KIN_GHOSTS 16384 /* a power of two */

struct ghost_slot {
	struct identity id;
	bool start_read;
	uint64_t ended_ns;
	uint64_t forgot_ns; /* the latest death that this slot no longer knows */
};

struct kin {
	struct kin_options o;
	uint64_t tick_ns;
	struct node **bucket;
	size_t n_buckets, n_nodes;
	struct node *first, *last;
	struct node *dead_first, *dead_last;
	size_t n_members, n_dead;
	struct ghost_slot *ghosts;
	VEC(struct kin_change) changes;
	VEC(struct kin_member) view; /* what kin_members() returned last; has room for all */
	uint64_t scans;
	uint64_t unsure_ns; /* when events were last told to be lost; 0: scanned since */
	struct kin_counts counts;
};

/* --- kin_store.c --- */
struct node *kin_living(const struct kin *k, pid_t pid); /* members and never ones; NULL: none */
struct node *kin_node(const struct kin *k, struct identity id); /* members, dead ones too */

/* Not linked to others yet; NULL: out of memory. */
struct node *kin_add(struct kin *k, struct identity id, bool never);
void kin_remove(struct kin *k, struct node *n);               /* frees it */
void kin_bury(struct kin *k, struct node *n, uint64_t at_ns); /* keeps or drops a dead one */
void kin_trim(struct kin *k); /* drops the oldest dead beyond KIN_DEAD_MAX */

void kin_set_parent(struct kin *k, struct node *n, pid_t ppid, uint64_t at_ns);

enum ghost { GHOST_NONE, GHOST_DEAD, GHOST_UNSURE };
/* Whether id, as read at boot_ns, is known to have ended later. */
enum ghost kin_ghost(const struct kin *k, struct identity id, uint64_t boot_ns);

/* --- kin.c --- */
/* Room for that many more changes; false: out of memory, and a scan is due. */
bool kin_room(struct kin *k, size_t more, uint64_t at_ns);
struct kin_change *kin_say(struct kin *k, enum kin_change_kind kind, enum known known,
			   uint64_t boot_ns, const struct node *n); /* there is room */
/* What follows from its parent, group and session. */
void kin_settle(const struct kin *k, struct node *n);
/* Whether two start times of one PID are of one process: one may follow from an event. */
bool kin_same_start(uint64_t a, uint64_t b, bool both_read);
/* It has ended: told, its children lose their parent.  when_ns: 0: not known; at_ns: not later.
 * There is room for 1 + n_children changes.  n may be freed. */
void kin_end(struct kin *k, struct node *n, enum known known, uint64_t when_ns, uint64_t at_ns,
	     const int *status);
/* A process of that PID is there: where it is not the root, a group or session of that number is
 * the run's no longer. */
void kin_number_taken(struct kin *k, struct identity id);

#endif
