#include "base/json_write.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define S(s) (s), sizeof(s) - 1

struct sink {
	char *text;
	size_t len;
	FILE *file;
	struct jw *j;
};

static struct jw *sink_open(struct sink *s, bool pretty)
{
	s->file = open_memstream(&s->text, &s->len);
	assert_non_null(s->file);
	s->j = jw_open(s->file, pretty);
	assert_non_null(s->j);
	return s->j;
}

/* Ends the value; the text stays in s->text. */
static void sink_close(struct sink *s)
{
	assert_int_equal(jw_close(s->j), 0);
	assert_int_equal(fclose(s->file), 0);
}

static void write_sample(struct jw *j)
{
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.test/1");
	jw_null(j, "nothing");
	jw_bool(j, "yes", true);
	jw_bool(j, "no", false);
	jw_object(j, "empty");
	jw_object_end(j);
	jw_array(j, "list");
	jw_int(j, NULL, -1);
	jw_array(j, NULL);
	jw_array_end(j);
	jw_object(j, NULL);
	jw_str(j, "a", NULL);
	jw_object_end(j);
	jw_array_end(j);
	jw_strf(j, "made", "%s:%d", "host", 22);
	jw_object_end(j);
}

static void a_compact_value_is_one_line(void **state)
{
	struct sink s;

	(void)state;
	write_sample(sink_open(&s, false));
	sink_close(&s);
	assert_string_equal(s.text, "{\"schema\":\"stray.test/1\",\"nothing\":null,\"yes\":true,"
				    "\"no\":false,\"empty\":{},\"list\":[-1,[],{\"a\":null}],"
				    "\"made\":\"host:22\"}\n");
	free(s.text);
}

static void a_pretty_value_has_a_line_for_each_member(void **state)
{
	struct sink s;

	(void)state;
	write_sample(sink_open(&s, true));
	sink_close(&s);
	assert_string_equal(s.text, "{\n"
				    "  \"schema\": \"stray.test/1\",\n"
				    "  \"nothing\": null,\n"
				    "  \"yes\": true,\n"
				    "  \"no\": false,\n"
				    "  \"empty\": {},\n"
				    "  \"list\": [\n"
				    "    -1,\n"
				    "    [],\n"
				    "    {\n"
				    "      \"a\": null\n"
				    "    }\n"
				    "  ],\n"
				    "  \"made\": \"host:22\"\n"
				    "}\n");
	free(s.text);
}

static void numbers_above_53_bits_are_strings(void **state)
{
	static const struct {
		uint64_t v;
		const char *text;
	} cases[] = {
		{0, "0"},
		{10, "10"},
		{UINT64_C(1) << 53, "9007199254740992"},
		{(UINT64_C(1) << 53) + 1, "\"9007199254740993\""},
		{UINT64_MAX, "\"18446744073709551615\""},
	};
	struct sink s;

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		jw_uint(sink_open(&s, false), NULL, cases[i].v);
		sink_close(&s);
		s.text[s.len - 1] = '\0';
		assert_string_equal(s.text, cases[i].text);
		free(s.text);
	}
	sink_open(&s, false);
	jw_array(s.j, NULL);
	jw_uint_string(s.j, NULL, 7);
	jw_int(s.j, NULL, INT64_MIN);
	jw_int(s.j, NULL, INT64_MAX);
	jw_array_end(s.j);
	sink_close(&s);
	assert_string_equal(s.text, "[\"7\",-9223372036854775808,9223372036854775807]\n");
	free(s.text);
}

static void text_is_escaped_so_that_a_file_is_safe_to_cat(void **state)
{
	static const struct {
		const char *s;
		size_t len;
		const char *json;
	} cases[] = {
		{S(""), ""},
		{S("plain / text"), "plain / text"},
		{S("\"\\"), "\\\"\\\\"},
		{S("\b\f\n\r\t"), "\\b\\f\\n\\r\\t"},
		{S("\0\x1f\x1b"), "\\u0000\\u001f\\u001b"},
		{S("\x7f"), "\\u007f"},
		{S("\xc2\x9b"), "\\u009b"},
		{S("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029"},
		{S("a\xe2\x80\xae"
		   "b"),
		 "a\\u202eb"},
		{S("\xe2\x81\xa9\xd8\x9c"), "\\u2069\\u061c"},
		{S("\xef\xbb\xbf"), "\\ufeff"},
		{S("\xf3\xa0\x81\x81"), "\\udb40\\udc41"}, /* a tag character */
		{S("caf\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80"),
		 "caf\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80"},
		{S("e\xcc\x81"), "e\xcc\x81"},
		{S("a\xff"
		   "b"),
		 "a\xef\xbf\xbd"
		 "b"},
		{S("\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd"},
		{S("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{S("\xf4\x90\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{S("cut \xf0\x9f\x98"), "cut \xef\xbf\xbd"},
		{S("\xe4\xb8"
		   "x"),
		 "\xef\xbf\xbdx"},
	};
	struct sink s;

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		char want[100];

		jw_strn(sink_open(&s, false), NULL, cases[i].s, cases[i].len);
		sink_close(&s);
		snprintf(want, sizeof(want), "\"%s\"\n", cases[i].json);
		assert_string_equal(s.text, want);
		free(s.text);
	}
}

/* Python's base64.b64encode is the judge of these. */
static void exact_bytes_stand_beside_invalid_text_only(void **state)
{
	static const struct {
		const char *s;
		size_t len;
		const char *b64; /* NULL: none */
	} cases[] = {
		{S("fine \xe4\xb8\x96\n"), NULL},
		{S("with\0NUL"), NULL},
		{S(""), NULL},
		{S("\xff"), "/w=="},
		{S("\xff\xfe"), "//4="},
		{S("a\xff"
		   "b"),
		 "Yf9i"},
		{S("\xc0\x80"), "wIA="},
		{S("\xed\xa0\x80"), "7aCA"},
		{S("\xf4\x90\x80\x80"), "9JCAgA=="},
		{S("\xe4\xb8"), "5Lg="},
		{S("\0\xff\0"), "AP8A"},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct bytes b = {(char *)cases[i].s, cases[i].len};
		struct sink s;
		json_t *o;

		sink_open(&s, false);
		jw_object(s.j, NULL);
		jw_bytes(s.j, "comm", &b);
		jw_base64(s.j, "always", b.data, b.len);
		jw_object_end(s.j);
		sink_close(&s);
		o = json_loadb(s.text, s.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
		assert_non_null(o);
		if (cases[i].b64) {
			assert_int_equal(json_object_size(o), 3);
			assert_string_equal(json_string_value(json_object_get(o, "comm_b64")),
					    cases[i].b64);
			assert_string_equal(json_string_value(json_object_get(o, "always")),
					    cases[i].b64);
		} else {
			const json_t *comm = json_object_get(o, "comm");

			assert_int_equal(json_object_size(o), 2);
			assert_int_equal(json_string_length(comm), b.len);
			assert_memory_equal(json_string_value(comm), b.data, b.len);
		}
		json_decref(o);
		free(s.text);
	}
}

static void unknown_bytes_are_null(void **state)
{
	struct bytes unknown = {NULL, 0};
	struct sink s;

	(void)state;
	sink_open(&s, false);
	jw_object(s.j, NULL);
	jw_bytes(s.j, "exe", &unknown);
	jw_object_end(s.j);
	sink_close(&s);
	assert_string_equal(s.text, "{\"exe\":null}\n");
	free(s.text);
}

/* Each single byte, pair of odd bytes and character: strict readers take it,
 * and get back what is valid unchanged. */
static void a_strict_reader_takes_whatever_a_process_is_called(void **state)
{
	static const unsigned char odd[] = {0,    0x1b, '"',  '\\', 'a',  0x7f, 0x80, 0xbf, 0xc0,
					    0xc2, 0xe0, 0xe4, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
	char text[3];

	(void)state;
	for (size_t i = 0; i < N(odd) * N(odd) * N(odd); i++) {
		struct sink s;
		json_t *v;

		text[0] = (char)odd[i % N(odd)];
		text[1] = (char)odd[i / N(odd) % N(odd)];
		text[2] = (char)odd[i / N(odd) / N(odd)];
		jw_strn(sink_open(&s, false), NULL, text, sizeof(text));
		sink_close(&s);
		v = json_loadb(s.text, s.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(v);
		if (!memmem(s.text, s.len, "\xef\xbf\xbd", 3)) {
			assert_int_equal(json_string_length(v), sizeof(text));
			assert_memory_equal(json_string_value(v), text, sizeof(text));
		}
		json_decref(v);
		free(s.text);
	}
}

/* Whatever lies on the edge of a buffer. */
static void texts_of_all_lengths_come_out_whole(void **state)
{
	static char text[10000];
	struct sink s;
	json_t *v;

	(void)state;
	memset(text, 'x', sizeof(text));
	jw_array(sink_open(&s, false), NULL);
	for (size_t len = 0; len < sizeof(text); len += 61)
		jw_strn(s.j, NULL, text, len);
	jw_array_end(s.j);
	sink_close(&s);
	v = json_loadb(s.text, s.len, 0, NULL);
	assert_non_null(v);
	for (size_t i = 0; i * 61 < sizeof(text); i++)
		assert_int_equal(json_string_length(json_array_get(v, i)), i * 61);
	json_decref(v);
	free(s.text);
}

static void a_full_disk_is_told_at_the_end(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct jw *j;

	(void)state;
	assert_non_null(full);
	j = jw_open(full, false);
	jw_array(j, NULL);
	for (int i = 0; i < 100000; i++)
		jw_int(j, NULL, i);
	jw_array_end(j);
	assert_int_equal(jw_close(j), -ENOSPC);
	fclose(full);
}

static void a_formatted_text_too_long_is_an_error(void **state)
{
	struct sink s;

	(void)state;
	jw_strf(sink_open(&s, false), NULL, "%*d", JW_STRF_MAX - 1, 7);
	sink_close(&s);
	assert_int_equal(s.len, JW_STRF_MAX - 1 + 3);
	free(s.text);
	jw_strf(sink_open(&s, false), NULL, "%*d", JW_STRF_MAX, 7);
	assert_int_equal(jw_close(s.j), -EOVERFLOW);
	fclose(s.file);
	free(s.text);
}

static void giving_up_midway_frees_all(void **state)
{
	struct sink s;

	(void)state;
	jw_object(sink_open(&s, false), NULL);
	jw_discard(s.j);
	jw_discard(NULL);
	fclose(s.file);
	free(s.text);
}

static void key_in_an_array(struct jw *j)
{
	jw_array(j, NULL);
	jw_int(j, "key", 1);
}

static void no_key_in_an_object(struct jw *j)
{
	jw_object(j, NULL);
	jw_int(j, NULL, 1);
}

static void two_values_at_the_top(struct jw *j)
{
	jw_int(j, NULL, 1);
	jw_int(j, NULL, 2);
}

static void array_ended_as_object(struct jw *j)
{
	jw_array(j, NULL);
	jw_object_end(j);
}

static void end_at_the_top(struct jw *j)
{
	jw_array_end(j);
}

static void object_left_open(struct jw *j)
{
	jw_object(j, NULL);
	jw_close(j);
}

static void no_value_at_all(struct jw *j)
{
	jw_close(j);
}

static void nested_too_deep(struct jw *j)
{
	for (int i = 0; i <= JW_DEPTH_MAX; i++)
		jw_array(j, NULL);
}

static void wrong_nesting_stops_at_an_assert(void **state)
{
	static void (*const wrong[])(struct jw *) = {
		key_in_an_array, no_key_in_an_object, two_values_at_the_top, array_ended_as_object,
		end_at_the_top,  object_left_open,    no_value_at_all,       nested_too_deep,
	};

	(void)state;
	for (size_t i = 0; i < N(wrong); i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0) {
			static const struct rlimit none;
			FILE *null = freopen("/dev/null", "w", stderr);

			setrlimit(RLIMIT_CORE, &none);
			signal(SIGABRT, SIG_DFL);
			alarm(10);
			wrong[i](jw_open(null, false));
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

static void the_deepest_nesting_is_taken(void **state)
{
	struct sink s;

	(void)state;
	sink_open(&s, true);
	for (int i = 0; i < JW_DEPTH_MAX; i++)
		jw_array(s.j, NULL);
	for (int i = 0; i < JW_DEPTH_MAX; i++)
		jw_array_end(s.j);
	sink_close(&s);
	json_decref(json_loadb(s.text, s.len, 0, NULL));
	assert_non_null(strstr(s.text, "\n                                        ["));
	free(s.text);
}

static void a_raw_value_stays_as_it_is_but_for_what_harms_a_terminal(void **state)
{
	static const char raw[] =
		"{\"a\":\"x\\\"\\u202e \xe2\x9c\x93 \xe2\x80\xae\x7f\xc2\x9b\",\n\t\"b\":1.50}";
	struct sink s;

	(void)state;
	sink_open(&s, false);
	jw_object(s.j, NULL);
	jw_raw(s.j, "v", S(raw));
	jw_raw(s.j, "w", S("[1]"));
	jw_object_end(s.j);
	sink_close(&s);
	assert_string_equal(s.text,
			    "{\"v\":{\"a\":\"x\\\"\\u202e \xe2\x9c\x93 \\u202e\\u007f\\u009b\","
			    "\n\t\"b\":1.50},\"w\":[1]}\n");
	free(s.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_raw_value_stays_as_it_is_but_for_what_harms_a_terminal),
		cmocka_unit_test(a_compact_value_is_one_line),
		cmocka_unit_test(a_pretty_value_has_a_line_for_each_member),
		cmocka_unit_test(numbers_above_53_bits_are_strings),
		cmocka_unit_test(text_is_escaped_so_that_a_file_is_safe_to_cat),
		cmocka_unit_test(exact_bytes_stand_beside_invalid_text_only),
		cmocka_unit_test(unknown_bytes_are_null),
		cmocka_unit_test(a_strict_reader_takes_whatever_a_process_is_called),
		cmocka_unit_test(texts_of_all_lengths_come_out_whole),
		cmocka_unit_test(a_full_disk_is_told_at_the_end),
		cmocka_unit_test(a_formatted_text_too_long_is_an_error),
		cmocka_unit_test(giving_up_midway_frees_all),
		cmocka_unit_test(wrong_nesting_stops_at_an_assert),
		cmocka_unit_test(the_deepest_nesting_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
