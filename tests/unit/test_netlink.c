#include "base/clock.h"
#include "source/netlink.h"
#include "tests/helpers/made.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define LIFE_S 60

static struct netlink *listening(void)
{
	struct netlink *n;
	struct err err = {0};

	if (netlink_open(&n, &err) < 0)
		skip_for(err.text);
	return n;
}

/* Of the events of one process: a letter each, the status behind an exit. */
struct heard {
	pid_t pid;
	char text[200];
	uint64_t first_ns, last_ns;
	struct event fork, exit;
	size_t lost, forks;
};

static void hear(void *ctx, const struct event *e)
{
	struct heard *h = ctx;
	size_t len = strlen(h->text);
	char *at = h->text + len;
	bool mine = e->pid == h->pid || (e->kind == EVENT_FORK && e->child == h->pid);

	h->lost += e->kind == EVENT_LOST;
	h->forks += e->kind == EVENT_FORK;
	if (!mine || len + 20 > sizeof(h->text))
		return;
	if (!h->first_ns)
		h->first_ns = e->boot_ns;
	h->last_ns = e->boot_ns;
	switch (e->kind) {
	case EVENT_FORK:
		strcpy(at, e->child == h->pid ? "f" : "F");
		h->fork = *e;
		break;
	case EVENT_EXEC:
		strcpy(at, "e");
		break;
	case EVENT_SID:
		strcpy(at, "s");
		break;
	case EVENT_EXIT:
		sprintf(at, "x%d", e->status);
		h->exit = *e;
		break;
	case EVENT_THREAD:
		strcpy(at, "t");
		h->exit = *e;
		break;
	case EVENT_LOST:
		break;
	}
}

static void drain(struct netlink *n, struct heard *h)
{
	struct err err = {0};
	int r = 1;

	while (r > 0)
		r = netlink_drain(n, NETLINK_DRAIN_ALL, hear, h, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(r, 0);
}

/* An exit is told just after who waits for it may know: it comes within a second. */
static void drain_until(struct netlink *n, struct heard *h, char last)
{
	for (int i = 0; i < 1000 && !strchr(h->text, last); i++) {
		usleep(i ? 1000 : 0);
		drain(n, h);
	}
	assert_non_null(strchr(h->text, last));
}

static void a_child_is_heard_from_fork_to_exit(void **state)
{
	struct netlink *n = listening();
	struct heard h = {0};
	uint64_t before = clock_boot_ns(), after;
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
	int status;

	(void)state;
	h.pid = fork();
	assert_true(h.pid >= 0);
	if (h.pid == 0) {
		alarm(LIFE_S);
		setsid();
		execv("/bin/sh", argv);
		_exit(1);
	}
	assert_int_equal(waitpid(h.pid, &status, 0), h.pid);
	drain_until(n, &h, 'x');
	after = clock_boot_ns();
	assert_string_equal(h.text, "fsex1792");
	assert_int_equal(h.exit.status, status);
	assert_int_equal(h.fork.pid, getpid());
	assert_true(before <= h.first_ns && h.first_ns <= h.last_ns && h.last_ns <= after);
	netlink_close(n);
}

static void a_fork_is_completed_with_the_start_of_the_child(void **state)
{
	struct netlink *n = listening();
	struct heard h = {0};
	struct event gone;

	(void)state;
	h.pid = fork();
	assert_true(h.pid >= 0);
	if (h.pid == 0) {
		alarm(LIFE_S);
		for (;;)
			pause();
	}
	drain_until(n, &h, 'f');
	netlink_complete(&h.fork, true);
	assert_true(h.fork.start_read);
	assert_int_equal(h.fork.child_start, made_start_ticks(h.pid));
	assert_int_equal(h.fork.pid_start, made_start_ticks(getpid()));
	kill(h.pid, SIGKILL);
	waitpid(h.pid, NULL, 0);
	gone = h.fork;
	netlink_complete(&gone, false);
	assert_false(gone.start_read);
	assert_in_range(gone.child_start, h.fork.child_start, h.fork.child_start + 1);
	assert_int_equal(gone.pid_start, 0);
	drain_until(n, &h, 'x');
	assert_string_equal(h.text, "fx9");
	netlink_close(n);
}

static void *outlive_main(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void a_process_lives_until_its_last_thread_ended(void **state)
{
	struct netlink *n = listening();
	struct heard h = {0};
	pthread_t thread;

	(void)state;
	h.pid = fork();
	assert_true(h.pid >= 0);
	if (h.pid == 0) {
		alarm(LIFE_S);
		if (pthread_create(&thread, NULL, outlive_main, NULL) == 0)
			pthread_exit(NULL);
		_exit(1);
	}
	drain_until(n, &h, 'x');
	assert_string_equal(h.text, "fx0"); /* its thread is no child */
	netlink_complete(&h.exit, false);
	assert_int_equal(h.exit.alive_start, made_start_ticks(h.pid));
	kill(h.pid, SIGKILL);
	drain_until(n, &h, 't');
	netlink_complete(&h.exit, false);
	assert_int_equal(h.exit.alive_start, 0);
	waitpid(h.pid, NULL, 0);
	netlink_close(n);
}

#define SPAWNS 2000

static void spawn_many(int count)
{
	char *const argv[] = {(char *)"true", NULL};
	pid_t pid;

	for (int i = 0; i < count; i++)
		if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL) == 0)
			waitpid(pid, NULL, 0);
}

/* Of the children of one process. */
struct tally {
	pid_t spawner;
	bool child[1 << 22]; /* PID_MAX_LIMIT */
	int forks, execs, exits;
	size_t lost;
	bool over;
};

static void add_up(void *ctx, const struct event *e)
{
	struct tally *t = ctx;

	if (e->kind == EVENT_FORK && e->pid == t->spawner) {
		t->child[e->child] = true;
		t->forks++;
	}
	t->execs += e->kind == EVENT_EXEC && t->child[e->pid];
	if (e->kind == EVENT_EXIT && t->child[e->pid]) {
		t->child[e->pid] = false;
		t->exits++;
	}
	t->over |= e->kind == EVENT_EXIT && e->pid == t->spawner;
	t->lost += e->kind == EVENT_LOST;
}

static void who_drains_by_the_clock_loses_nothing(void **state)
{
	struct netlink *n = listening();
	struct tally *t = calloc(1, sizeof(*t));
	uint64_t until = clock_boot_ns() + LIFE_S * CLOCK_NS_PER_S;

	(void)state;
	assert_non_null(t);
	t->spawner = fork();
	assert_true(t->spawner >= 0);
	if (t->spawner == 0) {
		alarm(LIFE_S);
		usleep(20000); /* the parent knows our PID by then: it drains nothing before */
		spawn_many(SPAWNS);
		_exit(0);
	}
	while (!t->over && clock_boot_ns() < until) {
		usleep(NETLINK_DRAIN_NS / 1000);
		assert_true(netlink_drain(n, NETLINK_DRAIN_ALL, add_up, t, NULL) >= 0);
	}
	waitpid(t->spawner, NULL, 0);
	assert_int_equal(t->lost, 0);
	assert_int_equal(netlink_lost(n), 0);
	assert_int_equal(t->forks, SPAWNS);
	assert_int_equal(t->execs, SPAWNS);
	assert_int_equal(t->exits, SPAWNS);
	free(t);
	netlink_close(n);
}

static void what_does_not_fit_is_told_as_lost(void **state)
{
	struct netlink *n = listening();
	struct heard h = {0};
	int small = 4096, large = 1 << 20, spawns = 200;

	(void)state;
	assert_int_equal(setsockopt(netlink_fd(n), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)),
			 0);
	drain(n, &h);
	h.forks = 0;
	spawn_many(spawns);
	drain(n, &h);
	assert_true(h.lost > 0);
	assert_true(h.forks < (size_t)spawns);
	assert_true(netlink_lost(n) > 0);
	/* told again from here on, whatever else the host does */
	assert_int_equal(setsockopt(netlink_fd(n), SOL_SOCKET, SO_RCVBUF, &large, sizeof(large)),
			 0);
	drain(n, &h);
	h.pid = fork();
	assert_true(h.pid >= 0);
	if (h.pid == 0)
		_exit(0);
	waitpid(h.pid, NULL, 0);
	drain_until(n, &h, 'x');
	netlink_close(n);
}

static int opens(void *ctx)
{
	struct netlink *n;
	int r = netlink_open(&n, ctx);

	netlink_close(n);
	return -r;
}

static void an_ordinary_user_may_listen(void **state)
{
	struct err err = {0};
	int r;

	(void)state;
	netlink_close(listening());
	r = as_nobody(opens, &err);
	if (r == EPERM)
		skip_for("this kernel lets root listen only");
	assert_int_equal(r, 0);
}

struct place {
	int flags; /* of unshare(2) */
	const char *why;
};

/* In a child of its own; its exit status: 0: refused as it should be. */
static int refused_in(const struct place *p)
{
	struct err err = {0};
	struct netlink *n;
	int status;
	pid_t pid;

	alarm(LIFE_S);
	if (unshare(p->flags) < 0)
		return 77;
	pid = fork(); /* a PID namespace has its children only */
	if (pid == 0) {
		alarm(LIFE_S);
		if (netlink_open(&n, &err) == 0)
			_exit(1);
		_exit(strstr(err.text, p->why) ? 0 : 2);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void where_it_cannot_work_it_says_why(void **state)
{
	static const struct place places[] = {
		{CLONE_NEWNET, "network namespace"},
		{CLONE_NEWPID, "another PID namespace"},
		{CLONE_NEWUSER, "another user namespace"},
	};

	(void)state;
	netlink_close(listening());
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(refused_in(&places[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			skip_for("no namespace of its own can be made");
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* A fork of 1 by nobody: what only the kernel may say. */
static void forge(struct netlink *n, pid_t child)
{
	struct sockaddr_nl to;
	socklen_t len = sizeof(to);
	struct proc_event pe = {.what = PROC_EVENT_FORK};
	char bytes[NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(pe))] = {0};
	struct nlmsghdr h = {.nlmsg_len = sizeof(bytes), .nlmsg_type = NLMSG_DONE};
	struct cn_msg cn = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof(pe)};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);

	assert_true(fd >= 0);
	pe.event_data.fork.child_pid = pe.event_data.fork.child_tgid = child;
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + NLMSG_HDRLEN, &cn, sizeof(cn));
	memcpy(bytes + NLMSG_LENGTH(sizeof(cn)), &pe, sizeof(pe));
	assert_int_equal(getsockname(netlink_fd(n), (struct sockaddr *)&to, &len), 0);
	if (sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&to, len) < 0) {
		close(fd);
		netlink_close(n);
		skip_for("only root can send to another's socket");
	}
	close(fd);
}

static void only_the_kernel_is_believed(void **state)
{
	struct netlink *n = listening();
	struct heard h = {.pid = 0x7ffffff0}; /* no PID is that high */

	(void)state;
	forge(n, h.pid);
	drain(n, &h);
	assert_string_equal(h.text, "");
	netlink_close(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_is_heard_from_fork_to_exit),
		cmocka_unit_test(a_fork_is_completed_with_the_start_of_the_child),
		cmocka_unit_test(a_process_lives_until_its_last_thread_ended),
		cmocka_unit_test(who_drains_by_the_clock_loses_nothing),
		cmocka_unit_test(what_does_not_fit_is_told_as_lost),
		cmocka_unit_test(an_ordinary_user_may_listen),
		cmocka_unit_test(where_it_cannot_work_it_says_why),
		cmocka_unit_test(only_the_kernel_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
