#include "tui/draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct grid grid;
static struct area whole;

static int fresh(void **state)
{
	(void)state;
	grid.ascii = false;
	if (grid_resize(&grid, 3, 12, NULL) < 0)
		return -1;
	whole = draw_whole(&grid);
	return 0;
}

static int done(void **state)
{
	(void)state;
	grid_free(&grid);
	return 0;
}

#define assert_text(expected)                        \
	do {                                         \
		char *text = grid_to_text(&grid);    \
		assert_non_null(text);               \
		assert_string_equal(text, expected); \
		free(text);                          \
	} while (0)

#define assert_styled(expected)                          \
	do {                                             \
		char *text = grid_to_styled_text(&grid); \
		assert_non_null(text);                   \
		assert_string_equal(text, expected);     \
		free(text);                              \
	} while (0)

static void text_is_clipped_at_every_border(void **state)
{
	struct area part = draw_part(&whole, 1, 2, 1, 5);

	(void)state;
	assert_int_equal(draw_text(&part, 0, 3, STYLE_NORMAL, "abcdef"), 9);
	assert_int_equal(draw_text(&part, 0, -2, STYLE_NORMAL, "xyz"), 1);
	draw_text(&part, -1, 0, STYLE_NORMAL, "above");
	draw_text(&part, 1, 0, STYLE_NORMAL, "below");
	assert_text("\n"
		    "  z  ab\n"
		    "\n");
}

static void a_part_never_reaches_beyond_its_area(void **state)
{
	struct area outer = draw_part(&whole, 0, 4, 2, 4);
	struct area inner = draw_part(&outer, -1, -2, 10, 20);

	(void)state;
	draw_fill(&inner, 0, 0, 10, 20, STYLE_NORMAL, '#');
	assert_text("    ####\n"
		    "    ####\n"
		    "\n");
	/* Its coordinates are as asked for all the same. */
	draw_text(&inner, 1, 2, STYLE_NORMAL, "ab");
	assert_text("    ab##\n"
		    "    ####\n"
		    "\n");
}

static void a_wide_character_is_never_split(void **state)
{
	struct area part = draw_part(&whole, 0, 2, 3, 4);

	(void)state;
	draw_fill(&whole, 0, 0, 3, 12, STYLE_NORMAL, '.');
	draw_text(&part, 0, 1, STYLE_NORMAL, "世界");
	draw_text(&part, 1, -1, STYLE_NORMAL, "世界");
	draw_text(&part, 2, 0, STYLE_NORMAL, "世界");
	assert_text("...世 ......\n"
		    ".. 界.......\n"
		    "..世界......\n");
}

static void half_a_wide_character_becomes_blank_when_overwritten(void **state)
{
	(void)state;
	draw_text(&whole, 0, 0, STYLE_NORMAL, "世界世");
	draw_text(&whole, 0, 1, STYLE_NORMAL, "ab");
	assert_text(" ab 世\n\n\n");
	draw_text(&whole, 1, 0, STYLE_NORMAL, "a世b");
	draw_text(&whole, 1, 2, STYLE_NORMAL, "世");
	assert_text(" ab 世\na 世\n\n");
}

static void marks_stay_with_their_character(void **state)
{
	/* a, acute, then b with four marks, of which three are kept; wide with one. */
	const char *marked = "a\xcc\x81"
			     "b\xcc\x81\xcc\x82\xcc\x83\xcc\x84"
			     "世\xcc\x81|";

	(void)state;
	assert_int_equal(draw_text(&whole, 0, 0, STYLE_NORMAL, marked), 5);
	assert_text("a\xcc\x81"
		    "b\xcc\x81\xcc\x82\xcc\x83"
		    "世\xcc\x81|\n\n\n");
	/* Of a character that is clipped nothing is left behind. */
	draw_text(&whole, 1, -1, STYLE_NORMAL,
		  "a\xcc\x81"
		  "b");
	draw_text(&whole, 2, 0, STYLE_NORMAL,
		  "\xcc\x81"
		  "c");
	assert_text("a\xcc\x81"
		    "b\xcc\x81\xcc\x82\xcc\x83"
		    "世\xcc\x81|\nb\nc\n");
}

static void what_must_not_reach_a_terminal_does_not(void **state)
{
	(void)state;
	draw_text(&whole, 0, 0, STYLE_NORMAL, "\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xff.");
	assert_text("?[2J????.\n\n\n");
}

static void an_ascii_grid_gets_stand_ins(void **state)
{
	struct area box = draw_part(&whole, 0, 0, 3, 12);

	(void)state;
	grid.ascii = true;
	draw_box(&box, STYLE_DIM, STYLE_NORMAL, "a · b");
	draw_text(&box, 1, 1, STYLE_NORMAL, "▾└▸⇄…é世");
	assert_text("+- a | b --+\n"
		    "|-`+@.??   |\n"
		    "+----------+\n");
}

static void a_box_has_its_title_in_its_upper_side(void **state)
{
	(void)state;
	draw_box(&whole, STYLE_NORMAL, STYLE_NORMAL, "TERM");
	assert_text("┌─ TERM ───┐\n"
		    "│          │\n"
		    "└──────────┘\n");
	draw_box(&whole, STYLE_NORMAL, STYLE_NORMAL, "TERM to group");
	assert_text("┌─ TERM … ─┐\n"
		    "│          │\n"
		    "└──────────┘\n");
}

static void text_that_does_not_fit_ends_in_an_ellipsis(void **state)
{
	(void)state;
	assert_int_equal(draw_cut(&whole, 0, 1, 4, STYLE_NORMAL, "abcd"), 5);
	assert_int_equal(draw_cut(&whole, 1, 1, 4, STYLE_NORMAL, "abcde"), 5);
	assert_int_equal(draw_cut(&whole, 2, 1, 4, STYLE_NORMAL, "世界世"), 5);
	assert_text(" abcd\n abc…\n 世 …\n");
	assert_int_equal(draw_cut(&whole, 0, 1, 0, STYLE_NORMAL, "x"), 1);
}

static void right_aligned_text_ends_at_its_column(void **state)
{
	(void)state;
	assert_int_equal(draw_right(&whole, 0, 12, STYLE_NORMAL, "x世"), 9);
	assert_int_equal(draw_right(&whole, 1, 3, STYLE_NORMAL, "abcde"), -2);
	assert_int_equal(draw_format(&whole, 2, 0, STYLE_NORMAL, "%d of %s", 2, "3"), 6);
	assert_text("         x世\ncde\n2 of 3\n");
}

static void roles_and_the_cursor_row_show_as_letters(void **state)
{
	(void)state;
	draw_text(&whole, 0, 0, STYLE_SURVIVOR, "X");
	draw_text(&whole, 0, 2, STYLE_NORMAL, "ok");
	draw_text(&whole, 1, 0, STYLE_SURVIVOR, "X");
	draw_text(&whole, 1, 2, STYLE_DIM, "no");
	draw_select(&whole, 1);
	draw_restyle(&whole, 0, 3, 1, STYLE_KEY);
	assert_styled("X ok\nv  k\nX no\nV_GG________\n\n\n");
	/* What is drawn over it is not selected. */
	draw_text(&whole, 1, 0, STYLE_NORMAL, "box");
	assert_styled("X ok\nv  k\nboxo\n   G________\n\n\n");
}

static void the_cursor_is_clipped_too(void **state)
{
	struct area part = draw_part(&whole, 1, 2, 1, 3);

	(void)state;
	assert_int_equal(grid.cursor_y, -1);
	draw_cursor(&part, 0, 3);
	assert_int_equal(grid.cursor_y, -1);
	draw_cursor(&part, 0, 2);
	assert_int_equal(grid.cursor_y, 1);
	assert_int_equal(grid.cursor_x, 4);
}

/* Any text at any place leaves a grid whose halves belong together. */
static void no_text_breaks_the_grid(void **state)
{
	static const char *const texts[] = {"世",   "a",         "é", "한국",
					    "x界y", "e\xcc\x81", "─", "\xff"};

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct area part =
			draw_part(&whole, rand() % 5 - 1, rand() % 16 - 2, rand() % 4, rand() % 14);

		draw_text(&part, rand() % 3, rand() % 14 - 3, STYLE_NORMAL, texts[rand() % 8]);
		for (int y = 0; y < grid.rows; y++) {
			for (int x = 0; x < grid.cols; x++) {
				const struct cell *c = grid_at(&grid, y, x);
				const struct cell *right = grid_at(&grid, y, x + 1);

				if (c->width == 2)
					assert_true(right && right->width == 0);
				else
					assert_true(!right || right->width != 0);
			}
		}
	}
}

static void a_grid_has_at_least_one_cell(void **state)
{
	(void)state;
	assert_int_equal(grid_resize(&grid, 0, -3, NULL), 0);
	assert_text("\n");
	assert_null(grid_at(&grid, 0, 1));
	assert_null(grid_at(&grid, -1, 0));
}

#define WITH_GRID(test) cmocka_unit_test_setup(test, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_GRID(text_is_clipped_at_every_border),
		WITH_GRID(a_part_never_reaches_beyond_its_area),
		WITH_GRID(a_wide_character_is_never_split),
		WITH_GRID(half_a_wide_character_becomes_blank_when_overwritten),
		WITH_GRID(marks_stay_with_their_character),
		WITH_GRID(what_must_not_reach_a_terminal_does_not),
		WITH_GRID(an_ascii_grid_gets_stand_ins),
		WITH_GRID(a_box_has_its_title_in_its_upper_side),
		WITH_GRID(text_that_does_not_fit_ends_in_an_ellipsis),
		WITH_GRID(right_aligned_text_ends_at_its_column),
		WITH_GRID(roles_and_the_cursor_row_show_as_letters),
		WITH_GRID(the_cursor_is_clipped_too),
		WITH_GRID(no_text_breaks_the_grid),
		WITH_GRID(a_grid_has_at_least_one_cell),
	};

	return cmocka_run_group_tests(tests, NULL, done);
}
