#include "record/statedir.h"

#include "base/clock.h"
#include "base/file.h"
#include "record/statedir_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBE ".probe-"

struct statedir {
	char *path;
	int fd;
	enum statedir_use use;
};

struct statedir_env statedir_env_current(const char *option)
{
	return (struct statedir_env){
		.option = option,
		.stray_state_dir = getenv("STRAY_STATE_DIR"),
		.xdg_state_home = getenv("XDG_STATE_HOME"),
		.home = getenv("HOME"),
		.xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
		.euid = geteuid(),
	};
}

static bool is_absolute(const char *path)
{
	return path && path[0] == '/';
}

int statedir_choose(const struct statedir_env *env, char **path, struct err *err)
{
	int n;

	if (env->option && !*env->option)
		return err_set(err, EINVAL, "--state-dir: the name of a directory is missing");
	if (env->option)
		n = asprintf(path, "%s", env->option);
	else if (env->stray_state_dir && *env->stray_state_dir)
		n = asprintf(path, "%s", env->stray_state_dir);
	else if (env->euid == 0)
		n = asprintf(path, "/var/lib/stray");
	else if (is_absolute(env->xdg_state_home))
		n = asprintf(path, "%s/stray", env->xdg_state_home);
	else if (is_absolute(env->home))
		n = asprintf(path, "%s/.local/state/stray", env->home);
	else if (is_absolute(env->xdg_runtime_dir))
		n = asprintf(path, "%s/stray", env->xdg_runtime_dir);
	else
		return err_set(err, ENOENT,
			       "no state directory: neither XDG_STATE_HOME, HOME nor "
			       "XDG_RUNTIME_DIR is set: say which with --state-dir DIR");
	if (n < 0) {
		*path = NULL;
		return err_nomem(err);
	}
	return 0;
}

static char *absolute(const char *path)
{
	AUTO_FREE char *cwd = NULL;
	char *out = NULL;

	if (is_absolute(path))
		return strdup(path);
	cwd = getcwd(NULL, 0);
	if (!cwd || asprintf(&out, "%s/%s", cwd, path) < 0)
		return NULL;
	return out;
}

int statedir_open(const char *path, enum statedir_use use, struct statedir **out, struct err *err)
{
	AUTO_FREE char *full = absolute(path);
	AUTO_FREE struct statedir *s = calloc(1, sizeof(*s));
	int r;

	if (!full || !s)
		return err_nomem(err);
	r = statedir_walk(full, use, &s->fd, err);
	if (r < 0)
		return r;
	s->path = full;
	s->use = use;
	*out = s;
	full = NULL;
	s = NULL;
	return 0;
}

void statedir_close(struct statedir *s)
{
	if (!s)
		return;
	close(s->fd);
	free(s->path);
	free(s);
}

int statedir_copy(const struct statedir *s, struct statedir **out, struct err *err)
{
	struct statedir *copy = calloc(1, sizeof(*copy));

	if (copy)
		copy->path = strdup(s->path);
	if (!copy || !copy->path) {
		free(copy);
		return err_nomem(err);
	}
	copy->use = s->use;
	copy->fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
	if (copy->fd < 0) {
		free(copy->path);
		free(copy);
		return err_errno(err, errno, "%.150s", s->path);
	}
	*out = copy;
	return 0;
}

const char *statedir_path(const struct statedir *s)
{
	return s->path;
}

int statedir_fd(const struct statedir *s)
{
	return s->fd;
}

int statedir_subdir(const struct statedir *s, const char *name, int *fd, struct err *err)
{
	AUTO_FREE char *path = NULL;
	bool made;

	if (asprintf(&path, "%s/%s", s->path, name) < 0) {
		path = NULL;
		return err_nomem(err);
	}
	made = s->use == STATEDIR_WRITE && mkdirat(s->fd, name, 0700) == 0;
	if (s->use == STATEDIR_WRITE && !made && errno != EEXIST)
		return err_errno(err, errno, "%.150s: cannot be made", path);
	if (made && fsync(s->fd) < 0)
		return err_errno(err, errno, "%.150s", s->path);
	return statedir_enter(s->fd, name, path, s->use, fd, err);
}

/* 0 or -errno */
static int write_and_sync(int fd)
{
	static const char block[4096];

	for (size_t done = 0; done < STATEDIR_PROBE_BYTES; done += sizeof(block)) {
		ssize_t n = write(fd, block, sizeof(block));

		if (n < 0)
			return -errno;
		if ((size_t)n < sizeof(block)) /* what follows would say why; this is why */
			return -ENOSPC;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/*
 * Who writes one holds its lock, which goes with him: of one that can be locked he was killed.
 * That holds for who is in another PID namespace, too.
 */
static void sweep_probe(int dir, const char *name)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, name, 0);
}

static void sweep_probes(const struct statedir *s)
{
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		file_close_fd(&fd);
		return;
	}
	while ((e = readdir(dir)))
		if (strncmp(e->d_name, PROBE, sizeof(PROBE) - 1) == 0)
			sweep_probe(s->fd, e->d_name);
	closedir(dir);
}

int statedir_probe_writable(const struct statedir *s, struct err *err)
{
	char name[48];
	int fd, r;

	sweep_probes(s);
	/* of one PID there may be two, in two namespaces */
	snprintf(name, sizeof(name), PROBE "%d-%" PRIx64, (int)getpid(), clock_boot_ns());
	fd = openat(s->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, errno, "%.150s: nothing can be recorded", s->path);
	flock(fd, LOCK_EX | LOCK_NB);
	r = write_and_sync(fd);
	close(fd);
	/* between its making and its lock another may have taken it for a dead one's */
	if (unlinkat(s->fd, name, 0) < 0 && errno != ENOENT && r == 0)
		r = -errno;
	return r < 0 ? err_errno(err, -r, "%.150s: nothing can be recorded", s->path) : 0;
}
