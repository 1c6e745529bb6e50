#include "contain/pidfd.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* include/uapi/linux/pidfd.h, newer than Debian 12's: the first size of the struct (6.13), which
 * all later kernels take, with the exit code that 6.15 added in its last four bytes. */
struct info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define INFO_GET _IOWR(0xFF, 11, struct info)
#define INFO_EXIT (1u << 3)

/* A poll(2) timeout runs on CLOCK_MONOTONIC, which a suspend stops: look again that often. */
#define POLL_MAX_NS CLOCK_NS_PER_S

int pidfd_open_identity(struct identity id, int *fd, bool *reused, struct err *err)
{
	struct proc_stat st;
	bool refused;
	int pidfd, r;

	if (reused)
		*reused = false;
	if (id.pid <= 1)
		return err_set(err, EINVAL, "process %d is none to act on", id.pid);
	pidfd = (int)syscall(SYS_pidfd_open, id.pid, 0);
	refused = pidfd < 0 && (errno == ENOSYS || errno == EPERM); /* so sandboxes answer */
	if (pidfd < 0 && !refused && errno != ESRCH && errno != ENOENT)
		return err_errno(err, errno, "pidfd_open %d", id.pid);
	r = proc_stat_read(id.pid, &st);
	if (r == 0 && st.start == id.start && pidfd >= 0) {
		*fd = pidfd;
		return 0;
	}
	if (r == 0 && st.start == id.start && refused)
		return err_errno(err, ENOSYS, "pidfd_open %d", id.pid);
	if (r == -ESRCH && pidfd >= 0 && !pidfd_gone(pidfd))
		r = -EACCES; /* it lives, and hidepid hides its start time */
	if (pidfd >= 0)
		close(pidfd);
	if (r < 0 && r != -ESRCH)
		return err_errno(err, -r, "/proc/%d/stat", id.pid);
	if (r == 0 && st.start != id.start) {
		if (reused)
			*reused = true;
		return err_set(err, ESRCH, "%d@%" PRIu64 " is gone; its number is another's now",
			       id.pid, id.start);
	}
	return err_set(err, ESRCH, "%d@%" PRIu64 " is gone", id.pid, id.start);
}

bool pidfd_gone(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents & (POLLIN | POLLHUP | POLLNVAL);
}

int pidfd_wait(const int *fds, size_t n, enum pidfd_wait until, uint64_t deadline_ns,
	       struct err *err)
{
	AUTO_FREE struct pollfd *p = calloc(n ? n : 1, sizeof(*p));
	size_t alive = 0, want;

	if (!p)
		return err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		p[i].fd = fds[i];
		p[i].events = POLLIN;
		alive += fds[i] >= 0;
	}
	want = until == PIDFD_WAIT_ALL ? 0 : n - 1;
	while (alive > want) {
		uint64_t now = clock_boot_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
		struct timespec ts;
		int r;

		if (left > POLL_MAX_NS)
			left = POLL_MAX_NS;
		ts.tv_sec = (time_t)(left / CLOCK_NS_PER_S);
		ts.tv_nsec = (long)(left % CLOCK_NS_PER_S);
		r = ppoll(p, n, &ts, NULL);
		if (r < 0 && errno != EINTR)
			return err_errno(err, errno, "poll");
		for (size_t i = 0; r > 0 && i < n; i++)
			if (p[i].fd >= 0 && p[i].revents) {
				p[i].fd = -1;
				alive--;
			}
		if (r == 0 && clock_boot_ns() >= deadline_ns)
			break;
	}
	return (int)alive;
}

static struct death from_status(int status)
{
	struct death d = {.known = true};

	d.signalled = WIFSIGNALED(status);
	d.code = d.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
	return d;
}

struct death pidfd_death(int fd, struct identity id)
{
	struct info info = {.mask = INFO_EXIT};
	struct proc_stat st;
	siginfo_t si = {0};

	if (!pidfd_gone(fd))
		return (struct death){0};
	if (waitid((idtype_t)P_PIDFD, (id_t)fd, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid)
		return (struct death){
			.known = true, .signalled = si.si_code != CLD_EXITED, .code = si.si_status};
	if (ioctl(fd, INFO_GET, &info) == 0 && info.mask & INFO_EXIT)
		return from_status(info.exit_code);
	/* 0 is also what one who may not read it gets */
	if (proc_stat_read_same(id.pid, id.start, &st) == 0 && proc_stat_dead(&st) && st.exit_code)
		return from_status(st.exit_code);
	return (struct death){0};
}
