#include "source/statfds.h"

#include "base/file.h"
#include "base/proc_stat.h"
#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FDS_SPARE 512 /* of the limit, for all else that is opened */
#define KTHREADS_BYTES_MAX (1u << 20)
#define OWNER_PASSES 8 /* each so many passes the owner is asked for: setuid(2) is rare */

struct kept {
	pid_t pid;
	int fd; /* -1: beyond the limit */
	uid_t owner;
	uint64_t start_stack;
};

struct kept_list {
	struct kept *v;
	size_t n, cap;
};

struct statfds {
	int proc_fd;
	DIR *dir;
	struct kept_list kept, now; /* now: of the pass under way */
	bool keep;
	size_t open, limit;
	unsigned pass;
};

static size_t raise_limit(void)
{
	rlim_t max = file_raise_limit();

	if (max <= FDS_SPARE)
		return 0;
	/* half: who scanned before and hangs (engine/scanner.h) has as many */
	max = (max - FDS_SPARE) / 2;
	return max < STATFDS_MAX ? max : STATFDS_MAX;
}

int statfds_open(int proc_fd, bool keep, struct statfds **out, struct err *err)
{
	struct statfds *s = calloc(1, sizeof(*s));
	int fd;

	if (!s)
		return err_nomem(err);
	s->proc_fd = proc_fd;
	s->keep = keep;
	s->limit = keep ? raise_limit() : 0;
	fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->dir = fd < 0 ? NULL : fdopendir(fd);
	if (!s->dir) {
		int e = errno;

		file_close_fd(&fd);
		free(s);
		return err_errno(err, e, "/proc cannot be listed");
	}
	*out = s;
	return 0;
}

static void close_kept(struct statfds *s, struct kept *k)
{
	if (k->fd < 0)
		return;
	close(k->fd);
	k->fd = -1;
	s->open--;
}

static void close_list(struct statfds *s, struct kept_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		close_kept(s, &l->v[i]);
	l->n = 0;
}

void statfds_close(struct statfds *s)
{
	if (!s)
		return;
	close_list(s, &s->kept);
	close_list(s, &s->now);
	free(s->kept.v);
	free(s->now.v);
	closedir(s->dir);
	free(s);
}

static ssize_t read_stat(int fd, char *buf)
{
	ssize_t n;

	do
		n = pread(fd, buf, PROC_STAT_MAX - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		buf[n] = '\0';
	return n;
}

static int open_stat(struct statfds *s, pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "%d/stat", pid);
	fd = openat(s->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
		return fd;
	/* a process that is not seen for want of descriptors must not be taken for dead */
	s->limit = 0;
	for (size_t i = 0; i < s->kept.n; i++)
		close_kept(s, &s->kept.v[i]);
	for (size_t i = 0; i < s->now.n; i++)
		close_kept(s, &s->now.v[i]);
	return openat(s->proc_fd, path, O_RDONLY | O_CLOEXEC);
}

/* Of a process not kept yet, or no more: k->fd is open where that is within the limit. */
static bool read_anew(struct statfds *s, struct kept *k, char *buf)
{
	int fd = open_stat(s, k->pid);

	if (fd < 0)
		return false;
	if (read_stat(fd, buf) <= 0) {
		close(fd);
		return false;
	}
	if (s->open < s->limit) {
		k->fd = fd;
		s->open++;
	} else {
		close(fd);
	}
	return true;
}

/* Who a process runs as is the owner of its directory, brought up to date when it is looked
 * up (fs/proc/base.c, pid_revalidate): a kept descriptor does not tell. */
static void read_owner(struct statfds *s, struct kept *k)
{
	char path[16];
	struct stat st;

	snprintf(path, sizeof(path), "%d", k->pid);
	if (fstatat(s->proc_fd, path, &st, 0) == 0)
		k->owner = st.st_uid;
}

/* was: of the pass before, or NULL; its descriptor is taken over or closed. */
static int read_one(struct statfds *s, pid_t pid, struct kept *was, pids_fn *fn, void *ctx,
		    struct err *err)
{
	struct kept k = {.pid = pid, .fd = -1};
	struct process p = {.id.pid = pid};
	struct proc_stat st;
	char buf[PROC_STAT_MAX];
	const char *comm;
	bool same = was && was->fd >= 0 && read_stat(was->fd, buf) > 0;

	if (same) {
		k = *was;
		was->fd = -1;
	} else {
		if (was)
			close_kept(s, was);
		if (!read_anew(s, &k, buf))
			return 0;
	}
	if (proc_stat_parse(buf, &st, &comm) < 0) {
		close_kept(s, &k);
		return 0;
	}
	process_take_stat(&p, &st);
	if (s->keep && (!same || k.start_stack != p.start_stack ||
			((unsigned)pid + s->pass) % OWNER_PASSES == 0))
		read_owner(s, &k);
	k.start_stack = p.start_stack;
	p.owner = k.owner;
	if (!VEC_PUSH(&s->now, k)) {
		close_kept(s, &k);
		return err_nomem(err);
	}
	return fn(ctx, &p, comm, err);
}

int statfds_each(struct statfds *s, pids_fn *fn, void *ctx, struct err *err)
{
	struct kept_list swap;
	struct dirent *e;
	size_t from = 0;
	int r = 0;

	s->pass++;
	rewinddir(s->dir);
	while (!r && (e = readdir(s->dir))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;
		struct kept *was;

		if (pid <= 0)
			continue;
		/* both come in ascending order; what is passed over has ended */
		while (from < s->kept.n && s->kept.v[from].pid < pid)
			from++;
		was = from < s->kept.n && s->kept.v[from].pid == pid ? &s->kept.v[from] : NULL;
		r = read_one(s, pid, was, fn, ctx, err);
	}
	close_list(s, &s->kept);
	swap = s->kept;
	s->kept = s->now;
	s->now = swap;
	return r;
}

/* Most of the processes of a quiet host, by one file: kthreadd, which is 2 in the initial PID
 * namespace, is the parent of them all (kernel/kthread.c). */
static bool list_kthreads(struct statfds *s, struct pid_list *out)
{
	AUTO_FREE char *text = NULL;
	struct proc_stat st;
	char *at;
	pid_t pid;

	if (proc_stat_read_at(s->proc_fd, "2/stat", &st) < 0 || !(st.flags & PROCESS_PF_KTHREAD) ||
	    st.ppid ||
	    file_read_all_at(s->proc_fd, "2/task/2/children", KTHREADS_BYTES_MAX, &text) < 0)
		return true;
	at = text;
	while ((pid = proc_next_pid(&at)))
		if (!VEC_PUSH(out, pid))
			return false;
	if (out->n)
		qsort(out->v, out->n, sizeof(pid), pid_order);
	return true;
}

int statfds_list(struct statfds *s, struct pid_list *out, struct err *err)
{
	struct pid_list kthreads = {0};
	bool ok = list_kthreads(s, &kthreads);
	const struct dirent *e;

	rewinddir(s->dir);
	while (ok && (e = readdir(s->dir))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid > 0 && !pid_listed(&kthreads, pid))
			ok = VEC_PUSH(out, pid);
	}
	free(kthreads.v);
	return ok ? 0 : err_nomem(err);
}

int statfds_some(struct statfds *s, const pid_t *pids, size_t n, pids_fn *fn, void *ctx,
		 struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = read_one(s, pids[i], NULL, fn, ctx, err);
	close_list(s, &s->now);
	return r;
}
