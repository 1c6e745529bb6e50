#include "contain/cgroup.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define FILE_MAX (1u << 20)
#define EVENTS_MAX 256
#define POLL_MAX_MS 1000 /* poll's clock stops with a suspend: look again */

/* The first n bytes of text are the whole of s. */
static bool word_is(const char *text, size_t n, const char *s)
{
	return strlen(s) == n && memcmp(text, s, n) == 0;
}

/* Whether one of the words between commas is s. */
static bool has_word(const char *text, size_t n, const char *s)
{
	while (n) {
		const char *comma = memchr(text, ',', n);
		size_t len = comma ? (size_t)(comma - text) : n;

		if (word_is(text, len, s))
			return true;
		n -= comma ? len + 1 : len;
		text += len + 1;
	}
	return false;
}

static bool is_octal(char c, char last)
{
	return c >= '0' && c <= last;
}

/* Copies a field of mountinfo, in which blanks are \040 and the like.  false: too long. */
static bool copy_unescaped(char out[static PATH_MAX], const char *text, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c == '\\' && i + 3 < n && is_octal(text[i + 1], '3') &&
		    is_octal(text[i + 2], '7') && is_octal(text[i + 3], '7')) {
			c = (char)((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
				   (text[i + 3] - '0'));
			i += 3;
		}
		if (used + 1 >= PATH_MAX)
			return false;
		out[used++] = c;
	}
	out[used] = '\0';
	return true;
}

struct field {
	const char *text;
	size_t n;
};

/* Splits a line at blanks into at most max fields; returns how many. */
static size_t split(const char *line, size_t n, struct field *out, size_t max)
{
	size_t count = 0;

	while (n && count < max) {
		const char *blank = memchr(line, ' ', n);
		size_t len = blank ? (size_t)(blank - line) : n;

		out[count++] = (struct field){line, len};
		n -= blank ? len + 1 : len;
		line += len + 1;
	}
	return count;
}

/* ID PARENT DEV ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER: proc_pid_mountinfo(5) */
static bool parse_mount(const char *line, size_t n, const char *controller,
			struct cgroup_mount *out)
{
	struct field f[32];
	size_t count = split(line, n, f, sizeof(f) / sizeof(f[0])), dash = 6;

	while (dash < count && !word_is(f[dash].text, f[dash].n, "-"))
		dash++;
	if (dash + 3 >= count)
		return false;
	if (!word_is(f[dash + 1].text, f[dash + 1].n, controller ? "cgroup" : "cgroup2"))
		return false;
	if (controller && !has_word(f[dash + 3].text, f[dash + 3].n, controller))
		return false;
	return copy_unescaped(out->root, f[3].text, f[3].n) &&
	       copy_unescaped(out->point, f[4].text, f[4].n);
}

int cgroup_find_mount(const char *mountinfo, const char *controller, struct cgroup_mount *out)
{
	struct cgroup_mount m;
	int r = -ENOENT;

	while (*mountinfo) {
		size_t n = strcspn(mountinfo, "\n");

		if (parse_mount(mountinfo, n, controller, &m) &&
		    (r < 0 || strcmp(m.root, "/") == 0)) {
			*out = m;
			r = 0;
			if (strcmp(m.root, "/") == 0)
				break;
		}
		mountinfo += n + (mountinfo[n] == '\n');
	}
	return r;
}

/* Lines are ID:CONTROLLERS:PATH, 0::PATH for v2; a path ends with its line */
int cgroup_find_path(const char *text, const char *controller, char *out, size_t size)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		const char *list = memchr(text, ':', n);
		const char *path =
			list ? memchr(list + 1, ':', n - (size_t)(list + 1 - text)) : NULL;

		if (path) {
			size_t len = n - (size_t)(++path - text);
			size_t words = (size_t)(path - list) - 2;

			if (controller ? has_word(list + 1, words, controller)
				       : word_is(text, (size_t)(path - text), "0::")) {
				if (len >= size)
					return -ENAMETOOLONG;
				memcpy(out, path, len);
				out[len] = '\0';
				return 0;
			}
		}
		text += n + (text[n] == '\n');
	}
	return -ENOENT;
}

int cgroup_path_of(pid_t pid, const char *controller, char *out, size_t size, struct err *err)
{
	AUTO_FREE char *text = NULL;
	char path[64];
	ssize_t n;
	int r;

	*out = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	n = file_read_all_at(AT_FDCWD, path, FILE_MAX, &text);
	if (n < 0)
		return err_errno(err, (int)-n, "%s", path);
	r = cgroup_find_path(text, controller, out, size);
	return r < 0 ? err_errno(err, -r, "%s", path) : 0;
}

/* Whether a path is absolute and stays below its root; "/../x" is what is outside a namespace. */
static bool is_inside(const char *path)
{
	const char *p = path;

	if (*p != '/')
		return false;
	while ((p = strstr(p, "/.."))) {
		p += 3;
		if (*p == '/' || !*p)
			return false;
	}
	return true;
}

int cgroup_open(const char *path, const char *controller, struct err *err)
{
	AUTO_FREE char *text = NULL;
	char full[2 * PATH_MAX];
	struct cgroup_mount m;
	const char *rest = path;
	size_t root;
	ssize_t n;
	int fd;

	if (!is_inside(path))
		return err_set(err, EINVAL, "cgroup %s: not a path here", path);
	n = file_read_all_at(AT_FDCWD, "/proc/self/mountinfo", FILE_MAX, &text);
	if (n < 0)
		return err_errno(err, (int)-n, "/proc/self/mountinfo");
	if (cgroup_find_mount(text, controller, &m) < 0)
		return err_set(err, ENOENT, "no cgroup %s hierarchy is mounted",
			       controller ? controller : "v2");
	root = strlen(m.root);
	if (root > 1) { /* a part of the hierarchy is mounted: what is not below it is not here */
		if (strncmp(path, m.root, root) != 0 || (path[root] && path[root] != '/'))
			return err_set(err, ENOENT, "cgroup %s: not mounted here", path);
		rest += root;
	}
	if (snprintf(full, sizeof(full), "%s%s", m.point, rest) >= (int)sizeof(full))
		return err_errno(err, ENAMETOOLONG, "cgroup");
	fd = open(full, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, errno, "%s", full) : fd;
}

/* "NAME 0|1" in cgroup.events */
static int event_in(const char *text, const char *name, bool *yes)
{
	size_t n = strlen(name);

	for (const char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (strncmp(p, name, n) == 0 && p[n] == ' ') {
			*yes = p[n + 1] == '1';
			return 0;
		}
	return -ENOENT;
}

static int read_event(int fd, const char *path, const char *name, bool *yes, struct err *err)
{
	char text[EVENTS_MAX];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return err_errno(err, errno, "cgroup.events of %s", path);
	text[n] = '\0';
	if (event_in(text, name, yes) < 0)
		return err_set(err, ENOENT, "cgroup.events of %s has no %s", path, name);
	return 0;
}

static int open_events(const char *path, struct err *err)
{
	AUTO_FD dir = cgroup_open(path, NULL, err);
	int fd;

	if (dir < 0)
		return dir;
	fd = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(err, errno, "cgroup.events of %s", path) : fd;
}

int cgroup_event(const char *path, const char *name, bool *yes, struct err *err)
{
	AUTO_FD fd = open_events(path, err);

	return fd < 0 ? fd : read_event(fd, path, name, yes, err);
}

int cgroup_wait_event(const char *path, const char *name, bool yes, uint64_t deadline_ns,
		      struct err *err)
{
	AUTO_FD fd = open_events(path, err);
	struct pollfd p = {.fd = fd, .events = POLLPRI};
	bool now = !yes;
	int r;

	if (fd < 0)
		return fd;
	while ((r = read_event(fd, path, name, &now, err)) == 0 && now != yes) {
		uint64_t t = clock_boot_ns(), ms;

		if (t >= deadline_ns)
			return err_set(err, ETIME, "cgroup %s is not yet %s%s", path,
				       yes ? "" : "un", name);
		ms = (deadline_ns - t) / 1000000 + 1;
		poll(&p, 1, ms < POLL_MAX_MS ? (int)ms : POLL_MAX_MS);
	}
	return r;
}

/* Whether `path` holds `inner`: is it, or is above it. */
static bool holds(const char *path, const char *inner)
{
	size_t n = strlen(path);

	while (n && path[n - 1] == '/')
		n--;
	return strncmp(path, inner, n) == 0 && (!inner[n] || inner[n] == '/');
}

/* Not the root, not ours, not that of PID 1. */
static int refuse_own(const char *path, struct err *err)
{
	const pid_t spared[] = {getpid(), 1};
	char own[PATH_MAX];

	for (size_t i = 0; i < sizeof(spared) / sizeof(spared[0]); i++) {
		int r = cgroup_path_of(spared[i], NULL, own, sizeof(own), err);

		if (r < 0)
			return r;
		if (holds(path, own) || holds(path, "/"))
			return err_set(err, EINVAL, "cgroup %s holds %s", path,
				       i ? "PID 1" : "stray itself");
	}
	return 0;
}

/* A file to act by, opened for writing: a descriptor, or -errno. */
static int open_file(const char *path, const char *file, struct err *err)
{
	AUTO_FD dir = -1;
	int r = refuse_own(path, err), fd;

	if (r < 0)
		return r;
	dir = cgroup_open(path, NULL, err);
	if (dir < 0)
		return dir;
	fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(err, errno, "%s of %s", file, path) : fd;
}

int cgroup_can_freeze(const char *path, struct err *err)
{
	AUTO_FD fd = open_file(path, "cgroup.freeze", err);

	return fd < 0 ? fd : 0;
}

int cgroup_set_freeze(const char *path, bool freeze, struct err *err)
{
	AUTO_FD fd = open_file(path, "cgroup.freeze", err);

	if (fd < 0)
		return fd;
	return write(fd, freeze ? "1" : "0", 1) < 0
		       ? err_errno(err, errno, "cgroup.freeze of %s", path)
		       : 0;
}

static int frozen_v1(pid_t pid, bool *yes, struct err *err)
{
	char path[PATH_MAX], text[32];
	int r = cgroup_path_of(pid, "freezer", path, sizeof(path), err);
	AUTO_FD dir = r < 0 ? r : cgroup_open(path, "freezer", err);
	ssize_t n;

	*yes = false;
	if (dir < 0)
		return dir;
	n = file_read_at(dir, "freezer.state", text, sizeof(text)); /* the root has none */
	if (n < 0)
		return n == -ENOENT ? 0 : err_errno(err, (int)-n, "freezer.state of %s", path);
	*yes = strncmp(text, "THAWED", 6) != 0;
	return 0;
}

int cgroup_frozen(pid_t pid, enum cgroup_frozen *how, struct err *err)
{
	char path[PATH_MAX];
	bool v1 = false, v2 = false;
	int r = frozen_v1(pid, &v1, NULL);

	if (r < 0 && r != -ENOENT)
		return err_errno(err, -r, "v1 freezer of process %d", pid);
	if (!v1) {
		r = cgroup_path_of(pid, NULL, path, sizeof(path), err);
		if (r < 0)
			return r;
		if (strcmp(path, "/") != 0) { /* which has no cgroup.events */
			r = cgroup_event(path, "frozen", &v2, err);
			if (r < 0)
				return r;
		}
	}
	*how = v1 ? CGROUP_FROZEN_V1 : v2 ? CGROUP_FROZEN_V2 : CGROUP_THAWED;
	return 0;
}
