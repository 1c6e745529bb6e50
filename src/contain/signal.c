#include "contain/signal.h"

#include "base/proc_stat.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEND_TO_GROUP (1u << 2) /* PIDFD_SIGNAL_PROCESS_GROUP, newer than Debian 12's headers */
#define SIG_MAX 64              /* _NSIG of the kernel */

static int send_pidfd(int pidfd, int sig, unsigned flags)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, flags) < 0 ? -errno : 0;
}

static int set_result(struct target *t, int r)
{
	t->error = -r;
	switch (r) {
	case 0:
		t->result = TARGET_SENT;
		break;
	case -ESRCH:
		t->gone = true;
		if (t->result != TARGET_REUSED)
			t->result = TARGET_GONE;
		break;
	case -EPERM:
		t->result = TARGET_DENIED;
		break;
	default:
		t->result = TARGET_FAILED;
		break;
	}
	return r;
}

/* Without pidfds: to the number, right after it was looked whose it is. */
static int send_number(struct target *t, int sig)
{
	if (!target_alive(t))
		return -ESRCH;
	return kill(t->id.pid, sig) < 0 ? -errno : 0;
}

/* Sends, or with sig 0 asks.  The kernel would also accept a signal to a zombie. */
static int send_alive(struct target *t, int sig)
{
	int opened, r, fd = target_handle(t, &opened);

	if (fd == -ENOSYS)
		return send_number(t, sig);
	if (fd < 0)
		return fd;
	r = pidfd_gone(fd) ? -ESRCH : send_pidfd(fd, sig, 0);
	if (r == -ENOSYS)
		r = send_number(t, sig);
	if (opened >= 0)
		close(opened);
	return r;
}

int signal_target(struct target *t, int sig)
{
	struct proc_stat st = {0};
	int r;

	if (sig < 1 || sig > SIG_MAX)
		return -EINVAL;
	if (sig == SIGSTOP)
		proc_stat_read(t->id.pid, &st);
	if (sig == SIGSTOP && st.state != 'T' && t->guard)
		guard_note(t->guard, t->id);
	r = set_result(t, send_alive(t, sig));
	if (r < 0)
		return r;
	if (sig == SIGSTOP && st.state != 'T')
		t->stopped_by_us = true;
	else if (sig == SIGCONT)
		t->stopped_by_us = false;
	if (sig == SIGCONT && t->guard)
		guard_forget(t->guard, t->id);
	return 0;
}

size_t signal_each(struct target_set *set, int sig)
{
	size_t sent = 0;

	for (size_t i = 0; i < set->n; i++)
		if (!set->v[i].gone)
			sent += signal_target(&set->v[i], sig) == 0;
	return sent;
}

int signal_permitted(struct target *t, int sig)
{
	int r = send_alive(t, 0);

	/* kill(2): a CONT is always allowed within a session, and signal 0 does not tell */
	if (r == -EPERM && sig == SIGCONT && getsid(t->id.pid) == getsid(0))
		return 0;
	return r;
}

/* Whether t is alive and in the group.  Looked at after: so its number was its own. */
static bool in_group(struct target *t, pid_t pgid)
{
	return getpgid(t->id.pid) == pgid && target_alive(t);
}

/* The pidfd of the leader: of a target, even a dead one; or opened now, while it is there. */
static int leader_handle(pid_t pgid, const struct target_set *members, int *opened)
{
	*opened = -1;
	for (size_t i = 0; i < members->n; i++)
		if (members->v[i].id.pid == pgid && members->v[i].pidfd >= 0)
			return members->v[i].pidfd;
	*opened = (int)syscall(SYS_pidfd_open, pgid, 0);
	return *opened;
}

/* Says for each member what a signal to the group will do; how many will get it. */
static size_t foresee(pid_t pgid, struct target_set *members, int sig, size_t *alive)
{
	size_t permitted = 0;

	*alive = 0;
	for (size_t i = 0; i < members->n; i++) {
		struct target *t = &members->v[i];

		if (!in_group(t, pgid) && target_alive(t)) {
			t->result = TARGET_MOVED;
			t->error = 0;
			continue;
		}
		if (set_result(t, signal_permitted(t, sig)) != -ESRCH)
			++*alive;
		permitted += t->result == TARGET_SENT;
	}
	return permitted;
}

static int send_group(pid_t pgid, struct target_set *members, int leader, int sig)
{
	int r = -ESRCH;

	/* A wrong leader's would be answered by ESRCH, never reach another group. */
	if (leader >= 0)
		r = send_pidfd(leader, sig, SEND_TO_GROUP);
	/* gone and reaped before we came; an older kernel; a sandbox */
	if (r != -ESRCH && r != -EINVAL && r != -ENOSYS)
		return r;
	for (size_t i = 0; i < members->n; i++)
		if (members->v[i].result == TARGET_SENT && in_group(&members->v[i], pgid))
			return kill(-pgid, sig) < 0 ? -errno : 0;
	return -ESRCH;
}

int signal_group(pid_t pgid, struct target_set *members, int sig, struct err *err)
{
	size_t alive, permitted;
	int opened, leader, r;

	if (pgid <= 1 || pgid == getpgrp() || sig < 1 || sig > SIG_MAX)
		return err_set(err, EINVAL, "group %d is none to signal", pgid);
	leader = leader_handle(pgid, members, &opened);
	permitted = foresee(pgid, members, sig, &alive);
	if (permitted)
		r = send_group(pgid, members, leader, sig);
	else
		r = alive ? -EPERM : -ESRCH;
	if (opened >= 0)
		close(opened);
	if (r == 0)
		return 0;
	for (size_t i = 0; i < members->n; i++)
		if (members->v[i].result == TARGET_SENT)
			set_result(&members->v[i], target_alive(&members->v[i]) ? r : -ESRCH);
	if (r == -ESRCH)
		return err_set(err, ESRCH, "group %d: none of its members is alive", pgid);
	return err_errno(err, -r, "group %d", pgid);
}

size_t signal_undo_stop(struct target_set *set)
{
	size_t failed = 0;

	for (size_t i = set->n; i-- > 0;)
		if (set->v[i].stopped_by_us && !set->v[i].gone) {
			int r = signal_target(&set->v[i], SIGCONT);

			failed += r < 0 && r != -ESRCH;
		}
	return failed;
}

void signal_die_of(int sig)
{
	const struct rlimit none = {0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	kill(getpid(), sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
