#include "source/details_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mask.h"
#include "base/proc_stat.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#define CGROUP_MAX (1u << 20)  /* a line a hierarchy, each with a path */
#define CMDLINE_MAX (8u << 20) /* beyond ARG_MAX of any common limit: execve(2) */

int details_open(struct details_reader *r, int proc_fd, const struct source_options *options,
		 struct err *err)
{
	r->proc_fd = proc_fd;
	r->options = options;
	r->pulse = options->pulse ? options->pulse : &r->own;
	r->buf_size = 64 << 10;
	r->buf = malloc(r->buf_size);
	return r->buf ? 0 : err_nomem(err);
}

void details_close(struct details_reader *r)
{
	free(r->buf);
	r->buf = NULL;
}

static unsigned bit_number(unsigned bit)
{
	return (unsigned)__builtin_ctz(bit);
}

static void note_unread(struct detail *d, unsigned bit, int r)
{
	if (r < 0)
		d->unread[bit_number(bit)] = (unsigned char)(-r < 256 ? -r : EIO);
}

ssize_t details_read_whole(struct details_reader *r, int dir, const char *name, size_t max)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t used = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		size_t room = r->buf_size - 1 - used;
		ssize_t n = read(fd, r->buf + used, room);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		used += (size_t)n;
		if ((size_t)n < room || used >= max)
			break;
		if (used == r->buf_size - 1) {
			char *grown = realloc(r->buf, r->buf_size * 2);

			if (!grown)
				return -ENOMEM;
			r->buf = grown;
			r->buf_size *= 2;
		}
	}
	r->buf[used] = '\0';
	return (ssize_t)used;
}

static int read_comm(struct details_reader *r, int dir, struct detail *d, const char *comm)
{
	ssize_t n;

	/* libproc2 replaces odd bytes by '?' and '.': without them it is exact */
	if (comm && *comm && !strpbrk(comm, "?."))
		return bytes_set(&d->comm, comm, strlen(comm)) ? 0 : -ENOMEM;
	n = file_read_at(dir, "comm", r->buf, r->buf_size);
	if (n < 0)
		return (int)n;
	if (n && r->buf[n - 1] == '\n')
		n--;
	return bytes_set(&d->comm, r->buf, (size_t)n) ? 0 : -ENOMEM;
}

/* Keeps head and tail of what is longer than wanted, cut at arguments' ends. */
static size_t keep_ends(char *buf, size_t len, size_t keep)
{
	static const char gap[] = "[...]";
	size_t head = keep / 2, tail = keep - head;
	size_t from;

	if (!keep || len <= keep + sizeof(gap) + 1) /* the gap would save nothing */
		return len;
	from = len - tail;
	buf[head++] = '\0';
	memcpy(buf + head, gap, sizeof(gap));
	head += sizeof(gap);
	memmove(buf + head, buf + from, tail);
	return head + tail;
}

static int read_cmdline(struct details_reader *r, int dir, struct detail *d)
{
	ssize_t n = details_read_whole(r, dir, "cmdline", CMDLINE_MAX);
	size_t len;

	if (n < 0)
		return (int)n;
	d->cmdline_total = (size_t)n;
	if (r->options->unmask) {
		len = keep_ends(r->buf, (size_t)n, r->options->cmdline_keep);
		return bytes_set(&d->cmdline, r->buf, len) ? 0 : -ENOMEM;
	}
	if (mask_args(r->buf, (size_t)n, &d->cmdline, NULL) < 0)
		return -ENOMEM;
	d->cmdline_total = d->cmdline.len; /* what is masked is not thereby cut */
	len = keep_ends(d->cmdline.data, d->cmdline.len, r->options->cmdline_keep);
	if (len < d->cmdline.len) {
		char *shorter;

		d->cmdline.len = len;
		d->cmdline.data[d->cmdline.len] = '\0';
		shorter = realloc(d->cmdline.data, d->cmdline.len + 1);
		if (shorter)
			d->cmdline.data = shorter;
	}
	return 0;
}

/*
 * Which line of /proc/PID/cgroup (cgroups(7)) tells most: the v2 path, unless it is
 * "/" beside v1 hierarchies; then name=systemd, then the longest path.
 */
static int read_cgroup(struct details_reader *r, int dir, struct detail *d)
{
	ssize_t n = details_read_whole(r, dir, "cgroup", CGROUP_MAX);
	const char *best = NULL;
	int best_rank = -1;
	bool v2 = false;

	if (n < 0)
		return (int)n;
	for (char *line = r->buf, *next; line && *line; line = next) {
		char *first = strchr(line, ':'), *path = first ? strchr(first + 1, ':') : NULL;
		int rank = 0;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!path)
			continue;
		path++;
		if (strcmp(path, "/") != 0)
			rank = strncmp(line, "0::", 3) == 0     ? 3
			       : strstr(line, ":name=systemd:") ? 2
								: 1;
		if (rank > best_rank ||
		    (rank == 1 && best_rank == 1 && strlen(path) > strlen(best))) {
			best = path;
			best_rank = rank;
			v2 = strncmp(line, "0::", 3) == 0;
		}
	}
	if (!best)
		return -ENODATA;
	d->cgroup_v2 = v2;
	return bytes_set(&d->cgroup, best, strlen(best)) ? 0 : -ENOMEM;
}

/* A link's target and whether its file was deleted (" (deleted)" behind it). */
static int read_link(struct details_reader *r, int dir, const char *name, struct bytes *out,
		     bool *deleted)
{
	ssize_t n = readlinkat(dir, name, r->buf, DETAILS_LINK_MAX);
	size_t tail = sizeof(DETAILS_DELETED) - 1;

	if (n < 0)
		return -errno;
	*deleted = (size_t)n > tail && memcmp(r->buf + n - tail, DETAILS_DELETED, tail) == 0;
	if (*deleted) { /* a living file can be named so too: then it exists */
		struct stat st;

		if (fstatat(dir, name, &st, 0) == 0 && st.st_nlink > 0)
			*deleted = false;
		else
			n -= (ssize_t)tail;
	}
	return bytes_set(out, r->buf, (size_t)n) ? 0 : -ENOMEM;
}

static int read_exe(struct details_reader *r, int dir, struct detail *d, bool inode)
{
	struct stat st;
	int rc = read_link(r, dir, "exe", &d->exe, &d->exe_deleted);

	if (rc < 0)
		return rc;
	if (inode && fstatat(dir, "exe", &st, 0) == 0) {
		d->exe_dev = st.st_dev;
		d->exe_inode = st.st_ino;
	}
	return 0;
}

static const char *field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? at + strlen(name) : NULL;
}

static uint64_t hex_field(const char *status, const char *name)
{
	const char *at = field(status, name);

	return at ? strtoull(at, NULL, 16) : 0;
}

static const char *user_name(struct details_reader *r, uid_t uid)
{
	struct passwd pw, *found = NULL;
	char buf[4096];
	unsigned slot;

	for (unsigned i = 0; i < r->n_users; i++)
		if (r->users[i].uid == uid)
			return r->users[i].name;
	slot = r->n_users < 16 ? r->n_users++ : (unsigned)uid % 16;
	r->users[slot].uid = uid;
	if (getpwuid_r(uid, &pw, buf, sizeof(buf), &found) == 0 && found)
		snprintf(r->users[slot].name, sizeof(r->users[slot].name), "%s", found->pw_name);
	else
		snprintf(r->users[slot].name, sizeof(r->users[slot].name), "%u", uid);
	return r->users[slot].name;
}

static int name_user(struct details_reader *r, struct detail *d)
{
	const char *name = d->euid == (uid_t)-1 ? NULL : user_name(r, d->euid);

	return !name || bytes_set(&d->user, name, strlen(name)) ? 0 : -ENOMEM;
}

/* Who a process runs as is the owner of its directory, brought up to date when it is opened
 * (fs/proc/base.c, pid_revalidate). */
static uid_t owner(int dir)
{
	struct stat st;

	return dir >= 0 && fstat(dir, &st) == 0 ? st.st_uid : (uid_t)-1;
}

/* The Name: line is the process's own choice (the kernel escapes its newlines): look behind it. */
static int read_status(struct details_reader *r, int dir, struct detail *d)
{
	ssize_t n = file_read_at(dir, "status", r->buf, r->buf_size);
	const char *s, *at;

	if (n < 0)
		return (int)n;
	s = strchr(r->buf, '\n');
	if (!s)
		return -ENODATA;
	at = field(s, "\nUid:");
	if (at && sscanf(at, "%u %u", &d->uid, &d->euid) != 2)
		return -ENODATA;
	at = field(s, "\nTracerPid:");
	d->tracer = at ? (pid_t)strtol(at, NULL, 10) : -1;
	d->sig_pending = hex_field(s, "\nSigPnd:") | hex_field(s, "\nShdPnd:");
	d->sig_blocked = hex_field(s, "\nSigBlk:");
	d->sig_ignored = hex_field(s, "\nSigIgn:");
	d->sig_caught = hex_field(s, "\nSigCgt:");
	at = field(s, "\nNSpid:");
	while (at && d->n_nspid < PROCESS_NSPID_MAX) {
		char *end;
		long v = strtol(at, &end, 10);

		if (end == at || memchr(at, '\n', (size_t)(end - at)))
			break;
		d->nspid[d->n_nspid++] = (pid_t)v;
		at = end;
	}
	return 0;
}

static int64_t read_number(struct details_reader *r, int dir, const char *name, int *rc)
{
	ssize_t n = file_read_at(dir, name, r->buf, r->buf_size);
	uint64_t v;

	if (n < 0) {
		*rc = (int)n;
		return -2;
	}
	v = strtoull(r->buf, NULL, 10);
	return v == UINT32_MAX ? -1 : (int64_t)v; /* (unsigned)-1: unset */
}

static int read_login(struct details_reader *r, int dir, struct detail *d)
{
	int rc = 0;

	d->audit_session = read_number(r, dir, "sessionid", &rc);
	d->login_uid = read_number(r, dir, "loginuid", &rc);
	/* a kernel without CONFIG_AUDIT has neither file: nothing to be read */
	return rc == -ENOENT ? 0 : rc;
}

static int read_wchan(struct details_reader *r, int dir, struct detail *d)
{
	ssize_t n = file_read_at(dir, "wchan", r->buf, r->buf_size);

	if (n < 0)
		return (int)n;
	if (n == 1 && r->buf[0] == '0')
		n = 0;
	return bytes_set(&d->wchan, r->buf, (size_t)n) ? 0 : -ENOMEM;
}

static int read_ns(int dir, struct detail *d)
{
	int rc = 0;

	for (int i = 0; i < NS_COUNT; i++) {
		char name[16], target[64];
		ssize_t n;
		const char *at;

		snprintf(name, sizeof(name), "ns/%s", ns_name(i));
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		if (n < 0) {
			if (errno != ENOENT) /* a kernel without that kind */
				rc = -errno;
			continue;
		}
		target[n] = '\0';
		at = strchr(target, '[');
		d->ns[i] = at ? strtoull(at + 1, NULL, 10) : 0;
	}
	return rc;
}

/*
 * A dead leader's process lives while other threads do: the state is that of the
 * first living thread (proc(5), /proc/PID/task).
 */
void details_correct_state(struct details_reader *r, struct process *p)
{
	DIR *tasks = NULL;
	char path[32];
	int fd;

	if (p->state != 'Z' || p->threads < 2)
		return;
	snprintf(path, sizeof(path), "%d/task", p->id.pid);
	fd = openat(r->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		tasks = fdopendir(fd);
	if (!tasks) {
		file_close_fd(&fd);
		return;
	}
	for (struct dirent *e; (e = readdir(tasks));) {
		char name[NAME_MAX + 8];
		struct proc_stat st;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(name, sizeof(name), "%s/stat", e->d_name);
		if (proc_stat_read_at(dirfd(tasks), name, &st) == 0 && st.state != 'Z' &&
		    st.state != 'X') {
			p->state = st.state;
			break;
		}
	}
	closedir(tasks);
}

/*
 * ESRCH of one file is not the process's end: a dead leader whose threads live
 * on has no environment and no executable of its own any more.
 */
static bool still_there(int dir)
{
	char c[2];

	return file_read_at(dir, "stat", c, sizeof(c)) > 0;
}

static bool is_avoided(const struct details_reader *r, pid_t pid)
{
	for (size_t i = 0; i < r->options->n_avoid; i++)
		if (r->options->avoid[i] == pid)
			return true;
	return false;
}

static void note_all_unread(struct detail *d, unsigned bits, int r)
{
	d->have |= bits;
	for (unsigned b = 0; b < DETAIL_COUNT; b++)
		if (bits & 1u << b)
			note_unread(d, 1u << b, r);
}

/* Who sees the PID sees since when. */
static void begin_reading(struct details_reader *r, pid_t pid)
{
	atomic_store_explicit(&r->pulse->since_ns, clock_boot_ns(), memory_order_relaxed);
	atomic_store_explicit(&r->pulse->pid, pid, memory_order_release);
}

static void tell_reading(struct details_reader *r, unsigned bit)
{
	atomic_store_explicit(&r->pulse->bit, bit, memory_order_relaxed);
}

static void end_reading(struct details_reader *r)
{
	atomic_store_explicit(&r->pulse->pid, 0, memory_order_relaxed);
}

/* One detail, with what is being read told to whoever watches for hanging reads. */
#define READ(bit, call)                                         \
	do {                                                    \
		if (bits & (bit)) {                             \
			int rc_;                                \
			tell_reading(r, bit);                   \
			rc_ = call;                             \
			d->have |= (bit);                       \
			if (rc_ == -ENOMEM)                     \
				goto nomem;                     \
			if (rc_ == -ESRCH && !still_there(dir)) \
				goto gone;                      \
			note_unread(d, bit, rc_);               \
		}                                               \
	} while (0)

/* A descriptor of /proc/PID; -ESRCH, or why it cannot be had of one that is there. */
static int open_process(const struct details_reader *r, pid_t pid)
{
	char name[16];
	int dir;

	snprintf(name, sizeof(name), "%d", pid);
	dir = openat(r->proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir >= 0 ? dir : errno == ENOENT ? -ESRCH : -errno;
}

/* dir: as open_process() returned it. */
static int read_below(struct details_reader *r, int dir, struct process *p, const char *comm,
		      unsigned bits)
{
	struct detail *d = detail_new();
	int rc = -ESRCH;

	if (!d)
		return -ENOMEM;
	if (dir < 0) { /* there, and not readable: that is not to have ended */
		note_all_unread(d, bits, dir);
		bits = 0;
	}
	/* kernel threads and the dead have none of these: empty, and known to be */
	if (process_is_kthread(p) || process_is_dead(p)) {
		unsigned none =
			DETAIL_CMDLINE | DETAIL_EXE | DETAIL_CWD | DETAIL_ENVIRON | DETAIL_STDIO;

		d->have |= bits & none;
		bits &= ~none;
		if (!bytes_set(&d->cmdline, "", 0))
			goto nomem;
	}
	if (is_avoided(r, p->id.pid)) {
		note_all_unread(d, bits, -ETIMEDOUT);
		bits = 0;
	}
	begin_reading(r, p->id.pid);
	READ(DETAIL_COMM, read_comm(r, dir, d, comm));
	READ(DETAIL_CMDLINE, read_cmdline(r, dir, d));
	READ(DETAIL_CGROUP, read_cgroup(r, dir, d));
	READ(DETAIL_EXE, read_exe(r, dir, d, bits & DETAIL_NS));
	READ(DETAIL_CWD, read_link(r, dir, "cwd", &d->cwd, &d->cwd_deleted));
	READ(DETAIL_ENVIRON, details_read_environ(r, dir, d));
	READ(DETAIL_STATUS, read_status(r, dir, d));
	READ(DETAIL_LOGIN, read_login(r, dir, d));
	READ(DETAIL_WCHAN, read_wchan(r, dir, d));
	READ(DETAIL_NS, read_ns(dir, d));
	READ(DETAIL_STDIO, details_read_stdio(r, dir, p, d));
	end_reading(r);
	if (d->euid == (uid_t)-1)
		d->euid = owner(dir);
	if (!r->options->lean && name_user(r, d) < 0)
		goto nomem;
	detail_unref(p->detail);
	p->detail = detail_pack(d);
	return 0;
nomem:
	rc = -ENOMEM;
gone:
	end_reading(r);
	detail_unref(d);
	return rc;
}

int details_read(struct details_reader *r, struct process *p, const char *comm, unsigned bits)
{
	int dir = open_process(r, p->id.pid), rc;

	rc = dir == -ESRCH ? dir : read_below(r, dir, p, comm, bits);
	file_close_fd(&dir);
	return rc;
}

int details_read_process(struct details_reader *r, struct process *p, unsigned bits)
{
	AUTO_FD dir = open_process(r, p->id.pid);
	const uint64_t start = p->id.start;
	char buf[PROC_STAT_MAX];
	struct proc_stat st;
	const char *comm;
	int rc = dir < 0 ? dir : proc_stat_read_text(dir, "stat", buf);

	if (rc < 0)
		return rc;
	if (proc_stat_parse(buf, &st, &comm) < 0)
		return -EPROTO;
	if (st.start != start)
		return -ESRCH;
	process_take_stat(p, &st);
	details_correct_state(r, p);
	p->owner = owner(dir);
	return bits ? read_below(r, dir, p, comm, bits) : 0;
}
