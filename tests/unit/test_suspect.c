#include "model/suspect.h"

#include "tests/unit/judged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void each_reason_alone_makes_a_suspect(void **state)
{
	static const struct judged_example cases[] = {
		{"reparented", LOGIN "110 1 110 110 S 600 sleep", "110 reparented", ""},
		{"session leader gone", LOGIN "109 102 109 99 S 600 sh\n110 109 109 99 S 600 sleep",
		 "109 reparented leader_gone, 110 leader_gone child", ""},
		{"session leader a zombie",
		 LOGIN "99 101 99 99 Z 550 sh\n110 99 110 99 S 600 sleep", "110 leader_gone", ""},
		{"terminal closed", LOGIN "110 102 110 110 S 600 sleep tty_closed",
		 "110 tty_closed", ""},
		{"working directory deleted", LOGIN "110 102 110 102 S 600 sleep cwd_deleted",
		 "110 cwd_deleted", ""},
		{"marked by work that is gone", INIT "110 1 110 110 S 600 sleep mark=AI_AGENT",
		 "110 mark", ""},
		{"HUP ignored, login closed", INIT "110 102 110 110 S 600 sleep sigign=HUP " SCOPE,
		 "110 hup_ignored", ""},
		{"HUP ignored, login closing",
		 "login 12 state=closing\n" INIT
		 "110 102 110 110 S 600 sleep sigign=HUP,TERM " SCOPE,
		 "110 hup_ignored", ""},
		{"all at once",
		 INIT "110 1 109 109 S 600 sh tty_closed cwd_deleted sigign=HUP mark=AGENT " SCOPE,
		 "110 reparented leader_gone tty_closed cwd_deleted mark hup_ignored", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void what_lives_on_for_a_reason_is_none(void **state)
{
	static const struct judged_example cases[] = {
		{"a live terminal with background jobs",
		 LOGIN "110 102 110 102 S 600 make\n"
		       "111 110 110 102 S 610 cc1\n"
		       "112 102 112 102 T 620 vim\n"
		       "113 102 113 102 R 630 sleep tty=pts/3\n",
		 "", ""},
		{"HUP ignored, login open", LOGIN "110 102 110 102 S 600 make sigign=HUP", "", ""},
		{"HUP ignored, logins not known",
		 "host no-logins\n" INIT "110 102 110 110 S 600 x sigign=HUP " SCOPE, "", ""},
		{"HUP ignored, from no login", INIT "110 102 110 110 S 600 x sigign=HUP", "", ""},
		{"no origin at all",
		 "1 0 1 1 S 0 init\n30 1 30 30 S 9 dropbear\n40 1 40 40 S 10 app", "", ""},
		{"a container: children of its PID 1",
		 "1 0 1 1 S 0 tini cgroup=/docker/" ID "\n"
		 "7 1 7 7 S 9 app cgroup=/docker/" ID "\n"
		 "8 7 8 8 S 9 worker cgroup=/docker/" ID "\n"
		 "20 0 20 20 S 90 sh cgroup=/docker/" ID "\n",
		 "", ""},
		{"a zombie is its parent's affair", INIT "110 1 109 109 Z 600 sh tty_closed", "",
		 ""},
		{"init", "1 0 1 1 S 0 init cwd_deleted sigign=HUP", "", ""},
		{"kernel threads", "2 0 0 0 S 0 kthreadd kthread\n9 2 0 0 I 0 kworker kthread", "",
		 ""},
		{"what /proc hides is not gone",
		 "host hidepid\n110 109 108 108 S 600 sleep mark=AGENT", "", ""},
		{"a finished session whose parent idles on",
		 LOGIN "110 102 110 110 S 600 agent\n"
		       "111 110 111 111 S 610 server\n"
		       "112 110 112 112 S 610 server",
		 "", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void a_mark_tells_of_work_that_is_gone_only_if_its_setter_is(void **state)
{
	static const struct judged_example cases[] = {
		{"the agent lives, and carries none itself",
		 LOGIN "110 102 110 102 S 600 agent\n"
		       "111 110 111 111 S 610 sh mark=AI_AGENT:a\n"
		       "112 111 111 111 S 620 make mark=AI_AGENT:a\n",
		 "", ""},
		{"the agent is gone",
		 INIT "111 1 111 111 S 610 sh mark=AI_AGENT:a\n"
		      "112 111 111 111 S 620 make mark=AI_AGENT:a\n",
		 "111 mark, 112 mark child", ""},
		{"what is below lost the mark",
		 INIT "111 1 111 111 S 610 sh mark=AI_AGENT:a\n"
		      "112 111 111 111 S 620 make\n",
		 "111 mark, 112 child", ""},
		{"a leftover of an agent that lives",
		 LOGIN "110 102 110 102 S 600 agent\n"
		       "111 1 111 111 S 610 sh mark=AI_AGENT:a",
		 "111 reparented mark", ""},
		{"an agent below an agent",
		 INIT "110 1 110 110 S 600 agent mark=AGENT:outer\n"
		      "111 110 111 111 S 610 sh mark=AGENT:inner\n",
		 "110 mark, 111 child", ""},
		{"adopted by a subreaper in another session",
		 LOGIN "110 102 110 102 S 600 tini\n"
		       "111 110 109 109 S 610 sh mark=AGENT",
		 "111 reparented leader_gone mark", ""},
		{"adopted by a user manager",
		 USER "in cgroup=" APPS "/x.slice\n111 70 111 111 S 610 sh mark=AGENT", "111 mark",
		 ""},
		{"two marks, one whose setter lives",
		 INIT "110 1 110 110 S 600 agent mark=CLAUDECODE:1\n"
		      "111 110 110 110 S 610 sh mark=CLAUDECODE:1 mark=AGENT:x",
		 "110 mark, 111 mark child", ""},
		{"environment not readable is no mark",
		 INIT "111 1 111 111 S 610 sh unread=environ", "", ""},
		{"in a container from its PID 1 on",
		 "1 0 1 1 S 0 tini mark=AGENT\n9 1 9 9 S 5 app mark=AGENT", "", ""},
		{"set by who entered a container from outside",
		 "1 0 1 1 S 0 tini\n9 0 9 9 S 5 sh mark=AGENT", "", ""},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void children_of_suspects_are_suspects(void **state)
{
	static const struct judged_example cases[] = {
		{"all below",
		 LOGIN "110 1 110 110 S 600 sh\n"
		       "111 110 110 110 S 610 sh\n"
		       "112 111 112 112 S 620 sleep\n",
		 "110 reparented, 111 child, 112 child", ""},
		{"numbers say nothing of who is whose",
		 LOGIN "300 1 300 300 S 600 sh\n"
		       "200 300 300 300 S 610 sh\n"
		       "250 200 300 300 S 620 sleep\n",
		 "200 child, 250 child, 300 reparented", ""},
		{"not the dead", LOGIN "110 1 110 110 S 600 sh\n111 110 110 110 Z 610 sh",
		 "110 reparented", ""},
		{"not where another origin begins",
		 LOGIN "40 102 40 40 S 9 engine cwd_deleted\n"
		       "41 40 41 41 S 10 sh nspid=41/1 " DOCKER "\n"
		       "42 41 41 41 S 10 sh nspid=42/2 " DOCKER "\n",
		 "40 cwd_deleted", ""},
		{"what is explained passes nothing on",
		 INIT "40 1 39 39 S 9 app " SERVICE "\n41 40 41 41 S 10 x " SERVICE, "",
		 "40 reparented leader_gone"},
	};

	(void)state;
	JUDGED_CHECK(cases);
}

static void who_can_act_comes_first(void **state)
{
	struct tracker k;

	(void)state;
	hosts_track(&k, LOGIN "110 1 109 109 S 600 sh cwd_deleted tty_closed mark=AGENT\n"
			      "120 1 120 120 S 600 curl remote=198.51.100.9:443\n"
			      "130 1 130 130 S 600 sleep\n"
			      "131 130 130 130 S 600 sleep\n");
	assert_true(suspect_weight(hosts_process(k.now, 120)) >
		    suspect_weight(hosts_process(k.now, 110)));
	assert_true(suspect_weight(hosts_process(k.now, 110)) >
		    suspect_weight(hosts_process(k.now, 130)));
	assert_true(suspect_weight(hosts_process(k.now, 130)) >
		    suspect_weight(hosts_process(k.now, 131)));
	assert_true(suspect_weight(hosts_process(k.now, 131)) > 0);
	assert_int_equal(suspect_weight(hosts_process(k.now, 102)), 0);
	assert_string_equal(suspect_mark(hosts_process(k.now, 110)), "AGENT");
	assert_null(suspect_mark(hosts_process(k.now, 130)));
	tracker_free(&k);
}

/* Deep, and each carries a mark whose setter is gone: once through, not once a process. */
static void a_chain_of_ten_thousand_is_judged_at_once(void **state)
{
	struct table *t = table_new();
	struct tracker k;
	struct err err = {0};
	enum { N = 10000 };

	(void)state;
	assert_non_null(t);
	for (pid_t pid = 2; pid <= N; pid++) {
		struct process p = {
			.id = {pid, (uint64_t)(N - pid)}, .ppid = pid + 1, .state = 'S'};

		p.pgid = p.sid = N;
		p.ppid = pid == N ? 1 : pid + 1;
		p.detail = detail_new();
		assert_non_null(p.detail);
		p.detail->marks = calloc(1, sizeof(*p.detail->marks));
		assert_non_null(p.detail->marks);
		p.detail->marks[0] = (struct mark){strdup("AGENT"), strdup("1")};
		p.detail->n_marks = 1;
		assert_true(table_add(t, &p));
	}
	tracker_init(&k);
	assert_int_equal(tracker_fold(&k, t, &err), 0);
	assert_int_equal(k.suspects, N - 1);
	for (pid_t pid = 2; pid <= N; pid++)
		assert_int_equal(hosts_process(k.now, pid)->suspect & SUSPECT_MARK, SUSPECT_MARK);
	tracker_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_alone_makes_a_suspect),
		cmocka_unit_test(what_lives_on_for_a_reason_is_none),
		cmocka_unit_test(a_mark_tells_of_work_that_is_gone_only_if_its_setter_is),
		cmocka_unit_test(children_of_suspects_are_suspects),
		cmocka_unit_test(who_can_act_comes_first),
		cmocka_unit_test(a_chain_of_ten_thousand_is_judged_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
