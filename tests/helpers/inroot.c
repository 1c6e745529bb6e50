/*
 * inroot [--uid N] DIR CMD ARG...: runs CMD where DIR/proc is /proc.
 *
 * DIR is a host that tests/trees/mktree.py wrote.  In mount, PID, UTS and time
 * namespaces of its own (and a user namespace where we are not root) CMD finds
 * DIR/proc, DIR/run, DIR/etc/passwd and DIR/etc/group in their places, the
 * terminals of DIR/ttys open, the host's name and its CLOCK_BOOTTIME.  CMD has
 * the PID that DIR/proc/self names: /proc/self is its own.  A signal to any
 * other PID of the tree finds nobody: nothing outside can be hit.
 *
 * --uid: CMD runs as that user (in a user namespace: the one uid that exists).
 * Exit status: CMD's, 128+N where a signal ended it; 77 where the kernel does
 * not let us; 125 for bad usage or a bad DIR; 126, 127 CMD cannot be run.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS_SKIP 77
#define STATUS_TROUBLE 125
#define TTYS_MAX 64 /* a described host has a handful */

struct root {
	const char *dir;
	char **command;
	long uid;     /* -1: stay who we are */
	bool user_ns; /* we are nobody outside: one uid is mapped */
	pid_t pid;    /* the number CMD gets */
	char host[65];
	int64_t uptime_ns;
};

__attribute__((format(printf, 2, 3), noreturn)) static void give_up(int status, const char *fmt,
								    ...)
{
	va_list ap;

	fputs("inroot: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

static void path_in(const struct root *r, const char *name, char out[static 4096])
{
	if (snprintf(out, 4096, "%s/%s", r->dir, name) >= 4096)
		give_up(STATUS_TROUBLE, "%s: path too long", r->dir);
}

/* The first line of a file of the tree. */
static void read_line(const struct root *r, const char *name, char *out, size_t size)
{
	char path[4096];
	FILE *f;

	path_in(r, name, path);
	f = fopen(path, "re");
	if (!f || !fgets(out, (int)size, f))
		give_up(STATUS_TROUBLE, "%s: not a tree of mktree.py", path);
	out[strcspn(out, "\n")] = '\0';
	fclose(f);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		give_up(STATUS_SKIP, "%s: %s", path, strerror(errno));
	close(fd);
}

static void read_tree(struct root *r)
{
	char text[128], path[4096];
	double seconds;
	ssize_t n;

	read_line(r, "proc/uptime", text, sizeof(text));
	seconds = strtod(text, NULL);
	r->uptime_ns = (int64_t)(seconds * 1e9);
	read_line(r, "proc/sys/kernel/hostname", r->host, sizeof(r->host));
	path_in(r, "proc/self", path);
	n = readlink(path, text, sizeof(text) - 1);
	if (n <= 0)
		give_up(STATUS_TROUBLE, "%s: %s", path, strerror(errno));
	text[n] = '\0';
	r->pid = atoi(text);
}

/* user_namespaces(7): one uid and one gid, ours, under the wanted numbers. */
static void enter_user_ns(struct root *r)
{
	unsigned inside = r->uid < 0 ? 0 : (unsigned)r->uid;
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER))
		give_up(STATUS_SKIP, "no user namespace: %s", strerror(errno));
	snprintf(map, sizeof(map), "%u %u 1", inside, uid);
	write_text("/proc/self/uid_map", map);
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", inside, gid);
	write_text("/proc/self/gid_map", map);
	r->user_ns = true;
}

/* time_namespaces(7): CLOCK_BOOTTIME of what is forked from now on. */
static void set_boottime(const struct root *r)
{
	struct timespec now;
	int64_t shift;
	char text[64];

	if (unshare(CLONE_NEWTIME)) {
		fputs("inroot: no time namespace: ages are off\n", stderr);
		return;
	}
	clock_gettime(CLOCK_BOOTTIME, &now);
	shift = r->uptime_ns - (now.tv_sec * 1000000000LL + now.tv_nsec);
	/* The kernel wants 0 <= nanoseconds < 1 s beside negative seconds. */
	snprintf(text, sizeof(text), "boottime %lld %lld",
		 (long long)(shift / 1000000000 - (shift % 1000000000 < 0)),
		 (long long)((shift % 1000000000 + 1000000000) % 1000000000));
	write_text("/proc/self/timens_offsets", text);
}

static void bind_over(const struct root *r, const char *name, const char *target)
{
	char path[4096];

	path_in(r, name, path);
	if (mount(path, target, NULL, MS_BIND, NULL))
		give_up(STATUS_SKIP, "mount over %s: %s", target, strerror(errno));
}

/*
 * A devpts of our own with the terminals of DIR/ttys: procps names a terminal
 * only after it has compared the device.  Numbers are handed out from 0 on, so
 * those between are opened first and closed after.
 */
static void open_ttys(const struct root *r)
{
	char path[4096], line[64];
	int master[TTYS_MAX], opened = 0;
	bool wanted[TTYS_MAX] = {false};
	uid_t owner[TTYS_MAX];
	unsigned n, uid;
	FILE *f;

	if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=620"))
		give_up(STATUS_SKIP, "mount over /dev/pts: %s", strerror(errno));
	path_in(r, "ttys", path);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %u", &n, &uid) != 2 || n >= TTYS_MAX)
			give_up(STATUS_TROUBLE, "%s: cannot read %s", path, line);
		wanted[n] = true;
		owner[n] = uid;
		while (opened <= (int)n) {
			master[opened] = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
			if (master[opened] < 0)
				give_up(STATUS_SKIP, "/dev/pts/ptmx: %s", strerror(errno));
			opened++;
		}
	}
	if (f)
		fclose(f);
	for (int i = 0; i < opened; i++) {
		if (!wanted[i]) {
			close(master[i]);
			continue;
		}
		snprintf(line, sizeof(line), "/dev/pts/%d", i);
		if (!r->user_ns && chown(line, owner[i], (gid_t)-1))
			give_up(STATUS_SKIP, "%s: %s", line, strerror(errno));
	}
}

static void become(const struct root *r)
{
	if (r->uid < 0 || r->user_ns)
		return;
	if (setgroups(0, NULL) || setgid((gid_t)r->uid) || setuid((uid_t)r->uid))
		give_up(STATUS_SKIP, "uid %ld: %s", r->uid, strerror(errno));
}

/* clone3(2) with set_tid (Linux 5.5), for which glibc 2.36 has no wrapper. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* PID 1 of the new namespace: when it ends all in it end. */
__attribute__((noreturn)) static void run_init(const struct root *r)
{
	pid_t child, ended;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_up(STATUS_SKIP, "mount /: %s", strerror(errno));
	open_ttys(r);
	bind_over(r, "run", "/run");
	bind_over(r, "etc/passwd", "/etc/passwd");
	bind_over(r, "etc/group", "/etc/group");
	bind_over(r, "proc", "/proc");
	if (sethostname(r->host, strlen(r->host)))
		give_up(STATUS_SKIP, "sethostname: %s", strerror(errno));
	child = fork_as(r->pid);
	if (child < 0)
		give_up(STATUS_SKIP, "clone3 as PID %d: %s", r->pid, strerror(errno));
	if (child == 0) {
		become(r);
		execvp(r->command[0], r->command);
		fprintf(stderr, "inroot: %s: %s\n", r->command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	do
		ended = wait(&status);
	while (ended != child && (ended > 0 || errno == EINTR));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			give_up(STATUS_TROUBLE, "waitpid: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct root r = {.uid = -1};
	pid_t child;
	int at = 1;

	if (argc > 2 && strcmp(argv[1], "--uid") == 0) {
		r.uid = atol(argv[2]);
		at = 3;
	}
	if (argc < at + 2)
		give_up(STATUS_TROUBLE, "usage: inroot [--uid N] DIR CMD ARG...");
	r.dir = realpath(argv[at], NULL);
	if (!r.dir)
		give_up(STATUS_TROUBLE, "%s: %s", argv[at], strerror(errno));
	r.command = &argv[at + 1];
	read_tree(&r);
	/* Root without CAP_SYS_ADMIN, as in a container, is nobody here either. */
	if (geteuid() != 0 || unshare(CLONE_NEWNS))
		enter_user_ns(&r);
	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS))
		give_up(STATUS_SKIP, "no namespaces: %s", strerror(errno));
	set_boottime(&r);
	child = fork();
	if (child < 0)
		give_up(STATUS_SKIP, "fork: %s", strerror(errno));
	if (child == 0)
		run_init(&r);
	/* The keyboard's signals are CMD's: it is in our process group. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	/* Not exit(): what a leak checker would fork there has no PID 1 any more. */
	_exit(wait_for(child));
}
