#include "base/json_read.h"

#include "base/json_write.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define S(s) (s), sizeof(s) - 1

static const char sample[] =
	"{\"schema\":\"stray.snapshot/1\", \"n\" : -12.5e3,\r\n\t\"yes\":true,\"none\":null,"
	"\"o\":{\"a\":[1,{\"b\":\"}]\\\"\\\\\"}]},\"processes\":[ {\"pid\":1,\"comm\":\"a,]}\"} ,\n"
	"{\"pid\":2},3,\"x\\u00e9\\ud83d\\ude00\xe4\xb8\x96\",[],[[4]]],\"last\":[1,2]}\n";

/* What was handed over, one line each: key[index]=value. */
struct seen {
	char text[4096];
	size_t len;
	int stop_at; /* 0: never */
	int count;
};

static int note(void *ctx, const char *key, size_t index, const json_t *value, struct err *err)
{
	struct seen *seen = ctx;
	char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	assert_non_null(dump);
	seen->len += (size_t)snprintf(seen->text + seen->len, sizeof(seen->text) - seen->len,
				      "%s[%zu]=%.60s\n", key, index, dump);
	assert_true(seen->len < sizeof(seen->text));
	free(dump);
	seen->count++;
	if (seen->stop_at && seen->count == seen->stop_at)
		return err_set(err, ECANCELED, "enough");
	return 0;
}

static int read_text(const char *text, size_t len, struct seen *seen, struct err *err)
{
	FILE *in = len ? fmemopen((void *)text, len, "r") : fopen("/dev/null", "r");
	int r;

	assert_non_null(in);
	r = json_read_stream(in, "sample", "processes", note, seen, err);
	fclose(in);
	return r;
}

static void members_and_elements_come_one_by_one(void **state)
{
	struct seen seen = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(read_text(S(sample), &seen, &err), 0);
	assert_string_equal(seen.text, "schema[0]=\"stray.snapshot/1\"\n"
				       "n[0]=-12500.0\n"
				       "yes[0]=true\n"
				       "none[0]=null\n"
				       "o[0]={\"a\":[1,{\"b\":\"}]\\\"\\\\\"}]}\n"
				       "processes[0]={\"pid\":1,\"comm\":\"a,]}\"}\n"
				       "processes[1]={\"pid\":2}\n"
				       "processes[2]=3\n"
				       "processes[3]=\"x\xc3\xa9\xf0\x9f\x98\x80\xe4\xb8\x96\"\n"
				       "processes[4]=[]\n"
				       "processes[5]=[[4]]\n"
				       "last[0]=[1,2]\n");
	assert_int_equal(err.code, 0);
}

static void a_stream_key_that_is_no_array_comes_whole(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(read_text(S("{\"processes\":{\"a\":1}}"), &seen, NULL), 0);
	assert_string_equal(seen.text, "processes[0]={\"a\":1}\n");
	seen = (struct seen){0};
	assert_int_equal(read_text(S(" { \"processes\" : [ ] } "), &seen, NULL), 0);
	assert_string_equal(seen.text, "");
	assert_int_equal(read_text(S("{}"), &seen, NULL), 0);
	assert_string_equal(seen.text, "");
}

static void a_file_cut_at_any_byte_is_an_error(void **state)
{
	(void)state;
	/* Without its last newline it is whole. */
	for (size_t len = 0; len + 2 < sizeof(sample); len++) {
		struct seen seen = {0};
		struct err err = {0};

		assert_int_equal(read_text(sample, len, &seen, &err), -EINVAL);
		assert_int_equal(err.code, EINVAL);
		assert_memory_equal(err.text, "sample: byte ", 13);
	}
}

static void a_byte_changed_anywhere_never_crashes(void **state)
{
	static const char odd[] = {0, '"', '\\', '{', '}', '[', ']', ',', ':', '\xff', ' ', '0'};
	char text[sizeof(sample)];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(sample); i++) {
		for (size_t k = 0; k < N(odd); k++) {
			struct seen seen = {0};
			struct err err = {0};
			int r;

			memcpy(text, sample, sizeof(sample));
			text[i] = odd[k];
			r = read_text(text, sizeof(text) - 1, &seen, &err);
			assert_true(r == 0 || r == -EINVAL);
			assert_int_equal(r, -err.code);
			if (odd[k] == '\0' || odd[k] == '\xff')
				assert_int_equal(r, -EINVAL);
		}
	}
}

static void bad_files_are_refused_with_the_place(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *why;
	} cases[] = {
		{S(""), "sample: byte 0: ends too early"},
		{S("   "), "sample: byte 3: ends too early"},
		{S("[]"), "sample: byte 0: no JSON object"},
		{S("null"), "sample: byte 0: no JSON object"},
		{S("\xef\xbb\xbf{}"), "sample: byte 0: no JSON object"},
		{S("{} x"), "sample: byte 3: more behind the object"},
		{S("{}{}"), "sample: byte 2: more behind the object"},
		{S("{}\0"), "sample: byte 2: a NUL byte"},
		{S("{\"a\":\"\0\"}"), "sample: byte 6: a NUL byte"},
		{S("{\"a\":1,}"), "sample: byte 7: a name is missing"},
		{S("{,}"), "sample: byte 1: a name is missing"},
		{S("{a:1}"), "sample: byte 1: a name is missing"},
		{S("{'a':1}"), "sample: byte 1: a name is missing"},
		{S("{\"a\" 1}"), "sample: byte 5: no ':' behind a name"},
		{S("{\"a\":}"), "sample: byte 5: a value is missing"},
		{S("{\"a\":,}"), "sample: byte 5: a value is missing"},
		{S("{\"a\":1 2}"), "sample: byte 7: neither ',' nor '}' behind a member"},
		{S("{\"a\":1]"), "sample: byte 6: neither ',' nor '}' behind a member"},
		{S("{\"processes\":[1 2]}"),
		 "sample: byte 16: neither ',' nor ']' behind an element"},
		{S("{\"processes\":[1,]}"), "sample: byte 16: a value is missing"},
		{S("{\"processes\":[1}"), "sample: byte 15: neither ',' nor ']' behind an element"},
		{S("{\"a\":1,\"b\":2,\"a\":3}"), "sample: byte 13: the same name twice"},
		{S("{\"a\":1,\"\\u0061\":3}"), "sample: byte 7: the same name twice"},
		{S("{\"a\\u0000b\":1}"), "sample: byte 1: a NUL in a name"},
		{S("{\"o\":{\"a\":1,\"a\":2}}"), NULL},
		{S("{\"processes\":[{\"a\":1,\"a\":2}]}"), NULL},
		{S("{\"a\":[}]}"), NULL},
		{S("{\"a\":[1,]}"), NULL},
		{S("{\"a\":tru}"), NULL},
		{S("{\"a\":NaN}"), NULL},
		{S("{\"a\":01}"), NULL},
		{S("{\"a\":+1}"), NULL},
		{S("{\"a\":.5}"), NULL},
		{S("{\"a\":1.}"), NULL},
		{S("{\"a\":0x1}"), NULL},
		{S("{\"a\":18446744073709551616}"), NULL},
		{S("{\"a\":1e999}"), NULL},
		{S("{\"a\":\"\n\"}"), NULL},
		{S("{\"a\":\"\\x\"}"), NULL},
		{S("{\"a\":\"\\ud800\"}"), NULL},
		{S("{\"a\":\"\xff\"}"), NULL},
		{S("{\"a\":\"\xc0\x80\"}"), NULL},
		{S("{\"a\":\"\xed\xa0\x80\"}"), NULL},
		{S("{\"a\":\"\xf4\x90\x80\x80\"}"), NULL},
		{S("{\"\xff\":1}"), NULL},
		{S("{\"a\":1}\xc2\xa0"), NULL},
		{S("{\"a\":/**/1}"), NULL},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct seen seen = {0};
		struct err err = {0};

		if (read_text(cases[i].text, cases[i].len, &seen, &err) != -EINVAL)
			fail_msg("%s: %d %s", cases[i].text, err.code, err.text);
		if (cases[i].why)
			assert_string_equal(err.text, cases[i].why);
		assert_memory_equal(err.text, "sample: byte ", 13);
	}
}

static void an_error_deep_inside_names_its_byte(void **state)
{
	static const char text[] = "{\"processes\":[{\"pid\":1},{\"pid\":\"\xff\"}]}";
	struct seen seen = {0};
	struct err err = {0};
	size_t place;

	(void)state;
	assert_int_equal(read_text(S(text), &seen, &err), -EINVAL);
	assert_int_equal(sscanf(err.text, "sample: byte %zu: no valid UTF-8", &place), 1);
	assert_in_range(place, 24, sizeof(text) - 1);
	/* What stood before it has been handed over. */
	assert_string_equal(seen.text, "processes[0]={\"pid\":1}\n");
}

static void nesting_is_bounded(void **state)
{
	char text[4 * JSON_READ_DEPTH_MAX];

	(void)state;
	for (int depth = JSON_READ_DEPTH_MAX - 1; depth <= JSON_READ_DEPTH_MAX; depth++) {
		bool fits = depth < JSON_READ_DEPTH_MAX;
		struct seen seen = {0};
		size_t len = (size_t)sprintf(text, "{\"a\":");

		memset(text + len, '[', (size_t)depth);
		len += (size_t)depth;
		memset(text + len, ']', (size_t)depth);
		len += (size_t)depth;
		text[len++] = '}';
		assert_int_equal(read_text(text, len, &seen, NULL), fits ? 0 : -EINVAL);
	}
}

/* A file that repeats one piece for ever: memory stays bounded. */
struct endless {
	const char *head, *piece;
	size_t at;
};

static ssize_t endless_read(void *cookie, char *buf, size_t size)
{
	struct endless *e = cookie;
	size_t head = strlen(e->head), piece = strlen(e->piece);

	for (size_t i = 0; i < size; i++, e->at++)
		buf[i] = e->at < head ? e->head[e->at] : e->piece[(e->at - head) % piece];
	return (ssize_t)size;
}

static void endless_files_are_given_up(void **state)
{
	static const struct {
		const char *head, *piece;
		int r;
	} cases[] = {
		{"", "[", -EINVAL},
		{"{\"a\":", "[", -EINVAL},
		{"{\"a\":", "{\"a\":", -EINVAL},
		{"{\"a\":\"", "x", -EFBIG},
		{"{\"a\":[", "1,", -EFBIG},
		{"{\"a\":[", "[],", -EFBIG},
		{"{\"", "x", -EFBIG},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct endless e = {cases[i].head, cases[i].piece, 0};
		FILE *in = fopencookie(&e, "r", (cookie_io_functions_t){.read = endless_read});
		struct seen seen = {0};

		assert_non_null(in);
		assert_int_equal(json_read_stream(in, "x", "processes", note, &seen, NULL),
				 cases[i].r);
		assert_true(e.at < 2 * JSON_READ_ELEMENT_MAX);
		assert_int_equal(seen.count, 0);
		fclose(in);
	}
}

static int count_calls(void *ctx, const char *key, size_t index, const json_t *value,
		       struct err *err)
{
	(void)key;
	(void)index;
	(void)value;
	(void)err;
	++*(int *)ctx;
	return 0;
}

static void too_many_members_are_refused(void **state)
{
	(void)state;
	for (int n = JSON_READ_MEMBERS_MAX; n <= JSON_READ_MEMBERS_MAX + 1; n++) {
		char *text = malloc(16 * (size_t)n + 16);
		size_t len = 0;
		int calls = 0;
		FILE *in;

		for (int i = 0; i < n; i++)
			len += (size_t)sprintf(text + len, "%c\"%d\":[]", i ? ',' : '{', i);
		text[len++] = '}';
		in = fmemopen(text, len, "r");
		assert_int_equal(json_read_stream(in, "x", NULL, count_calls, &calls, NULL),
				 n > JSON_READ_MEMBERS_MAX ? -EFBIG : 0);
		assert_int_equal(calls, JSON_READ_MEMBERS_MAX);
		fclose(in);
		free(text);
	}
}

static int stop(void *ctx, const char *key, size_t index, const json_t *value, struct err *err)
{
	(void)key;
	(void)value;
	++*(int *)ctx;
	return index == 1 ? err_set(err, ECANCELED, "enough") : 0;
}

static void the_reader_stops_when_told(void **state)
{
	FILE *in = fmemopen((void *)sample, sizeof(sample) - 1, "r");
	struct err err = {0};
	int count = 0;

	(void)state;
	assert_int_equal(json_read_stream(in, "x", "processes", stop, &count, &err), -ECANCELED);
	assert_string_equal(err.text, "enough");
	assert_int_equal(count, 7);
	fclose(in);
}

static void a_file_that_cannot_be_read_says_so(void **state)
{
	FILE *in = fopen("/proc/self", "r");
	struct seen seen = {0};
	struct err err = {0};

	(void)state;
	assert_non_null(in);
	assert_int_equal(json_read_stream(in, "dir", NULL, note, &seen, &err), -EISDIR);
	assert_string_equal(err.text, "dir: Is a directory");
	fclose(in);
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2(); /* all 0 under a sanitizer */

	return info.uordblks + info.hblkhd;
}

static int measure(void *ctx, const char *key, size_t index, const json_t *value, struct err *err)
{
	size_t now = allocated(), *most = ctx;

	(void)key;
	(void)value;
	(void)err;
	if (index % 100 == 0 && now > *most)
		*most = now;
	return 0;
}

/* 30,000 processes are 15 MB of JSON and would be 100 MB as a document. */
static void large_files_take_little_memory(void **state)
{
	static const char line[] =
		"/usr/bin/python3 /srv/app/manage.py runserver --settings=app.settings --noreload";
	FILE *file = tmpfile();
	struct jw *j = jw_open(file, true);
	size_t before, most = 0;

	(void)state;
	jw_object(j, NULL);
	jw_array(j, "processes");
	for (int i = 0; i < 30000; i++) {
		jw_object(j, NULL);
		jw_int(j, "pid", i);
		for (char k = 'a'; k < 'g'; k++) {
			char key[] = {k, '\0'};

			jw_str(j, key, line);
		}
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_object_end(j);
	assert_int_equal(jw_close(j), 0);
	rewind(file);
	before = allocated();
	assert_int_equal(json_read_stream(file, "big", "processes", measure, &most, NULL), 0);
	assert_true(most < before + 256 * 1024);
	fclose(file);
}

static json_t *object(const char *text)
{
	json_t *o = json_loads(text, JSON_ALLOW_NUL, NULL);

	assert_non_null(o);
	return o;
}

static void integers_are_taken_within_their_range(void **state)
{
	json_t *o = object("{\"n\":7,\"big\":9223372036854775807,\"s\":\"7\",\"r\":7.0,"
			   "\"u\":\"18446744073709551615\",\"minus\":-1,\"null\":null,"
			   "\"over\":\"18446744073709551616\",\"no\":\"\",\"plus\":\"+1\"}");
	struct err err = {0};
	int64_t n = 42;
	uint64_t u = 42;
	bool known = false;

	(void)state;
	assert_int_equal(json_get_int(o, "n", 0, 7, &n, &known, &err), 0);
	assert_int_equal(n, 7);
	assert_true(known);
	assert_int_equal(json_get_int(o, "big", INT64_MIN, INT64_MAX, &n, NULL, &err), 0);
	assert_int_equal(n, INT64_MAX);
	assert_int_equal(json_get_int(o, "null", 0, 9, &n, &known, &err), 0);
	assert_false(known);
	assert_int_equal(json_get_int(o, "missing", 0, 9, &n, &known, &err), 0);
	assert_false(known);
	assert_int_equal(json_get_int(o, "n", 8, 9, &n, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "n: not from 8 to 9");
	assert_int_equal(json_get_int(o, "n", 0, 6, &n, NULL, NULL), -EINVAL);
	assert_int_equal(json_get_int(o, "s", 0, 9, &n, NULL, NULL), -EINVAL);
	assert_int_equal(json_get_int(o, "r", 0, 9, &n, NULL, NULL), -EINVAL);
	assert_int_equal(n, INT64_MAX);

	assert_int_equal(json_get_uint(o, "missing", &u, &known, NULL), 0);
	assert_int_equal(u, 42);
	assert_int_equal(json_get_uint(o, "n", &u, &known, NULL), 0);
	assert_true(known && u == 7);
	assert_int_equal(json_get_uint(o, "u", &u, NULL, NULL), 0);
	assert_true(u == UINT64_MAX);
	for (const char **key = (const char *[]){"minus", "r", "over", "no", "plus", NULL}; *key;
	     key++)
		assert_int_equal(json_get_uint(o, *key, &u, NULL, NULL), -EINVAL);
	assert_true(u == UINT64_MAX);
	json_decref(o);
}

static void booleans_and_texts_are_no_other_type(void **state)
{
	json_t *o = object("{\"t\":true,\"f\":false,\"s\":\"x\",\"null\":null,\"n\":1,"
			   "\"nul\":\"a\\u0000b\"}");
	const char *s = "before";
	bool v = false, known;

	(void)state;
	assert_int_equal(json_get_bool(o, "t", &v, &known, NULL), 0);
	assert_true(v && known);
	assert_int_equal(json_get_bool(o, "null", &v, &known, NULL), 0);
	assert_true(v && !known);
	assert_int_equal(json_get_bool(o, "f", &v, NULL, NULL), 0);
	assert_false(v);
	assert_int_equal(json_get_bool(o, "n", &v, NULL, NULL), -EINVAL);
	assert_int_equal(json_get_str(o, "null", &s, NULL), 0);
	assert_string_equal(s, "before");
	assert_int_equal(json_get_str(o, "s", &s, NULL), 0);
	assert_string_equal(s, "x");
	assert_int_equal(json_get_str(o, "n", &s, NULL), -EINVAL);
	assert_int_equal(json_get_str(o, "nul", &s, NULL), -EINVAL);
	json_decref(o);
}

static int take_bytes(void *ctx, const char *key, size_t index, const json_t *value,
		      struct err *err)
{
	(void)index;
	return strcmp(key, "o") == 0 ? json_get_bytes(value, "comm", ctx, err) : 0;
}

static void bytes_survive_writing_and_reading(void **state)
{
	static const struct {
		const char *s;
		size_t len;
	} cases[] = {
		{S("")},
		{S("plain")},
		{S("\xe4\xb8\x96")},
		{S("a\0b")},
		{S("\xff")},
		{S("\xc0\x80")},
		{S("\xed\xa0\x80")},
		{S("\xf4\x90\x80\x80")},
		{S("cut \xe4\xb8")},
		{S("\0\xff\0")},
		{S("\x1b[31m\xe2\x80\xae")},
		{S("1\xff"
		   "3")},
		{S("1\xff"
		   "34")},
		{S("1\xff"
		   "345")},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct bytes in = {(char *)cases[i].s, cases[i].len}, out = {0};
		FILE *file = tmpfile();
		struct jw *j = jw_open(file, i % 2);

		jw_object(j, NULL);
		jw_object(j, "o");
		jw_bytes(j, "comm", &in);
		jw_object_end(j);
		jw_object_end(j);
		assert_int_equal(jw_close(j), 0);
		rewind(file);
		assert_int_equal(json_read_stream(file, "x", NULL, take_bytes, &out, NULL), 0);
		assert_true(bytes_same(&in, &out));
		bytes_free(&out);
		fclose(file);
	}
}

static void bytes_stay_unknown_where_null(void **state)
{
	json_t *o = object("{\"exe\":null,\"odd\":null,\"odd_b64\":\"/w==\",\"n\":1,"
			   "\"bad\":\"x\",\"bad_b64\":\"/w=\",\"t\":\"x\",\"t_b64\":7}");
	struct bytes out = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(json_get_bytes(o, "exe", &out, &err), 0);
	assert_int_equal(json_get_bytes(o, "missing", &out, &err), 0);
	assert_false(bytes_known(&out));
	assert_int_equal(json_get_bytes(o, "odd", &out, &err), -EINVAL);
	assert_string_equal(err.text, "odd_b64: without odd");
	assert_int_equal(json_get_bytes(o, "n", &out, NULL), -EINVAL);
	assert_int_equal(json_get_bytes(o, "bad", &out, NULL), -EINVAL);
	assert_int_equal(json_get_bytes(o, "t", &out, NULL), -EINVAL);
	assert_false(bytes_known(&out));
	json_decref(o);
}

static void base64_has_one_writing(void **state)
{
	static const struct {
		const char *text, *bytes; /* NULL: refused */
	} cases[] = {
		{"", ""},           {"Zg==", "f"},        {"Zm8=", "fo"},
		{"Zm9v", "foo"},    {"Zm9vYg==", "foob"}, {"Zh==", NULL},
		{"Zm9=", NULL},     {"Zg", NULL},         {"Zg=", NULL},
		{"=", NULL},        {"====", NULL},       {"Z===", NULL},
		{"Zg==Zg==", NULL}, {"Z g=", NULL},       {"Zm-v", NULL},
		{"Zm9v\n", NULL},   {"Zm=v", NULL},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct bytes out = {0};
		int r = json_unbase64(cases[i].text, &out, NULL);

		assert_int_equal(r, cases[i].bytes ? 0 : -EINVAL);
		assert_int_equal(bytes_known(&out), cases[i].bytes != NULL);
		if (cases[i].bytes)
			assert_string_equal(out.data, cases[i].bytes);
		bytes_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_and_elements_come_one_by_one),
		cmocka_unit_test(a_stream_key_that_is_no_array_comes_whole),
		cmocka_unit_test(a_file_cut_at_any_byte_is_an_error),
		cmocka_unit_test(a_byte_changed_anywhere_never_crashes),
		cmocka_unit_test(bad_files_are_refused_with_the_place),
		cmocka_unit_test(an_error_deep_inside_names_its_byte),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(endless_files_are_given_up),
		cmocka_unit_test(too_many_members_are_refused),
		cmocka_unit_test(the_reader_stops_when_told),
		cmocka_unit_test(a_file_that_cannot_be_read_says_so),
		cmocka_unit_test(large_files_take_little_memory),
		cmocka_unit_test(integers_are_taken_within_their_range),
		cmocka_unit_test(booleans_and_texts_are_no_other_type),
		cmocka_unit_test(bytes_survive_writing_and_reading),
		cmocka_unit_test(bytes_stay_unknown_where_null),
		cmocka_unit_test(base64_has_one_writing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
