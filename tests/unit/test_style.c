#include "tui/style.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void letters_are_told_apart(void **state)
{
	(void)state;
	for (int a = 0; a < STYLE_COUNT; a++) {
		for (int b = 0; b < STYLE_COUNT; b++) {
			if (a != b)
				assert_int_not_equal(style_letter(a, false),
						     style_letter(b, false));
			assert_int_not_equal(style_letter(a, false), style_letter(b, true));
		}
	}
}

static void eight_colours_are_enough(void **state)
{
	(void)state;
	for (int role = 0; role < STYLE_COUNT; role++) {
		for (int selected = 0; selected < 2; selected++) {
			struct style_look look = style_look(role, selected, STYLE_COLOR8);

			assert_in_range(look.fg + 1, 0, 8);
			assert_in_range(look.bg + 1, 0, 8);
			/* A background of our own needs a foreground of our own. */
			if (look.bg != STYLE_DEFAULT_COLOR)
				assert_int_not_equal(look.fg, STYLE_DEFAULT_COLOR);
			assert_true(look.fg != look.bg || look.fg == STYLE_DEFAULT_COLOR);
		}
	}
}

static void no_colour_is_used_without_colours(void **state)
{
	(void)state;
	for (int role = 0; role < STYLE_COUNT; role++) {
		struct style_look look = style_look(role, false, STYLE_MONO);

		assert_int_equal(look.fg, STYLE_DEFAULT_COLOR);
		assert_int_equal(look.bg, STYLE_DEFAULT_COLOR);
		assert_true(style_look(role, true, STYLE_MONO).attr & STYLE_REVERSE);
	}
}

static void red_is_for_what_needs_eyes(void **state)
{
	(void)state;
	for (int role = 0; role < STYLE_COUNT; role++) {
		bool red = style_look(role, false, STYLE_COLOR8).fg == 1;

		assert_int_equal(red, role == STYLE_SURVIVOR || role == STYLE_WARNING);
	}
}

static void the_roles_of_processes_differ_in_colour(void **state)
{
	static const enum style roles[] = {STYLE_NORMAL,   STYLE_MEMBER,   STYLE_SUSPECT,
					   STYLE_DETACHED, STYLE_SURVIVOR, STYLE_AUTHORITY,
					   STYLE_DIM,      STYLE_TAGGED};

	(void)state;
	for (int depth = STYLE_COLOR8; depth <= STYLE_COLOR256; depth++) {
		for (size_t a = 0; a < sizeof(roles) / sizeof(roles[0]); a++) {
			for (size_t b = 0; b < a; b++) {
				struct style_look x = style_look(roles[a], false, depth);
				struct style_look y = style_look(roles[b], false, depth);

				assert_true(x.fg != y.fg || x.attr != y.attr);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_told_apart),
		cmocka_unit_test(eight_colours_are_enough),
		cmocka_unit_test(no_colour_is_used_without_colours),
		cmocka_unit_test(red_is_for_what_needs_eyes),
		cmocka_unit_test(the_roles_of_processes_differ_in_colour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
