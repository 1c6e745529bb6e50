#include "record/statedir_walk.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel's own: path_resolution(7) */
#define OTHER_DIR "choose another with --state-dir DIR"

struct walk {
	const char *path; /* the whole, for the text of an error */
	enum statedir_use use;
	int fd;              /* where we are, O_PATH */
	char rest[PATH_MAX]; /* what is left to walk */
	unsigned links;
};

/*
 * Whether all uids of the machine are mapped here.  In another user namespace
 * root's own files look like nobody's, and root here is not root.
 */
static bool sees_all_uids(void)
{
	unsigned inside = 1, outside = 1, count = 0;
	char map[128];

	if (file_read_at(AT_FDCWD, "/proc/self/uid_map", map, sizeof(map)) < 0)
		return false;
	return sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 &&
	       outside == 0 && count == UINT32_MAX;
}

static uid_t overflow_uid(void)
{
	char text[32];
	unsigned uid;

	if (file_read_at(AT_FDCWD, "/proc/sys/kernel/overflowuid", text, sizeof(text)) < 0 ||
	    sscanf(text, "%u", &uid) != 1)
		uid = 65534;
	return uid;
}

/* Owned by root or by us: whoever could put it there needs no such trick. */
static bool is_trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid() || (owner == overflow_uid() && !sees_all_uids());
}

/* In a sticky directory others can make files, but cannot touch ours. */
static bool others_can_write(const struct stat *st)
{
	return !(st->st_mode & S_ISVTX) &&
	       (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != 0));
}

/* Root writes nothing where another user can: that one could take it away, or
 * put another in its place. */
static int check_may_make(const struct walk *w, struct err *err)
{
	struct stat st;

	if (geteuid() != 0)
		return 0;
	if (fstat(w->fd, &st) < 0)
		return err_errno(err, errno, "state directory %.150s", w->path);
	if (is_trusted(st.st_uid) && !others_can_write(&st))
		return 0;
	return err_set(err, EPERM,
		       "state directory %.150s: would have to be made where uid %" PRIu32
		       " can write (mode %04o), which root does not: " OTHER_DIR,
		       w->path, (uint32_t)st.st_uid, (unsigned)st.st_mode & 07777);
}

static int make(const struct walk *w, const char *name, struct err *err)
{
	AUTO_FD parent = -1;
	int r = check_may_make(w, err);

	if (r < 0)
		return r;
	if (mkdirat(w->fd, name, 0700) < 0 && errno != EEXIST)
		return err_errno(err, errno,
				 "state directory %.150s: cannot be made (" OTHER_DIR ")", w->path);
	/* Where the parent is not readable it cannot be synced by us. */
	parent = openat(w->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent >= 0)
		fsync(parent);
	return 0;
}

static int refuse_link(const char *path, const char *what, struct err *err)
{
	return err_set(err, ELOOP,
		       "state directory %.150s: %s: give the directory itself with --state-dir DIR",
		       path, what);
}

static int check_dir(const struct stat *st, const char *path, enum statedir_use use,
		     struct err *err)
{
	bool may_be_others = use == STATEDIR_READ && geteuid() == 0;

	if (S_ISLNK(st->st_mode))
		return refuse_link(path, "is a symbolic link", err);
	if (!S_ISDIR(st->st_mode))
		return err_set(err, ENOTDIR, "state directory %.150s: not a directory: " OTHER_DIR,
			       path);
	if (st->st_uid != geteuid() && !may_be_others)
		return err_set(err, EPERM,
			       "state directory %.150s: belongs to uid %" PRIu32
			       ", not to uid %" PRIu32 ": " OTHER_DIR,
			       path, (uint32_t)st->st_uid, (uint32_t)geteuid());
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, EPERM,
			       "state directory %.150s: others can write to it (mode %04o): "
			       "chmod go-w it, or " OTHER_DIR,
			       path, (unsigned)st->st_mode & 07777);
	return 0;
}

int statedir_enter(int dir, const char *name, const char *path, enum statedir_use use, int *fd,
		   struct err *err)
{
	AUTO_FD at = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (at < 0 || fstat(at, &st) < 0)
		return err_errno(err, errno, "state directory %.150s", path);
	r = check_dir(&st, path, use, err);
	if (r < 0)
		return r;
	*fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? err_errno(err, errno, "state directory %.150s", path) : 0;
}

/* Cuts the first component off w->rest; false: none is left. */
static bool next_component(struct walk *w, char name[static NAME_MAX + 1], bool *last, bool *fits)
{
	char *start = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(start, "/");
	char *after = start + len + strspn(start + len, "/");

	if (!len)
		return false;
	*fits = len <= NAME_MAX;
	if (*fits) {
		memcpy(name, start, len);
		name[len] = '\0';
	}
	*last = !*after;
	memmove(w->rest, after, strlen(after) + 1);
	return true;
}

/* Puts what the link at fd points to before what is left to walk. */
static int follow(struct walk *w, int link, const struct stat *st, struct err *err)
{
	char target[PATH_MAX];
	size_t rest = strlen(w->rest);
	ssize_t n;

	if (!is_trusted(st->st_uid))
		return refuse_link(w->path, "lies behind another user's symbolic link", err);
	if (++w->links > LINKS_MAX)
		return refuse_link(w->path, "lies behind too many symbolic links", err);
	n = readlinkat(link, "", target, sizeof(target));
	if (n < 0)
		return err_errno(err, errno, "state directory %.150s", w->path);
	if ((size_t)n + 1 + rest + 1 > sizeof(w->rest))
		return err_errno(err, ENAMETOOLONG, "state directory %.150s", w->path);
	memmove(w->rest + n + 1, w->rest, rest + 1);
	memcpy(w->rest, target, (size_t)n);
	w->rest[n] = '/';
	if (target[0] != '/')
		return 0;
	close(w->fd);
	w->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->fd < 0 ? err_errno(err, errno, "/") : 0;
}

/* One component that is not the last: into it, or through it. */
static int step(struct walk *w, const char *name, struct err *err)
{
	int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT && w->use == STATEDIR_WRITE) {
		r = make(w, name, err);
		if (r < 0)
			return r;
		fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &st) < 0) {
		r = err_errno(err, errno, "state directory %.150s", w->path);
		file_close_fd(&fd);
		return r;
	}
	if (S_ISLNK(st.st_mode)) {
		r = follow(w, fd, &st, err);
		close(fd);
		return r;
	}
	close(w->fd);
	w->fd = fd;
	return 0;
}

/* The last component is looked at before it is made, so that a link that leads
 * nowhere is refused as a link. */
static int arrive(struct walk *w, const char *name, int *fd, struct err *err)
{
	struct stat st;

	if (fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT &&
	    w->use == STATEDIR_WRITE) {
		int r = make(w, name, err);

		if (r < 0)
			return r;
	}
	return statedir_enter(w->fd, name, w->path, w->use, fd, err);
}

static int walk(struct walk *w, int *fd, struct err *err)
{
	char name[NAME_MAX + 1];
	bool last = false, fits = true;

	while (next_component(w, name, &last, &fits)) {
		int r;

		if (!fits)
			return err_errno(err, ENAMETOOLONG, "state directory %.150s", w->path);
		if (last)
			return arrive(w, name, fd, err);
		r = step(w, name, err);
		if (r < 0)
			return r;
	}
	return err_set(err, EINVAL, "state directory %.150s: cannot be that one: " OTHER_DIR,
		       w->path);
}

int statedir_walk(const char *path, enum statedir_use use, int *fd, struct err *err)
{
	struct walk w = {.path = path, .use = use};
	size_t len = strlen(path);
	int r;

	if (len >= sizeof(w.rest))
		return err_errno(err, ENAMETOOLONG, "state directory");
	memcpy(w.rest, path, len + 1);
	w.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.fd < 0)
		return err_errno(err, errno, "/");
	r = walk(&w, fd, err);
	file_close_fd(&w.fd);
	return r;
}
