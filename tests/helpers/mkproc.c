/* See mkproc.h.  Shapes are in mkproc_shapes.c. */
#include "mkproc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_DEFAULT_S 60
#define LIFE_MAX_S 120
#define SETTLE_MS 10000 /* a shape that takes longer has failed */
#define CLEANUP_MS 5000
#define NAME_MAX_LEN 31
#define HIGH_FD 100 /* above what a shape opens: mk_child() closes it again in each */

/* Shared with every process that was made. */
static struct {
	_Atomic bool over;
	long deadline_ms; /* CLOCK_MONOTONIC */
} * shared;

int mk_report_fd = -1;
static int collect_fd;
static int lifeline[2]; /* every process made holds [1]: EOF on [0] is the end of the last */
static pid_t maker;
static volatile sig_atomic_t asked;
/* The caller's stdin and stdout: the maker's alone, since their other end may wait for EOF. */
static int in_fd;
static FILE *out;
static bool keep_stdio;

static struct made {
	char name[NAME_MAX_LEN + 1];
	pid_t pid;
	int pidfd;
	bool taken;
} * made;
static size_t n_made, cap_made;
static pid_t *owned;
static size_t n_owned, cap_owned;

static void cleanup(void);

MK_ONE_MEMORY static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void on_term(int sig)
{
	(void)sig;
	asked = 1;
}

void mk_die(const char *what)
{
	fprintf(stderr, "mkproc: %s: %s\n", what, strerror(errno));
	if (getpid() == maker)
		cleanup();
	_exit(1);
}

void mk_usage(void)
{
	fprintf(stderr, "usage: mkproc [--life SECONDS] [--session | --group] [--leave] [--stdio]\n"
			"              SHAPE [ARG...]\n"
			"       mkproc --list\n");
	_exit(2);
}

void mk_report(const char *name)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct iovec iov = {.iov_base = (void *)(uintptr_t)name, .iov_len = strlen(name)};
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = {0};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = u.buf,
			   .msg_controllen = sizeof(u.buf)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	sendmsg(mk_report_fd, &m, MSG_NOSIGNAL);
	close(fd);
}

void mk_cannot(void)
{
	if (getpid() == maker) {
		cleanup();
		_exit(MK_CANNOT);
	}
	mk_report("cannot");
	mk_pause();
}

void mk_bound_life(void)
{
	long left = shared->deadline_ms - now_ms();

	if (left <= 0)
		_exit(0);
	alarm((unsigned)(left + 999) / 1000);
}

void mk_child_same(void)
{
	mk_bound_life();
	if (!keep_stdio) {
		close(in_fd);
		close(fileno(out));
		dup2(0, 2); /* /dev/null: see stdio_away */
	}
}

void mk_child(void)
{
	mk_child_same();
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
}

pid_t mk_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		mk_die("fork");
	if (pid == 0)
		mk_child();
	return pid;
}

void mk_pause(void)
{
	for (;;)
		pause();
}

bool mk_over(void)
{
	return shared->over || now_ms() >= shared->deadline_ms;
}

/* Room for one more; those that are dead give theirs up. */
static void make_room(void)
{
	size_t kept = 0;

	if (n_made < cap_made)
		return;
	for (size_t i = 0; i < n_made; i++) {
		struct pollfd p = {.fd = made[i].pidfd, .events = POLLIN};

		if (made[i].taken && poll(&p, 1, 0) == 1) {
			close(made[i].pidfd);
			continue;
		}
		made[kept++] = made[i];
	}
	n_made = kept;
	if (n_made < cap_made)
		return;
	cap_made = cap_made ? 2 * cap_made : 64;
	made = realloc(made, cap_made * sizeof(*made));
	if (!made)
		abort();
}

/* Receives one report; false where none came within ms. */
static bool receive(int ms)
{
	struct pollfd p = {.fd = collect_fd, .events = POLLIN};
	char name[NAME_MAX_LEN + 1];
	struct iovec iov = {.iov_base = name, .iov_len = NAME_MAX_LEN};
	union {
		char buf[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} u;
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = u.buf,
			   .msg_controllen = sizeof(u.buf)};
	struct made got = {.pidfd = -1};
	ssize_t n;

	if (poll(&p, 1, ms) != 1)
		return false;
	n = recvmsg(collect_fd, &m, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		struct ucred cred;

		if (c->cmsg_type == SCM_RIGHTS) {
			memcpy(&got.pidfd, CMSG_DATA(c), sizeof(int));
		} else if (c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			got.pid = cred.pid; /* as this PID namespace numbers it */
		}
	}
	memcpy(got.name, name, (size_t)n);
	make_room();
	made[n_made++] = got;
	return true;
}

pid_t mk_collect(const char *name)
{
	long end = now_ms() + SETTLE_MS;

	do {
		for (size_t i = 0; i < n_made; i++) {
			if (strcmp(made[i].name, "cannot") == 0)
				mk_cannot();
			if (made[i].taken || strcmp(made[i].name, name) != 0)
				continue;
			made[i].taken = true;
			mk_print(name, made[i].pid);
			return made[i].pid;
		}
		receive(100);
	} while (now_ms() < end);
	errno = ETIME;
	mk_die(name);
}

void mk_print(const char *name, long number)
{
	fprintf(out, "%s %ld\n", name, number);
}

void mk_own(pid_t child)
{
	if (n_owned == cap_owned) {
		cap_owned = cap_owned ? 2 * cap_owned : 64;
		owned = realloc(owned, cap_owned * sizeof(*owned));
		if (!owned)
			abort();
	}
	owned[n_owned++] = child;
}

void mk_reap(pid_t child)
{
	if (waitpid(child, NULL, 0) != child)
		mk_die("waitpid");
}

/* State, parent and terminal of a process; false where it is gone. */
static bool read_stat(pid_t pid, char *state, int *ppid, int *tty)
{
	char path[64], buf[1024], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p && sscanf(p + 1, " %c %d %*d %*d %d", state, ppid, tty) == 3;
}

enum wait_for { WAIT_STATE, WAIT_REPARENTED, WAIT_NO_TTY };

static void wait_until(pid_t pid, enum wait_for what, int value)
{
	long end = now_ms() + SETTLE_MS;
	int ppid, tty;
	char state;

	while (now_ms() < end && read_stat(pid, &state, &ppid, &tty)) {
		if ((what == WAIT_STATE && state == value) ||
		    (what == WAIT_REPARENTED && ppid != value) || (what == WAIT_NO_TTY && !tty))
			return;
		usleep(1000);
	}
	errno = ETIME;
	mk_die("the situation did not come about");
}

void mk_wait_state(pid_t pid, char state)
{
	wait_until(pid, WAIT_STATE, state);
}

void mk_wait_reparented(pid_t pid, pid_t from)
{
	wait_until(pid, WAIT_REPARENTED, from);
}

void mk_wait_no_tty(pid_t pid)
{
	wait_until(pid, WAIT_NO_TTY, 0);
}

int mk_number(const char *text, int deflt, int max)
{
	char *end;
	long v;

	if (!text)
		return deflt;
	v = strtol(text, &end, 10);
	if (*end || v < 1 || v > max)
		mk_usage();
	return (int)v;
}

char *mk_unhex(const char *hex)
{
	size_t len = strlen(hex) / 2;
	char *bytes = malloc(len + 1);

	if (!bytes)
		abort();
	for (size_t i = 0; i < len; i++) {
		unsigned byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1 || !byte)
			mk_usage();
		bytes[i] = (char)byte;
	}
	bytes[len] = '\0';
	return bytes;
}

/* Kills what reported and what is owned, until nothing holds the lifeline. */
static void cleanup(void)
{
	struct pollfd p = {.fd = lifeline[0], .events = 0};
	long end = now_ms() + CLEANUP_MS;

	shared->over = true;
	close(lifeline[1]);
	do {
		while (receive(0))
			continue;
		for (size_t i = 0; i < n_made; i++)
			syscall(SYS_pidfd_send_signal, made[i].pidfd, SIGKILL, NULL, 0);
		for (size_t i = 0; i < n_owned; i++)
			kill(owned[i], SIGKILL);
		n_owned = 0;
		if (poll(&p, 1, 10) == 1)
			return;
	} while (now_ms() < end);
	fprintf(stderr, "mkproc: something it made is still alive; its alarm is set\n");
	_exit(1);
}

/* Until a line, EOF or a signal on the way in, or the end of life. */
static void hold(void)
{
	struct pollfd p[2] = {{.fd = in_fd, .events = POLLIN},
			      {.fd = collect_fd, .events = POLLIN}};

	while (!asked && now_ms() < shared->deadline_ms) {
		if (poll(p, 2, (int)(shared->deadline_ms - now_ms())) <= 0)
			continue;
		if (p[1].revents)
			receive(0);
		if (p[0].revents) {
			char c;

			if (read(in_fd, &c, 1) <= 0 || c == '\n')
				return;
		}
	}
}

static void prepare(int life)
{
	int pair[2], on = 1;
	struct sigaction sa = {.sa_handler = on_term}; /* without SA_RESTART: poll must end */

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		abort();
	maker = getpid();
	shared->deadline_ms = now_ms() + life * 1000L;
	if (pipe2(lifeline, 0) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		mk_die("pipe");
	fcntl(lifeline[0], F_SETFD, FD_CLOEXEC);
	collect_fd = pair[0];
	mk_report_fd = pair[1];
	fcntl(collect_fd, F_SETFD, FD_CLOEXEC);
	setsockopt(collect_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	alarm((unsigned)life + CLEANUP_MS / 1000 + 5);
}

/* The caller's stdin and stdout elsewhere, /dev/null in their place for what will be made. */
static void stdio_away(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	in_fd = fcntl(0, F_DUPFD_CLOEXEC, HIGH_FD);
	out = fdopen(fcntl(1, F_DUPFD_CLOEXEC, HIGH_FD), "w");
	if (null < 0 || in_fd < 0 || !out)
		mk_die("/dev/null");
	dup2(null, 0);
	dup2(null, 1);
	close(null);
}

static void list_shapes(void)
{
	for (const struct shape *s = mk_shapes; s->name; s++)
		printf("%-18s %-14s %s\n", s->name, s->args, s->about);
}

static const struct shape *find_shape(const char *name)
{
	for (const struct shape *s = mk_shapes; name && s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	mk_usage();
}

int main(int argc, char **argv)
{
	bool leave = false, session = false, group = false;
	int life = LIFE_DEFAULT_S, i;
	const struct shape *shape;

	mk_role();
	for (i = 1; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--list") == 0) {
			list_shapes();
			return 0;
		} else if (strcmp(argv[i], "--life") == 0 && i + 1 < argc) {
			life = mk_number(argv[++i], LIFE_DEFAULT_S, LIFE_MAX_S);
		} else if (strcmp(argv[i], "--leave") == 0) {
			leave = true;
		} else if (strcmp(argv[i], "--session") == 0) {
			session = true;
		} else if (strcmp(argv[i], "--group") == 0) {
			group = true;
		} else if (strcmp(argv[i], "--stdio") == 0) {
			keep_stdio = true;
		} else {
			mk_usage();
		}
	}
	shape = find_shape(i < argc ? argv[i] : NULL);
	if (leave && shape->needs_maker)
		mk_usage();
	if ((session && setsid() < 0) || (group && setpgid(0, 0) < 0))
		mk_die("setsid");
	prepare(life);
	in_fd = 0;
	out = stdout;
	if (!keep_stdio)
		stdio_away();
	shape->make(argv + i + 1);
	fprintf(out, "READY\n");
	fflush(out);
	if (leave)
		return 0;
	hold();
	cleanup();
	return 0;
}
