#include "base/proc_stat.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STAT_MAX 2048 /* 52 numbers of up to 20 digits, and a name */

static int parse(const char *text, struct proc_stat *out)
{
	const char *p = strrchr(text, ')');

	if (!p ||
	    sscanf(p + 1,
		   " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d "
		   "%" SCNu64,
		   &out->state, &out->ppid, &out->pgid, &out->sid, &out->threads, &out->start) != 6)
		return -EPROTO;
	p = strrchr(p, ' '); /* exit_code is the last field since Linux 3.5 */
	out->exit_code = 0;
	if (p)
		sscanf(p, " %d", &out->exit_code);
	return 0;
}

static int read_path(int dir, const char *path, struct proc_stat *out)
{
	char buf[STAT_MAX];
	ssize_t n = file_read_at(dir, path, buf, sizeof(buf));

	if (n == -ENOENT || n == -ESRCH || n == 0)
		return -ESRCH;
	return n < 0 ? (int)n : parse(buf, out);
}

int proc_stat_read(pid_t pid, struct proc_stat *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return read_path(AT_FDCWD, path, out);
}

int proc_stat_read_at(int dir, struct proc_stat *out)
{
	return read_path(dir, "stat", out);
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
		if (read_path(AT_FDCWD, path, &st) == 0)
			all = halted(st.state);
	}
	closedir(dir);
	return all;
}
