#include "base/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TIME_LIMIT 60

/* Fields 4 to 28 of a made-up process, and what is behind them but for the exit code. */
#define NUMBERS                                              \
	" 1 4102 4100 34819 -1 4194560 904 0 1 0 73 21 0 0 " \
	"20 0 3 0 881234 9412608 1450 18446744073709551615 1 1 140721"
#define BEHIND " 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 1 1 1 1 1 1 1 "

static void each_field_is_where_the_manual_has_it(void **state)
{
	char line[] = "4131 (sh) S" NUMBERS BEHIND "0\n";
	const char *comm = NULL;
	struct proc_stat st;

	(void)state;
	assert_int_equal(proc_stat_parse(line, &st, &comm), 0);
	assert_string_equal(comm, "sh");
	assert_int_equal(st.pid, 4131);
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.ppid, 1);
	assert_int_equal(st.pgid, 4102);
	assert_int_equal(st.sid, 4100);
	assert_int_equal(st.tty_nr, 34819);
	assert_int_equal(st.tpgid, -1);
	assert_int_equal(st.flags, 4194560);
	assert_int_equal(st.cpu_ticks, 73 + 21);
	assert_int_equal(st.threads, 3);
	assert_int_equal(st.start, 881234);
	assert_int_equal(st.rss_pages, 1450);
	assert_int_equal(st.start_stack, 140721);
	assert_int_equal(st.exit_code, 0);
}

static void a_name_ends_at_the_last_parenthesis(void **state)
{
	static const char *const names[] = {"",     ")",         ") Z 1 1 1",     "(((", ") (",
					    "a\nb", "\xff\x01)", ") S 0 0 0 0 0", " "};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *comm = NULL;
		struct proc_stat st;
		char line[512];

		snprintf(line, sizeof(line), "4131 (%s) R" NUMBERS BEHIND "0\n", names[i]);
		assert_int_equal(proc_stat_parse(line, &st, &comm), 0);
		assert_string_equal(comm, names[i]);
		assert_int_equal(st.state, 'R');
		assert_int_equal(st.start, 881234);
	}
}

static void only_the_dead_have_an_exit_code(void **state)
{
	static const struct {
		char state;
		int expected;
	} cases[] = {{'Z', 9}, {'X', 9}, {'S', 0}, {'t', 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct proc_stat st;
		char line[512];

		snprintf(line, sizeof(line), "4131 (sh) %c" NUMBERS BEHIND "9\n", cases[i].state);
		assert_int_equal(proc_stat_parse(line, &st, NULL), 0);
		assert_int_equal(st.exit_code, cases[i].expected);
	}
}

static void what_is_no_stat_line_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"4131",
		"4131 sh S 1 1 1",
		"4131 (sh",
		"4131 )sh( S",
		"4131 (sh)",
		"4131 (sh) ",
		"4131 (sh) S",
		"4131 (sh)S 1 1",
		"4131 (sh) S 1 4102 4100 34819 -1 4194560 904 0 1 0 73 21 0 0 20",
		"4131 (sh) S x" NUMBERS,
		"4131 (sh) S -" NUMBERS,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct proc_stat st;
		char line[512];

		snprintf(line, sizeof(line), "%s", lines[i]);
		assert_int_equal(proc_stat_parse(line, &st, NULL), -EPROTO);
	}
}

/* A child that waits to be killed. */
static pid_t start_child(void)
{
	pid_t pid;

	alarm(TIME_LIMIT);
	pid = fork();
	if (pid == 0) {
		alarm(TIME_LIMIT);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void a_kept_directory_never_tells_of_the_next_owner(void **state)
{
	struct proc_stat by_pid, by_dir;
	char path[32];
	pid_t pid;
	int dir;

	(void)state;
	pid = start_child();
	snprintf(path, sizeof(path), "/proc/%d", pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(proc_stat_read(pid, &by_pid), 0);
	assert_int_equal(proc_stat_read_at(dir, "stat", &by_dir), 0);
	assert_int_equal(by_pid.pid, pid);
	assert_int_equal(by_pid.ppid, getpid());
	assert_int_equal(by_dir.start, by_pid.start);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(proc_stat_read_at(dir, "stat", &by_dir), -ESRCH);
	close(dir);
}

static void who_waits_to_be_reaped_has_ended_and_is_not_gone(void **state)
{
	struct proc_stat st;
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_false(proc_is_gone(1)); /* also where it is another user's */
	pid = start_child();
	assert_int_equal(proc_stat_read(pid, &st), 0);
	assert_false(proc_stat_dead(&st));
	assert_false(proc_has_ended(pid, st.start));
	assert_true(proc_has_ended(pid, st.start - 1)); /* another had the number */
	assert_int_equal(proc_stat_read_same(pid, st.start - 1, &st), -ESRCH);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(proc_is_gone(pid));
	assert_true(proc_has_ended(pid, st.start));
	waitpid(pid, NULL, 0);
	assert_true(proc_is_gone(pid));
	assert_true(proc_has_ended(pid, st.start));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_where_the_manual_has_it),
		cmocka_unit_test(a_name_ends_at_the_last_parenthesis),
		cmocka_unit_test(only_the_dead_have_an_exit_code),
		cmocka_unit_test(what_is_no_stat_line_is_refused),
		cmocka_unit_test(a_kept_directory_never_tells_of_the_next_owner),
		cmocka_unit_test(who_waits_to_be_reaped_has_ended_and_is_not_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
