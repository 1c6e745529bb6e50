#include "base/clock.h"
#include "contain/ladder.h"
#include "tests/unit/act.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST_LIFE_S 100
#define MS 1000000ULL

static const struct ladder_plan plan_quick = {
	.first = SIGTERM, .grace_ns = 150 * MS, .kill = true, .kill_wait_ns = 3000 * MS};

/* Made with a mark, and a ladder that looks for whoever carries it. */
static struct ladder *marked_ladder(struct made *m, const char *shape,
				    const struct ladder_plan *plan)
{
	struct act_hooks hooks = {.members = marked_members, .ctx = m};
	struct ladder *l;

	mark_new();
	MADE(m, shape);
	l = ladder_new(plan, &hooks);
	assert_non_null(l);
	return l;
}

/* Adds one, runs the ladder, and says what came of it and how many there are. */
static const struct ladder_outcome *ended(struct ladder *l, struct identity id, size_t *n)
{
	assert_int_equal(ladder_add(l, id, NULL), 0);
	assert_int_equal(ladder_run(l, NULL), 0);
	return ladder_outcomes(l, n);
}

static void the_ladder_ends_each_shape(void **state)
{
	static const struct {
		const char *shape, *name;
		bool gone;
		int last;       /* signal sent */
		bool by_signal; /* how it died */
		int code;
	} cases[] = {
		{"sleeper", "child", true, SIGTERM, true, SIGTERM},
		{"slow-term", "child", true, SIGTERM, false, 0},
		{"ignore-term", "child", true, SIGKILL, true, SIGKILL},
		{"stopped", "child", true, SIGKILL, true, SIGKILL},
		{"stopped-term", "child", true, SIGKILL, true, SIGKILL},
		{"traced", "tracee", true, SIGKILL, true, SIGKILL},
		{"vfork", "parent", true, SIGTERM, true, SIGTERM},
		{"pidns", "init", true, SIGKILL, true, SIGKILL},
		{"thread-left", "process", true, SIGTERM, true, SIGTERM},
		{"daemon", "daemon", true, SIGTERM, true, SIGTERM},
		{"zombie", "zombie", true, 0, false, 7},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ladder *l = ladder_new(&plan_quick, NULL);
		const struct ladder_outcome *o;
		struct made m;
		size_t n;

		assert_non_null(l);
		if (strcmp(cases[i].shape, "slow-term") == 0)
			MADE(&m, cases[i].shape, "60");
		else
			MADE(&m, cases[i].shape);
		o = ended(l, identity_of(made_pid(&m, cases[i].name, 0)), &n);
		print_message("%s: gone %d after %.3f ms, last %d, death %d: %d %d\n",
			      cases[i].shape, o->gone, (double)ladder_after_ns(o) / 1e6,
			      o->last_signal, o->death.known, o->death.signalled, o->death.code);
		assert_int_equal(n, 1);
		assert_int_equal(o->gone, cases[i].gone);
		assert_int_equal(o->last_signal, cases[i].last);
		assert_false(o->late);
		assert_int_equal(ladder_alive(l), 0);
		if (o->death.known) {
			assert_int_equal(o->death.signalled, cases[i].by_signal);
			assert_int_equal(o->death.code, cases[i].code);
		}
		if (cases[i].last == SIGKILL)
			assert_true(ladder_after_ns(o) >= plan_quick.grace_ns);
		if (cases[i].last == SIGTERM)
			assert_int_equal(o->killed, TARGET_UNTRIED);
		ladder_free(l);
		made_end(&m);
	}
}

static void without_a_kill_the_deaf_survive(void **state)
{
	struct ladder_plan plan = plan_quick;
	const struct ladder_outcome *o;
	struct ladder *l;
	struct made m;
	size_t n;

	(void)state;
	plan.kill = false;
	l = ladder_new(&plan, NULL);
	MADE(&m, "ignore-term");
	o = ended(l, identity_of(made_pid(&m, "child", 0)), &n);
	assert_false(o->gone);
	assert_int_equal(o->last_signal, SIGTERM);
	assert_int_equal(ladder_alive(l), 1);
	assert_int_equal(ladder_after_ns(o), 0);
	ladder_free(l);
	made_end(&m);
}

static void a_group_is_termed_in_one_act_and_killed_one_by_one(void **state)
{
	struct ladder_plan plan = plan_quick;
	const struct ladder_outcome *o;
	struct ladder *l;
	struct made m, deaf;
	size_t n;

	(void)state;
	MADE(&m, "leader-gone", "2");
	MADE(&deaf,
	     "ignore-term"); /* of another group: not reached by the first, known all the same */
	plan.pgid = made_pid(&m, "leader", 0);
	l = ladder_new(&plan, NULL);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ladder_add(l, identity_of(made_pid(&m, "member", i)), NULL), 0);
	assert_int_equal(ladder_add(l, identity_of(made_pid(&deaf, "child", 0)), NULL), 0);
	assert_int_equal(ladder_run(l, NULL), 0);
	o = ladder_outcomes(l, &n);
	assert_int_equal(n, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(o[i].first, TARGET_SENT);
		assert_int_equal(o[i].last_signal, SIGTERM);
		assert_true(o[i].gone);
	}
	assert_int_equal(o[2].first, TARGET_MOVED);
	assert_int_equal(o[2].killed, TARGET_SENT);
	assert_true(o[2].gone);
	ladder_free(l);
	made_end(&deaf);
	made_end(&m);
}

static void a_member_since_is_killed_and_said_to_be_late(void **state)
{
	const struct ladder_outcome *o;
	struct ladder *l;
	struct made m;
	size_t n;

	(void)state;
	l = marked_ladder(&m, "term-reforks", &plan_quick);
	o = ended(l, identity_of(made_pid(&m, "child", 0)), &n);
	assert_int_equal(n, 2);
	assert_true(o[0].gone);
	assert_int_equal(o[0].last_signal, SIGTERM);
	assert_false(o[0].late);
	assert_true(o[1].late);
	assert_true(o[1].gone);
	assert_int_equal(o[1].first, TARGET_UNTRIED);
	assert_int_equal(o[1].last_signal, SIGKILL);
	ladder_free(l);
	made_end(&m);
}

static void those_that_refork_each_other_are_ended(void **state)
{
	static const char *const shapes[] = {"ring", "hopper"};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct ladder_plan plan = plan_quick;
		struct identity_list left = {0};
		struct ladder *l;
		struct made m;

		plan.stop_first = true;
		plan.grace_ns = 60 * MS;
		l = marked_ladder(&m, shapes[i], &plan);
		for (int k = 0; k < m.n; k++)
			assert_int_equal(ladder_add(l, identity_of((pid_t)m.line[k].number), NULL),
					 0);
		assert_int_equal(ladder_run(l, NULL), 0);
		assert_int_equal(ladder_alive(l), 0);
		usleep(50000);
		assert_int_equal(marked_members(&m, &left, NULL), 0);
		for (size_t k = 0; k < left.n; k++)
			assert_true(made_becomes(left.v[k].pid, 0));
		free(left.v);
		ladder_free(l);
		made_end(&m);
	}
}

static void where_the_known_are_gone_those_they_left_get_the_first_signal(void **state)
{
	const struct ladder_outcome *o;
	struct ladder *l;
	struct made m;
	size_t n;

	(void)state;
	l = marked_ladder(&m, "reparented", &plan_quick);
	o = ended(l, (struct identity){made_pid(&m, "mid", 0), 1}, &n);
	assert_int_equal(n, 2);
	assert_int_equal(o[1].id.pid, made_pid(&m, "child", 0));
	assert_int_equal(o[1].first, TARGET_SENT);
	assert_int_equal(o[1].last_signal, SIGTERM);
	assert_true(o[1].gone);
	ladder_free(l);
	made_end(&m);
}

struct recorder {
	char log[256];
	int refuse;
	bool unit_fails;
	pid_t member;
};

static int record(void *ctx, int sig, const struct identity *to, size_t n, struct err *err)
{
	struct recorder *r = ctx;
	size_t len = strlen(r->log);

	for (size_t i = 0; i < n; i++) /* the intent comes before the act */
		assert_int_not_equal(made_state(to[i].pid), 0);
	snprintf(r->log + len, sizeof(r->log) - len, "%d for %zu, ", sig, n);
	return sig == r->refuse ? err_set(err, EROFS, "no record") : 0;
}

static void sent(void *ctx, int sig, const struct target *t)
{
	struct recorder *r = ctx;
	size_t len = strlen(r->log);

	snprintf(r->log + len, sizeof(r->log) - len, "%d %s, ", sig, target_result_name(t->result));
}

static int kill_unit(void *ctx, struct err *err)
{
	struct recorder *r = ctx;
	size_t len = strlen(r->log);

	snprintf(r->log + len, sizeof(r->log) - len, "unit, ");
	return r->unit_fails ? err_set(err, EACCES, "cgroup.kill") : 0;
}

static void every_intent_is_told_before_its_act(void **state)
{
	static const struct {
		const char *shape;
		bool stop, unit, unit_fails;
		int refuse, r;
		const char *log;
		char then;
	} cases[] = {
		{"sleeper", false, false, false, 0, 0, "15 for 1, 15 sent, ", 0},
		{"ignore-term", false, false, false, 0, 0, "15 for 1, 15 sent, 9 for 1, 9 sent, ",
		 0},
		{"ignore-term", true, false, false, 0, 0,
		 "15 for 1, 15 sent, 19 for 1, 19 sent, 9 for 1, 9 sent, ", 0},
		{"ignore-term", false, true, true, 0, 0,
		 "15 for 1, 15 sent, 9 for 1, unit, 19 for 1, 19 sent, 9 for 1, unit, 9 sent, ", 0},
		{"ignore-term", false, false, false, SIGTERM, -EROFS, "15 for 1, ", 'S'},
		{"ignore-term", false, false, false, SIGKILL, -EROFS,
		 "15 for 1, 15 sent, 9 for 1, ", 'S'},
		{"ignore-term", true, false, false, SIGKILL, -EROFS,
		 "15 for 1, 15 sent, 19 for 1, 19 sent, 9 for 1, ", 'S'},
		{"ignore-term", true, false, false, SIGSTOP, -EROFS,
		 "15 for 1, 15 sent, 19 for 1, ", 'S'},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct recorder rec = {.refuse = cases[i].refuse,
				       .unit_fails = cases[i].unit_fails};
		struct act_hooks hooks = {.ctx = &rec,
					  .before_signal = record,
					  .after_signal = sent,
					  .kill_unit = cases[i].unit ? kill_unit : NULL};
		struct ladder_plan plan = plan_quick;
		struct err err = {0};
		struct ladder *l;
		struct made m;

		plan.grace_ns = 20 * MS;
		plan.stop_first = cases[i].stop;
		MADE(&m, cases[i].shape);
		l = ladder_new(&plan, &hooks);
		assert_int_equal(ladder_add(l, identity_of(made_pid(&m, "child", 0)), NULL), 0);
		assert_int_equal(ladder_run(l, &err), cases[i].r);
		assert_string_equal(rec.log, cases[i].log);
		assert_int_equal(err.code, -cases[i].r);
		assert_true(made_becomes(made_pid(&m, "child", 0), cases[i].then));
		assert_int_equal(ladder_timeout_ns(l, clock_boot_ns()) == UINT64_MAX, 1);
		assert_int_equal(ladder_note(l)->code, cases[i].unit_fails ? EACCES : 0);
		ladder_free(l);
		made_end(&m);
	}
}

static int kill_for_good(void *ctx, struct err *err)
{
	struct recorder *r = ctx;

	kill(r->member, SIGKILL);
	assert_true(made_becomes(r->member, 0));
	return kill_unit(ctx, err);
}

static void whom_the_unit_took_along_got_its_signal(void **state)
{
	struct recorder rec = {0};
	const struct act_hooks hooks = {.ctx = &rec,
					.before_signal = record,
					.after_signal = sent,
					.kill_unit = kill_for_good};
	struct ladder_plan plan = plan_quick;
	struct ladder *l;
	struct made m;
	size_t n;

	(void)state;
	plan.grace_ns = 20 * MS;
	MADE(&m, "ignore-term");
	rec.member = made_pid(&m, "child", 0);
	l = ladder_new(&plan, &hooks);
	assert_int_equal(ladder_add(l, identity_of(rec.member), NULL), 0);
	assert_int_equal(ladder_run(l, NULL), 0);
	assert_string_equal(rec.log, "15 for 1, 15 sent, 9 for 1, unit, 9 sent, ");
	assert_int_equal(ladder_outcomes(l, &n)->last_signal, SIGKILL);
	ladder_free(l);
	made_end(&m);
}

static void a_step_never_waits(void **state)
{
	struct ladder_plan plan = plan_quick;
	uint64_t began = clock_boot_ns(), now;
	struct ladder *l;
	struct made m;
	struct pollfd p;

	(void)state;
	plan.grace_ns = 60 * CLOCK_NS_PER_S;
	MADE(&m, "slow-term", "100");
	l = ladder_new(&plan, NULL);
	assert_int_equal(ladder_timeout_ns(l, began), 0);
	assert_int_equal(ladder_add(l, identity_of(made_pid(&m, "child", 0)), NULL), 0);
	began = clock_boot_ns();
	assert_int_equal(ladder_step(l, began, NULL), 0);
	assert_int_equal(ladder_step(l, began + MS, NULL), 0);
	assert_true(clock_boot_ns() - began < 80 * MS);
	assert_int_equal(ladder_alive(l), 1);
	/* the grace begins with the signal, a moment after the step */
	assert_in_range(ladder_timeout_ns(l, began), plan.grace_ns, plan.grace_ns + 80 * MS);
	p = (struct pollfd){.fd = ladder_fd(l), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(poll(&p, 1, 5000), 1); /* wakes with the death */
	now = clock_boot_ns();
	assert_true(now - began >= 90 * MS);
	assert_int_equal(ladder_step(l, now, NULL), 1);
	assert_int_equal(ladder_step(l, now, NULL), 1);
	assert_int_equal(ladder_alive(l), 0);
	ladder_free(l);
	made_end(&m);
}

static void hurry_ends_the_grace(void **state)
{
	struct ladder_plan plan = plan_quick;
	uint64_t began = clock_boot_ns();
	struct ladder *l;
	struct made m;

	(void)state;
	plan.grace_ns = 60 * CLOCK_NS_PER_S;
	MADE(&m, "ignore-term");
	l = ladder_new(&plan, NULL);
	assert_int_equal(ladder_add(l, identity_of(made_pid(&m, "child", 0)), NULL), 0);
	assert_int_equal(ladder_step(l, clock_boot_ns(), NULL), 0);
	ladder_hurry(l);
	assert_int_equal(ladder_timeout_ns(l, clock_boot_ns()), 0);
	assert_int_equal(ladder_run(l, NULL), 0);
	assert_int_equal(ladder_alive(l), 0);
	assert_true(clock_boot_ns() - began < 10 * CLOCK_NS_PER_S);
	ladder_free(l);
	made_end(&m);
}

static void giving_up_while_all_are_stopped_lets_them_go_on(void **state)
{
	struct ladder_plan plan = plan_quick;
	struct ladder *l;
	struct made m;

	(void)state;
	plan.grace_ns = 0;
	plan.stop_first = true;
	l = marked_ladder(&m, "ignore-term", &plan);
	assert_int_equal(ladder_add(l, identity_of(made_pid(&m, "child", 0)), NULL), 0);
	/* TERM; then, the grace being over, the STOP */
	assert_int_equal(ladder_step(l, clock_boot_ns(), NULL), 0);
	assert_int_equal(ladder_step(l, clock_boot_ns(), NULL), 0);
	assert_true(made_becomes(made_pid(&m, "child", 0), 'T'));
	ladder_free(l);
	assert_true(made_becomes(made_pid(&m, "child", 0), 'S'));
	made_end(&m);
}

static int blind_members(void *ctx, struct identity_list *out, struct err *err)
{
	(void)ctx;
	(void)out;
	return err_set(err, EMFILE, "cannot look for members");
}

static void those_known_are_killed_even_if_members_cannot_be_looked_for(void **state)
{
	struct act_hooks hooks = {.members = blind_members};
	struct ladder_plan plan = plan_quick;

	(void)state;
	for (int stop = 0; stop < 2; stop++) {
		struct ladder *l;
		struct made m;

		plan.stop_first = stop;
		MADE(&m, "ignore-term");
		l = ladder_new(&plan, &hooks);
		assert_int_equal(ladder_add(l, identity_of(made_pid(&m, "child", 0)), NULL), 0);
		assert_int_equal(ladder_run(l, NULL), 0);
		assert_int_equal(ladder_alive(l), 0);
		assert_string_equal(ladder_note(l)->text, "cannot look for members");
		ladder_free(l);
		made_end(&m);
	}
}

struct hidden {
	struct recorder rec; /* first: record() and sent() take it */
	bool killed, fails;
};

static int hidden_members(void *ctx, struct identity_list *out, struct err *err)
{
	return ((struct hidden *)ctx)->fails ? blind_members(ctx, out, err) : 0;
}

static int kill_hidden(void *ctx, struct err *err)
{
	struct hidden *h = ctx;

	h->killed = true;
	return kill_unit(&h->rec, err);
}

static int is_hidden_empty(void *ctx)
{
	return ((struct hidden *)ctx)->killed;
}

/* From the start, or once those that are seen are gone; hidden, or there is no room to look. */
static void whom_nobody_can_see_is_ended_with_the_unit_after_the_grace(void **state)
{
	static const struct {
		bool seen, fails, kill;
		const char *log;
	} cases[] = {
		{false, false, true, "9 for 0, unit, "},
		{true, false, true, "15 for 1, 15 sent, 9 for 0, unit, "},
		{true, true, true, "15 for 1, 15 sent, 9 for 0, unit, "},
		{true, false, false, "15 for 1, 15 sent, "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hidden h = {.fails = cases[i].fails};
		struct act_hooks hooks = {.ctx = &h,
					  .before_signal = record,
					  .after_signal = sent,
					  .members = hidden_members,
					  .kill_unit = kill_hidden,
					  .is_empty = is_hidden_empty};
		struct ladder_plan plan = plan_quick;
		uint64_t began = clock_boot_ns();
		struct ladder *l;
		struct made m;

		plan.kill = cases[i].kill;
		plan.kill_wait_ns = 100 * MS;
		MADE(&m, "sleeper");
		l = ladder_new(&plan, &hooks);
		if (cases[i].seen)
			ladder_add(l, identity_of(made_pid(&m, "child", 0)), NULL);
		assert_int_equal(ladder_run(l, NULL), 0);
		assert_string_equal(h.rec.log, cases[i].log);
		if (cases[i].kill)
			assert_true(clock_boot_ns() - began >= plan.grace_ns);
		assert_int_equal(ladder_alive(l), 0);
		ladder_free(l);
		made_end(&m);
	}
}

static int end_as_nobody(void *ctx)
{
	struct ladder_plan plan = plan_quick;
	const struct ladder_outcome *o;
	uint64_t began = clock_boot_ns();
	struct ladder *l;
	size_t n;

	plan.grace_ns = 20 * CLOCK_NS_PER_S;
	l = ladder_new(&plan, NULL);
	if (!l || ladder_add(l, identity_of(made_pid(ctx, "leader", 0)), NULL) < 0 ||
	    ladder_add(l, identity_of(made_pid(ctx, "nobody", 0)), NULL) < 0)
		return 10;
	if (ladder_run(l, NULL) != 0)
		return 11;
	o = ladder_outcomes(l, &n);
	if (o[0].gone || o[0].first != TARGET_DENIED || o[0].error != EPERM || o[0].last_signal)
		return 12;
	if (!o[1].gone || o[1].last_signal != SIGTERM)
		return 13;
	/* no grace for one that no signal of ours can reach */
	return clock_boot_ns() - began < 5 * CLOCK_NS_PER_S ? 0 : 14;
}

static void what_may_not_be_signalled_is_said_and_not_waited_for(void **state)
{
	struct made m;

	(void)state;
	MADE(&m, "two-users");
	assert_int_equal(as_nobody(end_as_nobody, &m), 0);
	made_end(&m);
}

static void hundreds_are_ended_at_once(void **state)
{
	struct ladder *l = ladder_new(&plan_quick, NULL);
	uint64_t began;
	struct made m;
	size_t n;

	(void)state;
	MADE(&m, "many", "250");
	for (int i = 0; i < m.n; i++)
		assert_int_equal(ladder_add(l, identity_of((pid_t)m.line[i].number), NULL), 0);
	began = clock_boot_ns();
	assert_int_equal(ladder_run(l, NULL), 0);
	assert_int_equal(ladder_alive(l), 0);
	ladder_outcomes(l, &n);
	assert_int_equal(n, 250);
	assert_true(clock_boot_ns() - began < 5 * CLOCK_NS_PER_S);
	ladder_free(l);
	made_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ladder_ends_each_shape),
		cmocka_unit_test(without_a_kill_the_deaf_survive),
		cmocka_unit_test(a_group_is_termed_in_one_act_and_killed_one_by_one),
		cmocka_unit_test(a_member_since_is_killed_and_said_to_be_late),
		cmocka_unit_test(where_the_known_are_gone_those_they_left_get_the_first_signal),
		cmocka_unit_test(those_that_refork_each_other_are_ended),
		cmocka_unit_test(every_intent_is_told_before_its_act),
		cmocka_unit_test(whom_the_unit_took_along_got_its_signal),
		cmocka_unit_test(a_step_never_waits),
		cmocka_unit_test(hurry_ends_the_grace),
		cmocka_unit_test(giving_up_while_all_are_stopped_lets_them_go_on),
		cmocka_unit_test(those_known_are_killed_even_if_members_cannot_be_looked_for),
		cmocka_unit_test(whom_nobody_can_see_is_ended_with_the_unit_after_the_grace),
		cmocka_unit_test(what_may_not_be_signalled_is_said_and_not_waited_for),
		cmocka_unit_test(hundreds_are_ended_at_once),
	};

	alarm(TEST_LIFE_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
