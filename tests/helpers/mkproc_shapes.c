/* The table of shapes, and what each does.  See mkproc.h. */
#include "mkproc.h"
#include "mkproc_storm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define MEMBERS_MAX 100
#define MANY_MAX 20000
#define RING_MAX 32
#define RING_REFORKS 2000 /* then the ring lets itself be broken */
#define HOP_US 20000
#define SHORT_LIVES_MAX 20000
#define RACERS_MAX 16

static pid_t child_named(const char *name)
{
	pid_t pid = mk_fork();

	if (pid == 0) {
		mk_report(name);
		mk_pause();
	}
	return mk_collect(name);
}

static void sleeper(char **arg)
{
	(void)arg;
	child_named("child");
}

static void daemon_shape(char **arg)
{
	pid_t mid = mk_fork();

	(void)arg;
	if (mid == 0) {
		if (mk_fork() == 0) {
			setsid();
			mk_report("daemon");
			mk_pause();
		}
		_exit(0);
	}
	mk_reap(mid);
	mk_wait_reparented(mk_collect("daemon"), mid);
}

static void orphan(char **arg)
{
	pid_t mid = mk_fork();

	(void)arg;
	if (mid == 0) {
		if (mk_fork() == 0) {
			mk_report("child");
			mk_pause();
		}
		_exit(0);
	}
	mk_reap(mid);
	mk_wait_reparented(mk_collect("child"), mid);
}

/* mid leads the session and group that the child keeps after its death */
static void reparented(char **arg)
{
	pid_t mid = mk_fork(), child;

	(void)arg;
	if (mid == 0) {
		setsid();
		mk_report("mid");
		if (mk_fork() == 0) {
			mk_report("child");
			mk_pause();
		}
		_exit(0);
	}
	mk_collect("mid");
	child = mk_collect("child");
	mk_reap(mid);
	mk_wait_reparented(child, mid);
}

static void own_session(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		setsid();
		mk_report("child");
		mk_pause();
	}
	mk_collect("child");
}

static void own_group(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		setpgid(0, 0);
		mk_report("child");
		mk_pause();
	}
	mk_collect("child");
}

/* A leader of a group of its own, and n members.  The leader pauses until killed. */
static pid_t make_group(int n)
{
	pid_t leader = mk_fork();

	if (leader == 0) {
		setpgid(0, 0);
		mk_report("leader");
		mk_pause();
	}
	mk_collect("leader");
	for (int i = 0; i < n; i++) {
		if (mk_fork() == 0) {
			setpgid(0, leader);
			mk_report("member");
			mk_pause();
		}
		mk_collect("member");
	}
	return leader;
}

static void group(char **arg)
{
	make_group(mk_number(arg[0], 2, MEMBERS_MAX));
}

static void leader_gone(char **arg)
{
	pid_t leader = make_group(mk_number(arg[0], 2, MEMBERS_MAX));

	kill(leader, SIGKILL);
	mk_reap(leader);
}

static void zombie_leader(char **arg)
{
	pid_t leader = make_group(mk_number(arg[0], 2, MEMBERS_MAX));

	kill(leader, SIGKILL);
	mk_wait_state(leader, 'Z');
}

static void two_users(char **arg)
{
	pid_t leader;

	(void)arg;
	if (geteuid() != 0)
		mk_cannot();
	leader = make_group(0);
	if (mk_fork() == 0) {
		setpgid(0, leader);
		if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
			mk_cannot();
		mk_report("nobody");
		mk_pause();
	}
	mk_collect("nobody");
}

static void zombie(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		mk_report("parent");
		if (mk_fork() == 0) {
			mk_report("zombie");
			_exit(7);
		}
		mk_pause();
	}
	mk_collect("parent");
	mk_wait_state(mk_collect("zombie"), 'Z');
}

static int other_thread(void *arg)
{
	(void)arg;
	mk_pause();
}

#define STACK_SIZE 16384

static char *new_stack(void)
{
	char *stack =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		abort();
	return stack + STACK_SIZE;
}

static void thread_left(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		clone(other_thread, new_stack(),
		      CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FILES | CLONE_FS, NULL);
		mk_report("process");
		syscall(SYS_exit, 0); /* the first thread alone */
	}
	mk_wait_state(mk_collect("process"), 'Z');
}

static void ignorer(int sig)
{
	if (mk_fork() == 0) {
		signal(sig, SIG_IGN);
		mk_report("child");
		mk_pause();
	}
	mk_collect("child");
}

static void ignore_term(char **arg)
{
	(void)arg;
	ignorer(SIGTERM);
}

static void ignore_hup(char **arg)
{
	(void)arg;
	ignorer(SIGHUP);
}

static unsigned slow_us;

static void exit_slowly(int sig)
{
	(void)sig;
	usleep(slow_us);
	_exit(0);
}

static void slow_term(char **arg)
{
	slow_us = 1000 * (unsigned)mk_number(arg[0], 200, 10000);
	if (mk_fork() == 0) {
		signal(SIGTERM, exit_slowly);
		mk_report("child");
		mk_pause();
	}
	mk_collect("child");
}

static void leave_a_late_one(int sig)
{
	(void)sig;
	if (mk_fork() == 0) {
		setsid();
		mk_report("late");
		mk_pause();
	}
	_exit(0);
}

static void term_reforks(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		signal(SIGTERM, leave_a_late_one);
		mk_report("child");
		mk_pause();
	}
	mk_collect("child");
}

static pid_t stopped_child(void)
{
	pid_t pid = mk_fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* an alarm does not end a stopped process */
		mk_report("child");
		raise(SIGSTOP);
		mk_pause();
	}
	mk_collect("child");
	mk_wait_state(pid, 'T');
	return pid;
}

static void stopped(char **arg)
{
	(void)arg;
	stopped_child();
}

static void stopped_term(char **arg)
{
	(void)arg;
	kill(stopped_child(), SIGTERM);
}

static void traced(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		int status, told[2];
		pid_t tracee;
		char c;

		if (pipe(told) < 0)
			mk_cannot();
		tracee = mk_fork();
		if (tracee == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			mk_report("tracee");
			close(told[1]);
			close(told[0]);
			mk_pause();
		}
		close(told[1]);
		if (read(told[0], &c, 1) < 0) /* not stopped before it could report */
			mk_cannot();
		if (ptrace(PTRACE_SEIZE, tracee, 0, PTRACE_O_EXITKILL) < 0 ||
		    ptrace(PTRACE_INTERRUPT, tracee, 0, 0) < 0)
			mk_cannot();
		waitpid(tracee, &status, __WALL);
		mk_report("tracer");
		mk_pause();
	}
	mk_collect("tracer");
	mk_wait_state(mk_collect("tracee"), 't');
}

static void vfork_parent(char **arg)
{
	pid_t parent;

	(void)arg;
	if (mk_fork() == 0) {
		mk_report("parent");
		if (vfork() == 0) {
			mk_child();
			mk_report("child");
			mk_pause();
		}
		mk_pause();
	}
	parent = mk_collect("parent");
	mk_collect("child");
	mk_wait_state(parent, 'D');
}

static void exit_now(int sig)
{
	(void)sig;
	_exit(0);
}

static void pidns(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
			mk_cannot();
		mk_report("outside");
		if (mk_fork() == 0) {
			signal(SIGALRM, exit_now); /* an init ignores what it does not catch */
			mk_report("init");
			if (mk_fork() == 0) {
				mk_report("inner");
				mk_pause();
			}
			mk_pause();
		}
		mk_pause();
	}
	mk_collect("outside");
	mk_collect("init");
	mk_collect("inner");
}

static void fork_storm(char **arg)
{
	int total = mk_number(arg[0], 2000, SHORT_LIVES_MAX);

	if (mk_fork() == 0) {
		signal(SIGCHLD, SIG_IGN);
		mk_report("root");
		for (int i = 0; i < total && !mk_over(); i++) {
			if (mk_fork() == 0) {
				usleep(2000);
				_exit(0);
			}
			usleep(500);
		}
		mk_pause();
	}
	mk_collect("root");
}

/* Without a pause, so that who hears of each has more to hear of whenever it looks. */
static void fork_race(char **arg)
{
	int n = mk_number(arg[0], 3, RACERS_MAX);

	for (int i = 0; i < n; i++) {
		if (mk_fork() != 0)
			continue;
		mk_report("racer");
		while (!mk_over()) {
			pid_t child = vfork();

			if (child == 0)
				_exit(0);
			waitpid(child, NULL, 0);
		}
		mk_pause();
	}
	for (int i = 0; i < n; i++)
		mk_collect("racer");
}

static void hopper(char **arg)
{
	(void)arg;
	if (mk_fork() == 0) {
		setsid();
		mk_report("leader");
		while (!mk_over()) {
			if (mk_fork() > 0)
				_exit(0);
			mk_report("hop");
			usleep(HOP_US);
		}
		_exit(0);
	}
	mk_reap(mk_collect("leader"));
	mk_collect("hop");
}

static struct ring {
	_Atomic pid_t member[RING_MAX];
	_Atomic int reforks;
	int n;
} * ring;

/* In a session of its own: forks the next one anew whenever that is dead. */
static void ring_member(int slot)
{
	int next = (slot + 1) % ring->n;
	pid_t pid;

	setsid();
	ring->member[slot] = getpid();
	mk_report("member");
	while (!mk_over()) {
		struct pollfd p = {.events = POLLIN};

		p.fd = (int)syscall(SYS_pidfd_open, ring->member[next], 0);
		if (p.fd >= 0 && poll(&p, 1, 20) == 0) {
			close(p.fd);
			continue;
		}
		if (p.fd >= 0)
			close(p.fd);
		if (ring->reforks++ >= RING_REFORKS) {
			usleep(HOP_US);
			continue;
		}
		pid = mk_fork();
		ring->member[next] = pid ? pid : getpid();
		if (pid == 0) {
			next = (next + 1) % ring->n;
			setsid();
			mk_report("member");
		}
	}
	_exit(0);
}

static void refork_ring(char **arg)
{
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED)
		abort();
	ring->n = mk_number(arg[0], 6, RING_MAX);
	for (int i = ring->n - 1; i >= 0; i--) {
		pid_t pid = mk_fork();

		if (pid == 0) {
			signal(SIGCHLD, SIG_IGN);
			while (i == ring->n - 1 && !ring->member[0] && !mk_over())
				usleep(1000); /* the last one watches the first */
			ring_member(i);
		}
		ring->member[i] = pid;
	}
	for (int i = 0; i < ring->n; i++)
		mk_collect("member");
}

static void deleted_cwd(char **arg)
{
	char dir[] = "/tmp/mkproc-XXXXXX";

	(void)arg;
	if (!mkdtemp(dir))
		mk_die(dir);
	if (mk_fork() == 0) {
		if (chdir(dir) < 0)
			mk_cannot();
		mk_report("child");
		mk_pause();
	}
	mk_collect("child");
	rmdir(dir);
}

/* A session on a terminal of its own: a leader and a child, both ignoring HUP.  The other end. */
static int make_terminal(pid_t *leader, pid_t *child)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		mk_cannot();
	*leader = mk_fork();
	if (*leader == 0) {
		int fd;

		setsid();
		fd = open(ptsname(master), O_RDWR); /* becomes the controlling one */
		if (fd < 0)
			mk_cannot();
		close(master);
		signal(SIGHUP, SIG_IGN);
		for (int i = 0; i < 3; i++)
			dup2(fd, i);
		close(fd);
		if (mk_fork() == 0) {
			mk_report("child");
			mk_pause();
		}
		mk_report("leader");
		mk_pause();
	}
	mk_collect("leader");
	*child = mk_collect("child");
	return master;
}

static void pty(char **arg)
{
	pid_t leader, child;

	(void)arg;
	make_terminal(&leader, &child); /* held open until the maker exits */
}

static void pty_closed(char **arg)
{
	pid_t leader, child;

	(void)arg;
	close(make_terminal(&leader, &child));
	mk_wait_no_tty(child);
}

static void pty_leader_gone(char **arg)
{
	pid_t leader, child;
	int master;

	(void)arg;
	master = make_terminal(&leader, &child);
	kill(leader, SIGKILL);
	mk_reap(leader);
	close(master);
	mk_wait_no_tty(child);
	mk_wait_reparented(child, leader);
}

static int idle(void *arg)
{
	(void)arg;
	mk_child();
	mk_pause();
}

static void many(char **arg)
{
	int n = mk_number(arg[0], 100, MANY_MAX);

	for (int i = 0; i < n; i++) {
		pid_t pid = clone(idle, new_stack(), CLONE_VM | SIGCHLD, NULL);

		if (pid < 0)
			mk_die("clone");
		mk_own(pid);
		mk_print("idle", pid);
	}
}

static void named(char **arg)
{
	char *argv[MEMBERS_MAX + 1], fd[16];
	int n = 0;

	if (!arg[0])
		mk_usage();
	free(mk_unhex(arg[0])); /* a usage error here, not in the child */
	for (; arg[n + 1] && n < MEMBERS_MAX; n++)
		argv[n] = mk_unhex(arg[n + 1]);
	argv[n] = NULL;
	if (mk_fork() == 0) {
		snprintf(fd, sizeof(fd), "%d", mk_report_fd);
		setenv("MKPROC_COMM", arg[0], 1);
		setenv("MKPROC_REPORT", fd, 1);
		execv("/proc/self/exe", argv);
		mk_cannot();
	}
	while (n)
		free(argv[--n]);
	mk_collect("child");
}

void mk_role(void)
{
	const char *comm = getenv("MKPROC_COMM"), *fd = getenv("MKPROC_REPORT");

	if (!comm || !fd)
		return;
	mk_report_fd = atoi(fd);
	prctl(PR_SET_NAME, mk_unhex(comm)); /* the alarm outlived the exec */
	mk_report("child");
	mk_pause();
}

static socklen_t parse_address(const char *text, struct sockaddr_storage *sa)
{
	struct sockaddr_in *in4 = (struct sockaddr_in *)sa;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)sa;

	memset(sa, 0, sizeof(*sa));
	if (inet_pton(AF_INET, text, &in4->sin_addr) == 1) {
		sa->ss_family = AF_INET;
		return sizeof(*in4);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		sa->ss_family = AF_INET6;
		return sizeof(*in6);
	}
	mk_usage();
}

static void tcp(char **arg)
{
	struct sockaddr_storage sa, from;
	socklen_t len = parse_address(arg[0] ? arg[0] : "127.0.0.1", &sa);
	bool bound = arg[0] && arg[1] && parse_address(arg[1], &from);
	int fd = socket(sa.ss_family, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, len) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		mk_cannot();
	if (mk_fork() == 0) {
		if (accept(fd, NULL, NULL) < 0)
			mk_cannot();
		close(fd);
		mk_report("server");
		mk_pause();
	}
	close(fd);
	if (mk_fork() == 0) {
		fd = socket(sa.ss_family, SOCK_STREAM, 0);
		if ((bound && bind(fd, (struct sockaddr *)&from, len) < 0) ||
		    connect(fd, (struct sockaddr *)&sa, len) < 0)
			mk_cannot();
		mk_report("client");
		mk_pause();
	}
	mk_collect("server");
	mk_collect("client");
	mk_print("port", ntohs(((struct sockaddr_in *)&sa)->sin_port)); /* at one place in both */
}

static void subreaper(char **arg)
{
	pid_t reaper, mid;

	(void)arg;
	reaper = mk_fork();
	if (reaper == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		mk_report("reaper");
		if (mk_fork() == 0) {
			mk_report("mid");
			if (mk_fork() == 0) {
				mk_report("orphan");
				mk_pause();
			}
			_exit(0);
		}
		wait(NULL);
		mk_pause();
	}
	mk_collect("reaper");
	mid = mk_collect("mid");
	mk_wait_reparented(mk_collect("orphan"), mid);
}

const struct shape mk_shapes[] = {
	{"sleeper", "", "child: sleeps", sleeper, false},
	{"daemon", "", "daemon: reparented, leads a session of its own", daemon_shape, false},
	{"orphan", "", "child: reparented, in the maker's session and group", orphan, false},
	{"reparented", "", "mid (gone), child: keeps SID and PGID of mid", reparented, false},
	{"setsid", "", "child: own session", own_session, false},
	{"setpgid", "", "child: own group, same session", own_group, false},
	{"group", "[N]", "leader, N times member: one group, same session", group, false},
	{"leader-gone", "[N]", "leader (gone, reaped), N times member", leader_gone, false},
	{"zombie-leader", "[N]", "leader (dead, unreaped), N times member", zombie_leader, true},
	{"two-users", "", "leader, nobody (uid 65534): one group; root only", two_users, false},
	{"zombie", "", "parent (never waits), zombie (exit status 7)", zombie, false},
	{"thread-left", "", "process: its first thread is gone, another lives", thread_left, false},
	{"ignore-term", "", "child: ignores TERM", ignore_term, false},
	{"ignore-hup", "", "child: ignores HUP", ignore_hup, false},
	{"slow-term", "[MS]", "child: exits MS (200) after a TERM", slow_term, false},
	{"term-reforks", "", "child: at TERM leaves a child in a new session", term_reforks, false},
	{"stopped", "", "child: T", stopped, true},
	{"stopped-term", "", "child: T, a TERM pending", stopped_term, true},
	{"traced", "", "tracer, tracee: t", traced, false},
	{"vfork", "", "parent: D until its child execs, child: never does", vfork_parent, false},
	{"pidns", "", "outside, init of a PID namespace, inner", pidns, false},
	{"fork-storm", "[N]", "root: forks N (2000) that live 2 ms", fork_storm, false},
	{"fork-race", "[N]", "N (3) times racer: forks without a pause", fork_race, false},
	{"storm", "[N [US [FILE]]]", "N (500) slots: who holds one ignores TERM, reforks after US",
	 mk_storm, false},
	{"storm-light", "[N [US [FILE]]]", "the same, all in one memory", mk_storm_light, false},
	{"hopper", "", "leader (gone), hop: forks and exits each 20 ms, one session", hopper,
	 false},
	{"ring", "[K]", "K (6) times member: sessions that refork each other", refork_ring, false},
	{"deleted-cwd", "", "child: its working directory is deleted", deleted_cwd, false},
	{"pty", "", "leader, child: on an open terminal; ignore HUP", pty, true},
	{"pty-closed", "", "leader, child: their terminal closed; ignore HUP", pty_closed, false},
	{"pty-leader-gone", "", "leader (gone), child: terminal closed; ignores HUP",
	 pty_leader_gone, false},
	{"many", "[N]", "N (100) times idle: clone(CLONE_VM)", many, false},
	{"named", "HEX [HEX...]", "child: exec'd with that comm and those arguments", named, false},
	{"tcp", "[TO [FROM]]", "server, client: connected (127.0.0.1); port: the server's", tcp,
	 false},
	{"subreaper", "", "reaper, mid (gone), orphan: adopted by reaper", subreaper, false},
	{0},
};
