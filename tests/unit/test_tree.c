#include "model/tree.h"

#include "tests/unit/hosts.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/*
 * Rows as text: "S300" a session, "S300=" one with its one group, "G300" a
 * group, "!" its leader is gone, "o" it is orphaned; then processes, a dot a
 * depth, "'" for the last of siblings.
 */
static void rows(const struct tree *tree, char out[static HOSTS_TEXT])
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; i < tree->rows.n; i++) {
		const struct tree_row *row = &tree->rows.v[i];
		char *at = out + used;
		size_t room = HOSTS_TEXT - used;

		if (i)
			used += (size_t)snprintf(at, room, " "), at = out + used, room--;
		if (row->kind == TREE_PROCESS)
			used += (size_t)snprintf(at, room, "%.*s%d%s", row->depth,
						 "................................", row->p->id.pid,
						 row->last && row->depth ? "'" : "");
		else
			used += (size_t)snprintf(
				at, room, "%c%d%s%s%s", row->kind == TREE_SESSION ? 'S' : 'G',
				row->kind == TREE_SESSION ? row->sid : row->pgid,
				row->one_group ? "=" : "", row->leader_gone ? "!" : "",
				row->orphaned ? "o" : "");
		assert_true(used < HOSTS_TEXT);
	}
}

static void build(const struct table *t, const struct tree_options *o, struct tree *tree)
{
	struct err err = {0};

	assert_int_equal(tree_build(t, o, tree, &err), 0);
}

static void processes_stand_in_their_session_and_group(void **state)
{
	static const struct {
		const char *what, *host, *rows;
	} cases[] = {
		{"nobody", "", ""},
		{"one", "9 1 9 9 S 5 x", "S9=o 9"},
		{"a shell and its jobs",
		 "8 1 8 8 S 4 sshd\n"
		 "9 8 9 9 S 5 bash\n10 9 10 9 S 6 make\n11 10 10 9 S 7 cc1\n12 9 12 9 T 8 vim\n",
		 "S8=o 8 S9 G9o 9 G10 10 .11' G12 12"},
		{"children below parents, in order",
		 "8 1 8 8 S 4 a\n9 8 8 8 S 5 b\n10 8 8 8 S 6 c\n11 9 8 8 S 7 d\n12 9 8 8 S 8 e\n",
		 "S8=o 8 .9 ..11 ..12' .10'"},
		{"against their numbers",
		 "50 1 50 50 S 4 a\n20 50 50 50 S 5 b\n10 20 50 50 S 6 c\n30 50 50 50 S 7 d\n",
		 "S50=o 50 .20 ..10' .30'"},
		{"a parent elsewhere begins a tree",
		 "8 1 8 8 S 4 a\n9 8 9 8 S 5 b\n10 9 8 8 S 6 c\n", "S8 G8 8 10 G9 9"},
		{"the session's own group comes first",
		 "8 1 8 8 S 4 a\n3 8 3 8 S 5 b\n9 8 9 8 S 6 c\n", "S8 G8o 8 G3 3 G9 9"},

		{"the leader is gone", "9 1 8 8 S 5 x\n10 1 8 8 S 6 y", "S8=!o 9 10"},
		{"a leader that is a zombie", "8 1 8 8 Z 4 sh\n9 8 8 8 S 5 x", "S8=!o 8 .9'"},
		{"a group whose leader is gone", "8 1 8 8 S 4 sh\n10 8 9 8 S 5 x",
		 "S8 G8o 8 G9! 10"},
		{"a group whose leader left it", "7 1 7 7 S 3 sh\n8 7 7 7 S 4 x\n9 7 8 7 S 5 x",
		 "S7 G7o 7 .8' G8! 9"},
		{"session 0: led outside", "9 0 9 0 S 5 sh\n10 9 10 0 S 6 x", "S0 G9o 9 G10 10"},
		{"kernel threads", "2 0 0 0 S 0 kthreadd kthread\n9 2 0 0 I 0 kw kthread",
		 "S0= 2 .9'"},

		/* POSIX: an orphaned group has no parent in its session outside the group */
		{"orphaned: its parents are in other sessions", "7 1 7 7 S 3 sh\n9 7 9 8 S 5 x",
		 "S7=o 7 S8! G9o 9"},
		{"not while one member's parent is",
		 "8 1 8 8 S 4 sh\n9 8 9 8 S 5 x\n10 1 9 8 S 6 y", "S8 G8o 8 G9 9 10"},
		{"a dead member's parent does not count",
		 "8 1 8 8 S 4 sh\n9 8 9 8 Z 5 x\n10 1 9 8 S 6 y", "S8 G8o 8 G9!o 9 10"},
		{"its parent has ended", "9 8 9 7 S 5 x", "S7! G9o 9"},
		{"a hidden parent may be in the session, a hidden leader alive",
		 "host hidepid\n9 8 9 7 S 5 x", "S7 G9 9"},

		{"one from outside has none that could be hidden", "host hidepid\n9 0 9 9 S 5 sh",
		 "S9=o 9"},

		/* Rings: PIDs change hands between two reads. */
		{"its own parent", "9 9 9 9 S 5 x", "S9=o 9"},
		{"a ring of one tick", "9 10 9 9 S 5 x\n10 9 9 9 S 5 y", "S9=o 10 .9'"},
		{"a ring of three and a tail",
		 "9 11 9 9 S 5 a\n10 9 9 9 S 6 b\n11 10 9 9 S 7 c\n12 11 9 9 S 8 d",
		 "S9=o 10 .11' ..9 ..12'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = hosts_table(cases[i].host);
		struct tree_options o = {0};
		struct tree tree;
		char got[HOSTS_TEXT];

		build(t, &o, &tree);
		rows(&tree, got);
		if (strcmp(got, cases[i].rows) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", cases[i].what, got, cases[i].rows);
		tree_free(&tree);
		table_free(t);
	}
}

static void a_session_row_counts_what_is_below_it(void **state)
{
	struct table *t = hosts_table("8 1 8 8 S 4 a\n9 8 9 8 S 5 b\n10 9 9 8 S 6 c\n"
				      "20 1 20 20 S 9 d\n");
	struct tree_options o = {0};
	struct tree tree;
	const struct tree_row *row;

	(void)state;
	build(t, &o, &tree);
	row = &tree.rows.v[0];
	assert_int_equal(row->kind, TREE_SESSION);
	assert_int_equal(row->processes, 3);
	assert_int_equal(row->groups, 2);
	assert_int_equal(row->pgid, 0);
	assert_int_equal(row->p->id.pid, 8);
	row = &tree.rows.v[3];
	assert_int_equal(row->kind, TREE_GROUP);
	assert_int_equal(row->processes, 2);
	assert_int_equal(row->p->id.pid, 9);
	row = &tree.rows.v[6];
	assert_int_equal(row->kind, TREE_SESSION);
	assert_true(row->one_group);
	assert_int_equal(row->pgid, 20);
	tree_free(&tree);
	table_free(t);
}

static void bars_join_siblings_past_what_is_between(void **state)
{
	/*
	 * 1
	 * ├ 2
	 * │ ├ 3
	 * │ │ └ 4
	 * │ └ 5
	 * └ 6
	 *   └ 7
	 */
	struct table *t =
		hosts_table("1 0 1 1 S 1 x\n2 1 1 1 S 2 x\n3 2 1 1 S 3 x\n"
			    "4 3 1 1 S 4 x\n5 2 1 1 S 5 x\n6 1 1 1 S 6 x\n7 6 1 1 S 7 x\n");
	static const struct {
		int depth;
		bool last;
		uint32_t bars;
	} want[] = {
		{0, true, 0},      {1, false, 0}, {2, false, 1 << 1}, {3, true, 1 << 1 | 1 << 2},
		{2, true, 1 << 1}, {1, true, 0},  {2, true, 0},
	};
	struct tree_options o = {0};
	struct tree tree;

	(void)state;
	build(t, &o, &tree);
	assert_int_equal(tree.rows.n, 8);
	for (size_t i = 0; i < 7; i++) {
		const struct tree_row *row = &tree.rows.v[i + 1];

		assert_int_equal(row->depth, want[i].depth);
		assert_int_equal(row->last, want[i].last);
		assert_int_equal(row->bars, want[i].bars);
	}
	tree_free(&tree);
	table_free(t);
}

static bool want_odd(void *ctx, const struct process *p)
{
	(void)ctx;
	return p->id.pid % 2;
}

static void what_is_not_wanted_is_left_out(void **state)
{
	struct table *t = hosts_table("9 1 9 9 S 4 sh\n11 9 11 9 S 5 a\n12 11 11 9 S 6 b\n"
				      "13 12 11 9 S 7 c\n14 9 14 9 S 8 d\n16 1 16 16 S 9 e\n"
				      "20 1 20 20 S 9 f\n21 20 21 20 S 9 g\n22 20 21 20 S 9 h\n");
	struct tree_options o = {.want = want_odd};
	struct tree tree;
	char got[HOSTS_TEXT];

	(void)state;
	build(t, &o, &tree);
	rows(&tree, got);
	/* 13's parent is left out, so it begins a tree; whether a group is orphaned is asked
	 * of all its members; a leader that is left out is not gone */
	assert_string_equal(got, "S9 G9o 9 G11 11 13 S20 G21 21");
	tree_free(&tree);
	table_free(t);
}

static unsigned rank_by_start(void *ctx, const struct process *p)
{
	(void)ctx;
	return (unsigned)p->id.start;
}

static unsigned no_rank(void *ctx, const struct process *p)
{
	(void)ctx;
	(void)p;
	return 3;
}

static void the_session_with_the_gravest_process_comes_first(void **state)
{
	struct table *t = hosts_table("9 1 9 9 S 5 x\n10 9 9 9 S 90 x\n"
				      "20 1 20 20 S 50 x\n21 20 20 20 S 50 x\n"
				      "30 1 30 30 S 90 x\n40 1 40 40 S 1 x\n");
	struct tree_options by_start = {.rank = rank_by_start}, same = {.rank = no_rank},
			    none = {0};
	struct tree tree;
	char got[HOSTS_TEXT], plain[HOSTS_TEXT];

	(void)state;
	build(t, &by_start, &tree);
	rows(&tree, got);
	/* of one rank: by number */
	assert_string_equal(got, "S9=o 9 .10' S30=o 30 S20=o 20 .21' S40=o 40");
	tree_free(&tree);
	build(t, &same, &tree);
	rows(&tree, got);
	tree_free(&tree);
	build(t, &none, &tree);
	rows(&tree, plain);
	assert_string_equal(got, plain);
	tree_free(&tree);
	table_free(t);
}

static bool fold_tag(void *ctx, uint64_t tag)
{
	const uint64_t *folded = ctx;

	return tag == *folded;
}

static void what_is_folded_is_counted_and_not_shown(void **state)
{
	struct table *t = hosts_table("8 1 8 8 S 4 a\n9 8 9 8 S 5 b\n10 9 9 8 S 6 c\n"
				      "20 1 20 20 S 9 d\n");
	static const struct {
		bool session;
		pid_t sid, pgid;
		const char *rows;
	} cases[] = {
		{true, 8, 0, "S8 S20=o 20"},
		{false, 8, 9, "S8 G8o 8 G9 S20=o 20"},
		{true, 20, 0, "S8 G8o 8 G9 9 .10' S20=o"},
		/* the one group of a session has no row: it cannot be folded by its own tag */
		{false, 20, 20, "S8 G8o 8 G9 9 .10' S20=o 20"},
		{true, 9, 0, "S8 G8o 8 G9 9 .10' S20=o 20"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t tag = cases[i].session ? tree_session_tag(cases[i].sid)
						: tree_group_tag(cases[i].sid, cases[i].pgid);
		struct tree_options o = {.folded = fold_tag, .ctx = &tag};
		struct tree tree;
		char got[HOSTS_TEXT];

		build(t, &o, &tree);
		rows(&tree, got);
		assert_string_equal(got, cases[i].rows);
		assert_int_equal(tree.rows.v[0].processes, 3);
		tree_free(&tree);
	}
	table_free(t);
}

#define N 10000

/* A chain is all of one tick, and against their numbers; else all are the first one's children. */
static struct table *ten_thousand(bool chain)
{
	struct table *t = table_new();

	assert_non_null(t);
	for (pid_t pid = 1; pid <= N; pid++) {
		struct process p = {.id = {pid, chain ? 7 : (uint64_t)pid}, .state = 'S'};

		if (chain)
			p.ppid = pid == N ? 0 : pid + 1;
		else
			p.ppid = pid > 1;
		p.pgid = p.sid = chain ? N : 1;
		assert_true(table_add(t, &p));
	}
	return t;
}

static void deeper_than_deep_is_shown_at_the_last_depth(void **state)
{
	struct table *t = ten_thousand(true);
	struct tree_options o = {0};
	struct tree tree;

	(void)state;
	build(t, &o, &tree);
	assert_int_equal(tree.rows.n, N + 1);
	for (int i = 0; i < N; i++) {
		const struct tree_row *row = &tree.rows.v[i + 1];

		assert_int_equal(row->p->id.pid, N - i);
		assert_int_equal(row->depth, i < TREE_DEPTH_MAX ? i : TREE_DEPTH_MAX - 1);
		assert_int_equal(row->bars, 0);
	}
	tree_free(&tree);
	table_free(t);
}

static void ten_thousand_siblings_stand_in_order(void **state)
{
	struct table *t = ten_thousand(false);
	struct tree_options o = {0};
	struct tree tree;

	(void)state;
	build(t, &o, &tree);
	assert_int_equal(tree.rows.n, N + 1);
	for (int i = 0; i < N; i++) {
		assert_int_equal(tree.rows.v[i + 1].p->id.pid, i + 1);
		assert_int_equal(tree.rows.v[i + 1].depth, i > 0);
		assert_int_equal(tree.rows.v[i + 1].last, i == 0 || i == N - 1);
	}
	tree_free(&tree);
	table_free(t);
}

static int by_tag(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Whatever the numbers are: each process once, each row's tag its own. */
static void any_table_is_shown_whole(void **state)
{
	(void)state;
	for (unsigned first = 0; first < 500; first++) {
		unsigned seed = first;
		struct table *t = tables_make(&seed, tables_random(&seed, 60));
		struct tree_options o = {.rank = first % 2 ? rank_by_start : NULL};
		struct tree tree;
		size_t shown = 0;
		uint64_t *tags;

		build(t, &o, &tree);
		tags = calloc(tree.rows.n + 1, sizeof(*tags));
		assert_non_null(tags);
		for (size_t i = 0; i < tree.rows.n; i++) {
			const struct tree_row *row = &tree.rows.v[i];

			tags[i] = row->tag;
			shown += row->kind == TREE_PROCESS;
			if (row->kind == TREE_PROCESS)
				assert_true(row->tag == identity_tag(row->p->id) &&
					    row->p->sid == row->sid && row->p->pgid == row->pgid);
		}
		assert_int_equal(shown, t->procs.n);
		qsort(tags, tree.rows.n, sizeof(*tags), by_tag);
		for (size_t i = 1; i < tree.rows.n; i++)
			assert_true(tags[i - 1] < tags[i]);
		free(tags);
		tree_free(&tree);
		table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_stand_in_their_session_and_group),
		cmocka_unit_test(a_session_row_counts_what_is_below_it),
		cmocka_unit_test(bars_join_siblings_past_what_is_between),
		cmocka_unit_test(what_is_not_wanted_is_left_out),
		cmocka_unit_test(the_session_with_the_gravest_process_comes_first),
		cmocka_unit_test(what_is_folded_is_counted_and_not_shown),
		cmocka_unit_test(deeper_than_deep_is_shown_at_the_last_depth),
		cmocka_unit_test(ten_thousand_siblings_stand_in_order),
		cmocka_unit_test(any_table_is_shown_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
