/* The unit that is a cgroup: unit.h. */
#include "base/file.h"
#include "base/proc_stat.h"
#include "base/vec.h"
#include "contain/cgroup.h"
#include "contain/unit_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PROCS_MAX (4u << 20)
#define DEPTH_MAX 64 /* of cgroups that members make in theirs */
#define PREFIX "stray-"

bool unit_has_path(const struct unit *u, const char *path)
{
	size_t n = strlen(u->path);

	return strncmp(path, u->path, n) == 0 && (!path[n] || path[n] == '/');
}

/* 0: of a PID namespace that is not ours to see. */
static int list_pids(const struct unit *u, int dir, struct pid_list *out, struct err *err)
{
	AUTO_FREE char *text = NULL;
	ssize_t n = file_read_all_at(dir, "cgroup.procs", PROCS_MAX, &text);
	char *at = text, *end;

	out->n = 0;
	if (n < 0) /* EOPNOTSUPP: a threaded cgroup, whose processes its domain lists */
		return n == -ENODEV || n == -ENOENT || n == -EOPNOTSUPP
			       ? 0
			       : err_errno(err, (int)-n, "cgroup.procs of %.150s", u->path);
	for (; *at; at = *end ? end + 1 : end) {
		pid_t pid = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		if (pid > 1 && !VEC_PUSH(out, pid))
			return err_nomem(err);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(pid_t), pid_order);
	return 0;
}

/* It is in u though not in the cgroup it was listed in: it was moved meanwhile. */
static bool has_moved_within(const struct unit *u, struct identity id)
{
	char path[PATH_MAX];
	struct proc_stat st;

	/* its start was read before and is after: what was read in between is of that process */
	return cgroup_path_of(id.pid, NULL, path, sizeof(path), NULL) >= 0 &&
	       unit_has_path(u, path) && proc_stat_read_same(id.pid, id.start, &st) == 0;
}

/* What is listed, and where to. */
struct listing {
	unit_holder_fn *holder;
	void *ctx;
	struct identity_list *out;
};

/* Each that is listed before and after its start time was read is a member of that start: should
 * its number have changed hands in between, and back, the one that was read is dead. */
static int add_listed(const struct unit *u, int dir, const struct listing *l, struct err *err)
{
	struct identity_list *out = l->out;
	struct pid_list before = {0}, after = {0};
	size_t first = out->n, kept = out->n;
	int r = list_pids(u, dir, &before, err);

	for (size_t i = 0; !r && i < before.n; i++) {
		struct identity id =
			l->holder ? l->holder(l->ctx, before.v[i]) : (struct identity){0};
		struct proc_stat st = {0};
		int got = identity_known(id) ? 0 : proc_stat_read(before.v[i], &st);

		if (file_exhausted(got))
			r = err_errno(err, -got, "/proc/%d/stat", (int)before.v[i]);
		if (got < 0 && !file_exhausted(got) && !proc_is_gone(before.v[i]))
			out->hidden++; /* the dead are not listed */
		if (got < 0 || proc_stat_dead(&st))
			continue;
		if (!identity_known(id))
			id = (struct identity){before.v[i], st.start};
		if (!identity_list_add(out, id))
			r = err_nomem(err);
	}
	if (!r && out->n > first)
		r = list_pids(u, dir, &after, err);
	for (size_t i = first; !r && i < out->n; i++)
		if (pid_listed(&after, out->v[i].pid) || has_moved_within(u, out->v[i]))
			out->v[kept++] = out->v[i];
	if (!r)
		out->n = kept;
	free(before.v);
	free(after.v);
	return r;
}

/* fn for each cgroup below dir, the innermost first. */
static int each_below(int dir, unsigned depth,
		      int (*fn)(const struct unit *u, int parent, const char *name, int dir,
				void *ctx, struct err *err),
		      const struct unit *u, void *ctx, struct err *err)
{
	const struct dirent *e;
	DIR *d;
	int fd, r = 0;

	if (depth >= DEPTH_MAX)
		return 0;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) { /* it went */
		r = file_exhausted(-errno) ? err_errno(err, errno, "cgroups below") : 0;
		file_close_fd(&fd);
		return r;
	}
	while (!r && (e = readdir(d))) {
		AUTO_FD inner = -1;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		inner = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner < 0) {
			if (file_exhausted(-errno))
				r = err_errno(err, errno, "cgroup %.150s", e->d_name);
			continue;
		}
		r = each_below(inner, depth + 1, fn, u, ctx, err);
		if (!r)
			r = fn(u, dir, e->d_name, inner, ctx, err);
	}
	closedir(d);
	return r;
}

static int list_one(const struct unit *u, int parent, const char *name, int dir, void *ctx,
		    struct err *err)
{
	(void)parent;
	(void)name;
	return add_listed(u, dir, ctx, err);
}

int unit_cgroup_members(const struct unit *u, unit_holder_fn *holder, void *ctx,
			struct identity_list *out, struct err *err)
{
	struct listing l = {holder, ctx, out};
	int r = add_listed(u, u->dir, &l, err);

	return r ? r : each_below(u->dir, 0, list_one, u, &l, err);
}

int unit_cgroup_is_empty(const struct unit *u, struct err *err)
{
	char text[256];
	ssize_t n;

	if (u->events < 0)
		return 1;
	n = pread(u->events, text, sizeof(text) - 1, 0);
	if (n < 0)
		return errno == ENODEV ? 1 : err_errno(err, errno, "cgroup %.150s", u->path);
	text[n] = '\0';
	return strstr(text, "populated 0") != NULL;
}

static int remove_one(const struct unit *u, int parent, const char *name, int dir, void *ctx,
		      struct err *err)
{
	(void)u;
	(void)dir;
	(void)ctx;
	(void)err;
	unlinkat(parent, name, AT_REMOVEDIR);
	return 0;
}

void unit_hear(struct unit *u)
{
	char text[256];

	if (u->events >= 0 && pread(u->events, text, sizeof(text), 0) < 0 && errno == ENODEV)
		file_close_fd(&u->events);
}

void unit_cgroup_remove(struct unit *u)
{
	AUTO_FD parent = openat(u->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name = strrchr(u->path, '/');

	each_below(u->dir, 0, remove_one, u, NULL, NULL);
	if (parent >= 0 && name)
		unlinkat(parent, name + 1, AT_REMOVEDIR);
}

/* NAME-PID-START of a process that is gone. */
static bool is_left(const char *name)
{
	const char *start = strrchr(name, '-'), *pid = start;
	struct proc_stat st;
	long n;

	while (pid && pid > name && pid[-1] != '-')
		pid--;
	if (!pid || pid == name)
		return false;
	n = strtol(pid, NULL, 10);
	if (n <= 1)
		return false;
	return proc_stat_read_same((pid_t)n, strtoull(start + 1, NULL, 10), &st) == -ESRCH;
}

static int sweep_one(const struct unit *u, int parent, const char *name, int dir, void *ctx,
		     struct err *err)
{
	(void)u;
	(void)dir;
	(void)ctx;
	(void)err;
	/* EBUSY where anybody is in it: rmdir(2) never removes one that is in use */
	if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) == 0 && is_left(name))
		unlinkat(parent, name, AT_REMOVEDIR);
	return 0;
}

/* What strays that are gone have left in it.  One below it is one more link to it: a directory of
 * that file system is long in reading (fs/kernfs/dir.c). */
static void sweep(int parent)
{
	struct stat st;

	if (fstat(parent, &st) < 0 || st.st_nlink > 2)
		each_below(parent, DEPTH_MAX - 1, sweep_one, NULL, NULL, NULL);
}

int unit_cgroup_make(struct unit *u, const char *id, struct identity owner, struct err *err)
{
	char own[PATH_MAX], name[NAME_MAX + 1];
	AUTO_FD parent = -1;
	int r = cgroup_path_of(getpid(), NULL, own, sizeof(own), err);
	size_t n;

	if (r < 0)
		return r;
	parent = cgroup_open(own, NULL, err);
	if (parent < 0)
		return parent;
	sweep(parent);
	snprintf(name, sizeof(name), PREFIX "%s-%d-%llu", id, (int)owner.pid,
		 (unsigned long long)owner.start);
	n = strlen(own);
	if (snprintf(u->path, sizeof(u->path), "%s%s%s", own, own[n - 1] == '/' ? "" : "/", name) >=
	    (int)sizeof(u->path))
		return err_errno(err, ENAMETOOLONG, "cgroup %.100s", own);
	if (mkdirat(parent, name, 0755) < 0)
		return err_errno(err, errno, "no cgroup can be made in %.150s", own);
	u->dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	u->events = u->dir < 0 ? -1 : openat(u->dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	u->freeze = u->events < 0 ? -1 : openat(u->dir, "cgroup.freeze", O_WRONLY | O_CLOEXEC);
	/* and that it can be ended in one act (Linux 5.14), or it is no better than a tree */
	u->kill = u->freeze < 0 ? -1 : openat(u->dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	if (u->kill < 0) {
		r = err_errno(err, errno, "cgroup %.150s", u->path);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	return r;
}
