#include "contain/guard.h"

#include "base/proc_stat.h"
#include "base/vec.h"
#include "contain/ladder.h"
#include "tests/unit/act.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_LIFE_S 100
#define VICTIMS 3

/* Where who ends them is killed himself. */
struct moment {
	int sig; /* of that signal: 0: never */
	bool before;
	unsigned nth; /* time, from 1 */
};

static void die_at(struct moment *m, int sig, bool before)
{
	if (sig == m->sig && before == m->before && --m->nth == 0)
		raise(SIGKILL);
}

static int before(void *ctx, int sig, const struct identity *to, size_t n, struct err *err)
{
	(void)to;
	(void)n;
	(void)err;
	die_at(ctx, sig, true);
	return 0;
}

static void after(void *ctx, int sig, const struct target *t)
{
	(void)t;
	die_at(ctx, sig, false);
}

/* Ends the members of m in a process of its own; returns how that ended. */
static int end_them(const struct made *m, struct moment when)
{
	const struct ladder_plan plan = {
		.kill = true, .stop_first = true, .guarded = true, .kill_wait_ns = 3000000000ull};
	const struct act_hooks hooks = {
		.ctx = &when, .before_signal = before, .after_signal = after};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct ladder *l = ladder_new(&plan, &hooks);
		int r = l ? 0 : 1;

		alarm(TEST_LIFE_S);
		for (int i = 0; !r && i < VICTIMS; i++)
			r = ladder_add(l, identity_of(made_pid(m, "member", i)), NULL);
		if (!r)
			r = ladder_run(l, NULL);
		/* what it had for a guard is gone, too: nobody is left to be waited for */
		_exit(r ? 1 : waitpid(-1, NULL, 0) < 0 && errno == ECHILD ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void those_stopped_on_the_way_to_a_kill_go_on_when_who_did_it_is_killed(void **state)
{
	static const struct moment moments[] = {
		{SIGSTOP, false, 1},
		{SIGSTOP, false, VICTIMS},
		{SIGKILL, true, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		int status;
		struct made m;

		MADE(&m, "group", "3");
		assert_int_equal(kill(made_pid(&m, "member", 1), SIGSTOP), 0);
		assert_true(made_becomes(made_pid(&m, "member", 1), 'T'));
		status = end_them(&m, moments[i]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_true(made_becomes(made_pid(&m, "member", 0), 'S'));
		assert_true(made_becomes(made_pid(&m, "member", 2), 'S'));
		/* another had stopped this one before */
		assert_int_equal(made_state(made_pid(&m, "member", 1)), 'T');
		made_end(&m);
	}
}

static void one_that_is_killed_after_the_first_kill_leaves_none_stopped(void **state)
{
	int status;
	struct made m;

	(void)state;
	MADE(&m, "group", "3");
	status = end_them(&m, (struct moment){SIGKILL, false, 1});
	assert_true(WIFSIGNALED(status));
	for (int i = 0; i < VICTIMS; i++)
		assert_true(made_becomes(made_pid(&m, "member", i), i == VICTIMS - 1 ? 0 : 'S'));
	made_end(&m);
}

static void what_is_ended_whole_leaves_no_guard(void **state)
{
	struct made m;

	(void)state;
	MADE(&m, "group", "3");
	assert_int_equal(end_them(&m, (struct moment){0}), 0);
	for (int i = 0; i < VICTIMS; i++)
		assert_true(made_becomes(made_pid(&m, "member", i), 0));
	made_end(&m);
}

enum then { CLOSE, UNDO, DIE };

/* Stops them with a guard, then does that, and is killed. */
static void stop_then(const struct made *m, enum then then)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct target_set set = {0};
		struct guard *g = NULL;

		alarm(TEST_LIFE_S);
		if (guard_open(&g, NULL) < 0)
			_exit(1);
		target_set_guard(&set, g);
		for (int i = 0; i < VICTIMS; i++)
			target_add(&set, identity_of(made_pid(m, "member", i)), NULL, NULL);
		signal_each(&set, SIGSTOP);
		if (then == CLOSE)
			guard_close(g);
		if (then == UNDO)
			signal_undo_stop(&set);
		for (int i = 0; then == UNDO && i < VICTIMS; i++)
			kill(made_pid(m, "member", i), SIGSTOP); /* as another does */
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void only_those_that_are_stopped_by_who_was_killed_go_on(void **state)
{
	static const struct {
		enum then then;
		char state;
	} cases[] = {{DIE, 'S'}, {CLOSE, 'T'}, {UNDO, 'T'}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;

		MADE(&m, "group", "3");
		stop_then(&m, cases[i].then);
		for (int k = 0; k < VICTIMS; k++)
			assert_true(made_becomes(made_pid(&m, "member", k), cases[i].state));
		usleep(50000); /* and stays so */
		for (int k = 0; k < VICTIMS; k++)
			assert_int_equal(made_state(made_pid(&m, "member", k)), cases[i].state);
		made_end(&m);
	}
}

/* A hook for act_hooks.members: what a mark that we carry ourselves would find, our children. */
static int all_our_children(void *ctx, struct identity_list *out, struct err *err)
{
	const struct made *m = ctx;
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	struct proc_stat st;
	int r = 0;

	if (!dir)
		return err_errno(err, errno, "/proc");
	while (!r && (e = readdir(dir)))
		if (proc_stat_read(atoi(e->d_name), &st) == 0 && st.ppid == getpid() &&
		    st.pid != m->maker && st.state != 'Z' &&
		    !VEC_PUSH(out, ((struct identity){st.pid, st.start})))
			r = err_nomem(err);
	closedir(dir);
	return r;
}

static void the_guard_is_no_member_of_what_it_guards(void **state)
{
	const struct ladder_plan plan = {
		.kill = true, .stop_first = true, .guarded = true, .kill_wait_ns = 3000000000ull};
	struct made m;
	const struct act_hooks hooks = {.ctx = &m, .members = all_our_children};
	struct ladder *l;
	size_t n;

	(void)state;
	MADE(&m, "ignore-term");
	l = ladder_new(&plan, &hooks);
	assert_non_null(l);
	assert_int_equal(ladder_add(l, identity_of(made_pid(&m, "child", 0)), NULL), 0);
	assert_int_equal(ladder_run(l, NULL), 0);
	assert_true(ladder_outcomes(l, &n)->gone);
	assert_int_equal(n, 1);
	ladder_free(l);
	made_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			those_stopped_on_the_way_to_a_kill_go_on_when_who_did_it_is_killed),
		cmocka_unit_test(one_that_is_killed_after_the_first_kill_leaves_none_stopped),
		cmocka_unit_test(what_is_ended_whole_leaves_no_guard),
		cmocka_unit_test(only_those_that_are_stopped_by_who_was_killed_go_on),
		cmocka_unit_test(the_guard_is_no_member_of_what_it_guards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
