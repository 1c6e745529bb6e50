#include "model/table.h"

#include "model/family.h"
#include "tests/unit/hosts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void processes_are_found_by_number_and_by_identity(void **state)
{
	struct table *t = hosts_table("300 1 300 300 S 30 c\n"
				      "100 1 100 100 S 10 a\n"
				      "200 1 200 200 S 20 b\n");

	(void)state;
	assert_int_equal(t->procs.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(t->procs.v[i].id.pid, 100 * (int)(i + 1));
	assert_int_equal(table_pid(t, 200)->id.start, 20);
	assert_ptr_equal(table_find(t, (struct identity){200, 20}), table_pid(t, 200));
	assert_null(table_find(t, (struct identity){200, 21}));
	assert_null(table_pid(t, 0));
	assert_null(table_pid(t, 99));
	assert_null(table_pid(t, 250));
	assert_null(table_pid(t, 301));
	table_free(t);
}

static void an_empty_table_has_nobody(void **state)
{
	struct table *t = table_new(), *copy;
	struct family f;

	(void)state;
	assert_non_null(t);
	table_sort(t);
	assert_null(table_pid(t, 1));
	assert_null(host_login(&t->host, "1"));
	copy = table_clone(t);
	assert_non_null(copy);
	assert_int_equal(family_make(t, &f), 0);
	assert_int_equal(f.n, 0);
	family_free(&f);
	table_free(copy);
	table_free(t);
	table_free(NULL);
}

/* It ended, and its number came again, while the table was read. */
static void a_number_that_is_there_twice_is_the_later_process(void **state)
{
	struct table *t = hosts_table("100 1 100 100 S 10 a mark=A\n"
				      "200 1 200 200 S 90 new\n"
				      "200 1 200 200 S 20 old\n"
				      "300 1 300 300 S 30 old\n"
				      "300 1 300 300 S 91 new\n"
				      "300 1 300 300 S 31 middle\n");

	(void)state;
	assert_int_equal(t->procs.n, 3);
	assert_int_equal(table_pid(t, 200)->id.start, 90);
	assert_true(bytes_is(&table_pid(t, 200)->detail->comm, "new"));
	assert_int_equal(table_pid(t, 300)->id.start, 91);
	assert_true(bytes_is(&table_pid(t, 300)->detail->comm, "new"));
	table_free(t);
}

static void a_clone_is_all_of_it_and_its_own(void **state)
{
	struct table *t = hosts_table("host self=100 hidepid at=77\n"
				      "login 12 leader=100 tty=pts/3\n"
				      "100 1 100 100 S 10 a remote=198.51.100.9:443\n"
				      "200 1 200 200 S 20 b noread\n");
	struct table *copy = table_clone(t);

	(void)state;
	assert_non_null(copy);
	table_free(t);
	assert_int_equal(copy->procs.n, 2);
	assert_int_equal(copy->host.self.start, 10);
	assert_int_equal(copy->host.boot_ns, 77000000000);
	assert_true(copy->coverage.hidepid);
	assert_string_equal(host_login(&copy->host, "12")->tty, "pts/3");
	assert_string_equal(table_pid(copy, 100)->remote.data, "198.51.100.9:443");
	assert_null(table_pid(copy, 200)->detail);
	table_free(copy);
}

static void a_cleared_table_is_as_a_new_one_with_room(void **state)
{
	static const struct table empty;
	struct table *t = hosts_table("host self=100 hidepid at=77\n"
				      "login 12 leader=100 tty=pts/3\n"
				      "100 1 100 100 S 10 a remote=198.51.100.9:443\n"
				      "200 1 200 200 S 20 b\n");
	struct process *room = t->procs.v;
	size_t cap = t->procs.cap;

	(void)state;
	t->ends_of = (struct identity){100, 10};
	table_clear(t);
	assert_ptr_equal(t->procs.v, room);
	assert_int_equal(t->procs.cap, cap);
	t->procs.v = NULL;
	t->procs.cap = 0;
	assert_memory_equal(t, &empty, sizeof(empty));
	t->procs.v = room;
	table_free(t);
}

static void logins_are_found_by_name_and_scope(void **state)
{
	struct table *t = hosts_table("login 1\nlogin 12\nlogin c3 scope=session-c3.scope\n");

	(void)state;
	assert_string_equal(host_login(&t->host, "12")->scope, "session-12.scope");
	assert_null(host_login(&t->host, "2"));
	assert_string_equal(host_login_scope(&t->host, "session-1.scope", 15)->id, "1");
	assert_string_equal(host_login_scope(&t->host, "session-c3.scope/x", 16)->id, "c3");
	assert_null(host_login_scope(&t->host, "session-1", 9));
	assert_null(host_login_scope(&t->host, "", 0));
	table_free(t);
}

static void what_could_not_be_read_is_counted(void **state)
{
	struct table *t = hosts_table("100 1 100 100 S 10 a unread=environ unread=exe\n"
				      "200 1 200 200 S 20 b unread=environ\n"
				      "300 1 300 300 S 30 c noread\n");

	(void)state;
	t->coverage.unreadable[0] = 7; /* of before */
	table_count_coverage(t);
	for (unsigned b = 0; b < DETAIL_COUNT; b++)
		assert_int_equal(t->coverage.unreadable[b], 1u << b == DETAIL_ENVIRON ? 2
							    : 1u << b == DETAIL_EXE   ? 1
										      : 0);
	table_free(t);
}

static void a_table_that_does_not_show_all_says_so(void **state)
{
	struct table *all = hosts_table(""), *hidden = hosts_table("host hidepid"),
		     *part = hosts_table("host partial");

	(void)state;
	assert_true(table_shows_all(all));
	assert_false(table_shows_all(hidden));
	assert_false(table_shows_all(part));
	table_free(all);
	table_free(hidden);
	table_free(part);
}

static void terminals_have_the_kernels_numbers(void **state)
{
	static const struct {
		uint32_t nr;
		const char *name;
	} cases[] = {
		{0x8803, "pts/3"},     /* 136:3 */
		{0x8900, "pts/256"},   /* 137:0 */
		{0x108802, "pts/258"}, /* 136:258, minor's upper bits above the major */
		{0x8fff, "pts/2047"},  /* 143:255 */
		{0x401, "tty1"},       /* 4:1 */
		{0x440, "ttyS0"},      /* 4:64 */
		{0x501, "console"},    /* 5:1 */
		{0xe500, "hvc0"},      /* 229:0 */
		{0xcc40, "ttyAMA0"},   /* 204:64 */
		{0x12345, "291:69"},   {0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[32] = "", again[32];

		uint32_t nr = 0;

		assert_int_equal(tty_name(cases[i].nr, name), cases[i].name != NULL);
		assert_string_equal(name, cases[i].name ? cases[i].name : "");
		if (!cases[i].name)
			continue;
		/* 137 to 143 are old numbers of the same terminals */
		assert_true(tty_number(name, &nr) && tty_name(nr, again));
		assert_string_equal(again, name);
	}
}

/* Each once, a parent before its children, whatever the numbers are. */
static void a_family_comes_down_from_the_top(void **state)
{
	static const struct {
		const char *what, *host;
		int parents[6]; /* by index: the parent's PID; 0: none */
	} cases[] = {
		{"a tree against its numbers",
		 "10 50 1 1 S 9 x\n20 10 1 1 S 9 x\n50 0 1 1 S 1 x\n60 50 1 1 S 2 x",
		 {50, 10, 0, 50}},
		{"a parent that is not there", "10 9 1 1 S 9 x\n11 10 1 1 S 9 x", {0, 10}},
		{"its own parent", "10 10 1 1 S 9 x\n11 10 1 1 S 9 x", {0, 10}},
		{"a ring of two is cut at one", "10 11 1 1 S 9 x\n11 10 1 1 S 9 x", {11, 0}},
		{"a ring with a tail",
		 "10 12 1 1 S 9 x\n11 10 1 1 S 9 x\n12 11 1 1 S 9 x\n13 12 1 1 S 9 x",
		 {12, 0, 11, 12}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = hosts_table(cases[i].host);
		bool before[6] = {0};
		struct family f;

		assert_int_equal(family_make(t, &f), 0);
		assert_int_equal(f.n, t->procs.n);
		for (size_t k = 0; k < f.n; k++) {
			uint32_t at = f.order[k], parent = f.parent[at];
			int pid = parent == FAMILY_NONE ? 0 : t->procs.v[parent].id.pid;

			assert_true(at < f.n && !before[at]);
			before[at] = true;
			if (pid != cases[i].parents[at] || (pid && !before[parent]))
				fail_msg("%s: %d below %d", cases[i].what, t->procs.v[at].id.pid,
					 pid);
		}
		family_free(&f);
		table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_are_found_by_number_and_by_identity),
		cmocka_unit_test(an_empty_table_has_nobody),
		cmocka_unit_test(a_number_that_is_there_twice_is_the_later_process),
		cmocka_unit_test(a_clone_is_all_of_it_and_its_own),
		cmocka_unit_test(a_cleared_table_is_as_a_new_one_with_room),
		cmocka_unit_test(logins_are_found_by_name_and_scope),
		cmocka_unit_test(what_could_not_be_read_is_counted),
		cmocka_unit_test(a_table_that_does_not_show_all_says_so),
		cmocka_unit_test(terminals_have_the_kernels_numbers),
		cmocka_unit_test(a_family_comes_down_from_the_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
