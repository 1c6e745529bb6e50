#include "model/run.h"

#include "tests/unit/chosen.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define INIT "1 0 1 1 S 0 init\n"
/* The host's shell is in the run's terminal: what runs stray is never a member. */
#define SHELL                                \
	INIT "900 1 900 900 S 100 bash\n"    \
	     "910 900 910 900 S 110 sudo\n"  \
	     "920 910 910 900 S 120 stray\n" \
	     "host self=920\n"
#define RUN                            \
	"300 1 300 300 S 500 agent\n"  \
	"301 300 300 300 S 510 sh\n"   \
	"302 301 302 300 S 520 make\n" \
	"303 302 303 303 S 530 worker\n"
#define STRANGER "400 1 400 400 S 50 sshd\n401 400 401 401 S 505 bash\n"

static void choose(struct chosen *c, const char *target, const char *host)
{
	chosen_find(c, target, host);
	chosen_watch(c);
}

static void members_are_found_on_evidence(void **state)
{
	static const struct {
		const char *target, *host, *evidence;
	} cases[] = {
		/* a leader owns its group and session, and all below it is its own */
		{"300", SHELL RUN STRANGER,
		 "300 group session chosen, 301 parent group session, 302 parent session, "
		 "303 parent"},
		/* one that leads nothing owns neither */
		{"301", SHELL RUN STRANGER, "301 chosen, 302 parent, 303 parent"},
		{"302", SHELL RUN STRANGER, "302 group chosen, 303 parent"},
		{"302@520", SHELL RUN STRANGER, "302 group chosen, 303 parent"},
		{"pgid:300", SHELL RUN STRANGER,
		 "300 group chosen, 301 parent group, 302 parent, 303 parent"},
		{"sid:300", SHELL RUN STRANGER,
		 "300 session chosen, 301 parent session, 302 parent session, 303 parent"},
		/* the leader is gone, its group lives */
		{"pgid:300", SHELL "301 1 300 300 S 510 sh\n303 301 303 303 S 530 x\n" STRANGER,
		 "301 group, 303 parent"},
		{"sid:300", SHELL "301 1 300 300 S 510 sh\n302 1 302 300 S 530 x\n" STRANGER,
		 "301 session, 302 session"},
		/* ... or a zombie, or in another group */
		{"pgid:300", SHELL "300 1 300 300 Z 500 sh\n301 1 300 300 S 510 sh\n",
		 "300 group chosen, 301 group"},
		{"pgid:300", SHELL "300 1 299 299 S 500 sh\n301 1 300 299 S 510 sh\n", "301 group"},
		/* what it is in, whoever its parent is */
		{"cgroup:/a/b",
		 SHELL "300 1 300 300 S 500 x cgroup=/a/b\n"
		       "301 1 301 301 S 510 x cgroup=/a/b/c\n"
		       "302 301 302 302 S 520 x cgroup=/elsewhere\n"
		       "303 1 303 303 S 520 x cgroup=/a/bc\n",
		 "300 cgroup chosen, 301 cgroup, 302 parent"},
		{"audit:7",
		 SHELL "300 1 300 300 S 500 x audit=7\n"
		       "301 1 301 301 S 510 x audit=7\n"
		       "302 1 302 302 S 520 x audit=8\n",
		 "300 chosen audit, 301 audit"},
		{"env:AGENT=a",
		 SHELL "300 1 300 300 S 500 x mark=AGENT:a\n"
		       "301 1 301 301 S 510 x mark=AGENT:a\n"
		       "302 301 302 302 S 520 x\n"
		       "303 1 303 303 S 520 x mark=AGENT:b\n",
		 "300 mark chosen, 301 mark, 302 parent"},
		/* children against their numbers */
		{"500",
		 SHELL "500 1 500 500 S 500 a\n499 500 400 400 S 501 b\n498 499 498 498 S 502 c\n"
		       "600 498 600 600 S 503 d\n497 600 497 497 S 504 e",
		 "497 parent, 498 parent, 499 parent, 500 group session chosen, 600 parent"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;

		choose(&c, cases[i].target, cases[i].host);
		chosen_expect(&c, cases[i].target, cases[i].evidence);
		chosen_end(&c);
	}
}

static void a_run_is_made_of_what_lives(void **state)
{
	static const char *const cases[] = {
		"999",        "300@1",     "pgid:999", "sid:999", "audit:7",
		"env:NOBODY", "cgroup:/x", "310", /* a zombie: its parent is what to look at */
		"pgid:310",                       /* and so is its group */
		"2",                              /* a kernel thread */
		"run:x",
	};
	struct table *t = hosts_table(SHELL RUN "310 1 310 310 Z 540 x\n"
						"2 0 0 0 S 0 kthreadd kthread\n");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selector s;
		struct err err = {0};
		struct run run;

		assert_int_equal(selector_parse(cases[i], &s, &err), 0);
		if (run_choose(&run, &s, t, &err) != -ESRCH)
			fail_msg("%s: it was chosen", cases[i]);
		assert_int_equal(err.code, ESRCH);
		run_clear(&run);
		selector_free(&s);
	}
	table_free(t);
}

static void a_run_remembers_what_it_was_made_of(void **state)
{
	struct chosen c;

	(void)state;
	choose(&c, "sid:300",
	       SHELL "300 1 300 300 S 500 agent uid=1000 cwd=/srv/app\n301 300 300 300 S 510 sh\n");
	assert_string_equal(c.run.id, "session 300");
	assert_int_equal(c.run.root.pid, 300);
	assert_int_equal(c.run.root.start, 500);
	assert_int_equal(c.run.sid, 300);
	assert_int_equal(c.run.uid, 1000);
	assert_string_equal(c.run.cwd.data, "/srv/app");
	assert_int_equal(c.run.since_ticks, 500);
	chosen_end(&c);
	choose(&c, "pgid:300", SHELL "301 1 300 300 S 510 sh\n302 1 300 300 S 505 sh\n");
	assert_string_equal(c.run.id, "group 300");
	assert_int_equal(c.run.root.pid, 0);
	assert_int_equal(c.run.since_ticks, 505);
	chosen_end(&c);
	choose(&c, "301", SHELL RUN);
	assert_string_equal(c.run.id, "process 301");
	chosen_end(&c);
	choose(&c, "env:KEY=secret", SHELL "300 1 300 300 S 500 x mark=KEY:secret");
	assert_string_equal(c.run.id, "env:KEY=...");
	chosen_end(&c);
}

static void when_the_root_ended_is_not_made_up(void **state)
{
	static const struct {
		const char *target, *host, *later;
		uint64_t over, over_later; /* ticks */
		bool before;
	} cases[] = {
		/* it lives; it is missed by the second look; it is a zombie then */
		{"sid:300", SHELL RUN, SHELL RUN, 0, 0, false},
		{"sid:300", SHELL RUN, SHELL "301 1 300 300 S 510 sh\n", 0, 1002050, false},
		{"300", SHELL RUN, SHELL "300 1 300 300 Z 500 x\n301 1 300 300 S 510 sh\n", 0,
		 1002050, false},
		/* it was dead when it was chosen: by then, and nobody knows when */
		{"pgid:300", SHELL "301 1 300 300 S 510 sh\n", SHELL "301 1 300 300 S 510 sh\n",
		 1000000, 1000000, true},
		{"sid:300", SHELL "300 1 300 300 Z 500 x\n301 1 301 300 S 510 sh\n",
		 SHELL "301 1 301 300 S 510 sh\n", 1000000, 1000000, true},
		/* hidden, perhaps */
		{"pgid:300", "host hidepid\n" SHELL "301 1 300 300 S 510 sh\n",
		 SHELL "301 1 300 300 S 510 sh\n", 0, 0, false},
		/* nothing says who began an audit session */
		{"audit:7", SHELL "301 1 300 300 S 510 sh audit=7\n",
		 SHELL "301 1 300 300 S 510 sh audit=7\n", 0, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;

		choose(&c, cases[i].target, cases[i].host);
		assert_int_equal(c.run.over_ticks, cases[i].over);
		hosts_look(&c.k, cases[i].later);
		c.k.now->host.boot_ns = 10020500000000;
		run_note_end(&c.run, c.k.now);
		assert_int_equal(c.run.over_ticks, cases[i].over_later);
		assert_int_equal(c.run.over_before, cases[i].before);
		chosen_end(&c);
	}
}

static void a_copy_of_a_run_is_its_own(void **state)
{
	static const char *const targets[] = {"300", "cgroup:/a/b", "env:AGENT=x"};

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct chosen c;
		struct run copy;
		char text[64], again[64];

		choose(&c, targets[i],
		       SHELL "300 1 300 300 S 500 x cgroup=/a/b mark=AGENT:x cwd=/srv");
		selector_text(&c.run.chosen, text, sizeof(text));
		assert_true(run_copy(&copy, &c.run));
		chosen_end(&c);
		selector_text(&copy.chosen, again, sizeof(again));
		assert_string_equal(again, text);
		assert_string_equal(copy.cwd.data, "/srv");
		assert_int_equal(bytes_known(&copy.cgroup), copy.chosen.kind == SELECT_CGROUP);
		assert_int_equal(copy.root.pid, 300);
		run_clear(&copy);
	}
}

static void stray_and_what_it_runs_below_are_never_members(void **state)
{
	static const struct {
		const char *what, *target, *host, *evidence;
	} cases[] = {
		{"its own session", "sid:900",
		 SHELL "930 900 930 900 S 130 make\n931 930 930 900 S 131 cc1\n",
		 "930 session, 931 parent session"},
		{"its own group", "pgid:910", SHELL "930 910 910 900 S 130 tee\n", "930 group"},
		{"its own shell", "900", SHELL "930 900 930 900 S 130 make\n", "930 session"},
		{"a mark that it carries, too", "env:AGENT",
		 INIT "900 1 900 900 S 100 agent mark=AGENT\n"
		      "920 900 920 920 S 120 stray mark=AGENT\n"
		      "930 900 930 930 S 130 x mark=AGENT\n"
		      "host self=920",
		 "930 mark"},
		{"init, in whatever it is", "cgroup:/",
		 "1 0 1 1 S 0 init\n2 0 0 0 S 0 kthreadd kthread\n"
		 "9 1 9 9 S 5 x\n920 9 920 920 S 120 stray\n930 1 930 930 S 130 x\n"
		 "host self=920",
		 "930 cgroup"},
		{"what a hidden parent is does not matter", "sid:900",
		 "host self=920 hidepid\n910 900 910 900 S 110 sudo\n920 910 910 900 S 120 stray\n"
		 "930 900 930 900 S 130 make\n",
		 "930 session"},
		/* its number is another's now: that one is no ancestor */
		{"an ancestor's number", "sid:400", SHELL STRANGER "402 401 402 400 S 510 x\n",
		 "400 session chosen, 401 parent, 402 parent session"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;

		choose(&c, cases[i].target, cases[i].host);
		chosen_expect(&c, cases[i].what, cases[i].evidence);
		for (size_t p = 0; p < c.k.now->procs.n; p++)
			if (run_is_own(c.k.now, &c.k.now->procs.v[p]))
				assert_int_equal(c.k.now->procs.v[p].evidence, 0);
		chosen_end(&c);
	}
}

static void ancestors_are_own_however_many_and_in_a_ring(void **state)
{
	struct table *t = hosts_table(SHELL RUN);
	struct table *ring = hosts_table("host self=20\n10 20 1 1 S 9 x\n20 10 1 1 S 9 x\n"
					 "30 20 1 1 S 9 x\n");
	struct table *deep = table_new();
	bool *own = run_own(t);

	(void)state;
	assert_non_null(own);
	for (size_t i = 0; i < t->procs.n; i++) {
		pid_t pid = t->procs.v[i].id.pid;

		assert_int_equal(own[i], pid == 1 || pid >= 900);
		assert_int_equal(run_is_own(t, &t->procs.v[i]), own[i]);
	}
	free(own);
	assert_true(run_is_own(ring, hosts_process(ring, 10)));
	assert_true(run_is_own(ring, hosts_process(ring, 20)));
	assert_false(run_is_own(ring, hosts_process(ring, 30)));
	own = run_own(ring);
	assert_non_null(own);
	assert_true(own[0] && own[1] && !own[2]);
	free(own);

	assert_non_null(deep);
	for (pid_t pid = 1; pid <= 5000; pid++) {
		struct process p = {.id = {pid, (uint64_t)pid}, .ppid = pid - 1, .state = 'S'};

		assert_true(table_add(deep, &p));
	}
	deep->host.self = (struct identity){5000, 5000};
	assert_true(run_is_own(deep, hosts_process(deep, 1)));
	table_free(t);
	table_free(ring);
	table_free(deep);
}

static void a_member_stays_one_however_it_moves(void **state)
{
	struct chosen c;

	(void)state;
	choose(&c, "300", SHELL RUN);
	/* setpgid, setsid, and an exec that drops the environment */
	hosts_look(&c.k, SHELL "300 1 300 300 S 500 agent\n"
			       "301 300 301 300 S 510 sh\n"
			       "302 301 302 302 S 520 make\n"
			       "303 302 303 303 S 530 env\n");
	chosen_expect(&c, "moved",
		      "300 group session chosen, 301 parent group session, 302 parent session, "
		      "303 parent");
	/* the root ends, the rest is adopted */
	hosts_look(&c.k, SHELL "301 1 301 300 S 510 sh\n"
			       "302 1 302 302 S 520 make\n"
			       "303 1 303 303 S 530 env\n"
			       "304 303 304 304 S 900 late\n");
	chosen_expect(&c, "reparented",
		      "301 parent group session, 302 parent session, 303 parent, 304 parent");
	assert_int_equal(c.run.ended, 1);
	/* all that tied the last one to the run is gone */
	hosts_look(&c.k, SHELL "304 1 304 304 S 900 late\n");
	chosen_expect(&c, "left alone", "304 parent");
	assert_int_equal(c.run.ended, 4);
	hosts_look(&c.k, SHELL);
	chosen_expect(&c, "over", "");
	assert_int_equal(c.run.ended, 5);
	chosen_end(&c);
}

static void a_number_that_comes_again_is_a_strangers(void **state)
{
	static const struct {
		const char *what, *target, *before, *after, *evidence;
	} cases[] = {
		{"the group ended, another leader has its number", "pgid:300",
		 "300 1 300 30 S 500 a\n301 300 300 30 S 510 b",
		 "300 1 300 30 S 9000 x\n302 300 300 30 S 9001 y", ""},
		{"... while a member lives elsewhere", "pgid:300",
		 "300 1 300 30 S 500 a\n301 300 300 30 S 510 b",
		 "300 1 300 30 S 9000 x\n301 1 301 30 S 510 b", "301 parent group"},
		{"the session, too", "sid:300", "300 1 300 300 S 500 a\n301 300 301 300 S 510 b",
		 "300 1 300 300 S 9000 x\n302 300 302 300 S 9001 y", ""},
		{"both of a process", "300", "300 1 300 300 S 500 a",
		 "300 1 300 300 S 9000 x\n302 300 302 300 S 9001 y", ""},
		{"its leader was gone before; now somebody has its PID", "pgid:300",
		 "301 1 300 30 S 510 b", "300 1 300 30 S 9000 x", ""},
		/* one second later: a chain of forks may have replaced all members */
		{"every member has forked and gone", "pgid:300", "300 1 300 30 S 500 a",
		 "377 1 300 30 S 9000 a", "377 group"},
		{"one member is left", "pgid:300", "300 1 300 30 S 500 a\n301 300 300 30 S 510 b",
		 "301 1 300 30 S 510 b\n377 1 300 30 S 9000 x", "301 parent group, 377 group"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;
		char after[512];

		choose(&c, cases[i].target, cases[i].before);
		snprintf(after, sizeof(after), "host at=10001\n%s", cases[i].after);
		hosts_look(&c.k, after);
		chosen_expect(&c, cases[i].what, cases[i].evidence);
		chosen_end(&c);
	}
}

static void a_number_that_was_nobodys_or_not_looked_at_is_given_up(void **state)
{
	struct chosen c;

	(void)state;
	choose(&c, "pgid:300", "300 1 300 30 S 500 a");
	hosts_look(&c.k, "host at=10001\n9 1 9 9 S 5 x");
	hosts_look(&c.k, "host at=10002\n377 1 300 30 S 9000 x");
	chosen_expect(&c, "nobody was in it", "");
	chosen_end(&c);

	/* a minute without a look: time enough for all PIDs to come round */
	choose(&c, "pgid:300", "300 1 300 30 S 500 a");
	hosts_look(&c.k, "host at=10060\n377 1 300 30 S 9000 x");
	chosen_expect(&c, "not looked at", "");
	chosen_end(&c);
	choose(&c, "pgid:300", "300 1 300 30 S 500 a\n301 300 300 30 S 510 b");
	hosts_look(&c.k, "host at=10060\n301 1 300 30 S 510 b\n377 301 300 30 S 9000 x");
	chosen_expect(&c, "a member was there all the time", "301 parent group, 377 parent group");
	chosen_end(&c);
}

static void possible_members_are_told_apart(void **state)
{
	static const char host[] =
		INIT "40 1 40 40 S 10 subreaper\n"
		     "300 40 300 300 S 500 agent uid=1000 cwd=/srv/app\n"
		     /* same user, below the directory, since then, nobody's child */
		     "310 1 310 310 S 600 x uid=1000 cwd=/srv/app/build\n"
		     "311 1 311 311 S 600 x uid=1000 cwd=/srv/app\n"
		     "312 310 312 312 S 610 child uid=1000 cwd=/srv/app/build\n"
		     "320 1 320 320 S 499 older uid=1000 cwd=/srv/app\n"
		     "321 1 321 321 S 600 other-user uid=1001 cwd=/srv/app\n"
		     "322 1 322 322 S 600 other-dir uid=1000 cwd=/srv/app2\n"
		     "323 40 323 323 S 600 not-adopted uid=1000 cwd=/srv/app\n"
		     "324 1 324 324 S 600 not-read uid=1000 unread=cwd\n"
		     "325 1 325 325 S 600 noread noread\n";
	struct chosen c;
	size_t members = 0;

	(void)state;
	choose(&c, "300", host);
	chosen_expect(&c, "window", "300 group session chosen, 310 window, 311 window");
	for (size_t i = 0; i < c.k.now->procs.n; i++)
		members += run_is_member(&c.k.now->procs.v[i]);
	assert_int_equal(members, 1);
	/* that one ends is no member's end, and what it left is none */
	hosts_look(&c.k, INIT "300 1 300 300 S 500 agent uid=1000 cwd=/srv/app\n"
			      "310 1 310 310 S 600 x uid=1000 cwd=/srv/app/build\n"
			      "330 310 330 330 S 900 child\n");
	chosen_expect(&c, "possible members have no children",
		      "300 group session chosen, 310 window");
	assert_int_equal(c.run.ended, 0);
	chosen_end(&c);

	choose(&c, "300",
	       INIT "300 1 300 300 S 500 agent uid=1000 cwd=/\n"
		    "310 1 310 310 S 600 x uid=1000 cwd=/srv\n");
	chosen_expect(&c, "\"/\" tells nothing", "300 group session chosen");
	chosen_end(&c);
	choose(&c, "300", INIT "300 1 300 300 S 500 agent cwd=/srv\n");
	c.run.over_ticks = 700;
	hosts_look(&c.k, INIT "300 1 300 300 S 500 agent cwd=/srv\n"
			      "310 1 310 310 S 700 x cwd=/srv\n"
			      "311 1 311 311 S 701 x cwd=/srv\n");
	chosen_expect(&c, "started after it was over", "300 group session chosen, 310 window");
	chosen_end(&c);
}

static void evidence_has_its_weight(void **state)
{
	static const struct {
		unsigned bits;
		enum weight weight;
		const char *name;
	} cases[] = {
		{EVIDENCE_CGROUP, WEIGHT_CERTAIN, "cgroup"},
		{EVIDENCE_FORK, WEIGHT_CERTAIN, "fork"},
		{EVIDENCE_PARENT, WEIGHT_CERTAIN, "parent"},
		{EVIDENCE_GROUP, WEIGHT_CERTAIN, "group"},
		{EVIDENCE_SESSION, WEIGHT_CERTAIN, "session"},
		{EVIDENCE_ADOPTED, WEIGHT_CERTAIN, "adopted"},
		{EVIDENCE_MARK, WEIGHT_LIKELY, "mark"},
		{EVIDENCE_PIPE, WEIGHT_LIKELY, "pipe"},
		{EVIDENCE_WINDOW, WEIGHT_POSSIBLE, "window"},
		{EVIDENCE_PEER, WEIGHT_POSSIBLE, "peer"},
		{EVIDENCE_ROOT, WEIGHT_CERTAIN, "chosen"},
		{EVIDENCE_AUDIT, WEIGHT_CERTAIN, "audit"},
	};

	(void)state;
	assert_int_equal(sizeof(cases) / sizeof(cases[0]), EVIDENCE_COUNT);
	assert_int_equal(evidence_weight(0), WEIGHT_NONE);
	for (size_t i = 0; i < EVIDENCE_COUNT; i++) {
		struct process p = {.evidence = (uint16_t)cases[i].bits};

		assert_int_equal(evidence_weight(cases[i].bits), cases[i].weight);
		assert_string_equal(evidence_name(cases[i].bits), cases[i].name);
		assert_int_equal(run_is_member(&p), cases[i].weight >= WEIGHT_LIKELY);
	}
	assert_int_equal(evidence_weight(EVIDENCE_WINDOW | EVIDENCE_MARK), WEIGHT_LIKELY);
	assert_int_equal(evidence_weight(EVIDENCE_PEER | EVIDENCE_FORK), WEIGHT_CERTAIN);
}

static void flags_and_classes_tell_how_it_got_away(void **state)
{
	static const struct {
		const char *what, *process, *flags, *classes;
	} cases[] = {
		{"left where it was", "310 300 300 300 S 600 x", "------", "left"},
		{"setpgid", "310 300 310 300 S 600 x", "-G----", "detached"},
		{"setsid", "310 300 310 310 S 600 x", "-S----", "detached"},
		{"adopted, by its session", "310 1 300 300 S 600 x", "r-----", "left"},
		{"asks others to work", "310 300 300 300 S 600 ssh", "--H---", "left handed_off"},
		{"a multiplexer's client", "310 300 300 300 S 600 \"tmux: client\"", "--H---",
		 "left handed_off"},
		{"started when the run was over", "310 300 300 300 S 701 x", "---L--", "left"},
		{"at the end of it", "310 300 300 300 S 700 x", "------", "left"},
		{"a zombie", "310 300 300 300 Z 600 x", "----Z-", "left"},
		{"uninterruptible", "310 300 300 300 D 600 x", "----D-", "left"},
		{"stopped", "310 300 300 300 T 600 x", "----T-", "left"},
		{"traced", "310 300 300 300 t 600 x", "----t-", "left"},
		{"running", "310 300 300 300 R 600 x", "------", "left"},
		{"connected", "310 300 300 300 S 600 x remote=198.51.100.9:443 secret=API_KEY",
		 "-----A", "left authority"},
		{"had credentials' names", "310 300 300 300 S 600 x secret=API_KEY", "-----a",
		 "left authority"},
		{"much at once", "310 300 310 310 T 900 ssh secret=API_KEY", "-SHLTa",
		 "detached handed_off authority"},
		{"no member: nothing is said of how it left", "310 1 310 310 D 900 x", "----D-",
		 "left"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;
		const struct process *p;
		char host[512], flags[7], classes[64] = "";
		unsigned bits;

		snprintf(host, sizeof(host), INIT "300 1 300 300 S 500 agent\n%s",
			 cases[i].process);
		choose(&c, "300", host);
		c.run.over_ticks = 700;
		p = hosts_process(c.k.now, 310);
		run_flags(&c.run, p, flags);
		if (strcmp(flags, cases[i].flags) != 0)
			fail_msg("%s: %s, not %s", cases[i].what, flags, cases[i].flags);
		bits = run_classes(&c.run, p);
		for (unsigned b = 0; b < CLASS_COUNT; b++)
			if (bits & 1u << b) {
				strcat(classes, *classes ? " " : "");
				strcat(classes, class_name(1u << b));
			}
		if (strcmp(classes, cases[i].classes) != 0)
			fail_msg("%s: %s, not %s", cases[i].what, classes, cases[i].classes);
		chosen_end(&c);
	}
}

static void flags_that_need_more_than_one_look(void **state)
{
	struct chosen c;
	struct process *p, bare = {0};
	char flags[7];

	(void)state;
	choose(&c, "300",
	       INIT "300 1 300 300 S 500 a\n301 300 300 300 S 510 b\n"
		    "302 301 302 302 S 520 c");
	hosts_look(&c.k, INIT "300 1 300 300 S 500 a\n302 1 302 302 S 520 c");
	p = hosts_process(c.k.now, 302);
	run_flags(&c.run, p, flags);
	assert_string_equal(flags, "RS----");
	p->survived = true;
	p->state = 'T';
	run_flags(&c.run, p, flags);
	assert_string_equal(flags, "RS--X-");
	assert_int_equal(run_classes(&c.run, p), CLASS_SURVIVED | CLASS_DETACHED);
	run_flags(NULL, p, flags);
	assert_string_equal(flags, "R---X-");
	run_flags(NULL, &bare, flags); /* a state that is not known */
	assert_string_equal(flags, "------");
	chosen_end(&c);

	choose(&c, "300",
	       INIT "300 1 300 300 S 500 agent cwd=/srv\n"
		    "310 1 310 310 S 600 x cwd=/srv secret=API_KEY\n");
	run_flags(&c.run, hosts_process(c.k.now, 310), flags);
	assert_string_equal(flags, "-S---?");
	chosen_end(&c);

	choose(&c, "cgroup:/run",
	       INIT "300 1 300 300 S 500 agent cgroup=/run\n"
		    "301 300 301 301 S 510 x cgroup=/elsewhere\n");
	run_flags(&c.run, hosts_process(c.k.now, 301), flags);
	assert_string_equal(flags, "-C----"); /* the gravest */
	chosen_end(&c);
}

static void another_run_in_view_starts_anew(void **state)
{
	struct chosen c;
	struct run other;
	struct selector s;
	struct err err = {0};

	(void)state;
	choose(&c, "300", SHELL RUN STRANGER);
	hosts_look(&c.k, SHELL RUN STRANGER "305 303 305 305 S 600 x\n");
	assert_int_equal(selector_parse("sid:400", &s, &err), 0);
	assert_int_equal(run_choose(&other, &s, c.k.now, &err), 0);
	assert_int_equal(tracker_set_run(&c.k, &other, &err), 0);
	chosen_expect(&c, "other", "400 session chosen, 401 parent");
	assert_int_equal(tracker_set_run(&c.k, &c.run, &err), 0);
	hosts_look(&c.k, "host at=20000\n" SHELL RUN STRANGER "305 303 305 305 S 600 x\n");
	chosen_expect(&c, "back",
		      "300 group session chosen, 301 parent group session, 302 parent session, "
		      "303 parent, 305 parent");
	assert_int_equal(tracker_set_run(&c.k, NULL, &err), 0);
	chosen_expect(&c, "none", "");
	run_clear(&other);
	selector_free(&s);
	chosen_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found_on_evidence),
		cmocka_unit_test(a_run_is_made_of_what_lives),
		cmocka_unit_test(a_run_remembers_what_it_was_made_of),
		cmocka_unit_test(when_the_root_ended_is_not_made_up),
		cmocka_unit_test(a_copy_of_a_run_is_its_own),
		cmocka_unit_test(stray_and_what_it_runs_below_are_never_members),
		cmocka_unit_test(ancestors_are_own_however_many_and_in_a_ring),
		cmocka_unit_test(a_member_stays_one_however_it_moves),
		cmocka_unit_test(a_number_that_comes_again_is_a_strangers),
		cmocka_unit_test(a_number_that_was_nobodys_or_not_looked_at_is_given_up),
		cmocka_unit_test(possible_members_are_told_apart),
		cmocka_unit_test(evidence_has_its_weight),
		cmocka_unit_test(flags_and_classes_tell_how_it_got_away),
		cmocka_unit_test(flags_that_need_more_than_one_look),
		cmocka_unit_test(another_run_in_view_starts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
