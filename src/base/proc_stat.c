#include "base/proc_stat.h"

#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields by their numbers in proc_pid_stat(5). */
enum {
	PPID = 4,
	PGRP,
	SID,
	TTY,
	TPGID,
	FLAGS,
	UTIME = 14,
	STIME,
	THREADS = 20,
	START = 22,
	RSS = 24,
	STACK = 28,
	FIELDS
};

/* The numbers from the fourth field on; at: behind the third.  By hand, since who scans on and on
 * does so for each process of the host. */
static bool read_fields(const char *at, uint64_t f[FIELDS])
{
	for (int i = PPID; i < FIELDS; i++) {
		bool negative;

		if (*at++ != ' ')
			return false;
		negative = *at == '-';
		at += negative;
		if (!isdigit((unsigned char)*at))
			return false;
		for (f[i] = 0; isdigit((unsigned char)*at); at++)
			f[i] = f[i] * 10 + (uint64_t)(*at - '0');
		if (negative)
			f[i] = -f[i];
	}
	return true;
}

/* The last field, since Linux 3.5. */
static int exit_code(const char *text)
{
	const char *at = strrchr(text, ' ');

	return at ? (int)strtol(at, NULL, 10) : 0;
}

int proc_stat_parse(char *text, struct proc_stat *out, const char **comm)
{
	char *open = strchr(text, '('), *close = open ? strrchr(open, ')') : NULL;
	uint64_t f[FIELDS] = {0};

	if (!close || close[1] != ' ' || !close[2] || !read_fields(close + 3, f))
		return -EPROTO;
	*out = (struct proc_stat){
		.pid = (pid_t)strtol(text, NULL, 10),
		.state = close[2],
		.ppid = (pid_t)f[PPID],
		.pgid = (pid_t)f[PGRP],
		.sid = (pid_t)f[SID],
		.tty_nr = (uint32_t)f[TTY],
		.tpgid = (pid_t)f[TPGID],
		.flags = (uint32_t)f[FLAGS],
		.cpu_ticks = f[UTIME] + f[STIME],
		.threads = (int)f[THREADS],
		.start = f[START],
		.rss_pages = f[RSS],
		.start_stack = f[STACK],
	};
	if (out->state == 'Z' || out->state == 'X')
		out->exit_code = exit_code(close + 3);
	if (comm) {
		*close = '\0';
		*comm = open + 1;
	}
	return 0;
}

int proc_stat_read_text(int dir, const char *path, char buf[static PROC_STAT_MAX])
{
	AUTO_FD fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0)
		do
			n = read(fd, buf, PROC_STAT_MAX - 1);
		while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	buf[n] = '\0';
	return n ? 0 : -ESRCH;
}

int proc_stat_read_at(int dir, const char *path, struct proc_stat *out)
{
	char buf[PROC_STAT_MAX];
	int r = proc_stat_read_text(dir, path, buf);

	return r < 0 ? r : proc_stat_parse(buf, out, NULL);
}

int proc_stat_read(pid_t pid, struct proc_stat *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return proc_stat_read_at(AT_FDCWD, path, out);
}

int proc_stat_read_same(pid_t pid, uint64_t start, struct proc_stat *out)
{
	int r = proc_stat_read(pid, out);

	return !r && out->start != start ? -ESRCH : r;
}

int proc_stat_read_self(struct proc_stat *out)
{
	int r = proc_stat_read_at(AT_FDCWD, "/proc/self/stat", out);

	/* in a namespace that its mount does not know there is no self */
	return r == -ESRCH || (!r && out->pid != getpid()) ? -EXDEV : r;
}

bool proc_stat_dead(const struct proc_stat *st)
{
	return (st->state == 'Z' || st->state == 'X') && st->threads <= 1;
}

bool proc_is_gone(pid_t pid)
{
	return getpgid(pid) < 0 && errno == ESRCH;
}

bool proc_has_ended(pid_t pid, uint64_t start)
{
	struct proc_stat st;
	int r = proc_stat_read(pid, &st);

	if (r < 0) /* hidepid hides who is there */
		return r == -ESRCH && proc_is_gone(pid);
	return st.start != start || proc_stat_dead(&st);
}

pid_t proc_next_pid(char **at)
{
	return (pid_t)strtol(*at, at, 10);
}

static bool halted(char state)
{
	return strchr("TtZXD", state);
}

bool proc_stat_halted(pid_t pid)
{
	struct proc_stat st;
	char path[64];
	struct dirent *e;
	bool all = true;
	DIR *dir;

	if (proc_stat_read(pid, &st) < 0)
		return true;
	if (st.threads <= 1)
		return halted(st.state);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT;
	while (all && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", pid, e->d_name);
		if (proc_stat_read_at(AT_FDCWD, path, &st) == 0)
			all = halted(st.state);
	}
	closedir(dir);
	return all;
}
