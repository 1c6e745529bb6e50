#include "tui/keymap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/input.h"

static const unsigned places[] = {KEYMAP_LIST, KEYMAP_RUNS,   KEYMAP_PAGE,
				  KEYMAP_DIFF, KEYMAP_EVENTS, KEYMAP_DIALOG};

#define N_PLACES (sizeof(places) / sizeof(places[0]))

static void keys_do_what_the_design_says(void **state)
{
	static const struct {
		const char *key;
		enum action list, page, dialog;
	} cases[] = {
		{"Up", ACTION_UP, ACTION_UP, ACTION_UP},
		{"k", ACTION_UP, ACTION_UP, ACTION_UP},
		{"j", ACTION_DOWN, ACTION_DOWN, ACTION_DOWN},
		{"PgUp", ACTION_PAGE_UP, ACTION_PAGE_UP, ACTION_PAGE_UP},
		{"^D", ACTION_HALF_DOWN, ACTION_HALF_DOWN, ACTION_NONE},
		{"g", ACTION_TOP, ACTION_TOP, ACTION_NONE},
		{"G", ACTION_BOTTOM, ACTION_BOTTOM, ACTION_NONE},
		{"]", ACTION_NEXT_SESSION, ACTION_NONE, ACTION_NONE},
		{"<", ACTION_SCROLL_LEFT, ACTION_SCROLL_LEFT, ACTION_NONE},
		{"+", ACTION_UNFOLD, ACTION_NONE, ACTION_NONE},
		{"Left", ACTION_FOLD, ACTION_NONE, ACTION_PREV_CHOICE},
		{"*", ACTION_FOLD_ALL, ACTION_NONE, ACTION_NONE},
		{"Space", ACTION_TAG, ACTION_NONE, ACTION_INCLUDE},
		{"c", ACTION_TAG_CHILDREN, ACTION_NONE, ACTION_NONE},
		{"U", ACTION_UNTAG_ALL, ACTION_NONE, ACTION_NONE},
		{"/", ACTION_FIND, ACTION_NONE, ACTION_NONE},
		{"n", ACTION_FIND_NEXT, ACTION_NONE, ACTION_NONE},
		{"N", ACTION_FIND_PREV, ACTION_NONE, ACTION_NONE},
		{"\\", ACTION_FILTER, ACTION_NONE, ACTION_NONE},
		{"F4", ACTION_FILTER, ACTION_NONE, ACTION_NONE},
		{"u", ACTION_USER, ACTION_NONE, ACTION_NONE},
		{"o", ACTION_SUSPECTS, ACTION_NONE, ACTION_NONE},
		{"a", ACTION_ALL, ACTION_NONE, ACTION_NONE},
		{"F", ACTION_FOLLOW, ACTION_NONE, ACTION_FIRST_FREEZE},
		{"Z", ACTION_PAUSE, ACTION_NONE, ACTION_NONE},
		{"S", ACTION_SORT, ACTION_NONE, ACTION_NONE},
		{"i", ACTION_FLAT, ACTION_NONE, ACTION_NONE},
		{"r", ACTION_CHOOSE_RUN, ACTION_NONE, ACTION_NONE},
		{"T", ACTION_TERM, ACTION_NONE, ACTION_NONE},
		{"K", ACTION_KILL, ACTION_NONE, ACTION_NONE},
		{"F9", ACTION_SIGNAL, ACTION_NONE, ACTION_NONE},
		{"x", ACTION_END_RUN, ACTION_NONE, ACTION_NONE},
		{"z", ACTION_FREEZE, ACTION_NONE, ACTION_NONE},
		{"X", ACTION_CUT, ACTION_NONE, ACTION_NONE},
		{"s", ACTION_SNAPSHOT, ACTION_NONE, ACTION_NONE},
		{"d", ACTION_DIFF, ACTION_NONE, ACTION_NONE},
		{"e", ACTION_EXPORT, ACTION_NONE, ACTION_NONE},
		{"m", ACTION_NOTE, ACTION_NONE, ACTION_NONE},
		{"w", ACTION_WHY, ACTION_NONE, ACTION_NONE},
		{"Enter", ACTION_OPEN, ACTION_NONE, ACTION_CONFIRM},
		{"l", ACTION_HOLDS, ACTION_NONE, ACTION_NONE},
		{"E", ACTION_EVENTS, ACTION_NONE, ACTION_NONE},
		{"t", ACTION_TIMELINE, ACTION_NONE, ACTION_NONE},
		{"R", ACTION_RUNS, ACTION_RUNS, ACTION_NONE},
		{"F2", ACTION_RUNS, ACTION_RUNS, ACTION_NONE},
		{"h", ACTION_HELP, ACTION_HELP, ACTION_NONE},
		{"?", ACTION_HELP, ACTION_HELP, ACTION_NONE},
		{"F1", ACTION_HELP, ACTION_HELP, ACTION_NONE},
		{"q", ACTION_QUIT, ACTION_BACK, ACTION_NONE},
		{"F10", ACTION_QUIT, ACTION_BACK, ACTION_NONE},
		{"Esc", ACTION_BACK, ACTION_BACK, ACTION_BACK},
		{"^C", ACTION_CANCEL, ACTION_CANCEL, ACTION_CANCEL},
		{"^Z", ACTION_SUSPEND, ACTION_SUSPEND, ACTION_SUSPEND},
		{"^L", ACTION_REDRAW, ACTION_REDRAW, ACTION_REDRAW},
		{"Tab", ACTION_NONE, ACTION_NONE, ACTION_SCOPE},
		{"y", ACTION_NONE, ACTION_NONE, ACTION_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum action expected[] = {cases[i].list, cases[i].page, cases[i].dialog};
		static const unsigned where[] = {KEYMAP_LIST, KEYMAP_PAGE, KEYMAP_DIALOG};
		struct input_script s = {.at = cases[i].key};
		struct input in;

		assert_int_equal(input_script_next(&s, &in, NULL), 1);
		for (size_t p = 0; p < 3; p++) {
			const struct keymap_entry *e = keymap_find(in.key, where[p]);

			if ((e ? e->action : ACTION_NONE) != expected[p])
				fail_msg("%s in place %zu: action %d", cases[i].key, p,
					 e ? (int)e->action : 0);
		}
	}
}

static void a_key_means_one_thing_in_a_place(void **state)
{
	const struct keymap_entry *e;

	(void)state;
	for (size_t i = 0; (e = keymap_entry(i)); i++) {
		assert_int_not_equal(e->keys[0], 0);
		for (size_t k = 0; k < KEYMAP_KEYS && e->keys[k]; k++) {
			for (size_t p = 0; p < N_PLACES; p++) {
				if (e->places & places[p])
					assert_ptr_equal(keymap_find(e->keys[k], places[p]), e);
			}
		}
	}
}

static void every_action_has_a_key_and_help(void **state)
{
	bool has[ACTION_COUNT] = {false};
	const struct keymap_entry *e;

	(void)state;
	for (size_t i = 0; (e = keymap_entry(i)); i++) {
		has[e->action] = true;
		assert_true(e->help[0]);
		assert_true(keymap_group_name(e->group)[0]);
	}
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		if (!has[a])
			fail_msg("action %d has no key", a);
	}
}

static void what_is_not_there_yet_says_with_what_it_comes(void **state)
{
	static const uint32_t later[] = {'t', 'l', 'X'};

	(void)state;
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		const struct keymap_entry *e = keymap_find(later[i], KEYMAP_LIST);

		assert_non_null(e);
		assert_non_null(e->later);
		assert_int_equal(strncmp(e->later, "comes with ", 11), 0);
	}
	assert_null(keymap_find('T', KEYMAP_LIST)->later);
	assert_null(keymap_find('E', KEYMAP_LIST)->later);
	assert_null(keymap_find('R', KEYMAP_LIST)->later);
	assert_null(keymap_find('m', KEYMAP_LIST)->later);
}

static void keys_are_named_in_the_help(void **state)
{
	char names[64];

	(void)state;
	keymap_keys(keymap_find('?', KEYMAP_LIST), names, sizeof(names));
	assert_string_equal(names, "F1 ? h");
	keymap_keys(keymap_find(INPUT_CTRL('C'), KEYMAP_LIST), names, sizeof(names));
	assert_string_equal(names, "^C");
	keymap_keys(keymap_find('?', KEYMAP_LIST), names, 4);
	assert_string_equal(names, "F1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_do_what_the_design_says),
		cmocka_unit_test(a_key_means_one_thing_in_a_place),
		cmocka_unit_test(every_action_has_a_key_and_help),
		cmocka_unit_test(what_is_not_there_yet_says_with_what_it_comes),
		cmocka_unit_test(keys_are_named_in_the_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
