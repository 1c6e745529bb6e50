#include "reach/fds.h"

#include "base/proc_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fds_open_process(struct identity id)
{
	struct proc_stat st;
	char path[32];
	int dir, r;

	snprintf(path, sizeof(path), "/proc/%d", id.pid);
	dir = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	r = proc_stat_read_at(dir, "stat", &st);
	if (r == 0 && st.start == id.start)
		return dir;
	close(dir);
	return r < 0 ? r : -ESRCH;
}

/* Closes fds, which may be -1: then errno tells. */
static int each(int fds, fds_fn *fn, void *ctx)
{
	int r = 0;
	DIR *d = fds < 0 ? NULL : fdopendir(fds);
	unsigned seen = 0;
	struct dirent *e;

	if (!d) {
		r = errno == ENOENT ? -ESRCH : -errno;
		if (fds >= 0)
			close(fds);
		return r;
	}
	while (r == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		r = ++seen > FDS_MAX ? FDS_TOO_MANY : fn(ctx, fds, e->d_name);
	}
	closedir(d);
	return r;
}

int fds_each(int dir, fds_fn *fn, void *ctx)
{
	return each(openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fn, ctx);
}

int fds_each_of_pid(pid_t pid, fds_fn *fn, void *ctx)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	return each(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fn, ctx);
}

bool fds_inode(int fds, const char *name, const char *kind, uint64_t *inode)
{
	size_t len = strlen(kind);
	char link[64], *end;
	ssize_t n = readlinkat(fds, name, link, sizeof(link) - 1);

	if (n <= 0)
		return false;
	link[n] = '\0';
	if (strncmp(link, kind, len) != 0 || strncmp(link + len, ":[", 2) != 0)
		return false;
	*inode = strtoull(link + len + 2, &end, 10);
	return strcmp(end, "]") == 0;
}

int fds_access(int fds, const char *name)
{
	struct stat st;

	if (fstatat(fds, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	switch (st.st_mode & (S_IRUSR | S_IWUSR)) {
	case S_IRUSR:
		return O_RDONLY;
	case S_IWUSR:
		return O_WRONLY;
	case S_IRUSR | S_IWUSR:
		return O_RDWR;
	default:
		return -1;
	}
}
