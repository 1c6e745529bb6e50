#include "base/json_read.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#define KEY_MAX 64

/* The member, or NULL where it is missing or null; *known accordingly. */
static const json_t *member(const json_t *o, const char *key, bool *known)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_null(v))
		v = NULL;
	if (known)
		*known = v != NULL;
	return v;
}

int json_get_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *out,
		 bool *known, struct err *err)
{
	const json_t *v = member(o, key, known);
	json_int_t n;

	if (!v)
		return 0;
	if (!json_is_integer(v))
		return err_set(err, EINVAL, "%s: not an integer", key);
	n = json_integer_value(v);
	if (n < min || n > max)
		return err_set(err, EINVAL, "%s: not from %" PRId64 " to %" PRId64, key, min, max);
	*out = n;
	return 0;
}

/* Decimal digits alone; false also above UINT64_MAX. */
static bool digits(const char *s, size_t len, uint64_t *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(s[i] - '0'), &n))
			return false;
	}
	*out = n;
	return len > 0;
}

int json_get_uint(const json_t *o, const char *key, uint64_t *out, bool *known, struct err *err)
{
	const json_t *v = member(o, key, known);
	uint64_t n;

	if (!v)
		return 0;
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		n = (uint64_t)json_integer_value(v);
	else if (!json_is_string(v) || !digits(json_string_value(v), json_string_length(v), &n))
		return err_set(err, EINVAL, "%s: not an unsigned integer", key);
	*out = n;
	return 0;
}

int json_get_bool(const json_t *o, const char *key, bool *out, bool *known, struct err *err)
{
	const json_t *v = member(o, key, known);

	if (!v)
		return 0;
	if (!json_is_boolean(v))
		return err_set(err, EINVAL, "%s: neither true nor false", key);
	*out = json_is_true(v);
	return 0;
}

int json_get_str(const json_t *o, const char *key, const char **out, struct err *err)
{
	const json_t *v = member(o, key, NULL);

	if (!v)
		return 0;
	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
		return err_set(err, EINVAL, "%s: not a text", key);
	*out = json_string_value(v);
	return 0;
}

int json_get_text(const json_t *o, const char *key, char *out, size_t size, struct err *err)
{
	const char *text = NULL;
	int r = json_get_str(o, key, &text, err);

	if (!r && text && strlen(text) >= size)
		r = err_set(err, EINVAL, "%s: longer than %zu bytes", key, size - 1);
	if (!r && text)
		memcpy(out, text, strlen(text) + 1);
	return r;
}

int json_get_bytes(const json_t *o, const char *key, struct bytes *out, struct err *err)
{
	const json_t *v = member(o, key, NULL);
	const char *exact = NULL;
	char name[KEY_MAX];
	int r;

	r = snprintf(name, sizeof(name), "%s_b64", key);
	assert((size_t)r < sizeof(name));
	r = json_get_str(o, name, &exact, err);
	if (r)
		return r;
	if (v && !json_is_string(v))
		return err_set(err, EINVAL, "%s: not a text", key);
	if (!v)
		return exact ? err_set(err, EINVAL, "%s: without %s", name, key) : 0;
	if (exact)
		return json_unbase64(exact, out, err);
	return bytes_set(out, json_string_value(v), json_string_length(v)) ? 0 : err_nomem(err);
}

static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four, of which pad are '='; false where it is none. */
static bool group(const char *in, int pad, char out[static 3])
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		int d = i < 4 - pad ? digit(in[i]) : 0;

		if (d < 0)
			return false;
		v = v << 6 | (uint32_t)d;
	}
	out[0] = (char)(v >> 16);
	out[1] = (char)(v >> 8);
	out[2] = (char)v;
	/* Each text has one writing: bits that nobody reads are 0. */
	return pad == 0 || (v & (pad == 1 ? 0xff : 0xffff)) == 0;
}

int json_unbase64(const char *text, struct bytes *out, struct err *err)
{
	size_t len = strlen(text), used = 0;
	int pad = 0;
	char *data;

	if (len % 4 != 0)
		return err_set(err, EINVAL, "not base64");
	data = malloc(len / 4 * 3 + 1);
	if (!data)
		return err_nomem(err);
	for (size_t i = 0; i < len; i += 4) {
		if (i + 4 == len)
			pad = (text[len - 1] == '=') +
			      (text[len - 1] == '=' && text[len - 2] == '=');
		if (!group(text + i, pad, data + used)) {
			free(data);
			return err_set(err, EINVAL, "not base64");
		}
		used += 3 - (size_t)pad;
	}
	data[used] = '\0';
	bytes_free(out);
	out->data = data;
	out->len = used;
	return 0;
}
