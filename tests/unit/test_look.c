#include "engine/look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#define SOME 10

/* The first are suspects, the others members; PIDs from 1 on. */
static void make(struct tracker *k, size_t suspects, size_t members)
{
	tracker_init(k);
	k->now = table_new();
	assert_non_null(k->now);
	for (size_t i = 0; i < suspects + members; i++) {
		struct process p = {.id = {(pid_t)i + 1, 7}, .state = 'S'};

		p.suspect = i < suspects ? SUSPECT_REPARENTED : 0;
		p.evidence = i < suspects ? 0 : EVIDENCE_GROUP;
		assert_true(table_add(k->now, &p));
	}
}

struct watched {
	size_t suspects, members;
};

/* Of which kind they are that are watched at this scan; seen: which were, ever. */
static struct watched look(const struct tracker *k, size_t suspects, bool *seen)
{
	struct watched w = {0};
	struct identity *ids;
	ssize_t n = look_watched(k, &ids);

	assert_true(n >= 0 && n <= LOOK_WATCH_MAX);
	for (ssize_t i = 0; i < n; i++) {
		size_t at = (size_t)ids[i].pid - 1;

		w.suspects += at < suspects;
		w.members += at >= suspects;
		seen[at] = true;
	}
	free(ids);
	return w;
}

static void members_are_watched_first_and_by_turns_where_they_are_too_many(void **state)
{
	static const struct {
		const char *what;
		size_t suspects, members;
		struct watched at_once;
		bool all_in_turn;
	} cases[] = {
		{"nobody", 0, 0, {0, 0}, true},
		{"few of both", SOME, SOME, {SOME, SOME}, true},
		{"as many as fit",
		 SOME,
		 LOOK_WATCH_MAX - SOME,
		 {SOME, LOOK_WATCH_MAX - SOME},
		 true},
		{"suspects by turns",
		 2 * LOOK_WATCH_MAX,
		 LOOK_WATCH_MAX - SOME,
		 {SOME, LOOK_WATCH_MAX - SOME},
		 true},
		{"no room for suspects", SOME, LOOK_WATCH_MAX, {0, LOOK_WATCH_MAX}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool seen[3 * LOOK_WATCH_MAX] = {0}, all = true;
		struct tracker k;

		make(&k, cases[i].suspects, cases[i].members);
		for (k.scans = 0; k.scans < 200; k.scans++) {
			struct watched w = look(&k, cases[i].suspects, seen);

			if (w.members != cases[i].at_once.members ||
			    w.suspects != cases[i].at_once.suspects)
				fail_msg("%s: scan %d: %zu suspects, %zu members", cases[i].what,
					 (int)k.scans, w.suspects, w.members);
		}
		for (size_t p = 0; p < cases[i].suspects + cases[i].members; p++)
			all &= seen[p];
		if (all != cases[i].all_in_turn)
			fail_msg("%s: all in turn: %d", cases[i].what, all);
		tracker_free(&k);
	}
}

static void more_members_than_fit_are_watched_by_turns(void **state)
{
	bool seen[LOOK_WATCH_MAX + 2 * SOME] = {0};
	struct tracker k;

	(void)state;
	make(&k, SOME, LOOK_WATCH_MAX + SOME);
	for (k.scans = 1; k.scans <= 2; k.scans++)
		assert_int_equal(look(&k, SOME, seen).members, LOOK_WATCH_MAX);
	for (size_t i = SOME; i < LOOK_WATCH_MAX + 2 * SOME; i++)
		assert_true(seen[i]);
	tracker_free(&k);
}

/* As after a moment in which no descriptor was to be had. */
static void a_look_that_failed_is_no_end_of_looking(void **state)
{
	const struct source_options options = {.lean = true};
	struct rlimit was, none;
	struct look look;
	struct err err = {0};

	(void)state;
	assert_int_equal(look_open(&look, &options, &err), 0);
	assert_int_equal(look_again(&look, &err), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 3; i++)
		assert_true(look_again(&look, &err) < 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(look_again(&look, &err), 0);
	assert_true(look.tracker.now->procs.n > 0);
	look_close(&look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_watched_first_and_by_turns_where_they_are_too_many),
		cmocka_unit_test(more_members_than_fit_are_watched_by_turns),
		cmocka_unit_test(a_look_that_failed_is_no_end_of_looking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
