/*
 * All processes of one moment, sorted by PID, and what is known of the host.
 *
 * A table is what sources produce, the tracker folds, and screens and files
 * show.  A source leaves `detail` NULL where nothing changed since the table
 * it was given; tracker_fold carries the details over.  Pure data.
 */
#ifndef STRAY_MODEL_TABLE_H
#define STRAY_MODEL_TABLE_H

#include "base/err.h"
#include "base/vec.h"
#include "model/process.h"

#include <stddef.h>

/* A login as /run/systemd/sessions/N tells it (systemd-logind). */
struct login {
	char id[32];  /* "12" */
	pid_t leader; /* 0: not known */
	uid_t uid;
	char scope[64];   /* "session-12.scope" */
	char state[16];   /* "active", "online", "closing" */
	char service[32]; /* PAM service: "sshd", "cron" */
	char tty[32];     /* "pts/2", "" */
	int64_t audit;    /* AUDIT=, -1 not known */
};

struct host {
	char hostname[65];
	char boot_id[37];          /* /proc/sys/kernel/random/boot_id; "" not known */
	char kernel[65];           /* uname release */
	uint64_t wall_ns, boot_ns; /* when the scan began */
	long ticks_per_second;
	uint64_t pid_ns;     /* inode of our PID namespace; 0 not known */
	bool pid_ns_initial; /* inode 0xEFFFFFFC: include/linux/proc_ns.h */
	uint64_t net_ns;
	char container[256];  /* cgroup of the container that PID 1 is in; "": of none */
	struct identity self; /* this stray */
	uid_t uid;            /* ours, effective */
	bool systemd;         /* /run/systemd/system exists */
	bool logins_known;    /* /run/systemd/sessions was readable */
	VEC(struct login) logins;
};

enum source_kind { SOURCE_PROC, SOURCE_REPLAY, SOURCE_NETLINK, SOURCE_BPF, SOURCE_COUNT };
const char *source_kind_name(int kind); /* "proc", ... as in snapshots; "?" beyond the last */

/* What the answer does not cover (doc/WORDS.md, "Coverage"). */
struct coverage {
	unsigned sources;        /* bits 1 << source_kind */
	uint64_t events_wall_ns; /* since when events are heard; 0: they are not */
	uint64_t events_lost;
	bool hidepid;                      /* /proc hides other users' processes from us */
	unsigned vanished;                 /* processes that ended while being read: no fault */
	unsigned unreadable[DETAIL_COUNT]; /* processes whose detail could not be read, by bit */
	unsigned skipped;                  /* reads given up because they hung */
	uint64_t first_scan_wall_ns;       /* what ended before is not known */
	bool partial; /* only a target's processes are in the table, not the host's */
};

struct table {
	struct host host;
	struct coverage coverage;
	struct identity ends_of;   /* the root whose pipes process.ends is about; pid 0: nobody's */
	VEC(struct process) procs; /* sorted by pid, unique */
};

/* The wall clock when a process started, by the clocks of the scan: ticks since
 * boot to ns since 1970.  false where they cannot tell. */
bool host_started_wall_ns(const struct host *h, uint64_t start_ticks, uint64_t *wall_ns);

/* The moment of the scan in ticks since boot, as processes' start times are. */
uint64_t host_now_ticks(const struct host *h);

struct table *table_new(void); /* NULL when out of memory */
void table_free(struct table *t);

/* As a new one, but with room for as many processes as it had. */
void table_clear(struct table *t);

/* Deep copy, details shared; NULL when out of memory. */
struct table *table_clone(const struct table *t);

/* Appends; pids must come in ascending order (sorts when they do not: call
 * table_sort after the last).  Takes what p owns.  false: out of memory. */
bool table_add(struct table *t, struct process *p);
void table_sort(struct table *t);

/* Borrowed until the table changes; NULL: no such process. */
struct process *table_pid(const struct table *t, pid_t pid);
struct process *table_find(const struct table *t, struct identity id);

/* Whether what is not in t is not there: /proc hid nothing, and no target was asked for. */
static inline bool table_shows_all(const struct table *t)
{
	return !t->coverage.hidepid && !t->coverage.partial;
}

/* The login with that id or scope, or NULL. */
const struct login *host_login(const struct host *h, const char *id);
const struct login *host_login_scope(const struct host *h, const char *scope, size_t len);

/* Counts coverage.unreadable anew from the details. */
void table_count_coverage(struct table *t);

/* "pts/3", "tty1", "ttyS0" of a kernel tty number (major 136-143: pts;
 * Documentation/admin-guide/devices.txt); false where it has no name we know. */
bool tty_name(uint32_t tty_nr, char out[static 32]);

/* The number of what tty_name() wrote; false where it is no such name. */
bool tty_number(const char *name, uint32_t *tty_nr);

#endif
