#include "base/text.h"

#include <gnu/libc-version.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define S(s) (s), sizeof(s) - 1

static void decoding_takes_strict_utf8_only(void **state)
{
	static const struct {
		const char *s;
		size_t len;
		int n;
		uint32_t cp;
		size_t invalid;
	} cases[] = {
		{S("a"), 1, 'a', 0},
		{S("\0"), 1, 0, 0},
		{S("\xc3\xa9"), 2, 0xe9, 0},
		{S("\xe4\xb8\x96"), 3, 0x4e16, 0},
		{S("\xf0\x9f\x98\x80"), 4, 0x1f600, 0},
		{S("\xf4\x8f\xbf\xbf"), 4, 0x10ffff, 0},
		{S("\xed\x9f\xbf"), 3, 0xd7ff, 0},
		{S("\xff"), 0, 0, 1},
		{S("\x80"), 0, 0, 1},
		{S("\xc0\x80"), 0, 0, 1}, /* overlong */
		{S("\xc1\xbf"), 0, 0, 1},
		{S("\xe0\x9f\xbf"), 0, 0, 1},
		{S("\xf0\x8f\xbf\xbf"), 0, 0, 1},
		{S("\xed\xa0\x80"), 0, 0, 1},     /* surrogate */
		{S("\xf4\x90\x80\x80"), 0, 0, 1}, /* U+110000 */
		{S("\xf5\x80\x80\x80"), 0, 0, 1},
		{S("\xe4\xb8"), 0, 0, 2}, /* cut */
		{S("\xf0\x9f\x98"), 0, 0, 3},
		{S("\xf0\x9f\x98z"), 0, 0, 3},
		{S("\xe4z"), 0, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		uint32_t cp = 0;

		assert_int_equal(text_decode(cases[i].s, cases[i].len, &cp), cases[i].n);
		assert_int_equal(cp, cases[i].cp);
		assert_int_equal(text_utf8_valid(cases[i].s, cases[i].len), cases[i].n != 0);
		if (!cases[i].n)
			assert_int_equal(text_invalid_len(cases[i].s, cases[i].len),
					 cases[i].invalid);
	}
}

static void every_character_survives_encoding(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		bool surrogate = cp >= 0xd800 && cp <= 0xdfff;
		char buf[4];
		uint32_t back = 0;
		int n = text_encode(cp, buf);

		assert_int_equal(text_decode(buf, (size_t)n, &back), surrogate ? 0 : n);
		assert_int_equal(back, surrogate ? 0 : cp);
	}
}

static void validity_is_found_past_long_plain_runs(void **state)
{
	char buf[100];

	(void)state;
	memset(buf, 'x', sizeof(buf));
	for (size_t i = 0; i < sizeof(buf); i++) {
		buf[i] = '\xff';
		assert_false(text_utf8_valid(buf, sizeof(buf)));
		assert_true(text_utf8_valid(buf, i));
		buf[i] = 'x';
	}
	assert_true(text_utf8_valid(buf, sizeof(buf)));
}

static void widths_are_cells(void **state)
{
	static const struct {
		uint32_t cp;
		int width;
	} cases[] = {
		{'a', 1},      {' ', 1},      {0xe9, 1},      {0x2026, 1}, /* ambiguous is narrow */
		{0x2500, 1},   {0x0301, 0},                                /* combining acute */
		{0x20dd, 0},                                               /* enclosing circle */
		{0x1161, 0},                                               /* Hangul vowel */
		{0x0903, 1},                                               /* spacing mark */
		{0x4e16, 2},   {0xac00, 2},   {0xff21, 2},                 /* fullwidth A */
		{0x231a, 2},                 /* watch: emoji by default */
		{0x2714, 1},                 /* check mark: text by default */
		{0x1f600, 2},  {0x1f1e9, 1}, /* regional indicator */
		{0x20000, 2},  {0, -1},       {0x1b, -1},     {0x7f, -1},     {0x9b, -1},
		{0xa0, -1},    {0xad, -1},    {0x061c, -1},   {0x200b, -1},   {0x200d, -1},
		{0x200e, -1},  {0x2028, -1},  {0x202e, -1},   {0x2066, -1},   {0x2800, -1},
		{0x3000, -1},  {0x3164, -1},  {0xd800, -1},   {0xe000, -1},   {0xfe0f, -1},
		{0xfeff, -1},  {0xffff, -1},  {0x1f3fb, -1},  {0x1fae8, -1}, /* Unicode 15 */
		{0xe0001, -1}, {0xe0041, -1}, {0x10ffff, -1}, {0x110000, -1}, {UINT32_MAX, -1},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		if (text_width_cp(cases[i].cp) != cases[i].width)
			fail_msg("U+%04X: %d", cases[i].cp, text_width_cp(cases[i].cp));
}

/* ncurses and tmux place the cursor by wcwidth(3): another opinion about one
 * shown character would break each column behind it. */
static void widths_agree_with_the_c_library(void **state)
{
	(void)state;
	if (strcmp(gnu_get_libc_version(), "2.36") != 0)
		skip_for("not glibc 2.36: other versions know other characters");
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip_for("no locale C.UTF-8");
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++)
		if (text_width_cp(cp) >= 0 && text_width_cp(cp) != wcwidth((wchar_t)cp))
			fail_msg("U+%04X: %d, not %d", cp, text_width_cp(cp), wcwidth((wchar_t)cp));
	setlocale(LC_CTYPE, "C");
}

struct safe_case {
	const char *s;
	size_t len;
	const char *utf8, *ascii; /* NULL: the same */
};

static const struct safe_case safe_cases[] = {
	{S(""), "", NULL},
	{S("plain text, 100% fine ~"), "plain text, 100% fine ~", NULL},
	{S("a\\b"), "a\\b", NULL},
	{S("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m", NULL},
	{S("a\nb\rc\td"), "a\\nb\\rc\\td", NULL},
	{S("a\0b\x7f"), "a\\x00b\\x7f", NULL},
	{S("\xc2\x9b"
	   "31m"),
	 "\\x9b31m", NULL},
	{S("\x9b"
	   "31m"),
	 "\\x9b31m", NULL},
	{S("caf\xc3\xa9"), "caf\xc3\xa9", "caf\\u00e9"},
	{S("\xe4\xb8\x96\xe7\x95\x8c"), "\xe4\xb8\x96\xe7\x95\x8c", "\\u4e16\\u754c"},
	{S("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80", "\\U0001f600"},
	{S("cut \xe4\xb8"), "cut \\xe4\\xb8", NULL},
	{S("\xed\xa0\x80"), "\\xed\\xa0\\x80", NULL},
	{S("a\xe2\x80\xae"
	   "b"),
	 "a\\u202eb", NULL},
	{S("\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c"), "\\u2066\\u200f\\u061c", NULL},
	{S("\xef\xbb\xbfx"), "\\ufeffx", NULL},
	{S("\xf3\xa0\x80\x81"), "\\U000e0001", NULL},
	{S("rm\xc2\xa0-rf"), "rm\\u00a0-rf", NULL},
	{S("e\xcc\x81"), "e\xcc\x81", "e\\u0301"},
	{S("\xe4\xb8\x96\xcc\x81"), "\xe4\xb8\x96\xcc\x81", "\\u4e16\\u0301"},
	{S("\xcc\x81x"), "\\u0301x", NULL},
	{S("x \xcc\x81"), "x \\u0301", NULL},
	{S("\x1b\xcc\x81"), "\\x1b\\u0301", NULL},
	{S("z\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85q"),
	 "z\xcc\x81\xcc\x82\xcc\x83\\u0304\\u0305q", "z\\u0301\\u0302\\u0303\\u0304\\u0305q"},
	{S("12345678\x1b"
	   "12345678\xff"),
	 "12345678\\x1b12345678\\xff", NULL},
};

static void text_of_strangers_becomes_safe(void **state)
{
	char out[200];

	(void)state;
	for (size_t i = 0; i < N(safe_cases); i++) {
		const struct safe_case *c = &safe_cases[i];
		const char *ascii = c->ascii ? c->ascii : c->utf8;
		size_t n = text_safe(out, sizeof(out), c->s, c->len, false);

		assert_string_equal(out, c->utf8);
		assert_int_equal(n, strlen(out));
		assert_int_equal(text_safe_len(c->s, c->len, false), n);
		n = text_safe(out, sizeof(out), c->s, c->len, true);
		assert_string_equal(out, ascii);
		assert_int_equal(n, strlen(out));
		assert_int_equal(text_safe_len(c->s, c->len, true), n);
	}
}

/* Whatever stands at whatever place of a word: the fast path misses nothing. */
static void no_single_byte_slips_through(void **state)
{
	(void)state;
	for (size_t at = 0; at < 20; at++) {
		for (int b = 0; b < 256; b++) {
			bool plain = b >= 0x20 && b < 0x7f;
			char in[20], out[40];

			memset(in, 'x', sizeof(in));
			in[at] = (char)b;
			text_safe(out, sizeof(out), in, sizeof(in), false);
			assert_int_equal(out[at], plain ? b : '\\');
			assert_int_equal(strspn(out + at + 1, "nrtx0123456789abcdef"),
					 strlen(out + at + 1));
		}
	}
}

static void what_does_not_fit_is_left_off_whole(void **state)
{
	static const char in[] = "ab\x1b\xe4\xb8\x96z";
	static const char *const by_size[] = {
		"",
		"",
		"a",
		"ab",
		"ab",
		"ab",
		"ab",
		"ab\\x1b",
		"ab\\x1b",
		"ab\\x1b",
		"ab\\x1b\xe4\xb8\x96",
		"ab\\x1b\xe4\xb8\x96z",
	};
	char out[16];

	(void)state;
	for (size_t size = 1; size < N(by_size); size++) {
		memset(out, '#', sizeof(out));
		assert_int_equal(text_safe(out, size, in, sizeof(in) - 1, false),
				 strlen(by_size[size]));
		assert_string_equal(out, by_size[size]);
		assert_int_equal(out[size], '#');
	}
}

static void cells_are_counted(void **state)
{
	static const struct {
		const char *s;
		int cells;
	} cases[] = {
		{"", 0},
		{"plain", 5},
		{"caf\xc3\xa9", 4},
		{"cafe\xcc\x81", 4},
		{"\xe4\xb8\x96\xe7\x95\x8c.", 5},
		{"a long line of plain text \xf0\x9f\x98\x80 and on", 35},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		assert_int_equal(text_cells(cases[i].s), cases[i].cells);
}

#define W "\xe4\xb8\x96" /* a wide character */
#define E "\xe2\x80\xa6"

struct cut_case {
	const char *s;
	int cells;
	bool ascii;
	const char *end, *middle;
};

static const struct cut_case cut_cases[] = {
	{"", 0, false, "", ""},
	{"", 5, false, "", ""},
	{"abc", 3, false, "abc", "abc"},
	{"abc", 0, false, "", ""},
	{"abc", -1, false, "", ""},
	{"abcdef", 1, false, E, E},
	{"abcdef", 2, false, "a" E, E "f"},
	{"abcdef", 3, false, "ab" E, "a" E "f"},
	{"abcdef", 4, false, "abc" E, "a" E "ef"},
	{"abcdef", 5, true, "abcd.", "ab.ef"},
	{W W W, 6, false, W W W, W W W},
	{W W W, 5, false, W W E, W E W},
	{W W W, 4, false, W " " E, " " E W},
	{W W W, 3, false, W E, " " E " "},
	{W W W, 2, false, " " E, E " "},
	{W W W, 1, false, E, E},
	{"a" W "b", 3, false, "a " E, "a" E "b"},
	{"ae\xcc\x81zzz", 3, false, "ae\xcc\x81" E, "a" E "z"},
	{"aaaae\xcc\x81z", 4, false, "aaa" E, "a" E "e\xcc\x81z"},
	{"aaae\xcc\x81z", 3, false, "aa" E, "a" E "z"},
	{W "\xcc\x81"
	   "zzz",
	 4, false,
	 W "\xcc\x81"
	   "z" E,
	 " " E "zz"},
	{"zz" W "\xcc\x81"
	 "z",
	 4, false, "zz " E, "z" E " z"},
	{"python3 /srv/app/manage.py", 14, false, "python3 /srv/" E, "python" E "nage.py"},
};

static void long_text_is_cut_to_its_cells(void **state)
{
	char buf[64];

	(void)state;
	for (size_t i = 0; i < N(cut_cases); i++) {
		const struct cut_case *c = &cut_cases[i];

		strcpy(buf, c->s);
		text_cut(buf, sizeof(buf), c->cells, c->ascii);
		assert_string_equal(buf, c->end);
		strcpy(buf, c->s);
		text_cut_middle(buf, sizeof(buf), c->cells, c->ascii);
		assert_string_equal(buf, c->middle);
	}
}

static void cutting_stays_in_a_full_buffer(void **state)
{
	static const char *const texts[] = {
		"ab", "abcd", W W, "a" W, W "a", "ab" W "cd", "\xc3\xa9\xc3\xa9\xc3\xa9", W W W W};

	(void)state;
	for (size_t i = 0; i < N(texts); i++) {
		size_t size = strlen(texts[i]) + 1;

		for (int cells = 0; cells < text_cells(texts[i]); cells++) {
			char *buf = strdup(texts[i]); /* a sanitizer guards its end */

			text_cut(buf, size, cells, false);
			assert_int_equal(text_cells(buf), cells);
			strcpy(buf, texts[i]);
			text_cut_middle(buf, size, cells, false);
			assert_int_equal(text_cells(buf), cells);
			free(buf);
		}
	}
}

/* Noise of all kinds: what comes out is safe, as long as said, and cuts to
 * exactly the cells asked for. */
static void noise_stays_within_its_cells(void **state)
{
	static const char *const pieces[] = {"a",        " ",  "\x1b",         "\xff",
					     "\xcc\x81", W,    "\xe2\x80\xae", "\xf0\x9f\x98\x80",
					     "\xe4\xb8", "\\", "longer plain"};
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		char in[200], out[1200], cut[1200];
		size_t len = 0;
		int cells;

		for (int k = 0; k < 12; k++) {
			const char *p;

			seed = seed * 1664525 + 1013904223;
			p = pieces[(seed >> 16) % N(pieces)];
			memcpy(in + len, p, strlen(p));
			len += strlen(p);
		}
		assert_int_equal(text_safe(out, sizeof(out), in, len, false),
				 text_safe_len(in, len, false));
		assert_true(text_utf8_valid(out, strlen(out)));
		cells = text_cells(out);
		for (int want = 0; want <= cells + 1; want++) {
			strcpy(cut, out);
			text_cut(cut, sizeof(cut), want, false);
			assert_int_equal(text_cells(cut), want < cells ? want : cells);
			strcpy(cut, out);
			text_cut_middle(cut, sizeof(cut), want, false);
			assert_int_equal(text_cells(cut), want < cells ? want : cells);
			assert_true(text_utf8_valid(cut, strlen(cut)));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoding_takes_strict_utf8_only),
		cmocka_unit_test(every_character_survives_encoding),
		cmocka_unit_test(validity_is_found_past_long_plain_runs),
		cmocka_unit_test(widths_are_cells),
		cmocka_unit_test(widths_agree_with_the_c_library),
		cmocka_unit_test(text_of_strangers_becomes_safe),
		cmocka_unit_test(no_single_byte_slips_through),
		cmocka_unit_test(what_does_not_fit_is_left_off_whole),
		cmocka_unit_test(cells_are_counted),
		cmocka_unit_test(long_text_is_cut_to_its_cells),
		cmocka_unit_test(cutting_stays_in_a_full_buffer),
		cmocka_unit_test(noise_stays_within_its_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
