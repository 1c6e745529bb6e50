/*
 * The one place that makes processes: the command of a run, held until it is let go, the warden
 * (a fork of stray itself), and helpers.
 *
 * A held child has its session or group, and its cgroup, before spawn_held() returns, so that
 * whatever is signalled afterwards hits what was meant.  It runs nothing of the command before
 * spawn_go(), and ends by itself where who holds it dies.  Descriptors, umask, limits, ignored
 * signals and the signal mask of the command are those that stray was started with
 * (spawn_note_caller()).  It waits for nobody.
 */
#ifndef STRAY_CONTAIN_SPAWN_H
#define STRAY_CONTAIN_SPAWN_H

#include "base/err.h"
#include "base/vec.h"
#include "model/identity.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

/* How stray was started, as far as it changes that for itself. */
struct spawn_caller {
	sigset_t mask;
	struct sigaction child; /* the disposition of SIGCHLD */
	struct rlimit files;    /* RLIMIT_NOFILE; both 0: not known */
	VEC(int) fds;           /* owned: what is open beyond stdio, and stays so at exec */
};

/* Notes the caller's, sets SIGCHLD so that children can be waited for, and raises its own limit of
 * descriptors, as each process that is ended takes one.  spawn_caller_clear(). */
void spawn_note_caller(struct spawn_caller *c);
void spawn_caller_clear(struct spawn_caller *c);

/*
 * What the caller gave is the command's now, and whoever waits for the end of a pipe must not
 * wait for us: 0 to stdio - 1 are /dev/null from here on, the noted ones closed.  For a process
 * that makes no command any more.
 */
void spawn_give_up_streams(const struct spawn_caller *c, int stdio);

struct spawn_plan {
	const struct spawn_caller *caller;
	const char *path; /* what to execute; NULL: argv[0] is looked for in PATH */
	char *const *argv;
	const char *marks[2]; /* "NAME=value" for its environment; NULL: none */
	int cgroup;           /* a directory of a cgroup v2; -1: ours */
	pid_t pgid; /* the group to join, of our session; 0: a session of its own, where no outer
		     * filter refuses it */
	bool null_stdio; /* 0 to 2 on /dev/null: a helper's */
	/* Called in the child when all else is done, before it is let go or not; NULL: nothing.
	 * Async-signal-safe: 0, or an errno that spawn_held() returns. */
	int (*prepare)(void *ctx);
	void *ctx;
};

struct spawned {
	struct identity id;
	int pidfd;          /* owned; -1: none can be had */
	int go;             /* owned: written to, it execs */
	int outcome;        /* owned: readable, an int: errno of exec; end of file: it was exec'd */
	struct err by_fork; /* why clone3(2) did not make it; code 0: it did */
};

/*
 * Makes the child and holds it.  Where the kernel refuses to make it in the cgroup it moves itself
 * there before it is held.  0 or -errno: then there is none.  clone3(2), CLONE_INTO_CGROUP: 5.7.
 */
int spawn_held(const struct spawn_plan *plan, struct spawned *out, struct err *err);
/* The same in two steps, for who has something to do meanwhile: it is on its way to where it is
 * held, and its start is not known; it is.  spawn_cancel() ends one that was begun, too. */
int spawn_begin(const struct spawn_plan *plan, struct spawned *out, struct err *err);
int spawn_await(struct spawned *s, struct err *err);

/* Lets it exec, and waits for what comes of it: 0, or the errno of execve(2), negative. */
int spawn_go(struct spawned *s, struct err *err);
/* The same in two steps, for who has something to do meanwhile. */
int spawn_let_go(struct spawned *s, struct err *err);
int spawn_outcome(struct spawned *s, struct err *err);

/* It never execs, and ends. */
void spawn_cancel(struct spawned *s);

/* Closes what is open. */
void spawn_close(struct spawned *s);

/* fork(2): 0 in the child.  For the warden. */
pid_t spawn_fork(void);

/* What execvp(3) would run: a path, owned by the caller.  -ENOENT, -EACCES (found, not executable),
 * -ENOMEM. */
int spawn_find(const char *name, char **path, struct err *err);

#endif
