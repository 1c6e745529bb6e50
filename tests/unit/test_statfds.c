#include "source/statfds.h"

#include "tests/helpers/made.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TIME_LIMIT 60

/* What a pass says of one process. */
struct look {
	pid_t of;
	int times;
	struct process p;
	char comm[64];
};

static int note(void *ctx, struct process *p, const char *comm, struct err *err)
{
	struct look *look = ctx;

	(void)err;
	if (p->id.pid != look->of)
		return 0;
	look->times++;
	look->p = *p;
	strncpy(look->comm, comm, sizeof(look->comm) - 1);
	return 0;
}

static struct look look_at(struct statfds *s, pid_t pid)
{
	struct look look = {.of = pid};
	struct err err = {0};

	assert_int_equal(statfds_each(s, note, &look, &err), 0);
	return look;
}

static struct statfds *opened_as(bool keep)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfds *s = NULL;
	struct err err = {0};

	alarm(TIME_LIMIT);
	assert_true(proc >= 0);
	assert_int_equal(statfds_open(proc, keep, &s, &err), 0);
	return s;
}

static struct statfds *opened(void)
{
	return opened_as(true);
}

/* A child that waits to be killed. */
static pid_t child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(TIME_LIMIT);
		setpgid(0, 0);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	while (getpgid(pid) != pid)
		usleep(1000);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void it_says_what_libproc2_says(void **state)
{
	struct statfds *s = opened();
	struct pids_reader *reader;
	struct err err = {0};
	pid_t pid = child();

	(void)state;
	assert_int_equal(pids_open(&reader, &err), 0);
	for (int pass = 0; pass < 3; pass++) {
		struct look theirs = {.of = pid}, ours = look_at(s, pid);

		assert_int_equal(pids_each(reader, note, &theirs, &err), 0);
		assert_int_equal(ours.times, 1);
		assert_string_equal(ours.comm, theirs.comm);
		ours.p.rss_kb = theirs.p.rss_kb; /* grows */
		ours.p.cpu_ticks = theirs.p.cpu_ticks;
		assert_memory_equal(&ours.p, &theirs.p, sizeof(ours.p));
	}
	end(pid);
	pids_close(reader);
	statfds_close(s);
}

static void the_reaped_are_gone_and_the_new_are_seen(void **state)
{
	struct statfds *s = opened();
	pid_t first = child(), second;

	(void)state;
	assert_int_equal(look_at(s, first).times, 1);
	kill(first, SIGKILL);
	assert_true(made_becomes(first, 'Z'));
	assert_int_equal(look_at(s, first).p.state, 'Z');
	waitpid(first, NULL, 0);
	second = child();
	assert_int_equal(look_at(s, first).times, 0);
	assert_int_equal(look_at(s, second).p.ppid, getpid());
	end(second);
	statfds_close(s);
}

static void a_change_is_seen_by_a_kept_descriptor(void **state)
{
	struct statfds *s = opened();
	pid_t pid = child();

	(void)state;
	assert_int_equal(look_at(s, pid).p.pgid, pid);
	assert_int_equal(setpgid(pid, getpgrp()), 0);
	assert_int_equal(look_at(s, pid).p.pgid, getpgrp());
	end(pid);
	statfds_close(s);
}

static void out_of_descriptors_nobody_is_left_out(void **state)
{
	struct statfds *s = opened();
	struct rlimit was, few;
	pid_t pid = child();
	struct look look;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = (struct rlimit){(rlim_t)dup(0) + 1, was.rlim_max}; /* one more can be opened */
	close((int)few.rlim_cur - 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	look = look_at(s, pid);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(look.times, 1);
	end(pid);
	statfds_close(s);
}

static void without_keeping_nothing_stays_open(void **state)
{
	struct statfds *s = opened_as(false);
	pid_t pid = child();
	struct rlimit was, now;
	int next;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(look_at(s, pid).p.ppid, getpid());
	next = dup(0);
	close(next);
	assert_int_equal(setpgid(pid, getpgrp()), 0);
	assert_int_equal(look_at(s, pid).p.pgid, getpgrp());
	assert_int_equal(dup(0), next);
	close(next);
	getrlimit(RLIMIT_NOFILE, &now);
	assert_int_equal(was.rlim_cur, now.rlim_cur);
	end(pid);
	statfds_close(s);
}

struct whom {
	const struct pid_list *listed;
	size_t kthreads, left_out;
};

static int compare(void *ctx, struct process *p, const char *comm, struct err *err)
{
	struct whom *w = ctx;

	(void)comm;
	(void)err;
	w->kthreads += process_is_kthread(p);
	w->left_out += process_is_kthread(p) && !pid_listed(w->listed, p->id.pid);
	return 0;
}

static void the_kernels_own_threads_are_not_listed(void **state)
{
	struct statfds *s = opened();
	pid_t pid = child();
	struct pid_list listed = {0};
	struct whom w = {.listed = &listed};
	struct err err = {0};

	(void)state;
	assert_int_equal(statfds_list(s, &listed, &err), 0);
	assert_int_equal(statfds_each(s, compare, &w, &err), 0);
	assert_true(pid_listed(&listed, pid));
	assert_true(pid_listed(&listed, getpid()));
	end(pid);
	free(listed.v);
	statfds_close(s);
	if (w.kthreads < 8) /* in a PID namespace there are none */
		skip();
	/* kthreadd is not its own child, and some may begin meanwhile */
	assert_true(w.left_out > w.kthreads / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_what_libproc2_says),
		cmocka_unit_test(the_reaped_are_gone_and_the_new_are_seen),
		cmocka_unit_test(a_change_is_seen_by_a_kept_descriptor),
		cmocka_unit_test(out_of_descriptors_nobody_is_left_out),
		cmocka_unit_test(without_keeping_nothing_stays_open),
		cmocka_unit_test(the_kernels_own_threads_are_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
