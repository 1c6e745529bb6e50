#include "tests/unit/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

int scratch_setup(void **state)
{
	char *dir = strdup("/tmp/stray-test-XXXXXX");

	if (!dir || !mkdtemp(dir))
		return -1;
	umask(022);
	*state = dir;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

int scratch_teardown(void **state)
{
	umount2(scratch_path(state, "small"), MNT_DETACH);
	nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return 0;
}

const char *scratch_path(void **state, const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", (const char *)*state, name);
	return path;
}

bool scratch_small_fs(void **state, size_t bytes)
{
	const char *dir = scratch_path(state, "small");
	char options[64];

	snprintf(options, sizeof(options), "size=%zu,mode=0700", bytes);
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", "none", MS_REC | MS_PRIVATE, "") == 0 && mkdir(dir, 0700) == 0 &&
	       mount("tmpfs", dir, "tmpfs", 0, options) == 0;
}

void scratch_fill(void **state, size_t left)
{
	static const char zeros[4096];
	int fd = open(scratch_path(state, "small/filler"), O_WRONLY | O_CREAT | O_EXCL, 0600);
	off_t size = 0;

	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		size += (off_t)sizeof(zeros);
	assert_true(size > (off_t)left);
	assert_int_equal(ftruncate(fd, size - (off_t)left), 0);
	close(fd);
}

int scratch_count(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	int n = 0;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			n++;
	closedir(dir);
	return n;
}
