/*
 * What is known of one process.
 *
 * Two parts: what every scan reads (struct process, from /proc/PID/stat) and
 * the details, which are read once for a new process, again after an exec, and
 * on request for what is on the screen (struct detail, immutable, counted).
 * "Not known" is a value of its own in every field: NULL bytes, -1, a bit in
 * `unread` with its errno.  This module reads nothing: sources fill it in.
 */
#ifndef STRAY_MODEL_PROCESS_H
#define STRAY_MODEL_PROCESS_H

#include "base/bytes.h"
#include "base/proc_stat.h"
#include "model/identity.h"

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_PF_KTHREAD 0x00200000u /* include/linux/sched.h, stable since 2.6.27 */
#define PROCESS_NSPID_MAX 8            /* kernel: MAX_PID_NS_LEVEL is 32; deeper is cut */

/* The details, one bit each: what was asked for, and what could not be read. */
enum detail_bit {
	DETAIL_COMM = 1 << 0,
	DETAIL_CMDLINE = 1 << 1,
	DETAIL_CGROUP = 1 << 2,
	DETAIL_EXE = 1 << 3,
	DETAIL_CWD = 1 << 4,
	DETAIL_ENVIRON = 1 << 5, /* marks and names only: values are never kept */
	DETAIL_STATUS = 1 << 6,  /* uids, signal masks, NSpid, tracer */
	DETAIL_LOGIN = 1 << 7,   /* sessionid and loginuid */
	DETAIL_WCHAN = 1 << 8,
	DETAIL_NS = 1 << 9,     /* namespace inodes */
	DETAIL_STDIO = 1 << 10, /* what fds 0, 1, 2 are */
};
#define DETAIL_COUNT 11
/* What list, the view and suspects need of every process. */
#define DETAIL_BASIC                                                                               \
	(DETAIL_COMM | DETAIL_CMDLINE | DETAIL_CGROUP | DETAIL_EXE | DETAIL_CWD | DETAIL_ENVIRON | \
	 DETAIL_STATUS | DETAIL_LOGIN)
#define DETAIL_ALL ((1 << DETAIL_COUNT) - 1)

/* The name of one detail bit as it stands in "unreadable": "environ", ... */
const char *detail_name(unsigned bit);

/* The namespaces whose inodes are kept, in the order of detail.ns. */
enum { NS_CGROUP, NS_IPC, NS_MNT, NS_NET, NS_PID, NS_TIME, NS_USER, NS_UTS, NS_COUNT };
const char *ns_name(int ns); /* "cgroup", ... as in /proc/PID/ns */

/* One environment assignment that labels a tree. */
struct mark {
	char *name;  /* owned */
	char *value; /* owned; of known marks only, they are no secrets; never written out */
};

struct detail {
	_Atomic unsigned refs;              /* two threads may share what is of a replayed file */
	unsigned have;                      /* detail_bits that were read */
	unsigned char unread[DETAIL_COUNT]; /* errno of those that could not be, by bit number */
	bool packed;                        /* all it owns is in one block with it */

	struct bytes comm;
	struct bytes cmdline; /* masked arguments, each ended by NUL; kthreads, zombies: none */
	size_t cmdline_total; /* bytes it had before it was cut: more than cmdline.len if it was */
	struct bytes cgroup;  /* the path that tells most; see origin.h */
	bool cgroup_v2;
	struct bytes exe; /* without " (deleted)" */
	bool exe_deleted;
	uint64_t exe_dev, exe_inode; /* 0: not known */
	struct bytes cwd;
	bool cwd_deleted;

	struct mark *marks; /* known foreign marks, STRAY_RUN_ID, and asked-for ones */
	size_t n_marks;
	char **secret_names; /* environment names that tell of a credential, sorted */
	size_t n_secret_names;

	uid_t uid, euid;      /* (uid_t)-1: not known */
	struct bytes user;    /* name of euid */
	uint64_t sig_pending; /* of the process and its main thread, bit n-1 for signal n */
	uint64_t sig_blocked, sig_ignored, sig_caught;
	pid_t tracer;                   /* 0: none; -1: not known */
	pid_t nspid[PROCESS_NSPID_MAX]; /* outermost (ours) first */
	int n_nspid;                    /* 0: not known */

	int64_t audit_session; /* /proc/PID/sessionid; -1: unset; -2: not known */
	int64_t login_uid;     /* /proc/PID/loginuid; -1: unset; -2: not known */

	struct bytes wchan;
	uint64_t ns[NS_COUNT]; /* 0: not known */
	struct bytes stdio[3]; /* link text: "/dev/pts/3", "pipe:[123]", "socket:[9]" */
};

/* What started the tree a process belongs to (origin.h decides). */
enum origin_kind {
	ORIGIN_UNKNOWN, /* nothing says: no reason for anything by itself */
	ORIGIN_KERNEL,
	ORIGIN_INIT,         /* PID 1 itself and init.scope */
	ORIGIN_SERVICE,      /* a system unit */
	ORIGIN_USER_MANAGER, /* systemd --user itself: init.scope of user@N.service */
	ORIGIN_USER_UNIT,    /* service or app-* scope below a user manager */
	ORIGIN_LOGIN,        /* a session-N.scope, or an audit session where there is none */
	ORIGIN_CONTAINER,
	ORIGIN_CRON,
};

/* One reason to suspect, ranked: see suspect.h. */
enum suspect_bit {
	SUSPECT_REPARENTED = 1 << 0,
	SUSPECT_LEADER_GONE = 1 << 1,
	SUSPECT_TTY_CLOSED = 1 << 2,
	SUSPECT_CWD_DELETED = 1 << 3,
	SUSPECT_MARK = 1 << 4,
	SUSPECT_HUP_IGNORED = 1 << 5,
	SUSPECT_CHILD = 1 << 6, /* of a suspect */
};

enum evidence_bit {
	EVIDENCE_CGROUP = 1 << 0,
	EVIDENCE_FORK = 1 << 1,
	EVIDENCE_PARENT = 1 << 2,
	EVIDENCE_GROUP = 1 << 3,
	EVIDENCE_SESSION = 1 << 4,
	EVIDENCE_ADOPTED = 1 << 5,
	EVIDENCE_MARK = 1 << 6,
	EVIDENCE_PIPE = 1 << 7,
	EVIDENCE_WINDOW = 1 << 8,
	EVIDENCE_PEER = 1 << 9,
	EVIDENCE_ROOT = 1 << 10,  /* chosen by the operator: the run's root itself */
	EVIDENCE_AUDIT = 1 << 11, /* in the run's audit session, which only root can change */
};

/*
 * A view holds three tables of them (the newest, the one being read, what was there before): what
 * is added here counts thirty thousand times on a host of 10,000.  So wide fields come first.
 */
struct process {
	/* --- each scan --- */
	struct identity id;
	pid_t ppid, pgid, sid, tpgid;
	uint64_t cpu_ticks;
	uint64_t rss_kb;
	uint64_t start_stack; /* changes with exec; 0 where not permitted */
	uint32_t tty_nr;      /* kernel's encoding, 0: none */
	uint32_t pf;          /* PF_* */
	uint32_t threads;
	uid_t owner; /* of /proc/PID: the effective uid */

	struct detail *detail; /* counted; NULL: not read */

	/* --- folded in by the tracker and the judges of the model --- */
	struct identity parent_was; /* original parent, as far as known */
	struct bytes origin_name; /* owned: "cron.service", "session-12.scope", "docker 3f2a…" */
	struct bytes remote;      /* owned: "198.51.100.9:443" of the first connection,
				     * else of one within this host; unknown: none */
	uint64_t reach_scan;      /* the scan at which its connections were last asked for */
	uint64_t spoke_from;      /* when a member of the run in view spoke with it (source): */
	uint64_t spoke_until;     /* not before and last seen, ticks since boot; 0: not seen */
	uint32_t cpu_permille;    /* of one core since the last scan */
	uint16_t unit_len;        /* bytes of detail->cgroup that name its origin; 0: none do */
	uint16_t suspect;         /* suspect_bits that nothing explains away */
	uint16_t explained;       /* suspect_bits that its origin explains */
	uint16_t evidence;        /* evidence_bits of the run in view; 0: no member */
	uint16_t connections;     /* established, to other hosts */

	char state;                  /* R S D Z T t I X; 'Z' only if no other thread lives */
	uint8_t origin;              /* enum origin_kind */
	enum known parent_known : 8; /* how parent_was is known */
	enum known reparented : 8;   /* KNOWN_NOT: no sign of it.  SCANNED/SEEN: observed */
	bool reparent_possible;      /* a reaper's child with nothing that proves it */
	uint8_t ends;                /* of the pipes of the run in view: bit n, it holds the end
				      * that is the root's descriptor n; bit 3 + n, the other end */
	bool ends_known;             /* its descriptors were looked at for them (source) */
	uint8_t ends_error;          /* errno, where they could not be read */
	bool survived;               /* a signal of ours that should have ended it */
	bool tty_closed;             /* its controlling terminal is gone (source) */
	bool reach_known;            /* its connections were asked for */
	uint8_t reach_error;         /* errno, where they could not be read */
};

struct detail *detail_new(void); /* refs 1; NULL when out of memory */
struct detail *detail_ref(struct detail *d);
void detail_unref(struct detail *d); /* NULL is fine */

/*
 * Moves a detail that nobody else refers to, and all it owns, into one block: by a dozen texts of
 * their own, most of them short, it is half as large again.  Returns what is there in its place:
 * d as it was when out of memory.
 */
struct detail *detail_pack(struct detail *d);

/* What its stat says; its start, too. */
void process_take_stat(struct process *p, const struct proc_stat *st);

/* Frees what p owns (not p). */
void process_clear(struct process *p);

/* A deep copy (details shared by count).  false when out of memory. */
bool process_copy(struct process *to, const struct process *from);

static inline bool process_is_kthread(const struct process *p)
{
	return p->pf & PROCESS_PF_KTHREAD;
}

static inline bool process_is_dead(const struct process *p)
{
	return p->state == 'Z' || p->state == 'X';
}

/* Errno of a detail that could not be read, or 0. */
int process_unread(const struct process *p, unsigned bit);

/* Whether a detail was asked for and could be read.  d may be NULL. */
bool detail_knows(const struct detail *d, unsigned bit);

/* Whether signal sig is in a mask of struct detail. */
static inline bool sigmask_has(uint64_t mask, int sig)
{
	return sig >= 1 && sig <= 64 && (mask >> (sig - 1) & 1);
}

/*
 * The command in one line for a screen: arguments joined by spaces, or the comm in brackets
 * where there are none.  Raw bytes: escape before showing.  0 or -ENOMEM.
 */
int process_command(const struct process *p, struct bytes *out);

/* The value of a mark, or NULL. */
const char *process_mark(const struct process *p, const char *name);

#endif
