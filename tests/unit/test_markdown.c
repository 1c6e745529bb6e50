#include "record/markdown.h"

#include "tests/unit/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static char *escape(const char *s, size_t len, size_t max)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(markdown_text(out, s, len, max), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void what_would_mean_something_is_escaped(void **state)
{
	static const struct {
		const char *text, *markdown;
	} cases[] = {
		{"sh -c ./deploy.sh --env prod", "sh -c ./deploy.sh --env prod"},
		{"python3 -c print(1)", "python3 -c print(1)"},
		{"# heading", "\\# heading"},
		{"a\n# heading", "a\\\\n# heading"},
		{"- item", "\\- item"},
		{"+ item", "\\+ item"},
		{"198.51.100.9:443", "198.51.100.9:443"},
		{"===", "\\==="},
		{"> quote", "&gt; quote"},
		{"2>&1 </dev/null", "2&gt;&amp;1 &lt;/dev/null"},
		{"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
		{"&lt;b&gt;", "&amp;lt;b&amp;gt;"},
		{"[click](http://evil)", "\\[click\\]\\(http\\://evil)"},
		{"![img](//evil)", "!\\[img\\]\\(//evil)"},
		{"[id]: /url", "\\[id\\]: /url"},
		{"http://evil www.evil.example", "http\\://evil www\\.evil.example"},
		{"`rm -rf`", "\\`rm -rf\\`"},
		{"**bold** __bold__ *x*", "\\*\\*bold\\*\\* \\_\\_bold\\_\\_ \\*x\\*"},
		{"snake_case_name", "snake_case_name"},
		{"_x_", "\\_x\\_"},
		{"~~gone~~", "\\~\\~gone\\~\\~"},
		{"a | b", "a \\| b"},
		{"$x$", "\\$x\\$"},
		{"\\", "\\\\"},
		{"\x1b[31m", "\\\\x1b\\[31m"},
		{"\xff", "\\\\xff"},
		{"\xe2\x80\xae"
		 "gnp.exe",
		 "\\\\u202egnp.exe"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = escape(cases[i].text, strlen(cases[i].text), 0);

		assert_string_equal(text, cases[i].markdown);
		free(text);
	}
}

static void a_long_text_is_cut_between_characters(void **state)
{
	char *text = escape("ab\xc3\xa9"
			    "cd",
			    6, 3);

	(void)state;
	assert_string_equal(text, "ab…");
	free(text);
	text = escape("ab\xc3\xa9"
		      "cd",
		      6, 4);
	assert_string_equal(text, "ab\xc3\xa9…");
	free(text);
	text = escape("abcd", 4, 4);
	assert_string_equal(text, "abcd");
	free(text);
}

static void what_is_not_known_is_said(void **state)
{
	struct bytes b = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(markdown_bytes(out, &b, 0), 0);
	tables_set(&b, "*");
	assert_int_equal(markdown_bytes(out, &b, 0), 0);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "not known\\*");
	free(text);
	bytes_free(&b);
}

/* Whatever the bytes: one line, printable, and nothing bare that could begin something. */
static void any_bytes_stay_text(void **state)
{
	static const char bytes[] = "\\`*[]|~$<>&#-+=_:/.w1)(!\n\t\x1b\xff\xe2\x80\xae ab";
	unsigned seed = 3;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		char raw[12], *text;

		for (size_t i = 0; i < sizeof(raw); i++)
			raw[i] = bytes[tables_random(&seed, sizeof(bytes) - 1)];
		text = escape(raw, sizeof(raw), 0);
		for (const char *s = text; *s; s++) {
			assert_true((unsigned char)*s >= 0x20 && *s != 0x7f);
			assert_null(strchr("`*[]|~$<>", *s));
			assert_int_not_equal(strncmp(s, "://", 3), 0);
			if (*s == '\\') {
				assert_true(s[1] != '\0');
				s++;
			}
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_would_mean_something_is_escaped),
		cmocka_unit_test(a_long_text_is_cut_between_characters),
		cmocka_unit_test(what_is_not_known_is_said),
		cmocka_unit_test(any_bytes_stay_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
