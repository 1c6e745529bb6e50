#include "record/outfile.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE 65536 /* a snapshot of a host is some 15 MB: few writes, little memory */

static void forget(struct outfile *f)
{
	if (!f->path) /* never made, or forgotten before */
		return;
	if (f->stream)
		fclose(f->stream);
	if (f->dir >= 0)
		close(f->dir);
	free(f->name);
	free(f->path);
	*f = (struct outfile){.dir = -1};
}

/* Opens the directory that path lies in and keeps its last component. */
static int open_dir(struct outfile *f, int dirfd, struct err *err)
{
	const char *slash = strrchr(f->path, '/');
	AUTO_FREE char *dir = NULL;

	f->name = strdup(slash ? slash + 1 : f->path);
	if (!slash)
		dir = strdup(".");
	else if (slash == f->path)
		dir = strdup("/");
	else
		dir = strndup(f->path, (size_t)(slash - f->path));
	if (!f->name || !dir)
		return err_nomem(err);
	f->dir = openat(dirfd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return err_errno(err, errno, "%.150s", f->path);
	return 0;
}

static int open_file(struct outfile *f, struct err *err)
{
	int fd =
		openat(f->dir, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 && errno == EEXIST)
		return err_set(err, EEXIST,
			       "%.150s: exists, and nothing is overwritten: choose another name",
			       f->path);
	if (fd < 0)
		return err_errno(err, errno, "%.150s", f->path);
	if (fstat(fd, &st) == 0) {
		f->dev = st.st_dev;
		f->inode = st.st_ino;
		f->stream = fdopen(fd, "w");
	}
	if (!f->stream) {
		int code = errno;

		close(fd);
		unlinkat(f->dir, f->name, 0);
		return err_errno(err, code, "%.150s", f->path);
	}
	setvbuf(f->stream, NULL, _IOFBF, BUFFER_SIZE);
	return 0;
}

int outfile_create(int dirfd, const char *path, struct outfile *out, struct err *err)
{
	int r;

	*out = (struct outfile){.dir = -1, .path = strdup(path)};
	if (!out->path)
		return err_nomem(err);
	r = open_dir(out, dirfd, err);
	if (!r)
		r = open_file(out, err);
	if (r < 0)
		forget(out);
	return r;
}

/* 0 or the first -errno of flushing, syncing and closing. */
static int complete(struct outfile *f)
{
	int r = 0;

	if (fflush(f->stream) == EOF)
		r = -errno;
	else if (ferror(f->stream))
		r = -EIO; /* an earlier write failed, its errno is gone */
	if (!r && !f->sync_later)
		r = file_sync(fileno(f->stream));
	if (fclose(f->stream) == EOF && !r)
		r = -errno;
	f->stream = NULL;
	return r || f->sync_later ? r : file_sync(f->dir);
}

static void remove_ours(const struct outfile *f)
{
	struct stat st;

	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == f->dev &&
	    st.st_ino == f->inode)
		unlinkat(f->dir, f->name, 0);
}

int outfile_finish(struct outfile *f, struct err *err)
{
	int r = complete(f);

	if (r < 0) {
		err_errno(err, -r, "%.150s: cannot be written", f->path);
		remove_ours(f);
	}
	forget(f);
	return r;
}

void outfile_discard(struct outfile *f)
{
	if (f->stream)
		remove_ours(f);
	forget(f);
}
