#include "contain/spawn.h"

#include "base/file.h"
#include "base/proc_stat.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_DEFAULT "/bin:/usr/bin" /* confstr(3), _CS_PATH */

static void note_descriptors(struct spawn_caller *c)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : -1;

		if (fd > 2 && fd != dirfd(d) && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			VEC_PUSH(&c->fds, fd);
	}
	if (d)
		closedir(d);
}

void spawn_note_caller(struct spawn_caller *c)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};

	sigprocmask(SIG_SETMASK, NULL, &c->mask);
	sigaction(SIGCHLD, &plain, &c->child);
	if (getrlimit(RLIMIT_NOFILE, &c->files) < 0)
		c->files = (struct rlimit){0};
	file_raise_limit();
	note_descriptors(c);
}

void spawn_caller_clear(struct spawn_caller *c)
{
	free(c->fds.v);
	c->fds.v = NULL;
	c->fds.n = c->fds.cap = 0;
}

void spawn_give_up_streams(const struct spawn_caller *c, int stdio)
{
	AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; null >= 0 && i < stdio; i++)
		dup2(null, i);
	for (size_t i = 0; i < c->fds.n; i++)
		close(c->fds.v[i]);
}

pid_t spawn_fork(void)
{
	return fork();
}

/* A pipe whose ends close at exec, above the numbers of stdio. */
static int make_pipe(int ends[2], struct err *err)
{
	return pipe2(ends, O_CLOEXEC) < 0 ? err_errno(err, errno, "no pipe") : 0;
}

static void close_pair(int ends[2])
{
	file_close_fd(&ends[0]);
	file_close_fd(&ends[1]);
	ends[0] = ends[1] = -1;
}

/* What the child needs, made before it is. */
struct made {
	char *path;
	char **env;   /* its strings are borrowed */
	char **shell; /* the arguments where it turns out to be a script without #! */
};

/* As fork(2), into a cgroup where that is given and can be: *into tells. */
static pid_t clone_child(int cgroup, struct spawned *s, bool *into)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | (cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uint64_t)(uintptr_t)&s->pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup >= 0 ? (uint64_t)cgroup : 0,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	*into = cgroup >= 0;
	if (pid >= 0)
		return (pid_t)pid;
	err_errno(&s->by_fork, errno, "clone3");
	*into = false;
	s->pidfd = -1;
	return fork(); /* refused (seccomp answers ENOSYS or EPERM), or an older kernel */
}

/* --- in the child; nothing here allocates --- */

static int enter_cgroup(int dir)
{
	int fd = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0 || write(fd, "0", 1) < 0)
		r = errno;
	file_close_fd(&fd);
	return r;
}

static int take_place(const struct spawn_plan *plan)
{
	if (plan->pgid)
		return setpgid(0, plan->pgid) < 0 ? errno : 0;
	/* a new child leads no group: only a filter of an outer run (deny.h) can refuse it */
	return setsid() < 0 && errno != EPERM ? errno : 0;
}

static int null_stdio(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0)
		return errno;
	for (int i = 0; i < 3; i++)
		if (dup2(fd, i) < 0)
			return errno;
	if (fd > 2)
		close(fd);
	return 0;
}

static void restore_caller(const struct spawn_caller *c)
{
	if (c->files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &c->files);
	sigaction(SIGCHLD, &c->child, NULL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
}

static void report(int fd, int code)
{
	if (write(fd, &code, sizeof(code)) < 0)
		_exit(127);
}

static void __attribute__((noreturn))
child(const struct spawn_plan *plan, const struct made *made, bool in_cgroup, int go, int outcome)
{
	char byte;
	int code = 0;
	ssize_t n;

	if (plan->cgroup >= 0 && !in_cgroup)
		code = enter_cgroup(plan->cgroup);
	if (!code)
		code = take_place(plan);
	if (!code && plan->null_stdio)
		code = null_stdio();
	if (!code && plan->prepare)
		code = plan->prepare(plan->ctx);
	report(outcome, code);
	if (code)
		_exit(125);
	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125);
	restore_caller(plan->caller);
	execve(made->path, plan->argv, made->env);
	code = errno;
	if (code == ENOEXEC) /* a script without #!, as execvp(3) */
		execve("/bin/sh", made->shell, made->env);
	report(outcome, code);
	_exit(code == ENOENT ? 127 : 126);
}

/* --- in the parent --- */

static bool is_replaced(const char *entry, const char *const marks[2])
{
	for (int i = 0; i < 2; i++)
		if (marks[i] && strncmp(entry, marks[i], strcspn(marks[i], "=") + 1) == 0)
			return true;
	return false;
}

/* Our environment with marks in it. */
static int make_env(const char *const marks[2], char ***env)
{
	size_t n = 0, used = 0;
	char **v;

	while (environ[n])
		n++;
	v = calloc(n + 3, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!is_replaced(environ[i], marks))
			v[used++] = environ[i];
	for (int i = 0; i < 2; i++)
		if (marks[i])
			v[used++] = (char *)marks[i];
	*env = v;
	return 0;
}

static int make_shell(char *const *argv, char *path, char ***shell)
{
	size_t n = 0;
	char **v;

	while (argv[n])
		n++;
	v = calloc(n + 2, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v[0] = (char *)"sh";
	v[1] = path;
	for (size_t i = 1; i < n; i++)
		v[i + 1] = argv[i];
	*shell = v;
	return 0;
}

static int read_code(int fd, int *code)
{
	ssize_t n;

	do
		n = read(fd, code, sizeof(*code));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*code) ? 1 : n < 0 ? -errno : 0;
}

/* Waits until it stands where it is to stand. */
static int await_held(struct spawned *s, struct err *err)
{
	pid_t pid = s->id.pid;
	struct proc_stat st;
	int code = 0, r = read_code(s->outcome, &code);

	if (r <= 0)
		return err_set(err, ECHILD, "the child that was to be the command has died");
	if (code)
		return err_errno(err, code, "the command cannot be held");
	r = proc_stat_read(pid, &st);
	if (r < 0)
		return err_errno(err, -r, "/proc/%d/stat", (int)pid);
	s->id.start = st.start;
	if (s->pidfd < 0)
		s->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

static int fork_child(const struct spawn_plan *plan, const struct made *made, struct spawned *s,
		      struct err *err)
{
	int go[2] = {-1, -1}, outcome[2] = {-1, -1}, r;
	bool in_cgroup;
	pid_t pid;

	r = make_pipe(go, err);
	if (!r)
		r = make_pipe(outcome, err);
	if (r < 0) {
		close_pair(go);
		return r;
	}
	pid = clone_child(plan->cgroup, s, &in_cgroup);
	if (pid == 0) {
		close(go[1]); /* or it would never see that who holds it is gone */
		child(plan, made, in_cgroup, go[0], outcome[1]);
	}
	s->go = go[1];
	s->outcome = outcome[0];
	file_close_fd(&go[0]);
	file_close_fd(&outcome[1]);
	if (pid < 0)
		return err_errno(err, errno, "no process can be made");
	s->id.pid = pid;
	return 0;
}

int spawn_begin(const struct spawn_plan *plan, struct spawned *out, struct err *err)
{
	struct made made = {0};
	int r = 0;

	*out = (struct spawned){.pidfd = -1, .go = -1, .outcome = -1};
	if (!plan->path)
		r = spawn_find(plan->argv[0], &made.path, err);
	else if (!(made.path = strdup(plan->path)))
		r = err_nomem(err);
	if (!r && (make_env(plan->marks, &made.env) < 0 ||
		   make_shell(plan->argv, made.path, &made.shell) < 0))
		r = err_nomem(err);
	if (!r)
		r = fork_child(plan, &made, out, err);
	if (r < 0)
		spawn_close(out);
	free(made.path);
	free(made.env);
	free(made.shell);
	return r;
}

int spawn_await(struct spawned *s, struct err *err)
{
	int r = await_held(s, err);

	if (r < 0)
		spawn_cancel(s);
	return r;
}

int spawn_held(const struct spawn_plan *plan, struct spawned *out, struct err *err)
{
	int r = spawn_begin(plan, out, err);

	return r ? r : spawn_await(out, err);
}

int spawn_let_go(struct spawned *s, struct err *err)
{
	if (write(s->go, "", 1) != 1)
		return err_errno(err, errno, "the command cannot be let go");
	file_close_fd(&s->go);
	s->go = -1;
	return 0;
}

int spawn_outcome(struct spawned *s, struct err *err)
{
	int code = 0, r = read_code(s->outcome, &code);

	file_close_fd(&s->outcome);
	s->outcome = -1;
	return r > 0 ? err_errno(err, code, "it cannot be executed") : 0;
}

int spawn_go(struct spawned *s, struct err *err)
{
	int r = spawn_let_go(s, err);

	return r < 0 ? r : spawn_outcome(s, err);
}

void spawn_cancel(struct spawned *s)
{
	int status;

	file_close_fd(&s->go);
	s->go = -1;
	waitpid(s->id.pid, &status, 0);
	spawn_close(s);
}

void spawn_close(struct spawned *s)
{
	file_close_fd(&s->pidfd);
	file_close_fd(&s->go);
	file_close_fd(&s->outcome);
	s->pidfd = s->go = s->outcome = -1;
}

/* A file that we may execute: 0, or why not; searched for: -ENOENT also where we may not look. */
static int can_execute(const char *path, bool searched)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return searched && errno == EACCES ? -ENOENT : -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int spawn_find(const char *name, char **path, struct err *err)
{
	const char *dirs = getenv("PATH");
	int worst = -ENOENT;

	if (!*name)
		return err_errno(err, ENOENT, "''");
	if (strchr(name, '/')) {
		int r = can_execute(name, false);

		*path = r < 0 ? NULL : strdup(name);
		return r < 0 ? err_errno(err, -r, "%.200s", name) : *path ? 0 : err_nomem(err);
	}
	for (const char *at = dirs ? dirs : PATH_DEFAULT; at;) {
		size_t n = strcspn(at, ":");
		char *full;
		int r;

		if (asprintf(&full, "%.*s%s%s", (int)n, at, n ? "/" : "", name) < 0)
			return err_nomem(err);
		r = can_execute(full, true);
		if (r == 0) {
			*path = full;
			return 0;
		}
		free(full);
		if (r == -EACCES)
			worst = r;
		at = at[n] ? at + n + 1 : NULL;
	}
	return err_errno(err, -worst, "%.200s", name);
}
