#include "base/clock.h"
#include "base/proc_stat.h"
#include "contain/stop.h"
#include "tests/unit/act.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define TEST_LIFE_S 100

static uint64_t in_ms(unsigned ms)
{
	return clock_boot_ns() + ms * 1000000ULL;
}

static void one_process_gets_it_or_the_reason_is_said(void **state)
{
	static const struct {
		const char *shape, *name;
		int sig, r;
		enum target_result result;
		char then; /* its state */
	} cases[] = {
		{"sleeper", "child", SIGTERM, 0, TARGET_SENT, 0},
		{"ignore-term", "child", SIGTERM, 0, TARGET_SENT, 'S'},
		{"ignore-term", "child", SIGKILL, 0, TARGET_SENT, 0},
		{"sleeper", "child", SIGSTOP, 0, TARGET_SENT, 'T'},
		{"stopped", "child", SIGCONT, 0, TARGET_SENT, 'S'},
		{"stopped-term", "child", SIGCONT, 0, TARGET_SENT, 0},
		{"thread-left", "process", SIGKILL, 0, TARGET_SENT, 0},
		{"pidns", "init", SIGTERM, 0, TARGET_SENT, 'S'},
		{"pidns", "init", SIGKILL, 0, TARGET_SENT, 0},
		{"zombie", "zombie", SIGTERM, -ESRCH, TARGET_GONE, 'Z'},
		{"leader-gone", "leader", SIGTERM, -ESRCH, TARGET_GONE, 0},
		{"sleeper", "child", 0, -EINVAL, TARGET_UNTRIED, 'S'},
		{"sleeper", "child", -9, -EINVAL, TARGET_UNTRIED, 'S'},
		{"sleeper", "child", 65, -EINVAL, TARGET_UNTRIED, 'S'},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target_set set = {0};
		struct made m;
		pid_t pid;

		MADE(&m, cases[i].shape);
		pid = made_pid(&m, cases[i].name, 0);
		assert_int_equal(target_add(&set, identity_of(pid), NULL, NULL), 0);
		assert_int_equal(signal_target(&set.v[0], cases[i].sig), cases[i].r);
		assert_int_equal(set.v[0].result, cases[i].result);
		assert_true(made_becomes(pid, cases[i].then));
		target_set_clear(&set);
		made_end(&m);
	}
}

static void another_with_the_same_number_gets_nothing(void **state)
{
	struct target_set set = {0};
	struct identity id;
	struct made m;

	(void)state;
	MADE(&m, "sleeper");
	id = identity_of(made_pid(&m, "child", 0));
	id.start--;
	assert_int_equal(target_add(&set, id, NULL, NULL), 0);
	assert_int_equal(signal_target(&set.v[0], SIGKILL), -ESRCH);
	assert_int_equal(set.v[0].result, TARGET_REUSED);
	assert_int_equal(signal_each(&set, SIGKILL), 0);
	assert_true(made_becomes(id.pid, 'S'));
	target_set_clear(&set);
	made_end(&m);
}

static void add_all(struct target_set *set, const struct made *m, const char *name, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(target_add(set, identity_of(made_pid(m, name, i)), NULL, NULL), 0);
}

static void a_group_gets_it_with_its_leader_alive_dead_or_reaped(void **state)
{
	static const char *const shapes[] = {"group", "zombie-leader", "leader-gone"};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct target_set set = {0};
		struct made m;

		MADE(&m, shapes[i], "3");
		add_all(&set, &m, "member", 2); /* the third is of the group, and not named */
		assert_int_equal(signal_group(made_pid(&m, "leader", 0), &set, SIGTERM, NULL), 0);
		for (int k = 0; k < 2; k++)
			assert_int_equal(set.v[k].result, TARGET_SENT);
		for (int k = 0; k < 3; k++)
			assert_true(made_becomes(made_pid(&m, "member", k), 0));
		target_set_clear(&set);
		made_end(&m);
	}
}

static void a_group_goes_by_the_number_its_dead_leader_pinned(void **state)
{
	struct target_set set = {0};
	struct made m;
	pid_t leader;

	(void)state;
	MADE(&m, "group", "1");
	leader = made_pid(&m, "leader", 0);
	add_all(&set, &m, "leader", 1);
	add_all(&set, &m, "member", 1);
	kill(leader, SIGKILL);
	assert_true(made_becomes(leader, 0));
	assert_int_equal(signal_group(leader, &set, SIGTERM, NULL), 0);
	assert_int_equal(set.v[0].result, TARGET_GONE);
	assert_int_equal(set.v[1].result, TARGET_SENT);
	assert_true(made_becomes(made_pid(&m, "member", 0), 0));
	target_set_clear(&set);
	made_end(&m);
}

static void a_group_without_a_living_member_of_ours_gets_nothing(void **state)
{
	struct target_set set = {0};
	struct identity fake;
	struct made m, other;
	pid_t leader;

	(void)state;
	MADE(&m, "group", "1");
	MADE(&other, "setpgid");
	leader = made_pid(&m, "leader", 0);
	fake = identity_of(leader);
	fake.start++;
	assert_int_equal(target_add(&set, fake, NULL, NULL), 0);
	add_all(&set, &other, "child", 1);
	assert_int_equal(signal_group(leader, &set, SIGKILL, NULL), -ESRCH);
	assert_int_equal(set.v[0].result, TARGET_REUSED);
	assert_int_equal(set.v[1].result, TARGET_MOVED);
	assert_true(made_becomes(leader, 'S'));
	assert_true(made_becomes(made_pid(&m, "member", 0), 'S'));
	assert_true(made_becomes(made_pid(&other, "child", 0), 'S'));
	target_set_clear(&set);
	made_end(&other);
	made_end(&m);
}

static void one_that_left_the_group_is_said_and_spared(void **state)
{
	struct target_set set = {0};
	struct made m, other;

	(void)state;
	MADE(&m, "group", "1");
	MADE(&other, "setpgid");
	add_all(&set, &m, "member", 1);
	add_all(&set, &other, "child", 1);
	assert_int_equal(signal_group(made_pid(&m, "leader", 0), &set, SIGKILL, NULL), 0);
	assert_int_equal(set.v[0].result, TARGET_SENT);
	assert_int_equal(set.v[1].result, TARGET_MOVED);
	assert_true(made_becomes(made_pid(&m, "leader", 0), 0));
	assert_true(made_becomes(made_pid(&other, "child", 0), 'S'));
	target_set_clear(&set);
	made_end(&other);
	made_end(&m);
}

static void numbers_that_mean_everyone_or_us_are_refused(void **state)
{
	const pid_t pgids[] = {0, 1, -1, -2, getpgrp()};
	struct target_set set = {0};
	struct made m;

	(void)state;
	MADE(&m, "sleeper"); /* in our own group */
	add_all(&set, &m, "child", 1);
	for (size_t i = 0; i < sizeof(pgids) / sizeof(pgids[0]); i++) {
		struct err err = {0};

		assert_int_equal(signal_group(pgids[i], &set, SIGTERM, &err), -EINVAL);
		assert_int_equal(err.code, EINVAL);
	}
	assert_true(made_becomes(made_pid(&m, "child", 0), 'S'));
	target_set_clear(&set);
	made_end(&m);
}

/* As nobody: the group of a leader that is root's and a member that is ours. */
static int signal_both(void *ctx)
{
	struct target_set set = {0};
	const struct made *m = ctx;
	int r;

	if (target_add(&set, identity_of(made_pid(m, "leader", 0)), NULL, NULL) < 0 ||
	    target_add(&set, identity_of(made_pid(m, "nobody", 0)), NULL, NULL) < 0)
		return 10;
	if (signal_permitted(&set.v[0], SIGTERM) != -EPERM)
		return 11;
	if (signal_permitted(&set.v[0], SIGCONT) != 0) /* of our session */
		return 12;
	if (signal_target(&set.v[0], SIGTERM) != -EPERM || set.v[0].result != TARGET_DENIED)
		return 13;
	r = signal_group(set.v[0].id.pid, &set, SIGTERM, NULL);
	if (r != 0 || set.v[0].result != TARGET_DENIED || set.v[0].error != EPERM)
		return 14;
	return set.v[1].result == TARGET_SENT ? 0 : 15;
}

static void a_group_of_two_users_says_whom_it_could_not_reach(void **state)
{
	struct made m;

	(void)state;
	MADE(&m, "two-users");
	assert_int_equal(as_nobody(signal_both, &m), 0);
	assert_true(made_becomes(made_pid(&m, "nobody", 0), 0));
	assert_true(made_becomes(made_pid(&m, "leader", 0), 'S'));
	made_end(&m);
}

static int signal_roots(void *ctx)
{
	struct target_set set = {0};
	const struct made *m = ctx;

	if (target_add(&set, identity_of(made_pid(m, "leader", 0)), NULL, NULL) < 0)
		return 10;
	if (signal_group(set.v[0].id.pid, &set, SIGTERM, NULL) != -EPERM)
		return 11;
	return set.v[0].result == TARGET_DENIED && signal_each(&set, SIGKILL) == 0 ? 0 : 12;
}

static void a_group_of_another_user_is_not_permitted(void **state)
{
	struct made m;

	(void)state;
	MADE(&m, "group", "1");
	assert_int_equal(as_nobody(signal_roots, &m), 0);
	assert_true(made_becomes(made_pid(&m, "leader", 0), 'S'));
	made_end(&m);
}

static void what_was_stopped_before_stays_stopped(void **state)
{
	struct target_set set = {0};
	struct made m, other;

	(void)state;
	MADE(&m, "stopped");
	MADE(&other, "sleeper");
	add_all(&set, &m, "child", 1);
	add_all(&set, &other, "child", 1);
	assert_int_equal(signal_each(&set, SIGSTOP), 2);
	assert_true(made_becomes(made_pid(&other, "child", 0), 'T'));
	assert_int_equal(signal_undo_stop(&set), 0);
	assert_true(made_becomes(made_pid(&other, "child", 0), 'S'));
	assert_int_equal(made_state(made_pid(&m, "child", 0)), 'T');
	target_set_clear(&set);
	made_end(&other);
	made_end(&m);
}

static int alive_with_mark(struct made *m)
{
	struct identity_list list = {0};
	int alive = 0;

	assert_int_equal(marked_members(m, &list, NULL), 0);
	for (size_t i = 0; i < list.n; i++) {
		char s = made_state(list.v[i].pid);

		alive += s && s != 'Z' && s != 'X';
	}
	free(list.v);
	return alive;
}

static void what_reforks_is_stopped_and_killed(void **state)
{
	static const char *const shapes[] = {"ring", "hopper", "fork-storm", "term-reforks"};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct target_set set = {0};
		struct act_hooks hooks = {.members = marked_members};
		bool stable = false, seen = false;
		struct made m;

		mark_new();
		MADE(&m, shapes[i]);
		hooks.ctx = &m;
		for (int n = 0; n < 500 && !seen; n++)
			seen = alive_with_mark(&m) > 0; /* a hopper may be between two hops */
		assert_true(seen);
		assert_int_equal(stop_then_kill(&set, &hooks, in_ms(5000), &stable, NULL), 0);
		assert_true(stable);
		assert_int_equal(target_set_wait(&set, in_ms(5000), NULL), 0);
		usleep(50000); /* two hops */
		assert_int_equal(alive_with_mark(&m), 0);
		target_set_clear(&set);
		made_end(&m);
	}
}

struct watched {
	struct made *m;
	char log[512];
	int refuse; /* this signal */
	int calls;  /* of members */
	int fail_at;
};

static int log_intent(void *ctx, int sig, const struct identity *to, size_t n, struct err *err)
{
	struct watched *w = ctx;
	size_t len = strlen(w->log);

	for (size_t i = 0; i < n; i++) /* nothing has been sent yet */
		assert_int_not_equal(made_state(to[i].pid), sig == SIGSTOP ? 'T' : 0);
	snprintf(w->log + len, sizeof(w->log) - len, "%d:%zu ", sig, n);
	return sig == w->refuse ? err_set(err, ENOSPC, "cannot be recorded") : 0;
}

static int watched_members(void *ctx, struct identity_list *out, struct err *err)
{
	struct watched *w = ctx;

	if (++w->calls == w->fail_at)
		return err_set(err, EIO, "cannot look");
	return marked_members(w->m, out, err);
}

static void a_refusal_leaves_all_running(void **state)
{
	static const struct {
		int refuse, fail_at, r;
		const char *log, *text;
	} cases[] = {
		{SIGSTOP, 0, -ENOSPC, "19:3 ", "cannot be recorded"},
		{SIGKILL, 0, -ENOSPC, "19:3 9:3 ", "cannot be recorded"},
		{0, 1, -EIO, "", "cannot look"},
		{0, 2, -EIO, "19:3 ", "cannot look"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;
		struct watched w = {
			.m = &m, .refuse = cases[i].refuse, .fail_at = cases[i].fail_at};
		struct act_hooks hooks = {
			.ctx = &w, .members = watched_members, .before_signal = log_intent};
		struct target_set set = {0};
		struct err err = {0};

		mark_new();
		MADE(&m, "group", "2");
		assert_int_equal(stop_then_kill(&set, &hooks, in_ms(5000), NULL, &err), cases[i].r);
		assert_string_equal(w.log, cases[i].log);
		assert_string_equal(err.text, cases[i].text);
		for (int k = 0; k < 3; k++)
			assert_true(made_becomes((pid_t)m.line[k].number, 'S'));
		target_set_clear(&set);
		made_end(&m);
	}
}

struct order {
	struct identity got[8];
	int n;
};

static void note_order(void *ctx, int sig, const struct target *t)
{
	struct order *o = ctx;

	if (sig == SIGKILL && o->n < 8)
		o->got[o->n++] = t->id;
}

static void a_kill_goes_to_the_youngest_first(void **state)
{
	struct order o = {0};
	struct act_hooks hooks = {.ctx = &o, .after_signal = note_order};
	struct target_set set = {0};
	struct made m, younger;

	(void)state;
	MADE(&m, "group", "2");
	usleep(30000); /* more than a clock tick */
	MADE(&younger, "sleeper");
	add_all(&set, &younger, "child", 1);
	add_all(&set, &m, "leader", 1);
	add_all(&set, &m, "member", 2);
	act_send(&hooks, SIGKILL, &set, 0);
	assert_int_equal(o.n, 4);
	assert_int_equal(o.got[0].pid, made_pid(&younger, "child", 0));
	assert_int_equal(o.got[1].pid, made_pid(&m, "member", 1)); /* of one tick: found last */
	assert_int_equal(o.got[2].pid, made_pid(&m, "member", 0));
	assert_int_equal(o.got[3].pid, made_pid(&m, "leader", 0));
	target_set_clear(&set);
	made_end(&younger);
	made_end(&m);
}

/* As on a kernel before 6.9: pidfd_send_signal(2) takes no flags. */
static int signal_without_group_flag(void *ctx)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	struct target_set set = {0};
	const struct made *m = ctx;
	pid_t leader = made_pid(m, "leader", 0);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		return 77;
	if (target_add(&set, identity_of(made_pid(m, "member", 0)), NULL, NULL) < 0)
		return 10;
	if (signal_group(leader, &set, SIGTERM, NULL) != 0)
		return 11;
	return set.v[0].result == TARGET_SENT ? 0 : 12;
}

static void an_older_kernel_is_asked_by_number(void **state)
{
	struct made m;
	int status;
	pid_t pid;

	(void)state;
	MADE(&m, "group", "1");
	pid = fork();
	if (pid == 0) {
		alarm(20);
		_exit(signal_without_group_flag(&m));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		made_end(&m);
		skip_for("no seccomp filters");
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(made_becomes(made_pid(&m, "leader", 0), 0));
	assert_true(made_becomes(made_pid(&m, "member", 0), 0));
	made_end(&m);
}

static int ever_new(void *ctx, struct identity_list *out, struct err *err)
{
	(void)err;
	if (out->n == out->cap) {
		out->v = realloc(out->v, sizeof(*out->v));
		out->cap = 1;
	}
	out->v[out->n++] = (struct identity){made_pid(ctx, "child", 0), 1};
	out->v[0].start += (uint64_t)rand();
	return 0;
}

static void what_never_becomes_stable_is_killed_in_bounded_time(void **state)
{
	struct target_set set = {0};
	struct act_hooks hooks = {.members = ever_new};
	uint64_t began = clock_boot_ns();
	bool stable = true;
	struct made m;

	(void)state;
	MADE(&m, "sleeper");
	hooks.ctx = &m;
	add_all(&set, &m, "child", 1);
	assert_int_equal(stop_then_kill(&set, &hooks, in_ms(200), &stable, NULL), 0);
	assert_false(stable);
	assert_true(clock_boot_ns() - began < 5 * CLOCK_NS_PER_S);
	assert_true(made_becomes(made_pid(&m, "child", 0), 0));
	target_set_clear(&set);
	made_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process_gets_it_or_the_reason_is_said),
		cmocka_unit_test(another_with_the_same_number_gets_nothing),
		cmocka_unit_test(a_group_gets_it_with_its_leader_alive_dead_or_reaped),
		cmocka_unit_test(a_group_goes_by_the_number_its_dead_leader_pinned),
		cmocka_unit_test(a_group_without_a_living_member_of_ours_gets_nothing),
		cmocka_unit_test(one_that_left_the_group_is_said_and_spared),
		cmocka_unit_test(numbers_that_mean_everyone_or_us_are_refused),
		cmocka_unit_test(a_group_of_two_users_says_whom_it_could_not_reach),
		cmocka_unit_test(a_group_of_another_user_is_not_permitted),
		cmocka_unit_test(what_was_stopped_before_stays_stopped),
		cmocka_unit_test(what_reforks_is_stopped_and_killed),
		cmocka_unit_test(a_kill_goes_to_the_youngest_first),
		cmocka_unit_test(an_older_kernel_is_asked_by_number),
		cmocka_unit_test(a_refusal_leaves_all_running),
		cmocka_unit_test(what_never_becomes_stable_is_killed_in_bounded_time),
	};

	alarm(TEST_LIFE_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
