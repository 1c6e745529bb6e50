#include "tui/input.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The events of a script, each as input_format() writes it, with blanks between. */
static void replay(const char *script, char *out, size_t size)
{
	struct input_script s = {.at = script};
	struct input in;
	size_t used = 0;

	out[0] = '\0';
	while (input_script_next(&s, &in, NULL) == 1) {
		if (used)
			out[used++] = ' ';
		input_format(&in, out + used, size - used);
		used += strlen(out + used);
	}
}

static void a_script_reads_as_events(void **state)
{
	static const struct {
		const char *script, *events;
	} cases[] = {
		{"Down Down r Enter ^C F9", "Down Down r Enter ^C F9"},
		{"  / <4102>\tEnter\n", "/ 4 1 0 2 Enter"},
		{"<a b> Esc", "a Space b Esc"},
		{"< > [ ] \\", "< > [ ] \\"},
		{"<a\\>b> x", "a > b x"},
		{"<世é>", "世 é"},
		{"Space PgUp PgDn Home End Tab BackTab Backspace Del Ins Up Left Right",
		 "Space PgUp PgDn Home End Tab BackTab Backspace Del Ins Up Left Right"},
		{"F1 F12 F", "F1 F12 F"},
		{"Paste<rm -rf> Click:4,10 WheelUp:0,1 WheelDown:2,3 Resize:24x80 Tick End:15",
		 "Paste<rm -rf> Click:4,10 WheelUp:0,1 WheelDown:2,3 Resize:24x80 Tick End:15"},
		{"", ""},
		{"<open", "o p e n"},
	};
	char got[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		replay(cases[i].script, got, sizeof(got));
		assert_string_equal(got, cases[i].events);
	}
}

static void a_word_that_means_nothing_is_an_error(void **state)
{
	static const char *const words[] = {"down",    "F13",           "F0",   "^cc",
					    "Click:1", "Resize:24x80x", "Tick2"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct input_script s = {.at = words[i]};
		struct err err = {0};
		struct input in;

		assert_int_equal(input_script_next(&s, &in, &err), -EINVAL);
		assert_non_null(strstr(err.text, words[i]));
	}
}

static void only_characters_type(void **state)
{
	static const struct {
		const char *script;
		bool types;
	} cases[] = {{"a", true},   {"Space", true},  {"世", true},    {"Up", false},
		     {"^C", false}, {"Enter", false}, {"Tick", false}, {"F1", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct input_script s = {.at = cases[i].script};
		struct input in;

		assert_int_equal(input_script_next(&s, &in, NULL), 1);
		assert_int_equal(input_types(&in), cases[i].types);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_reads_as_events),
		cmocka_unit_test(a_word_that_means_nothing_is_an_error),
		cmocka_unit_test(only_characters_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
