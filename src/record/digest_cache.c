#include "record/digest_cache.h"

#include "base/file.h"
#include "record/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MAX_BYTES 128

static int name_of(int proc, const char *link, char name[static NAME_MAX_BYTES], struct err *err)
{
	struct stat st;

	if (fstatat(proc, link, &st, 0) < 0)
		return err_errno(err, errno, "/proc/%s", link);
	snprintf(name, NAME_MAX_BYTES, "%jx-%ju-%jd-%jd.%09ld", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino, (intmax_t)st.st_size, (intmax_t)st.st_ctim.tv_sec,
		 st.st_ctim.tv_nsec);
	return 0;
}

static bool is_digest(const char *text, ssize_t n)
{
	return n == DIGEST_HEX - 1 && strspn(text, "0123456789abcdef") == DIGEST_HEX - 1;
}

static int find(int dir, const char *name, char hex[static DIGEST_HEX])
{
	char text[DIGEST_HEX + 8];
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (file_check_ours(fd, name, NULL) < 0)
		return -ENOENT;
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	if (!is_digest(text, n)) /* what cannot be read is made anew, beside it */
		return -ENOENT;
	memcpy(hex, text, DIGEST_HEX);
	return 0;
}

int digest_cache_find(const struct statedir *s, int proc, const char *link,
		      char hex[static DIGEST_HEX], struct err *err)
{
	char name[NAME_MAX_BYTES];
	AUTO_FD dir = -1;
	int r = name_of(proc, link, name, err);

	if (r)
		return r;
	dir = openat(statedir_fd(s), "digests", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir < 0 ? -errno : find(dir, name, hex);
}

static void remember(int dir, const char *name, const char *hex)
{
	struct outfile f = {0};

	if (outfile_create(dir, name, &f, NULL) < 0)
		return;
	fputs(hex, f.stream);
	outfile_finish(&f, NULL);
	outfile_discard(&f);
}

int digest_cache_make(const struct statedir *s, int proc, const char *link,
		      char hex[static DIGEST_HEX], struct err *err)
{
	char name[NAME_MAX_BYTES], after[NAME_MAX_BYTES];
	AUTO_FD dir = -1;
	int r = name_of(proc, link, name, err);

	if (!r)
		r = statedir_subdir(s, "digests", &dir, err);
	if (r || find(dir, name, hex) == 0)
		return r;
	r = digest_link(proc, link, hex, err);
	/* not where it became another file meanwhile (an exec) */
	if (!r && name_of(proc, link, after, NULL) == 0 && strcmp(name, after) == 0)
		remember(dir, name, hex);
	return r;
}
