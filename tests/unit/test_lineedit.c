#include "tui/lineedit.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Plays a script; the text with "|" at the cursor. */
static enum lineedit_result play(struct lineedit *ed, const char *script, char *out, size_t size)
{
	struct input_script s = {.at = script};
	enum lineedit_result r = LINEEDIT_IGNORED;
	struct input in;

	while (input_script_next(&s, &in, NULL) == 1)
		r = lineedit_input(ed, &in);
	snprintf(out, size, "%.*s|%s", (int)ed->at, ed->text, ed->text + ed->at);
	return r;
}

static void a_line_is_edited(void **state)
{
	static const struct {
		const char *script, *line;
		enum lineedit_result last;
	} cases[] = {
		{"<abc>", "abc|", LINEEDIT_CHANGED},
		{"<abc> Left Left x", "ax|bc", LINEEDIT_CHANGED},
		{"<abc> Left Backspace", "a|c", LINEEDIT_CHANGED},
		{"<abc> Home Del", "|bc", LINEEDIT_CHANGED},
		{"<abc> Home Left", "|abc", LINEEDIT_MOVED},
		{"<abc> Home End", "abc|", LINEEDIT_MOVED},
		{"<abc> ^A ^F ^K", "a|", LINEEDIT_CHANGED},
		{"<abc> Left ^U", "|c", LINEEDIT_CHANGED},
		{"<one two > ^W", "one |", LINEEDIT_CHANGED},
		{"<one two> ^W ^W", "|", LINEEDIT_CHANGED},
		{"^W", "|", LINEEDIT_MOVED},
		{"<世é> Left Left", "|世é", LINEEDIT_MOVED},
		{"<世é> Backspace", "世|", LINEEDIT_CHANGED},
		{"<e\xcc\x81x> Left Left", "|e\xcc\x81x", LINEEDIT_MOVED},
		{"<e\xcc\x81> Backspace", "|", LINEEDIT_CHANGED},
		{"<a> Paste<b c> d", "ab cd|", LINEEDIT_CHANGED},
		{"<a> Enter", "a|", LINEEDIT_DONE},
		{"<a> Esc", "a|", LINEEDIT_CANCEL},
		{"<a> ^C", "a|", LINEEDIT_CANCEL},
		{"<a> Backspace Backspace", "|", LINEEDIT_CANCEL},
		{"<a> Home Backspace", "|a", LINEEDIT_MOVED},
		{"<a> Up", "a|", LINEEDIT_IGNORED},
		{"<a> Tick", "a|", LINEEDIT_IGNORED},
	};
	char got[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lineedit ed = {0};

		assert_int_equal(play(&ed, cases[i].script, got, sizeof(got)), cases[i].last);
		assert_string_equal(got, cases[i].line);
	}
}

static void a_count_takes_digits_typed_by_hand_only(void **state)
{
	struct lineedit ed = {.digits_only = true};
	char got[512];

	(void)state;
	play(&ed, "1 x Paste<2> Space 3", got, sizeof(got));
	assert_string_equal(got, "13|");
}

static void a_full_line_takes_no_more(void **state)
{
	struct lineedit ed = {0};
	const struct input x = input_key('x'), wide = input_key(0x4e16);

	(void)state;
	for (int i = 0; i < LINEEDIT_MAX - 2; i++)
		assert_int_equal(lineedit_input(&ed, &x), LINEEDIT_CHANGED);
	assert_int_equal(lineedit_input(&ed, &wide), LINEEDIT_MOVED);
	assert_int_equal(lineedit_input(&ed, &x), LINEEDIT_CHANGED);
	assert_int_equal(lineedit_input(&ed, &x), LINEEDIT_MOVED);
	assert_int_equal(strlen(ed.text), LINEEDIT_MAX - 1);
}

static void what_must_not_be_shown_is_not_taken(void **state)
{
	struct lineedit ed = {0};

	(void)state;
	lineedit_set(&ed, "a\x1b[2J\xe2\x80\xae"
			  "b");
	assert_string_equal(ed.text, "a[2Jb");
}

static void it_scrolls_so_that_the_cursor_shows(void **state)
{
	static const struct {
		const char *script, *row;
		int cursor;
	} cases[] = {
		{"<abc>", "> abc", 5},
		{"<abcdefgh>", "> defgh", 7},
		{"<abcdefgh> Home", "> abcdef", 2},
		{"<世界世>", ">  界世", 7},
	};
	struct grid grid = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lineedit ed = {0};
		struct area area;
		char got[512], expected[64], *text;

		assert_int_equal(grid_resize(&grid, 1, 10, NULL), 0);
		area = draw_whole(&grid);
		draw_text(&area, 0, 0, STYLE_NORMAL, "> ");
		play(&ed, cases[i].script, got, sizeof(got));
		lineedit_draw(&ed, &area, 0, 2, 6);
		text = grid_to_text(&grid);
		snprintf(expected, sizeof(expected), "%s\n", cases[i].row);
		assert_string_equal(text, expected);
		assert_int_equal(grid.cursor_x, cases[i].cursor);
		free(text);
	}
	grid_free(&grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_edited),
		cmocka_unit_test(a_count_takes_digits_typed_by_hand_only),
		cmocka_unit_test(a_full_line_takes_no_more),
		cmocka_unit_test(what_must_not_be_shown_is_not_taken),
		cmocka_unit_test(it_scrolls_so_that_the_cursor_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
