/*
 * Small files, and what is freed on every way out.
 *
 * This module reads files of /proc and /sys whole; it never writes to a disk
 * that a record lives on (src/record does).
 */
#ifndef STRAY_BASE_FILE_H
#define STRAY_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Reads path (relative to dirfd, or AT_FDCWD) into buf: at most size-1 bytes,
 * then a NUL.  Returns the length, or -errno.  Opens with O_CLOEXEC.
 */
ssize_t file_read_at(int dirfd, const char *path, char *buf, size_t size);

/*
 * Reads path whole into memory of its own, up to max bytes (-EFBIG beyond).
 * *out is owned by the caller, NUL-terminated.  Returns the length or -errno.
 */
ssize_t file_read_all_at(int dirfd, const char *path, size_t max, char **out);

/* The same of an open descriptor, from where it stands. */
ssize_t file_read_all_fd(int fd, size_t max, char **out);

/*
 * Whether only we can have written what is at fd: a regular file, ours, that no
 * other can write to.  0; -EPERM, with why; -errno.  name: for the text.
 */
int file_check_ours(int fd, const char *name, struct err *err);

/*
 * Whether -errno says that we have no means left to ask (descriptors, memory), and so nothing of
 * what was asked about: whether that is there is not known then.
 */
bool file_exhausted(int r);

/* As fsync(2), 0 or -errno; a file system that has nothing to sync (EINVAL) has synced. */
int file_sync(int fd);

/* Raises this process's soft RLIMIT_NOFILE to the hard one.  What it is then; 0: not known. */
rlim_t file_raise_limit(void);

/* -1 is fine, and is what it becomes: a number that was closed is the next one's who opens. */
static inline void file_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline void file_free(void *p)
{
	free(*(void **)p);
}

static inline void file_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define AUTO_FD __attribute__((cleanup(file_close_fd))) int
#define AUTO_FREE __attribute__((cleanup(file_free)))
#define AUTO_FILE __attribute__((cleanup(file_fclose))) FILE

#endif
