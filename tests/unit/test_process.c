#include "model/process.h"

#include "tests/unit/hosts.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void an_identity_is_a_number_and_a_start(void **state)
{
	struct identity a = {4131, 881234}, later = {4131, 881235}, other = {4132, 881234};

	(void)state;
	assert_true(identity_same(a, a));
	assert_false(identity_same(a, later));
	assert_false(identity_same(a, other));
	assert_true(identity_known(a));
	assert_false(identity_known((struct identity){0}));
	assert_int_not_equal(identity_tag(a), identity_tag(later));
	assert_int_not_equal(identity_tag(a), identity_tag(other));
	assert_int_equal(identity_tag(a), identity_tag(a));
}

static void how_a_fact_is_known_has_an_order_and_a_name(void **state)
{
	static const struct {
		enum known known;
		const char *name;
	} cases[] = {
		{KNOWN_NOT, "not known"},   {KNOWN_PRESUMED, "presumed"}, {KNOWN_STATED, "stated"},
		{KNOWN_SCANNED, "scanned"}, {KNOWN_SEEN, "seen"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(cases[i].known, i);
		assert_string_equal(known_name(cases[i].known), cases[i].name);
	}
}

static void a_kernel_thread_is_one_by_its_flags_a_zombie_by_its_state(void **state)
{
	struct table *t = hosts_table("2 0 0 0 S 0 kthreadd kthread\n"
				      "9 1 9 9 S 5 [kworker/0:1]\n"
				      "10 1 9 9 Z 5 x\n"
				      "11 1 9 9 X 5 x\n"
				      "12 1 9 9 D 5 x\n");

	(void)state;
	assert_true(process_is_kthread(hosts_process(t, 2)));
	assert_false(process_is_kthread(hosts_process(t, 9)));
	assert_false(process_is_dead(hosts_process(t, 9)));
	assert_true(process_is_dead(hosts_process(t, 10)));
	assert_true(process_is_dead(hosts_process(t, 11)));
	assert_false(process_is_dead(hosts_process(t, 12)));
	table_free(t);
}

static void a_detail_that_was_not_read_is_not_empty(void **state)
{
	struct table *t = hosts_table("9 1 9 9 S 5 x unread=environ\n10 1 10 10 S 5 x noread\n");
	const struct process *p = hosts_process(t, 9), *q = hosts_process(t, 10);
	struct detail *d = detail_new();

	(void)state;
	assert_int_equal(process_unread(p, DETAIL_ENVIRON), EACCES);
	assert_int_equal(process_unread(p, DETAIL_EXE), 0);
	assert_int_equal(process_unread(q, DETAIL_ENVIRON), 0);
	assert_null(process_mark(p, "AGENT"));
	assert_null(process_mark(q, "AGENT"));
	assert_non_null(d);
	assert_false(bytes_known(&d->exe));
	assert_int_equal(d->uid, (uid_t)-1);
	assert_int_equal(d->tracer, -1);
	assert_int_equal(d->audit_session, -2);
	assert_int_equal(d->login_uid, -2);
	assert_int_equal(d->have, 0);
	detail_unref(d);
	table_free(t);
}

static void bits_have_names(void **state)
{
	(void)state;
	assert_string_equal(detail_name(DETAIL_COMM), "comm");
	assert_string_equal(detail_name(DETAIL_ENVIRON), "environ");
	assert_string_equal(detail_name(DETAIL_STDIO), "fd");
	assert_string_equal(detail_name(0), "?");
	assert_string_equal(detail_name(1 << DETAIL_COUNT), "?");
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		assert_string_not_equal(detail_name(1u << i), "?");
	assert_string_equal(ns_name(NS_CGROUP), "cgroup");
	assert_string_equal(ns_name(NS_UTS), "uts");
	assert_string_equal(ns_name(-1), "?");
	assert_string_equal(ns_name(NS_COUNT), "?");
	assert_true(sigmask_has(1, SIGHUP));
	assert_true(sigmask_has(1ull << 63, 64));
	assert_false(sigmask_has(~0ull, 0));
	assert_false(sigmask_has(~0ull, 65));
	assert_false(sigmask_has(~0ull, -1));
}

static void a_command_is_one_line(void **state)
{
	static const struct {
		const char *cmdline;
		size_t len;
		const char *comm, *command;
	} cases[] = {
		{"sleep\0"
		 "120",
		 10, "sleep", "sleep 120"},
		{"sleep", 5, "sleep", "sleep"},
		{"sleep\0\0", 7, "sleep", "sleep"}, /* an empty last argument is not seen */
		{"a\0\0b", 5, "a", "a  b"},
		{"\0-x", 4, "a", " -x"}, /* an empty name */
		{"\0", 1, "a", "[a]"},
		{"\0\0", 2, "a", "[a]"},
		{"", 0, "kworker/0:1", "[kworker/0:1]"},
		{"", 0, "", "[]"},
		{NULL, 0, "a", "[a]"},
		{NULL, 0, NULL, "[?]"},
		{"\xff\x1b[31m", 7, "a", "\xff\x1b[31m"}, /* raw: who shows it escapes it */
		{"nginx: master process", 21, "nginx", "nginx: master process"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process p = {.detail = detail_new()};
		struct bytes command = {0};

		assert_non_null(p.detail);
		if (cases[i].cmdline)
			assert_true(bytes_set(&p.detail->cmdline, cases[i].cmdline, cases[i].len));
		if (cases[i].comm)
			assert_true(
				bytes_set(&p.detail->comm, cases[i].comm, strlen(cases[i].comm)));
		assert_int_equal(process_command(&p, &command), 0);
		assert_string_equal(command.data, cases[i].command);
		assert_int_equal(command.len, strlen(cases[i].command));
		bytes_free(&command);
		process_clear(&p);
	}
}

static void a_process_without_details_has_a_command_too(void **state)
{
	struct process p = {.id = {9, 5}};
	struct bytes command = {0};

	(void)state;
	assert_int_equal(process_command(&p, &command), 0);
	assert_string_equal(command.data, "[?]");
	bytes_free(&command);
}

static void a_copy_shares_details_and_owns_the_rest(void **state)
{
	struct table *t = hosts_table("9 1 9 9 S 5 x mark=AGENT:a remote=198.51.100.9:443\n");
	struct process *p = hosts_process(t, 9), copy;

	(void)state;
	assert_true(bytes_set(&p->origin_name, "a.service", 9));
	assert_true(process_copy(&copy, p));
	assert_ptr_equal(copy.detail, p->detail);
	assert_int_equal(copy.detail->refs, 2);
	assert_ptr_not_equal(copy.origin_name.data, p->origin_name.data);
	assert_string_equal(copy.origin_name.data, "a.service");
	assert_string_equal(copy.remote.data, "198.51.100.9:443");
	table_free(t); /* the copy outlives it */
	assert_int_equal(copy.detail->refs, 1);
	assert_string_equal(process_mark(&copy, "AGENT"), "a");
	assert_null(process_mark(&copy, "AGENT_"));
	process_clear(&copy);
	assert_null(copy.detail);
	detail_unref(NULL);
}

static void a_packed_detail_says_the_same(void **state)
{
	struct table *t = hosts_table("9 1 9 9 S 5 x mark=AGENT:a mark=CRUSH: secret=API_TOKEN "
				      "secret=SSH_AUTH_SOCK cgroup=/a.slice/b.scope\n");
	struct process *p = hosts_process(t, 9);
	struct bytes *stderr_text = &p->detail->stdio[2];

	(void)state;
	assert_true(bytes_set(&p->detail->cmdline, "a\0\0b c", 7)); /* with its last NUL */
	assert_true(bytes_set(stderr_text, "pipe:[7]", 8));
	bytes_free(&p->detail->cwd);
	assert_true(bytes_set(&p->detail->exe, "", 0));
	p->detail->sig_ignored = 5;
	p->detail = detail_pack(p->detail);
	assert_int_equal(p->detail->refs, 1);
	assert_int_equal(p->detail->sig_ignored, 5);
	assert_true(bytes_is(&p->detail->comm, "x"));
	assert_int_equal(p->detail->cmdline.len, 7);
	assert_memory_equal(p->detail->cmdline.data, "a\0\0b c\0", 8);
	assert_true(bytes_is(&p->detail->cgroup, "/a.slice/b.scope"));
	assert_true(bytes_is(&p->detail->stdio[2], "pipe:[7]"));
	assert_true(bytes_is(&p->detail->exe, "")); /* known to be empty */
	assert_false(bytes_known(&p->detail->cwd));
	assert_string_equal(process_mark(p, "AGENT"), "a");
	assert_string_equal(process_mark(p, "CRUSH"), "");
	assert_int_equal(p->detail->n_secret_names, 2);
	assert_string_equal(p->detail->secret_names[0], "API_TOKEN");
	assert_string_equal(p->detail->secret_names[1], "SSH_AUTH_SOCK");
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_identity_is_a_number_and_a_start),
		cmocka_unit_test(how_a_fact_is_known_has_an_order_and_a_name),
		cmocka_unit_test(a_kernel_thread_is_one_by_its_flags_a_zombie_by_its_state),
		cmocka_unit_test(a_detail_that_was_not_read_is_not_empty),
		cmocka_unit_test(bits_have_names),
		cmocka_unit_test(a_command_is_one_line),
		cmocka_unit_test(a_process_without_details_has_a_command_too),
		cmocka_unit_test(a_copy_shares_details_and_owns_the_rest),
		cmocka_unit_test(a_packed_detail_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
