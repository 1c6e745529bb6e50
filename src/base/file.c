#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

/* Reads until size is full, EOF or an error; -errno or the length. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

ssize_t file_read_at(int dirfd, const char *path, char *buf, size_t size)
{
	AUTO_FD fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_full(fd, buf, size - 1);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

ssize_t file_read_all_fd(int fd, size_t max, char **out)
{
	AUTO_FREE char *buf = NULL;
	size_t size = 4096, used = 0;

	for (;;) {
		char *grown = realloc(buf, size + 1);
		ssize_t n;

		if (!grown)
			return -ENOMEM;
		buf = grown;
		n = read_full(fd, buf + used, size - used);
		if (n < 0)
			return n;
		used += (size_t)n;
		if (used < size)
			break;
		if (used > max)
			return -EFBIG;
		size *= 2;
	}
	if (used > max)
		return -EFBIG;
	buf[used] = '\0';
	*out = buf;
	buf = NULL;
	return (ssize_t)used;
}

ssize_t file_read_all_at(int dirfd, const char *path, size_t max, char **out)
{
	AUTO_FD fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : file_read_all_fd(fd, max, out);
}

int file_check_ours(int fd, const char *name, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "%.150s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EPERM, "%.150s: not a regular file: nothing is written to it",
			       name);
	if (st.st_uid != geteuid())
		return err_set(err, EPERM,
			       "%.150s: belongs to uid %" PRIu32 ": nothing is written to it", name,
			       (uint32_t)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, EPERM,
			       "%.150s: others can write to it (mode %04o): chmod go-w it first",
			       name, (unsigned)st.st_mode & 07777);
	return 0;
}

bool file_exhausted(int r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM;
}

rlim_t file_raise_limit(void)
{
	struct rlimit l, raised;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return 0;
	raised = (struct rlimit){l.rlim_max, l.rlim_max};
	return l.rlim_cur < l.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0 ? l.rlim_max
										 : l.rlim_cur;
}

int file_sync(int fd)
{
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}
