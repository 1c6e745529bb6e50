#include "base/clock.h"
#include "contain/pidfd.h"
#include "base/proc_stat.h"
#include "contain/target.h"
#include "tests/helpers/made.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define TEST_LIFE_S 60

static struct identity identity_of(pid_t pid)
{
	return (struct identity){pid, made_start_ticks(pid)};
}

static void opening_checks_who_it_is(void **state)
{
	struct made m;
	struct identity id;
	bool reused;
	int fd;

	(void)state;
	MADE(&m, "leader-gone", "1");
	id = identity_of(made_pid(&m, "member", 0));
	assert_int_equal(pidfd_open_identity(id, &fd, &reused, NULL), 0);
	assert_false(pidfd_gone(fd));
	close(fd);

	id.start++; /* as after a reuse of its number */
	assert_int_equal(pidfd_open_identity(id, &fd, &reused, NULL), -ESRCH);
	assert_true(reused);
	id = (struct identity){made_pid(&m, "leader", 0), 1};
	assert_int_equal(pidfd_open_identity(id, &fd, &reused, NULL), -ESRCH);
	assert_false(reused);
	made_end(&m);
}

static void no_number_that_means_more_than_one_process_is_opened(void **state)
{
	static const pid_t pids[] = {0, 1, -1, -2};

	(void)state;
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		struct err err = {0};
		int fd = -7;

		assert_int_equal(
			pidfd_open_identity((struct identity){pids[i], 0}, &fd, NULL, &err),
			-EINVAL);
		assert_int_equal(fd, -7);
		assert_int_equal(err.code, EINVAL);
	}
}

/* In a PID namespace of its own, where the next number can be chosen. */
static void reuse_in_namespace(void)
{
	struct identity id;
	pid_t first, second;
	bool reused;
	FILE *f;
	int fd;

	first = fork();
	if (first == 0) {
		alarm(10);
		pause();
	}
	id = identity_of(first);
	usleep(30000); /* more than a clock tick: the next start time is another */
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	f = fopen("/proc/sys/kernel/ns_last_pid", "we");
	if (!f || fprintf(f, "%d", first - 1) < 0 || fclose(f) != 0)
		_exit(77);
	second = fork();
	if (second == 0) {
		alarm(10);
		pause();
	}
	if (second != first)
		_exit(77);
	if (pidfd_open_identity(id, &fd, &reused, NULL) != -ESRCH || !reused)
		_exit(1);
	if (pidfd_open_identity(identity_of(second), &fd, &reused, NULL) != 0 || reused)
		_exit(2);
	_exit(0);
}

static void a_reused_number_is_another_process(void **state)
{
	pid_t outer = fork();
	int status;

	(void)state;
	if (outer == 0) {
		pid_t init;

		alarm(20);
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
			_exit(77);
		init = fork();
		if (init == 0) {
			alarm(20);
			if (system("mount --make-rprivate / && mount -t proc proc /proc") != 0)
				_exit(77);
			reuse_in_namespace();
		}
		waitpid(init, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
	}
	waitpid(outer, &status, 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip_for("no PID namespace whose next number can be chosen");
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_zombie_is_gone_and_a_dead_first_thread_is_not(void **state)
{
	static const struct {
		const char *shape, *name;
		bool gone;
	} cases[] = {
		{"zombie", "zombie", true},
		{"zombie-leader", "leader", true},
		{"thread-left", "process", false},
		{"stopped", "child", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;
		int fd;

		MADE(&m, cases[i].shape);
		assert_int_equal(pidfd_open_identity(identity_of(made_pid(&m, cases[i].name, 0)),
						     &fd, NULL, NULL),
				 0);
		assert_int_equal(pidfd_gone(fd), cases[i].gone);
		close(fd);
		made_end(&m);
	}
}

static void waiting_ends_with_the_first_the_last_or_the_deadline(void **state)
{
	const uint64_t ms = 1000000;
	uint64_t began;
	struct made m;
	pid_t pid[3];
	int fd[4];

	(void)state;
	MADE(&m, "group", "2");
	pid[0] = made_pid(&m, "leader", 0);
	pid[1] = made_pid(&m, "member", 0);
	pid[2] = made_pid(&m, "member", 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pidfd_open_identity(identity_of(pid[i]), &fd[i], NULL, NULL), 0);
	fd[3] = -1;

	assert_int_equal(pidfd_wait(fd, 3, PIDFD_WAIT_ANY, 0, NULL), 3); /* a deadline long past */
	began = clock_boot_ns();
	assert_int_equal(pidfd_wait(fd, 3, PIDFD_WAIT_ALL, began + 50 * ms, NULL), 3);
	assert_true(clock_boot_ns() - began >= 50 * ms);
	assert_int_equal(pidfd_wait(fd, 4, PIDFD_WAIT_ANY, began + 30000 * ms, NULL), 3);

	kill(pid[1], SIGKILL);
	assert_int_equal(pidfd_wait(fd, 3, PIDFD_WAIT_ANY, clock_boot_ns() + 5000 * ms, NULL), 2);
	assert_int_equal(pidfd_wait(fd, 3, PIDFD_WAIT_ALL, clock_boot_ns() + 20 * ms, NULL), 2);
	kill(pid[0], SIGKILL);
	kill(pid[2], SIGKILL);
	assert_int_equal(pidfd_wait(fd, 3, PIDFD_WAIT_ALL, clock_boot_ns() + 5000 * ms, NULL), 0);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	made_end(&m);
}

static void the_dead_say_how(void **state)
{
	static const struct {
		int sig, status;
	} cases[] = {{SIGKILL, 0}, {SIGTERM, 0}, {0, 7}, {0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct identity id;
		struct death d;
		int fd, go[2];
		char c;

		assert_int_equal(pipe(go), 0);
		id.pid = fork();
		if (id.pid == 0) {
			alarm(10);
			close(go[1]);
			if (read(go[0], &c, 1) < 0)
				_exit(99);
			_exit(cases[i].status);
		}
		id = identity_of(id.pid);
		assert_int_equal(pidfd_open_identity(id, &fd, NULL, NULL), 0);
		assert_false(pidfd_death(fd, id).known);
		if (cases[i].sig)
			kill(id.pid, cases[i].sig);
		close(go[1]);
		pidfd_wait(&fd, 1, PIDFD_WAIT_ALL, clock_boot_ns() + 5 * CLOCK_NS_PER_S, NULL);
		d = pidfd_death(fd, id); /* a zombie of ours */
		assert_true(d.known);
		assert_int_equal(d.signalled, cases[i].sig != 0);
		assert_int_equal(d.code, cases[i].sig ? cases[i].sig : cases[i].status);
		assert_int_equal(waitpid(id.pid, NULL, 0),
				 id.pid); /* was not reaped by the question */
		d = pidfd_death(fd, id);
		if (d.known) { /* Linux 6.15 */
			assert_int_equal(d.signalled, cases[i].sig != 0);
			assert_int_equal(d.code, cases[i].sig ? cases[i].sig : cases[i].status);
		}
		close(fd);
		close(go[0]);
	}
}

static void another_ones_zombie_says_how_where_it_may_be_read(void **state)
{
	struct made m;
	struct identity id;
	struct death d;
	int fd;

	(void)state;
	MADE(&m, "zombie");
	id = identity_of(made_pid(&m, "zombie", 0));
	assert_int_equal(pidfd_open_identity(id, &fd, NULL, NULL), 0);
	d = pidfd_death(fd, id);
	assert_true(d.known);
	assert_false(d.signalled);
	assert_int_equal(d.code, 7);
	close(fd);
	made_end(&m);
}

static void halted_is_stopped_in_every_thread(void **state)
{
	static const struct {
		const char *shape, *name;
		bool halted;
	} cases[] = {
		{"sleeper", "child", false},     {"stopped", "child", true},
		{"traced", "tracee", true},      {"vfork", "parent", true},
		{"zombie", "zombie", true},      {"thread-left", "process", false},
		{"leader-gone", "leader", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;

		MADE(&m, cases[i].shape);
		assert_int_equal(proc_stat_halted(made_pid(&m, cases[i].name, 0)), cases[i].halted);
		made_end(&m);
	}
}

static void a_name_cannot_forge_a_stat_line(void **state)
{
	struct proc_stat st;
	struct made m;
	pid_t pid;

	(void)state;
	MADE(&m, "named", "29205a20312031", "61"); /* ") Z 1 1" */
	pid = made_pid(&m, "child", 0);
	assert_int_equal(proc_stat_read(pid, &st), 0);
	assert_int_equal(st.ppid, m.maker);
	assert_int_equal(st.pgid, getpgid(pid));
	assert_int_equal(st.sid, getsid(pid));
	assert_int_equal(st.start, made_start_ticks(pid));
	assert_int_equal(st.threads, 1);
	assert_int_not_equal(st.state, 'Z');
	made_end(&m);
}

static void a_set_keeps_each_process_once(void **state)
{
	struct target_set set = {0};
	struct identity id, other;
	struct made m;
	size_t at;

	(void)state;
	MADE(&m, "many", "40");
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 40; i++) {
			id = identity_of(made_pid(&m, "idle", i));
			assert_int_equal(target_add(&set, id, &at, NULL), 0);
			assert_int_equal(at, i);
		}
	assert_int_equal(set.n, 40);
	assert_int_equal(target_set_alive(&set), 40);
	other = id;
	other.start++;
	assert_null(target_find(&set, other));
	assert_int_equal(target_add(&set, other, &at, NULL), 0);
	assert_int_equal(set.v[at].result, TARGET_REUSED);
	assert_int_equal(target_set_alive(&set), 40);
	assert_int_equal(target_add(&set, identity_of(getpid()), NULL, NULL), -EINVAL);
	assert_int_equal(target_add(&set, identity_of(1), NULL, NULL), -EINVAL);
	made_end(&m);
	assert_int_equal(target_set_wait(&set, clock_boot_ns() + 5 * CLOCK_NS_PER_S, NULL), 0);
	target_set_clear(&set);
}

static void a_handle_that_was_had_before_is_taken_over(void **state)
{
	struct target_set set = {0};
	struct identity id;
	struct made m;
	int fd, again;

	(void)state;
	assert_int_equal(target_handle_of(1), -1);
	assert_int_equal(target_handle_of(getpid()), -1);
	MADE(&m, "many", "1");
	id = identity_of(made_pid(&m, "idle", 0));
	fd = target_handle_of(id.pid);
	again = target_handle_of(id.pid);
	assert_true(fd >= 0 && again >= 0);
	assert_int_equal(target_take(&set, id, fd, NULL), 0);
	assert_int_equal(target_take(&set, id, again, NULL), 0);
	assert_int_equal(set.n, 1);
	assert_int_equal(target_find(&set, id)->pidfd, fd);
	assert_int_equal(fcntl(again, F_GETFD), -1); /* one is enough */
	made_end(&m);
	assert_int_equal(target_set_wait(&set, clock_boot_ns() + 5 * CLOCK_NS_PER_S, NULL), 0);
	target_set_clear(&set);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void a_set_works_on_when_descriptors_run_out(void **state)
{
	struct target_set set = {0};
	/* of which a set leaves half alone; for good, so this test is the last */
	const struct rlimit low = {30, 60};
	struct made m;
	size_t held = 0;

	(void)state;
	MADE(&m, "many", "60");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	for (int i = 0; i < 60; i++)
		assert_int_equal(target_add(&set, identity_of(made_pid(&m, "idle", i)), NULL, NULL),
				 0);
	for (size_t i = 0; i < set.n; i++)
		held += set.v[i].pidfd >= 0;
	assert_in_range(held, 16, 30); /* it is the hard limit that counts */
	assert_int_equal(target_set_alive(&set), 60);
	assert_int_equal(target_set_wait(&set, clock_boot_ns() + 30000000, NULL), 60);
	for (size_t i = 0; i < set.n; i++)
		if (set.v[i].pidfd >= 0)
			kill(set.v[i].id.pid, SIGKILL);
	assert_int_equal(target_set_wait(&set, clock_boot_ns() + 200000000, NULL), 60 - (int)held);
	made_end(&m);
	assert_int_equal(target_set_wait(&set, clock_boot_ns() + 5 * CLOCK_NS_PER_S, NULL), 0);
	target_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_checks_who_it_is),
		cmocka_unit_test(no_number_that_means_more_than_one_process_is_opened),
		cmocka_unit_test(a_reused_number_is_another_process),
		cmocka_unit_test(a_zombie_is_gone_and_a_dead_first_thread_is_not),
		cmocka_unit_test(waiting_ends_with_the_first_the_last_or_the_deadline),
		cmocka_unit_test(the_dead_say_how),
		cmocka_unit_test(another_ones_zombie_says_how_where_it_may_be_read),
		cmocka_unit_test(halted_is_stopped_in_every_thread),
		cmocka_unit_test(a_name_cannot_forge_a_stat_line),
		cmocka_unit_test(a_set_keeps_each_process_once),
		cmocka_unit_test(a_handle_that_was_had_before_is_taken_over),
		cmocka_unit_test(a_set_works_on_when_descriptors_run_out),
	};

	alarm(TEST_LIFE_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
