#include "model/tracker.h"

#include "model/heard.h"
#include "model/suspect.h"
#include "tests/unit/hosts.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define INIT "1 0 1 1 S 0 init\n"

/* A later look as a source gives it: details of what is new or was exec'd only. */
static void details_are_carried_over_and_replaced_by_an_exec(void **state)
{
	struct tracker k;
	const struct process *p;

	(void)state;
	hosts_track(&k, INIT "9 1 9 9 S 5 sh cgroup=/system.slice/a.service args=\"sh -c x\"\n"
			     "10 1 10 10 S 5 sh cgroup=/system.slice/a.service\n");
	hosts_look(&k, INIT "9 1 9 9 R 5 - noread cpu=7\n"
			    "10 1 10 10 S 5 python3 cgroup=/system.slice/b.service\n");
	p = hosts_process(k.now, 9);
	assert_true(bytes_is(&p->detail->comm, "sh"));
	assert_string_equal(p->origin_name.data, "a.service");
	assert_int_equal(p->origin, ORIGIN_SERVICE);
	assert_int_equal(p->unit_len, strlen("/system.slice/a.service"));
	assert_int_equal(p->state, 'R'); /* what each scan reads is of this one */
	assert_int_equal(p->cpu_ticks, 7);
	p = hosts_process(k.now, 10);
	assert_true(bytes_is(&p->detail->comm, "python3"));
	assert_string_equal(p->origin_name.data, "b.service");
	hosts_look(&k, INIT "9 1 9 9 S 5 - noread\n10 1 10 10 S 5 - noread\n");
	assert_true(bytes_is(&hosts_process(k.now, 9)->detail->comm, "sh"));
	assert_true(bytes_is(&hosts_process(k.now, 10)->detail->comm, "python3"));
	tracker_free(&k);
}

static void a_number_that_comes_again_is_another_process(void **state)
{
	struct tracker k;
	const struct process *p;
	const struct ghost *g;

	(void)state;
	hosts_track(&k, INIT "8 1 8 8 S 4 sh\n"
			     "9 8 9 9 S 5 old mark=AGENT remote=198.51.100.9:443\n"
			     "10 9 10 10 S 6 child\n");
	hosts_process(k.now, 9)->survived = true;
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n"
			    "9 1 9 9 S 700 - noread\n"
			    "10 1 10 10 S 6 - noread\n");
	p = hosts_process(k.now, 9);
	assert_null(p->detail); /* not the old one's */
	assert_int_equal(p->connections, 0);
	assert_false(p->survived);
	assert_int_equal(p->reparented, KNOWN_NOT);
	g = tracker_ghost(&k, (struct identity){9, 5});
	assert_non_null(g); /* a child of it lives */
	assert_true(bytes_is(&g->p.detail->comm, "old"));
	assert_null(tracker_ghost(&k, (struct identity){9, 700}));
	assert_int_equal(hosts_process(k.now, 10)->parent_was.start, 5);
	tracker_free(&k);
}

static void the_dead_are_kept_while_something_alive_came_from_them(void **state)
{
	struct tracker k;
	const struct ghost *g;

	(void)state;
	hosts_track(&k, INIT "8 1 8 8 S 4 sh\n9 8 9 9 S 5 forker\n10 9 10 10 S 6 child\n"
			     "11 8 11 11 S 6 other\n");
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n10 1 10 10 S 6 child\n");
	g = tracker_ghost(&k, (struct identity){9, 5});
	assert_non_null(g);
	assert_int_equal(g->gone_wall_ns, k.now->host.wall_ns);
	assert_null(tracker_ghost(&k, (struct identity){11, 6}));
	assert_int_equal(k.ghosts.n, 1);
	/* another run in view does not forget who forked whom */
	assert_int_equal(tracker_set_run(&k, NULL, NULL), 0);
	assert_non_null(tracker_ghost(&k, (struct identity){9, 5}));
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n9 1 9 9 S 7 x\n");
	assert_null(tracker_ghost(&k, (struct identity){9, 5}));
	tracker_free(&k);
}

static void dead_suspects_are_kept_for_a_while(void **state)
{
	struct tracker k;

	(void)state;
	hosts_track(&k, "host at=1000\n" INIT "9 1 8 8 S 5 left\n10 1 10 10 S 6 x\n");
	hosts_look(&k, "host at=1001\n" INIT "10 1 10 10 S 6 x\n");
	assert_non_null(tracker_ghost(&k, (struct identity){9, 5}));
	hosts_look(&k, "host at=2000\n" INIT);
	assert_int_equal(k.ghosts.n, 0);
	tracker_free(&k);
}

static void dead_members_are_kept_and_counted(void **state)
{
	struct tracker k;
	struct run run;
	struct selector s;

	(void)state;
	hosts_track(&k, INIT "8 1 8 8 S 4 sh cwd=/srv\n9 8 8 8 S 5 a\n10 8 8 8 S 6 b\n"
			     "20 1 20 20 S 50 possible cwd=/srv\n30 1 30 30 S 1 other\n");
	assert_int_equal(selector_parse("8", &s, NULL), 0);
	assert_int_equal(run_choose(&run, &s, k.now, NULL), 0);
	assert_int_equal(tracker_set_run(&k, &run, NULL), 0);
	assert_int_equal(hosts_process(k.now, 20)->evidence, EVIDENCE_WINDOW);
	hosts_look(&k, INIT "8 1 8 8 S 4 sh cwd=/srv\n9 8 8 8 Z 5 a\n");
	assert_int_equal(run.ended, 1); /* 10; a zombie is not yet gone */
	assert_non_null(tracker_ghost(&k, (struct identity){10, 6}));
	assert_null(tracker_ghost(&k, (struct identity){20, 50}));
	hosts_look(&k, INIT);
	assert_int_equal(run.ended, 3);
	assert_int_equal(k.ghosts.n, 3);
	/* of another run they are nothing */
	assert_int_equal(tracker_set_run(&k, NULL, NULL), 0);
	assert_int_equal(k.ghosts.n, 0);
	run_clear(&run);
	selector_free(&s);
	tracker_free(&k);
}

static void who_was_missed_by_one_scan_is_no_ghost(void **state)
{
	struct tracker k;
	struct run run;
	struct selector s;

	(void)state;
	hosts_track(&k, INIT "8 1 8 8 S 4 sh\n9 8 8 8 S 5 a\n");
	assert_int_equal(selector_parse("8", &s, NULL), 0);
	assert_int_equal(run_choose(&run, &s, k.now, NULL), 0);
	assert_int_equal(tracker_set_run(&k, &run, NULL), 0);
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n");
	assert_int_equal(run.ended, 1);
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n9 8 8 8 S 5 - noread\n");
	assert_int_equal(run.ended, 0);
	assert_null(tracker_ghost(&k, (struct identity){9, 5}));
	assert_true(bytes_is(&hosts_process(k.now, 9)->detail->comm, "a"));
	assert_true(run_is_member(hosts_process(k.now, 9)));
	hosts_look(&k, INIT);
	assert_int_equal(run.ended, 2);
	run_clear(&run);
	selector_free(&s);
	tracker_free(&k);
}

static void a_storm_leaves_no_more_ghosts_than_fit(void **state)
{
	struct table *t = hosts_table(INIT);
	struct tracker k;
	struct err err = {0};
	pid_t n = TRACKER_GHOSTS_MAX + 100;

	(void)state;
	for (pid_t pid = 2; pid <= 2 * n + 1; pid++) { /* pairs: a parent and its child */
		struct process p = {.id = {pid, (uint64_t)pid}, .state = 'S'};

		p.ppid = pid <= n + 1 ? 1 : pid - n;
		p.pgid = p.sid = pid;
		assert_true(table_add(t, &p));
	}
	tracker_init(&k);
	assert_int_equal(tracker_fold(&k, t, &err), 0);
	t = hosts_table(INIT);
	for (pid_t pid = n + 2; pid <= 2 * n + 1; pid++) {
		struct process p = {.id = {pid, (uint64_t)pid}, .ppid = 1, .state = 'S'};

		p.pgid = p.sid = pid;
		assert_true(table_add(t, &p));
	}
	assert_int_equal(tracker_fold(&k, t, &err), 0);
	assert_int_equal(k.ghosts.n, TRACKER_GHOSTS_MAX);
	for (pid_t pid = n + 2; pid <= 2 * n + 1; pid++) {
		assert_int_equal(hosts_process(k.now, pid)->parent_was.pid, pid - n);
		assert_int_equal(hosts_process(k.now, pid)->parent_known, KNOWN_SCANNED);
	}
	hosts_look(&k, INIT "9 1 9 9 S 5 x\n");
	hosts_look(&k, "host at=20000\n" INIT); /* later: dead suspects are kept for a while */
	assert_int_equal(k.ghosts.n, 0);
	tracker_free(&k);
}

static void the_table_before_is_there_to_be_filled_again(void **state)
{
	struct table *first = hosts_table(INIT "9 1 9 9 S 5 x\n"), *spare;
	struct tracker k;
	struct err err = {0};

	(void)state;
	tracker_init(&k);
	assert_int_equal(tracker_fold(&k, first, &err), 0);
	assert_null(tracker_take_spare(&k));
	hosts_look(&k, INIT "9 1 9 9 S 5 x\n");
	spare = tracker_take_spare(&k);
	assert_ptr_equal(spare, first);
	assert_int_equal(spare->procs.n, 0);
	assert_null(tracker_take_spare(&k));
	table_free(spare);
	hosts_look(&k, INIT); /* not taken: the tracker's own */
	hosts_look(&k, INIT);
	tracker_free(&k);
}

static void cpu_use_is_taken_between_two_looks(void **state)
{
	static const struct {
		const char *before, *after;
		uint32_t permille;
	} cases[] = {
		{"host at=100\n9 1 9 9 S 5 x cpu=50", "host at=101\n9 1 9 9 S 5 x cpu=150", 1000},
		{"host at=100\n9 1 9 9 S 5 x cpu=50", "host at=110\n9 1 9 9 S 5 x cpu=75", 25},
		{"host at=100\n9 1 9 9 S 5 x cpu=50", "host at=101\n9 1 9 9 S 5 x cpu=50", 0},
		{"host at=100 ticks=1000\n9 1 9 9 S 5 x cpu=0",
		 "host at=101 ticks=1000\n9 1 9 9 S 5 x cpu=500", 500},
		/* 128 threads for three days between two looks */
		{"host at=0\n9 1 9 9 S 5 x cpu=0", "host at=259200\n9 1 9 9 S 5 x cpu=3317760000",
		 128000},
		/* what cannot be: no use, rather than nonsense */
		{"host at=100\n9 1 9 9 S 5 x cpu=50", "host at=100\n9 1 9 9 S 5 x cpu=60", 0},
		{"host at=100\n9 1 9 9 S 5 x cpu=50", "host at=101\n9 1 9 9 S 5 x cpu=40", 0},
		{"host at=100\n9 1 9 9 S 5 x cpu=50", "host at=99\n9 1 9 9 S 5 x cpu=60", 0},
		{"host at=100\n9 1 9 9 S 5 x cpu=0", "host at=101 ticks=0\n9 1 9 9 S 5 x cpu=50",
		 0},
		/* another process */
		{"host at=100\n9 1 9 9 S 5 x cpu=50", "host at=101\n9 1 9 9 S 6 x cpu=60", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracker k;

		hosts_track(&k, cases[i].before);
		assert_int_equal(hosts_process(k.now, 9)->cpu_permille, 0);
		hosts_look(&k, cases[i].after);
		if (hosts_process(k.now, 9)->cpu_permille != cases[i].permille)
			fail_msg("%s: %u", cases[i].after, hosts_process(k.now, 9)->cpu_permille);
		tracker_free(&k);
	}
}

static void what_was_found_out_stays_with_the_process(void **state)
{
	struct tracker k;
	struct process *p;

	(void)state;
	hosts_track(&k, INIT "9 1 9 9 S 5 x remote=198.51.100.9:443\n");
	p = hosts_process(k.now, 9);
	p->survived = true;
	p->reparented = KNOWN_SEEN;
	p->parent_was = (struct identity){7, 3};
	p->parent_known = KNOWN_SEEN;
	hosts_look(&k, INIT "9 1 9 9 S 5 - noread\n");
	hosts_look(&k, INIT "9 2 9 9 S 5 - noread\n");
	p = hosts_process(k.now, 9);
	assert_true(p->survived);
	assert_int_equal(p->connections, 1);
	assert_string_equal(p->remote.data, "198.51.100.9:443");
	assert_int_equal(p->parent_was.pid, 7);
	assert_int_equal(p->parent_known, KNOWN_SEEN);
	tracker_free(&k);
}

static bool member_before(const struct table *t, struct identity id, uint16_t *evidence)
{
	const struct process *p = table_find(t, id);

	*evidence = p ? p->evidence : 0;
	return *evidence != 0;
}

/* What holds after any fold. */
static void check_invariants(const struct tracker *k, const struct table *before)
{
	size_t suspects = 0;

	for (size_t i = 0; i < k->now->procs.n; i++) {
		const struct process *p = &k->now->procs.v[i];
		bool own = run_is_own(k->now, p);
		uint16_t evidence;

		assert_true(i == 0 || k->now->procs.v[i - 1].id.pid < p->id.pid);
		if (process_is_kthread(p) || p->id.pid == 1 || own)
			assert_int_equal(p->evidence, 0);
		else if (before && member_before(before, p->id, &evidence))
			assert_int_equal(p->evidence & evidence, evidence);
		assert_int_equal(p->suspect & p->explained, 0);
		if (process_is_dead(p) || process_is_kthread(p))
			assert_int_equal(p->suspect | p->explained, 0);
		assert_true(p->parent_known == KNOWN_NOT || identity_known(p->parent_was));
		suspects += p->suspect != 0;
	}
	assert_int_equal(k->suspects, suspects);
	assert_true(k->ghosts.n <= TRACKER_GHOSTS_MAX);
	for (size_t i = 0; i < k->ghosts.n; i++)
		assert_null(table_find(k->now, k->ghosts.v[i].p.id));
}

/* In half of the later scans a source leaves out what it has told before. */
static void leave_out_details(struct table *t, const struct table *known, unsigned *seed)
{
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];

		if (table_find(known, p->id) && tables_random(seed, 2)) {
			detail_unref(p->detail);
			p->detail = NULL;
		}
		bytes_free(&p->origin_name);
		p->evidence = 0;
	}
}

static void choose_any(struct tracker *k, struct run *run, unsigned *seed)
{
	static const char *const kinds[] = {"", "pgid:", "sid:", "env:AI_AGENT", "cgroup:/"};
	unsigned kind = tables_random(seed, 5);
	const struct process *p;
	struct selector s;
	char text[32];

	if (!k->now->procs.n)
		return;
	p = &k->now->procs.v[tables_random(seed, (unsigned)k->now->procs.n)];
	if (kind < 3)
		snprintf(text, sizeof(text), "%s%d", kinds[kind], p->id.pid);
	else
		snprintf(text, sizeof(text), "%s", kinds[kind]);
	assert_int_equal(selector_parse(text, &s, NULL), 0);
	run_clear(run);
	tracker_set_run(k, run_choose(run, &s, k->now, NULL) < 0 ? NULL : run, NULL);
	selector_free(&s);
}

static void any_sequence_of_scans_keeps_the_order(void **state)
{
	(void)state;
	for (unsigned first = 0; first < 300; first++) {
		unsigned seed = first;
		struct tracker k;
		struct run run = {0};
		struct err err = {0};

		tracker_init(&k);
		assert_int_equal(
			tracker_fold(&k, tables_make(&seed, tables_random(&seed, 30)), &err), 0);
		check_invariants(&k, NULL);
		for (unsigned scans = tables_random(&seed, 8); scans; scans--) {
			struct table *before, *scan;

			if (!tables_random(&seed, 3))
				choose_any(&k, &run, &seed);
			before = table_clone(k.now);
			assert_non_null(before);
			scan = tables_later(k.now, &seed);
			leave_out_details(scan, k.now, &seed);
			assert_int_equal(tracker_fold(&k, scan, &err), 0);
			check_invariants(&k, before);
			table_free(before);
		}
		tracker_free(&k);
		run_clear(&run);
	}
}

#define RUN_HOST INIT "8 1 8 8 S 4 sh\n9 8 9 9 S 5 agent\n"

/* The session 9 chosen, and what is heard of it. */
static struct kin *hearing(struct tracker *k, struct run *run)
{
	struct selector target = {.kind = SELECT_SESSION, .number = 9};
	struct kin *kin;

	hosts_track(k, RUN_HOST);
	assert_int_equal(run_choose(run, &target, k->now, NULL), 0);
	assert_int_equal(tracker_set_run(k, run, NULL), 0);
	kin = heard_new(run, k->now);
	assert_non_null(kin);
	k->kin = kin;
	return kin;
}

static void heard(struct kin *kin, enum event_kind kind, pid_t pid, pid_t child)
{
	struct event e = {.kind = kind,
			  .boot_ns = 10000 * 1000000000ull + 1,
			  .pid = pid,
			  .child = child,
			  .child_start = 999999,
			  .start_read = true};

	if (kin_wants(kin, &e))
		assert_int_equal(kin_event(kin, &e, NULL), 0);
}

/* 10 made 11, and 12 that left and lost its parent, before any scan saw 10 or its session. */
static void who_was_heard_being_forked_is_a_member_by_that(void **state)
{
	struct tracker k;
	struct run run;
	struct kin *kin = hearing(&k, &run);
	const struct process *p;
	char got[HOSTS_TEXT];

	(void)state;
	heard(kin, EVENT_FORK, 9, 10);
	heard(kin, EVENT_FORK, 10, 12);
	heard(kin, EVENT_SID, 12, 0);
	heard(kin, EVENT_EXIT, 10, 0);
	heard(kin, EVENT_FORK, 8, 13);
	hosts_look(&k, "host at=10001\n" RUN_HOST
		       "12 1 12 12 S 999999 away\n13 8 13 13 S 999999 other\n");
	hosts_evidence(k.now, got);
	assert_string_equal(got, "9 session chosen, 12 fork");
	p = hosts_process(k.now, 12);
	assert_int_equal(p->parent_was.pid, 10);
	assert_int_equal(p->parent_known, KNOWN_SEEN);
	assert_int_equal(p->reparented, KNOWN_SEEN);
	kin_free(kin);
	tracker_free(&k);
	run_clear(&run);
}

static void who_a_scan_shows_to_be_a_member_is_heard(void **state)
{
	struct tracker k;
	struct run run;
	struct kin *kin = hearing(&k, &run);

	(void)state;
	hosts_look(&k, RUN_HOST "14 1 14 9 S 6 found\n");
	assert_non_null(kin_pid(kin, 14));
	assert_null(kin_pid(kin, 8));
	heard(kin, EVENT_FORK, 14, 15);
	assert_non_null(kin_pid(kin, 15));
	kin_free(kin);
	tracker_free(&k);
	run_clear(&run);
}

static void who_came_and_ended_between_two_scans_has_ended_too(void **state)
{
	struct tracker k;
	struct run run;
	struct kin *kin = hearing(&k, &run);
	struct kin_change c = {.kind = KIN_EXITED, .id = {10, 999999}};

	(void)state;
	tracker_heard(&k, &c);
	c.id = hosts_process(k.now, 9)->id; /* a scan saw it, and the next one misses it */
	tracker_heard(&k, &c);
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n");
	assert_int_equal(run.ended, 2);
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n");
	assert_int_equal(run.ended, 2);
	kin_free(kin);
	tracker_free(&k);
	run_clear(&run);
}

/* 10 was forked and is in no scan yet; what becomes of the host later is not the copy's. */
static void a_copy_is_of_its_moment(void **state)
{
	struct tracker k, copy;
	struct run run;
	struct kin *kin = hearing(&k, &run);
	const struct identity born = {10, 999999};
	char got[HOSTS_TEXT];

	(void)state;
	heard(kin, EVENT_FORK, 9, 10);
	assert_true(tracker_heard_of(&k, born));
	assert_int_equal(tracker_copy(&k, &copy, NULL), 0);
	hosts_look(&k, INIT "8 1 8 8 S 4 sh\n");
	kin_free(kin);
	tracker_free(&k);
	run_clear(&run);
	hosts_evidence(copy.now, got);
	assert_string_equal(got, "9 session chosen");
	assert_int_equal(copy.run->chosen.number, 9);
	assert_true(tracker_heard_of(&copy, born));
	assert_false(tracker_heard_of(&copy, hosts_process(copy.now, 9)->id)); /* a scan shows it */
	tracker_copy_free(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(details_are_carried_over_and_replaced_by_an_exec),
		cmocka_unit_test(a_number_that_comes_again_is_another_process),
		cmocka_unit_test(the_dead_are_kept_while_something_alive_came_from_them),
		cmocka_unit_test(dead_suspects_are_kept_for_a_while),
		cmocka_unit_test(dead_members_are_kept_and_counted),
		cmocka_unit_test(who_was_missed_by_one_scan_is_no_ghost),
		cmocka_unit_test(a_storm_leaves_no_more_ghosts_than_fit),
		cmocka_unit_test(the_table_before_is_there_to_be_filled_again),
		cmocka_unit_test(cpu_use_is_taken_between_two_looks),
		cmocka_unit_test(what_was_found_out_stays_with_the_process),
		cmocka_unit_test(any_sequence_of_scans_keeps_the_order),
		cmocka_unit_test(who_was_heard_being_forked_is_a_member_by_that),
		cmocka_unit_test(who_a_scan_shows_to_be_a_member_is_heard),
		cmocka_unit_test(who_came_and_ended_between_two_scans_has_ended_too),
		cmocka_unit_test(a_copy_is_of_its_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
