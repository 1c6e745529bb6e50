#include "model/selector.h"

#include "tests/unit/hosts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void targets_are_read(void **state)
{
	static const struct {
		const char *text;
		enum selector_kind kind;
		int64_t number;
		uint64_t start;
		const char *name, *value;
	} cases[] = {
		{"4131", SELECT_PID, 4131, 0, NULL, NULL},
		{"4131@881234", SELECT_PID, 4131, 881234, NULL, NULL},
		{"007", SELECT_PID, 7, 0, NULL, NULL},
		{"2147483647", SELECT_PID, 2147483647, 0, NULL, NULL},
		{"pgid:4102", SELECT_GROUP, 4102, 0, NULL, NULL},
		{"sid:0", SELECT_SESSION, 0, 0, NULL, NULL},
		{"audit:4294967294", SELECT_AUDIT, 4294967294, 0, NULL, NULL},
		{"env:AI_AGENT", SELECT_ENV, 0, 0, "AI_AGENT", NULL},
		{"env:A=", SELECT_ENV, 0, 0, "A", ""},
		{"env:A=b=c", SELECT_ENV, 0, 0, "A", "b=c"},
		{"cgroup:/system.slice/ssh.service", SELECT_CGROUP, 0, 0,
		 "/system.slice/ssh.service", NULL},
		{"run:7", SELECT_RUN, 0, 0, "7", NULL},
		/* a bare word that is no number is a run id, or the beginning of one */
		{"run-7f3c0a12", SELECT_RUN, 0, 0, "run-7f3c0a12", NULL},
		{"7f3c0a12", SELECT_RUN, 0, 0, "7f3c0a12", NULL},
		{"2026-07-24.build", SELECT_RUN, 0, 0, "2026-07-24.build", NULL},
		{"0x10", SELECT_RUN, 0, 0, "0x10", NULL},
		{"firefox", SELECT_RUN, 0, 0, "firefox", NULL},
		{"pgid", SELECT_RUN, 0, 0, "pgid", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selector s;
		struct err err = {0};

		if (selector_parse(cases[i].text, &s, &err) != 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		if (s.kind != cases[i].kind || s.number != cases[i].number ||
		    s.start != cases[i].start)
			fail_msg("%s: kind %d", cases[i].text, (int)s.kind);
		if (cases[i].name)
			assert_string_equal(s.name, cases[i].name);
		else
			assert_null(s.name);
		if (cases[i].value)
			assert_string_equal(s.value, cases[i].value);
		else
			assert_null(s.value);
		selector_free(&s);
	}
}

static void what_is_no_target_is_refused(void **state)
{
	static const char *const cases[] = {
		"", " ", " 1", "1 ", "-1", "+1", "1e3@", "2147483648", "99999999999999999999",
		"4131@", "@5", "4131@-5", "4131@5@6", "4131@99999999999999999999",
		"000000000000000000000000000004131@5", "pgid:", "pgid:x", "pgid:-1", "pgid: 1",
		"pgid:2147483648", "sid:1.5", "audit:4294967295", /* "unset", not a session */
		"audit:-1", "env:", "env:=x", "cgroup:", "run:",
		/* a run's id names a directory */
		"run:..", "run:../../etc", "run:a/b", ".hidden", "-rf", "_x", "run:a b", "run:a\nb",
		"\x1b[31mred", "caf\xc3\xa9", "name:x", "PGID:4",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", /* 65 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selector s;
		struct err err = {0};

		if (selector_parse(cases[i], &s, &err) != -EINVAL)
			fail_msg("\"%s\" was read", cases[i]);
		assert_int_equal(err.code, EINVAL);
		assert_true(err.text[0]);
		assert_null(strchr(err.text, '\x1b'));
		selector_free(&s);
	}
}

static void a_target_names_processes_by_what_they_are(void **state)
{
	static const char host[] = "100 1 100 100 S 10 sh cgroup=/a/b audit=7 mark=AGENT:x\n"
				   "101 100 100 100 S 11 sh cgroup=/a/bc audit=8 mark=AGENT:y\n"
				   "102 100 102 100 S 12 sh cgroup=/a/b/c mark=OTHER:x\n"
				   "103 100 102 103 S 13 sh noread\n"
				   "104 100 102 103 S 14 sh unread=cgroup\n";
	static const struct {
		const char *target;
		int pids[5];
	} cases[] = {
		{"100", {100}},
		{"100@10", {100}},
		{"100@11", {0}},
		{"10", {0}},
		{"pgid:100", {100, 101}},
		{"pgid:102", {102, 103, 104}},
		{"sid:103", {103, 104}},
		{"audit:7", {100}},
		{"env:AGENT", {100, 101}},
		{"env:AGENT=x", {100}},
		{"env:AGENT=", {0}},
		{"env:AGEN", {0}},
		{"cgroup:/a/b", {100, 102}},
		{"cgroup:/a/b/", {100, 102}},
		{"cgroup:/a/b//", {100, 102}},
		{"cgroup:/a", {100, 101, 102}},
		{"cgroup:/", {100, 101, 102}},
		{"cgroup://", {100, 101, 102}},
		{"cgroup:a/b", {0}},
		{"cgroup:/a/b/c/d", {0}},
		{"run:100", {0}},
	};
	struct table *t = hosts_table(host);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selector s;
		size_t found = 0;

		assert_int_equal(selector_parse(cases[i].target, &s, NULL), 0);
		for (size_t p = 0; p < t->procs.n; p++)
			if (selector_matches(&s, &t->procs.v[p]) &&
			    (found == 5 || cases[i].pids[found++] != t->procs.v[p].id.pid))
				fail_msg("%s: not %d", cases[i].target, t->procs.v[p].id.pid);
		if (found < 5 && cases[i].pids[found])
			fail_msg("%s: %d is missing", cases[i].target, cases[i].pids[found]);
		selector_free(&s);
	}
	table_free(t);
}

static void a_target_is_told_as_it_is_typed_but_for_values(void **state)
{
	static const struct {
		const char *typed, *told;
	} cases[] = {
		{"4131", "4131"},
		{"4131@881234", "4131@881234"},
		{"pgid:4102", "pgid:4102"},
		{"sid:4102", "sid:4102"},
		{"audit:12", "audit:12"},
		{"run-7f3c", "run:run-7f3c"},
		{"cgroup:/a/b", "cgroup:/a/b"},
		{"env:AGENT", "env:AGENT"},
		{"env:API_TOKEN=hunter2", "env:API_TOKEN=..."},
	};
	struct selector none = {0};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selector s;

		assert_int_equal(selector_parse(cases[i].typed, &s, NULL), 0);
		selector_text(&s, text, sizeof(text));
		assert_string_equal(text, cases[i].told);
		selector_text(&s, text, 5); /* cut, and ended */
		assert_true(strlen(text) <= 4);
		selector_free(&s);
	}
	selector_text(&none, text, sizeof(text));
	assert_string_equal(text, "everything");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_read),
		cmocka_unit_test(what_is_no_target_is_refused),
		cmocka_unit_test(a_target_names_processes_by_what_they_are),
		cmocka_unit_test(a_target_is_told_as_it_is_typed_but_for_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
