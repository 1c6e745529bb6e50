/*
 * What started the tree a process belongs to, read from its cgroup path and
 * its audit session.
 *
 * Paths are those of systemd (systemd.slice(5), pam_systemd(8)), Docker,
 * Podman, Kubernetes, containerd and LXC.  To have no origin is a fact of many
 * hosts (containers, no systemd) and no reason for anything.  Pure.
 */
#ifndef STRAY_MODEL_ORIGIN_H
#define STRAY_MODEL_ORIGIN_H

#include "model/table.h"

struct origin {
	enum origin_kind kind;
	char name[256];  /* "cron.service", "session-12.scope", "docker 3f2a91c04b7e"; may be "" */
	size_t unit_len; /* bytes of the path down to what named it; 0: nothing did */
};

/* What a cgroup path says alone. */
struct origin origin_of_cgroup(const char *path, size_t len);

/* Notes in which container PID 1 (NULL: not seen) and with it the host is, if in any. */
void origin_note_init(struct host *host, const struct process *init);

/* Sets origin and origin_name of one process.  0 or -ENOMEM. */
int origin_judge_one(const struct host *host, struct process *p);

/* Sets origin and origin_name of every process of t that has none yet, after
 * origin_note_init().  0 or -ENOMEM. */
int origin_judge(struct table *t);

/* The innermost scope of its cgroup, where it has no origin to be named by: "run-r3f2a.scope".
 * *out borrowed from p, not ended by a NUL; false where there is none. */
bool origin_scope(const struct process *p, struct bytes *out);

const char *origin_kind_name(enum origin_kind kind); /* "unit", "login", ... as in snapshots */

/* The login a process came from: by scope, else by audit session.  NULL: none known. */
const struct login *origin_login(const struct table *t, const struct process *p);

enum login_state { LOGIN_NONE, LOGIN_OPEN, LOGIN_CLOSED, LOGIN_STATE_UNKNOWN };
/* LOGIN_NONE: it came from no login at all. */
enum login_state origin_login_state(const struct table *t, const struct process *p);
/* The same where the user manager above p is known; NULL: there is none. */
enum login_state origin_login_state_below(const struct table *t, const struct process *p,
					  const struct process *manager);

/* A "systemd --user": it adopts its users' orphans. */
bool origin_is_user_manager(const struct process *p);

#endif
