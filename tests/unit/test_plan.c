#include "engine/plan.h"

#include "tests/unit/hosts.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* A terminal with stray in it, an agent at work in another, services. */
#define HOST                                                         \
	"host self=920\n"                                            \
	"1 0 1 1 S 0 systemd cgroup=/init.scope\n"                   \
	"2 0 0 0 S 0 kthreadd kthread\n"                             \
	"3 2 0 0 I 0 kworker kthread\n"                              \
	"30 1 30 30 S 5 nginx cgroup=/system.slice/nginx.service\n"  \
	"31 30 30 30 S 6 nginx cgroup=/system.slice/nginx.service\n" \
	"in uid=1000\n"                                              \
	"900 30 900 900 S 100 bash\n"                                \
	"910 900 910 900 S 110 make\n"                               \
	"911 910 910 900 S 111 cc1\n"                                \
	"920 900 920 900 S 120 stray\n"                              \
	"300 31 300 300 S 500 agent\n"                               \
	"301 300 300 300 S 510 sh\n"                                 \
	"302 301 302 300 S 520 sh\n"                                 \
	"303 302 303 303 S 530 worker sigign=TERM\n"                 \
	"304 303 303 303 Z 540 sh\n"

/* What is aimed at, from text: "SIGNAL SCOPE TARGET...", +PID added, ? possible ones too. */
struct shot {
	struct tracker k;
	struct run run;
	bool has_run;
	struct plan plan;
	struct identity ids[8], added[8];
	struct aim aim;
};

static void look(struct shot *s, const char *host, const char *target)
{
	struct selector selector;
	struct err err = {0};

	memset(s, 0, sizeof(*s));
	hosts_track(&s->k, host);
	if (!target)
		return;
	assert_int_equal(selector_parse(target, &selector, &err), 0);
	assert_int_equal(run_choose(&s->run, &selector, s->k.now, &err), 0);
	assert_int_equal(tracker_set_run(&s->k, &s->run, &err), 0);
	selector_free(&selector);
	s->has_run = true;
}

static struct identity identity_of(const struct shot *s, pid_t pid)
{
	const struct process *p = table_pid(s->k.now, pid);

	return p ? p->id : (struct identity){pid, 1}; /* ended */
}

static void take_aim(struct shot *s, const char *text)
{
	static const char *const signals[] = {"TERM", "KILL", "STOP", "CONT", "HUP"};
	static const int numbers[] = {SIGTERM, SIGKILL, SIGSTOP, SIGCONT, SIGHUP};
	char copy[128], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	s->aim = (struct aim){.ids = s->ids, .added = s->added};
	while ((word = strsep(&rest, " "))) {
		bool known = false;

		for (size_t i = 0; i < 5; i++)
			if (strcmp(word, signals[i]) == 0)
				s->aim.signal = numbers[i], known = true;
		for (int i = SCOPE_PROCESS; i <= SCOPE_MEMBERS; i++)
			if (strcmp(word, scope_name((enum scope)i)) == 0)
				s->aim.scope = (enum scope)i, known = true;
		if (known)
			continue;
		if (strcmp(word, "?") == 0)
			s->aim.possible = true;
		else if (*word == '+')
			s->added[s->aim.n_added++] = identity_of(s, atoi(word + 1));
		else if (*word == '=')
			s->aim.number = atoi(word + 1);
		else
			s->ids[s->aim.n_ids++] = identity_of(s, atoi(word));
	}
}

static void add_list(char *out, const char *name, const struct plan_item *v, size_t n)
{
	size_t used = strlen(out);

	if (!n)
		return;
	used += (size_t)sprintf(out + used, "%s%s", *out ? " | " : "", name);
	for (size_t i = 0; i < n; i++)
		used += (size_t)sprintf(out + used, " %d", v[i].id.pid);
}

/* "hit 301 302 | not 303 | own 900 | strangers 4 | dead 304", or "refused: ...". */
static void shoot(struct shot *s, char out[static 512])
{
	struct err err = {0};

	plan_clear(&s->plan);
	assert_int_equal(plan_make(s->k.now, s->has_run ? &s->run : NULL, &s->aim, &s->plan, &err),
			 0);
	*out = '\0';
	if (s->plan.refused[0]) {
		snprintf(out, 512, "refused: %s", s->plan.refused);
		return;
	}
	add_list(out, "hit", s->plan.hit.v, s->plan.hit.n);
	add_list(out, "not", s->plan.not_hit.v, s->plan.not_hit.n);
	add_list(out, "own", s->plan.own.v, s->plan.own.n);
	add_list(out, "strangers", s->plan.strangers.v, s->plan.strangers.n);
	add_list(out, "dead", s->plan.dead.v, s->plan.dead.n);
}

static void finish(struct shot *s)
{
	plan_clear(&s->plan);
	if (s->has_run)
		run_clear(&s->run);
	tracker_free(&s->k);
}

/* Aims anew at what was looked at; the plan as text. */
static void planned(struct shot *s, const char *aim, const char *expected)
{
	char got[512];

	take_aim(s, aim);
	shoot(s, got);
	if (strcmp(got, expected) != 0)
		fail_msg("%s, %s: \"%s\", not \"%s\"", s->has_run ? s->run.id : "-", aim, got,
			 expected);
}

struct plan_case {
	const char *run, *aim, *plan;
};

static void plan_each(const struct plan_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct shot s;

		look(&s, HOST, cases[i].run);
		planned(&s, cases[i].aim, cases[i].plan);
		finish(&s);
	}
}

static void what_a_signal_would_hit_is_known_before(void **state)
{
	static const struct plan_case cases[] = {
		/* no run in view: the unit of the row under the cursor */
		{NULL, "TERM process 301", "hit 301"},
		{NULL, "TERM process 301 303", "hit 301 303"},
		{NULL, "TERM group 301", "hit 300 301"},
		{NULL, "TERM group 304", "hit 303 | dead 304"},
		{NULL, "TERM session 302", "hit 300 301 302"},
		{NULL, "TERM group =303", "hit 303 | dead 304"},
		{NULL, "TERM session =300", "hit 300 301 302"},
		/* one of those tagged has ended since: the others are hit */
		{NULL, "TERM process 999 301", "hit 301"},
		{NULL, "TERM process 301 999", "hit 301"},

		/* a run in view: who of it is not hit is said */
		{"300", "TERM process 302", "hit 302 | not 300 301 303"},
		{"300", "TERM group 301", "hit 300 301 | not 302 303"},
		{"300", "TERM session 301", "hit 300 301 302 | not 303"},
		{"300", "TERM run", "hit 300 301 302 303 | dead 304"},
		{"300", "TERM run 301", "hit 300 301 302 303 | dead 304"},
		{"302", "TERM group 301", "hit 300 301 | not 302 303"},

		/* a group that stray's own terminal shares: only members, others on request */
		{"911", "TERM members 911", "hit 911 | strangers 910"},
		{"911", "TERM members 911 +910", "hit 910 911"},
		{"sid:900", "TERM members 910", "hit 910 911"},
		{"sid:900", "TERM members", "hit 910 911 | own 900 920"},
	};

	(void)state;
	plan_each(cases, sizeof(cases) / sizeof(cases[0]));
}

static void what_may_not_be_hit_is_refused(void **state)
{
	static const struct plan_case cases[] = {
		{NULL, "TERM process 1", "refused: 1 is init"},
		{NULL, "TERM process 301 1", "refused: 1 is init"},
		{NULL, "KILL group 1", "refused: group 1 is the system's own"},
		{NULL, "KILL session 1", "refused: session 1 is the system's own"},
		{NULL, "KILL group 2", "refused: group 0 is the system's own"},
		{NULL, "KILL session 3", "refused: session 0 is the system's own"},
		{NULL, "KILL group =1", "refused: group 1 is the system's own"},
		{NULL, "KILL members =1", "refused: group 1 is the system's own"},
		{NULL, "KILL process 3", "refused: 3 is a kernel thread"},
		{NULL, "TERM process 920", "refused: 920 is stray itself"},
		{NULL, "TERM group 920", "refused: 920 is stray itself"},
		{NULL, "TERM process 301 900", "refused: 900 is an ancestor of stray: yours"},
		{NULL, "TERM session 910", "refused: 900 is an ancestor of stray: yours"},
		{NULL, "TERM group 31", "refused: 30 is an ancestor of stray: yours"},
		{NULL, "TERM process 304",
		 "refused: only dead processes are left: their parents must reap them"},
		{NULL, "TERM process 999", "refused: nothing alive is there to signal"},
		{NULL, "TERM group 999", "refused: it has ended: nothing to signal"},
		{NULL, "TERM session", "refused: it has ended: nothing to signal"},
		{NULL, "TERM group =777", "refused: nothing alive is there to signal"},
		{NULL, "TERM run", "refused: it has ended: nothing to signal"},
		/* the run's own, by what the operator named */
		{"900", "TERM run", "refused: 900 is an ancestor of stray: yours"},
		{"sid:900", "TERM run", "refused: 900 is an ancestor of stray: yours"},
		{"sid:900", "TERM group 900", "refused: 900 is an ancestor of stray: yours"},
		{"cgroup:/", "TERM run", "refused: 2 is a kernel thread"},
		{"1", "TERM run", "refused: 1 is init"},
		{"cgroup:/system.slice", "TERM run", "refused: 30 is an ancestor of stray: yours"},
		{"300", "TERM group 1", "refused: group 1 is the system's own"},
	};

	(void)state;
	plan_each(cases, sizeof(cases) / sizeof(cases[0]));
}

static void what_hits_others_than_members_is_confirmed(void **state)
{
#define MANAGER "/user.slice/user-1000.slice/user@1000.service"
	static const struct {
		const char *what, *run, *host, *aim, *why; /* why NULL: Enter suffices */
	} cases[] = {
		{"one user's group", NULL, HOST, "TERM group 301", NULL},
		{"members", "300", HOST, "TERM run", NULL},
		{"a member of a group of others", "302", HOST, "TERM group 302", NULL},
		{"no member", "302", HOST, "TERM group 301", "300 is no member of process 302"},
		{"two users'", NULL, "40 1 40 40 S 5 x uid=1000\n41 1 40 40 S 5 x uid=1001\n",
		 "TERM group 40", "they belong to more than one user"},
		{"two users', but all are members", "pgid:40",
		 "40 1 40 40 S 5 x uid=1000\n41 1 40 40 S 5 x uid=1001\n", "TERM group 40", NULL},
		{"a service's", NULL, "40 1 40 40 S 5 x cgroup=/system.slice/x.service\n",
		 "TERM group 40", "40 belongs to a service or container"},
		{"a service's, but it was chosen", "pgid:40",
		 "40 1 40 40 S 5 x cgroup=/system.slice/x.service\n", "TERM group 40", NULL},
		{"a container's", NULL, "40 1 40 40 S 5 x cgroup=/lxc.payload.web\n",
		 "TERM group 40", "40 belongs to a service or container"},
		{"cron", NULL, "40 1 40 40 S 5 cron cgroup=/system.slice/cron.service\n",
		 "TERM group 40", "40 belongs to a service or container"},
		{"a user's service", NULL, "40 1 40 40 S 5 x cgroup=" MANAGER "/a.service\n",
		 "TERM group 40", "40 belongs to a service or container"},
		{"a user's application", NULL, "40 1 40 40 S 5 x cgroup=" MANAGER "/app-x.scope\n",
		 "TERM group 40", NULL},
		{"a user manager", NULL, "40 1 40 40 S 5 x cgroup=" MANAGER "/init.scope\n",
		 "TERM group 40", "40 belongs to a service or container"},
		{"possible members that were asked for", "300",
		 "1 0 1 1 S 0 init\n300 1 300 300 S 50 x cwd=/srv\n310 1 310 310 S 60 y cwd=/srv\n",
		 "TERM run ?", "310 is a possible member only of process 300"},
		{"possible members that were not", "300",
		 "1 0 1 1 S 0 init\n300 1 300 300 S 50 x cwd=/srv\n310 1 310 310 S 60 y cwd=/srv\n",
		 "TERM run", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shot s;
		char got[512];

		look(&s, cases[i].host, cases[i].run);
		take_aim(&s, cases[i].aim);
		shoot(&s, got);
		if (s.plan.refused[0] || s.plan.confirm != (cases[i].why != NULL) ||
		    strcmp(s.plan.confirm_why, cases[i].why ? cases[i].why : "") != 0)
			fail_msg("%s: %s, confirm %d \"%s\"", cases[i].what, got, s.plan.confirm,
				 s.plan.confirm_why);
		finish(&s);
	}
}

static void members_of_a_group_are_confirmed_by_their_number(void **state)
{
	struct shot s;

	(void)state;
	look(&s, HOST, "911");
	planned(&s, "TERM members 911", "hit 911 | strangers 910");
	assert_true(s.plan.confirm);
	finish(&s);
}

static void possible_members_are_hit_only_if_asked_for(void **state)
{
	static const char host[] =
		"1 0 1 1 S 0 init\n300 1 300 300 S 50 x cwd=/srv\n310 1 310 310 S 60 y cwd=/srv\n";
	struct shot s;

	(void)state;
	look(&s, host, "300");
	planned(&s, "TERM run", "hit 300");
	planned(&s, "TERM run ?", "hit 300 310");
	assert_true(s.plan.hit.v[0].member);
	assert_false(s.plan.hit.v[1].member);
	assert_true(s.plan.possible);
	planned(&s, "TERM members ?", "hit 300 310");
	planned(&s, "TERM process 300", "hit 300"); /* nor said to be missed */
	finish(&s);
}

static void a_plan_says_what_it_is_for(void **state)
{
	struct shot s;

	(void)state;
	look(&s, HOST, NULL);
	planned(&s, "HUP group 301", "hit 300 301");
	assert_int_equal(s.plan.scope, SCOPE_GROUP);
	assert_int_equal(s.plan.signal, SIGHUP);
	assert_int_equal(s.plan.number, 300);
	assert_int_equal(s.plan.holder.pid, 300);
	assert_int_equal(s.plan.holder.start, 500);
	planned(&s, "HUP process 301", "hit 301");
	assert_int_equal(s.plan.number, 301);
	planned(&s, "HUP process 301 302", "hit 301 302");
	assert_int_equal(s.plan.number, 0);
	planned(&s, "HUP session 302", "hit 300 301 302");
	assert_int_equal(s.plan.number, 300);
	finish(&s);
}

/* Between the plan and the signal, and between TERM and KILL, a number can change hands. */
static void a_group_whose_number_is_anothers_now_is_not_hit(void **state)
{
	static const struct {
		const char *before, *after, *plan;
	} cases[] = {
		{"300 1 300 30 S 50 a\n301 300 300 30 S 51 b", "301 1 300 30 S 51 b\n", "hit 301"},
		{"300 1 300 30 S 50 a", "300 1 300 30 S 990 stranger",
		 "refused: it has ended, its number is another's now"},
		{"300 1 300 30 S 50 a", "300 1 300 30 S 990 stranger\n301 300 300 30 S 991 x",
		 "refused: it has ended, its number is another's now"},
		/* its leader was gone when it was aimed at */
		{"301 1 300 30 S 51 b", "300 1 300 30 S 990 stranger",
		 "refused: it has ended, its number is another's now"},
		/* replaced by a chain of forks */
		{"300 1 300 30 S 50 a", "377 1 300 30 S 990 a", "hit 377"},
		{"300 1 300 30 S 50 a", "9 1 9 9 S 5 x",
		 "refused: nothing alive is there to signal"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shot s;
		char got[512];

		look(&s, cases[i].before, NULL);
		take_aim(&s, "TERM group =300");
		shoot(&s, got);
		s.aim.holder_known = true;
		s.aim.holder = s.plan.holder;
		hosts_look(&s.k, cases[i].after);
		shoot(&s, got);
		assert_string_equal(got, cases[i].plan);
		finish(&s);
	}
}

/* A run's group can be over, too, while its name still fits a stranger's. */
static void what_only_has_the_name_of_a_run_is_not_hit(void **state)
{
	struct shot s;

	(void)state;
	look(&s, "300 1 300 30 S 50 a\n301 300 301 30 S 51 b", "pgid:300");
	hosts_look(&s.k, "300 1 300 30 S 990 stranger\n301 1 301 30 S 51 b");
	planned(&s, "KILL run", "hit 301");
	planned(&s, "KILL members", "hit 301");
	finish(&s);
}

static void what_is_known_to_be_useless_is_said(void **state)
{
	static const struct {
		const char *process;
		int sig;
		const char *why;
	} cases[] = {
		{"9 1 9 9 S 5 x", SIGTERM, NULL},
		{"9 1 9 9 S 5 x noread", SIGTERM, NULL},
		{"9 1 9 9 Z 5 x", SIGTERM, "already dead: its parent must reap it"},
		{"9 1 9 9 Z 5 x", SIGKILL, "already dead: its parent must reap it"},
		{"9 1 9 9 S 5 x sigign=TERM", SIGTERM, "ignores TERM"},
		{"9 1 9 9 S 5 x sigign=TERM", SIGKILL, NULL},
		{"9 1 9 9 S 5 x sigign=TERM", SIGHUP, NULL},
		{"9 1 9 9 S 5 x sigign=HUP", SIGHUP, "ignores this signal"},
		{"9 1 9 9 S 5 x sigblk=TERM", SIGTERM, "blocks TERM"},
		{"9 1 9 9 S 5 x sigblk=HUP", SIGHUP, "blocks this signal"},
		{"9 1 9 9 T 5 x", SIGTERM, "stopped: the signal waits for CONT"},
		{"9 1 9 9 T 5 x", SIGKILL, NULL},
		{"9 1 9 9 T 5 x sigblk=CONT sigign=CONT", SIGCONT, NULL},
		{"9 1 9 9 T 5 x", SIGSTOP, "stopped already"},
		{"9 1 9 9 S 5 x", SIGSTOP, NULL},
		{"9 1 9 9 t 5 x", SIGTERM, "traced: its tracer decides"},
		{"9 1 9 9 t 5 x", SIGCONT, "traced: its tracer decides"},
		{"9 1 9 9 t 5 x", SIGKILL, NULL},
		{"9 1 9 9 D 5 x", SIGTERM, "in uninterruptible sleep: the signal waits"},
		{"9 1 9 9 D 5 x", SIGKILL, "in uninterruptible sleep: KILL waits"},
		{"9 1 9 9 D 5 x", SIGSTOP, "in uninterruptible sleep: STOP waits"},
		{"9 1 9 9 S 5 x nspid=9/1", SIGTERM,
		 "init of a PID namespace, without a handler for it"},
		{"9 1 9 9 S 5 x nspid=9/1 sigcgt=TERM", SIGTERM, NULL},
		{"9 1 9 9 S 5 x nspid=9/1", SIGKILL, NULL},
		{"9 1 9 9 S 5 x nspid=9/1", SIGSTOP, NULL},
		{"9 1 9 9 S 5 x nspid=9/7", SIGTERM, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = hosts_table(cases[i].process);
		const char *why = plan_useless(hosts_process(t, 9), cases[i].sig);

		if (!why != !cases[i].why || (why && strcmp(why, cases[i].why) != 0))
			fail_msg("%s, %s: %s", cases[i].process, sigabbrev_np(cases[i].sig),
				 why ? why : "-");
		table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_signal_would_hit_is_known_before),
		cmocka_unit_test(what_may_not_be_hit_is_refused),
		cmocka_unit_test(what_hits_others_than_members_is_confirmed),
		cmocka_unit_test(members_of_a_group_are_confirmed_by_their_number),
		cmocka_unit_test(possible_members_are_hit_only_if_asked_for),
		cmocka_unit_test(a_plan_says_what_it_is_for),
		cmocka_unit_test(a_group_whose_number_is_anothers_now_is_not_hit),
		cmocka_unit_test(what_only_has_the_name_of_a_run_is_not_hit),
		cmocka_unit_test(what_is_known_to_be_useless_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
