#include "model/lineage.h"

#include "model/origin.h"
#include "tests/unit/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define INIT "1 0 1 1 S 0 systemd cgroup=/init.scope\n"
#define SCOPE "cgroup=/user.slice/user-1000.slice/session-12.scope "
#define MANAGER "/user.slice/user-1000.slice/user@1000.service"
#define USER INIT "70 1 70 70 S 5 systemd cgroup=" MANAGER "/init.scope\n"
#define ID "3f2a91c04b7ee0c6c3a1f1d7b9a0e4d25566778899aabbccddeeff0011223344"

static void one_look_tells_who_is_not_the_forker(void **state)
{
	static const struct {
		const char *what, *host, *reparented;
	} cases[] = {
		/* A process that leads no session got its session from its forker. */
		{"a child in its parent's session",
		 INIT "40 1 40 40 S 10 sh\n"
		      "41 40 41 40 S 11 sleep\n",
		 "40 possible"},
		{"a session that is not init's, below init", INIT "41 1 41 40 S 11 sleep\n",
		 "41 presumed"},
		{"a session that is not its parent's, anywhere",
		 INIT "40 1 40 40 S 10 tini\n"
		      "41 40 30 30 S 11 sleep\n",
		 "40 possible, 41 presumed"},
		{"whose leader lives, elsewhere",
		 INIT "40 1 40 40 S 10 sh\n"
		      "50 1 50 50 S 10 supervisor\n"
		      "41 50 41 40 S 11 sleep\n",
		 "40 possible, 41 presumed, 50 possible"},
		{"a session of its own tells nothing",
		 INIT "40 1 40 40 S 10 agent\n"
		      "41 40 41 41 S 11 sh\n",
		 "40 possible"},

		/* The parent called setsid(2) since: its own parent is in the session it left. */
		{"the parent left the session",
		 INIT "40 1 40 40 S 10 sh\n"
		      "41 40 41 41 S 11 helper\n"
		      "42 41 42 40 S 12 sleep\n",
		 "40 possible, 42 possible"},
		{"... which it can only have left if it was born into it",
		 INIT "40 1 40 40 S 20 sh\n"
		      "41 40 41 41 S 11 supervisor\n"
		      "42 41 42 40 S 22 sleep\n",
		 "40 possible, 42 presumed"},
		{"... and leads one now",
		 INIT "40 1 40 40 S 10 sh\n"
		      "41 40 41 39 S 11 helper\n"
		      "42 41 42 40 S 12 sleep\n",
		 "40 possible, 41 presumed, 42 presumed"},
		{"init has not left anything",
		 "1 0 1 1 S 0 init\n"
		 "42 1 42 40 S 12 sleep\n",
		 "42 presumed"},
		/* A sibling made with CLONE_PARENT looks the same; its parent is no forker. */
		{"CLONE_PARENT",
		 INIT "40 1 40 40 S 10 runtime\n"
		      "41 40 41 41 S 11 stage\n"
		      "42 40 41 41 S 12 stage\n",
		 "40 possible, 42 presumed"},

		/* In a scope nothing was started by init or a user manager. */
		{"init's child in a login's scope", INIT "41 1 41 41 S 11 sleep " SCOPE,
		 "41 presumed"},
		{"... below it",
		 INIT "41 1 41 41 S 11 sleep cgroup=/system.slice/run-r1.scope/stray-7f3c",
		 "41 presumed"},
		{"... who leads the login",
		 "login 12 leader=41\n" INIT "41 1 41 41 S 11 login " SCOPE "\n"
		 "42 1 42 42 S 11 sleep " SCOPE,
		 "41 possible, 42 presumed"},
		{"... in init.scope", INIT "41 1 41 41 S 11 x cgroup=/init.scope", "41 possible"},
		{"... in a service",
		 INIT "41 1 41 41 S 11 x cgroup=/system.slice/a.scope/b.service", "41 possible"},
		{"... cgroup not read", INIT "41 1 41 41 S 11 x noread", "41 possible"},
		{"a user manager's child in a scope",
		 USER "71 70 71 71 S 9 x cgroup=" MANAGER "/app.slice/app-x.scope",
		 "70 possible, 71 presumed"},
		{"... in a service",
		 USER "71 70 71 71 S 9 x cgroup=" MANAGER "/app.slice/x.service",
		 "70 possible, 71 possible"},
		{"(sd-pam) is its own",
		 USER "71 70 70 70 S 5 (sd-pam) cgroup=" MANAGER "/init.scope",
		 "70 possible, 71 possible"},
		{"somebody else's child in a scope",
		 INIT "40 1 40 40 S 9 sh\n"
		      "41 40 41 41 S 11 sleep " SCOPE,
		 "40 possible"},
		{"PID 1 of a container is in that scope itself",
		 "1 0 1 1 S 0 sh cgroup=/system.slice/docker-" ID ".scope\n"
		 "7 1 7 7 S 3 sleep cgroup=/system.slice/docker-" ID ".scope\n",
		 "7 possible"},

		/* A parent outside the PID namespace is no reaper's doing. */
		{"PPID 0", "1 0 1 1 S 0 sh\n7 0 7 0 S 3 sh\n8 0 8 8 S 3 sh", ""},
		{"session 0: the leader is outside", "1 0 1 0 S 0 sh\n7 1 7 0 S 3 sleep\n",
		 "7 possible"},
		{"a namespace's init",
		 INIT "50 1 50 50 S 9 shim\n"
		      "60 50 60 60 S 9 nginx nspid=60/1",
		 "50 possible"},
		{"... which adopts within it",
		 INIT "50 1 50 50 S 9 shim\n"
		      "60 50 60 60 S 9 nginx nspid=60/1\n"
		      "61 60 61 61 S 9 x nspid=61/7\n"
		      "62 60 62 55 S 9 x nspid=62/8\n",
		 "50 possible, 61 possible, 62 presumed"},
		{"put into a namespace from outside (docker exec, nsenter)",
		 INIT "50 1 50 50 S 9 shim\n"
		      "60 50 60 60 S 9 nginx nspid=60/1\n"
		      "70 50 70 30 S 9 sh nspid=70/9",
		 "50 possible"},
		{"a namespace in a namespace",
		 INIT "50 1 50 50 S 9 shim\n"
		      "60 50 60 60 S 9 nginx nspid=60/1\n"
		      "61 60 61 61 S 9 x nspid=61/7/1\n",
		 "50 possible"},

		/* Nobody's children, and others that nothing is said of. */
		{"kernel threads", "2 0 0 0 S 0 kthreadd kthread\n9 2 0 0 I 0 kworker kthread", ""},
		{"init itself", "1 0 1 1 S 0 init", ""},
		{"a hidden parent", "host hidepid\n41 40 41 39 S 11 sleep", ""},
		{"a parent that went while the table was read", INIT "41 40 41 39 S 11 sleep", ""},
		{"a parent that is younger: the number changed hands",
		 INIT "40 1 40 40 S 99 sh\n"
		      "41 40 41 39 S 11 sleep",
		 "40 possible"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracker k;
		char reparented[HOSTS_TEXT];

		hosts_track(&k, cases[i].host);
		hosts_reparented(k.now, reparented);
		if (strcmp(reparented, cases[i].reparented) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", cases[i].what, reparented,
				 cases[i].reparented);
		tracker_free(&k);
	}
}

static void two_looks_tell_more(void **state)
{
	static const struct {
		const char *what, *before, *after, *reparented;
		pid_t parent_was; /* of process 42; 0: not known */
		enum known parent_known;
	} cases[] = {
		{"the parent died between two looks",
		 INIT "40 1 40 40 S 10 agent\n41 40 41 41 S 11 sh\n42 41 42 42 S 12 sleep",
		 INIT "40 1 40 40 S 10 agent\n42 1 42 42 S 12 sleep", "40 possible, 42 scanned", 41,
		 KNOWN_SCANNED},
		{"a subreaper adopted it",
		 INIT "40 1 40 40 S 10 tini\n41 40 40 40 S 11 sh\n42 41 40 40 S 12 sleep",
		 INIT "40 1 40 40 S 10 tini\n42 40 40 40 S 12 sleep", "40 possible, 42 scanned", 41,
		 KNOWN_SCANNED},
		{"the parent of before may have adopted it, too",
		 INIT "40 1 40 40 S 10 tini\n42 40 39 39 S 12 sleep", INIT "42 1 39 39 S 12 sleep",
		 "42 scanned", 0, KNOWN_NOT},
		{"what was init's child stays possible", INIT "42 1 42 42 S 12 sleep",
		 INIT "42 1 42 42 S 12 sleep", "42 possible", 0, KNOWN_NOT},
		{"the parent is seen to leave the session, its own parent gone",
		 INIT "40 1 40 40 S 10 sh\n41 40 40 40 S 11 helper\n42 41 40 40 S 12 sleep",
		 INIT "41 1 41 41 S 11 helper\n42 41 40 40 S 12 sleep", "41 scanned", 41,
		 KNOWN_PRESUMED},
		{"another process got the parent's number",
		 INIT "40 1 40 40 S 10 sh\n41 40 40 40 S 11 sh\n42 41 40 40 S 12 sleep",
		 INIT "40 1 40 40 S 10 sh\n41 40 41 41 S 90 sh\n42 1 40 40 S 12 sleep",
		 "40 possible, 42 scanned", 41, KNOWN_SCANNED},
		{"a parent of the same tick may be",
		 INIT "40 1 40 40 S 12 sh\n42 40 42 42 S 12 sleep",
		 INIT "40 1 40 40 S 12 sh\n42 40 42 42 S 12 sleep", "40 possible", 40,
		 KNOWN_PRESUMED},
		{"a younger parent is nobody's forker",
		 INIT "40 1 40 40 S 99 sh\n42 40 42 42 S 12 sleep",
		 INIT "40 1 40 40 S 99 sh\n42 40 42 42 S 12 sleep", "40 possible", 0, KNOWN_NOT},
		{"another process got its own number",
		 INIT "40 1 40 40 S 10 sh\n42 40 40 40 S 12 sleep",
		 INIT "40 1 40 40 S 10 sh\n42 1 42 42 S 99 daemon", "40 possible, 42 possible", 0,
		 KNOWN_NOT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracker k;
		const struct process *p;
		char reparented[HOSTS_TEXT];

		hosts_track(&k, cases[i].before);
		hosts_look(&k, cases[i].after);
		hosts_reparented(k.now, reparented);
		p = hosts_process(k.now, 42);
		if (strcmp(reparented, cases[i].reparented) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", cases[i].what, reparented,
				 cases[i].reparented);
		if (p->parent_was.pid != cases[i].parent_was ||
		    p->parent_known != cases[i].parent_known)
			fail_msg("%s: parent was %d, %s", cases[i].what, p->parent_was.pid,
				 known_name(p->parent_known));
		tracker_free(&k);
	}
}

static void observed_stays_observed(void **state)
{
	struct tracker k;

	(void)state;
	hosts_track(&k, INIT "40 1 40 40 S 10 sh\n41 40 41 40 S 11 sh\n42 41 42 40 S 12 x");
	hosts_look(&k, INIT "40 1 40 40 S 10 sh\n42 1 42 40 S 12 x");
	hosts_look(&k, INIT "42 1 42 42 S 12 x");
	hosts_look(&k, INIT "42 1 42 42 S 12 x stack=7");
	assert_int_equal(hosts_process(k.now, 42)->reparented, KNOWN_SCANNED);
	assert_int_equal(hosts_process(k.now, 42)->parent_was.pid, 41);
	assert_int_equal(hosts_process(k.now, 42)->parent_was.start, 11);
	tracker_free(&k);
}

static void a_leader_is_gone_when_it_is_dead_or_absent(void **state)
{
	static const struct {
		const char *what, *host;
		bool gone;
	} cases[] = {
		{"absent", "9 1 9 40 S 5 x", true},
		{"zombie", "40 1 40 40 Z 4 sh\n9 40 9 40 S 5 x", true},
		{"a dead first thread, others live", "40 1 40 40 S 4 sh threads=3\n9 40 9 40 S 5 x",
		 false},
		{"alive", "40 1 40 40 S 4 sh\n9 40 9 40 S 5 x", false},
		{"stopped is alive", "40 1 40 40 T 4 sh\n9 40 9 40 S 5 x", false},
		{"itself", "9 1 9 9 S 5 x", false},
		{"hidden", "host hidepid\n9 1 9 40 S 5 x", false},
		{"not asked for", "host partial\n9 1 9 40 S 5 x", false},
		{"outside the PID namespace", "9 0 9 0 S 5 x", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = hosts_table(cases[i].host);

		if (lineage_leader_gone(t, hosts_process(t, 9)) != cases[i].gone)
			fail_msg("%s", cases[i].what);
		table_free(t);
	}
}

#define UNITS "/user.slice/user-1000.slice/user@1000.service/app.slice"

static void what_may_be_left_is_read_in_full(void **state)
{
	static const struct {
		const char *what, *host;
		bool below_systemd, candidate;
	} cases[] = {
		{"init's child", INIT "9 1 9 9 S 5 x noread", false, true},
		{"a user manager's child", INIT "70 1 70 70 S 3 systemd noread\n9 70 9 9 S 5 x",
		 true, true},
		{"of init's child, not read again", INIT "8 1 8 8 S 4 x noread\n9 8 9 9 S 5 x",
		 false, false},
		{"of a systemd below another", INIT "8 7 8 8 S 4 systemd\n9 8 9 9 S 5 x", true,
		 false},
		{"parent not in the table", INIT "9 8 9 9 S 5 x", false, true},
		{"another session", INIT "8 1 8 8 S 4 x\n9 8 9 7 S 5 x", false, true},
		{"leader gone", INIT "8 1 8 7 S 4 x\n9 8 8 7 S 5 x", false, true},
		{"a shell's child", INIT "8 1 8 8 S 4 sh\n9 8 9 8 S 5 x", false, false},
		{"who begins an application",
		 INIT "8 7 8 8 S 4 shell cgroup=" UNITS "/shell.service\n"
		      "9 8 8 8 S 5 x cgroup=" UNITS "/app-x-9.scope",
		 false, true},
		{"... of a parent that was read before",
		 INIT "8 7 8 8 S 4 shell noread\n9 8 8 8 S 5 x cgroup=" UNITS "/app-x-9.scope",
		 false, true},
		{"what it has started",
		 INIT "8 7 8 8 S 4 x cgroup=" UNITS "/app-x-8.scope\n"
		      "9 8 8 8 S 5 x cgroup=" UNITS "/app-x-8.scope",
		 false, false},
		{"a kernel thread", "2 0 0 0 S 0 kthreadd kthread\n9 2 0 0 S 0 k kthread", false,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = hosts_table(cases[i].host);

		if (lineage_candidate(t, hosts_process(t, 9), cases[i].below_systemd) !=
		    cases[i].candidate)
			fail_msg("%s", cases[i].what);
		table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_look_tells_who_is_not_the_forker),
		cmocka_unit_test(two_looks_tell_more),
		cmocka_unit_test(observed_stays_observed),
		cmocka_unit_test(a_leader_is_gone_when_it_is_dead_or_absent),
		cmocka_unit_test(what_may_be_left_is_read_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
