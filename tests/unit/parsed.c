#include "tests/unit/parsed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *text;
static size_t size;

FILE *parsed_begin(void)
{
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	return stream;
}

/* Nothing that moves a cursor or the writing direction may be in a file of ours. */
static void assert_plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		assert_true(c == '\n' || (c >= 0x20 && c != 0x7f));
	}
	assert_null(memmem(s, len, "\xe2\x80\xae", 3));
	assert_null(memmem(s, len, "\xc2\x9b", 2));
}

static json_t *parse(const char *s, size_t len)
{
	json_error_t why;
	json_t *value = json_loadb(s, len, JSON_REJECT_DUPLICATES, &why);

	if (!value)
		fail_msg("%s at byte %d", why.text, why.position);
	assert_true(len > 0 && s[len - 1] == '\n');
	assert_plain(s, len);
	return value;
}

json_t *parsed_end(FILE *stream)
{
	json_t *value;

	assert_int_equal(fclose(stream), 0);
	value = parse(text, size);
	free(text);
	return value;
}

json_t *parsed_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *buf = malloc(1 << 20);
	json_t *value;
	size_t n;

	assert_non_null(f);
	assert_non_null(buf);
	n = fread(buf, 1, 1 << 20, f);
	fclose(f);
	value = parse(buf, n);
	free(buf);
	return value;
}

void assert_json(const json_t *value, const char *expected)
{
	char *got = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	assert_non_null(got);
	assert_string_equal(got, expected);
	free(got);
}

json_t *member(const json_t *o, const char *key)
{
	json_t *value = json_object_get(o, key);

	if (!value)
		fail_msg("no member %s", key);
	return value;
}
