#include "base/json_read.h"

#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define CHUNK 65536

struct reader {
	FILE *in;
	const char *name;
	struct err *err;
	uint64_t base; /* bytes of the file before chunk */
	size_t at, filled;
	char *slice; /* the member or element being read */
	size_t slice_len, slice_cap;
	VEC(char *) names; /* of the top-level members so far */
	char chunk[CHUNK];
};

static int fail_at(struct reader *r, uint64_t place, int code, const char *why)
{
	return err_set(r->err, code, "%s: byte %" PRIu64 ": %s", r->name, place, why);
}

static int fail(struct reader *r, int code, const char *why)
{
	return fail_at(r, r->base + r->at, code, why);
}

/* The next byte, which is not taken; EOF at the end; -errno with *err set. */
static int peek(struct reader *r, int *c)
{
	*c = EOF;
	if (r->at == r->filled) {
		r->base += r->filled;
		r->at = 0;
		errno = 0;
		r->filled = fread(r->chunk, 1, CHUNK, r->in);
		if (r->filled == 0 && ferror(r->in))
			return err_errno(r->err, errno ? errno : EIO, "%s", r->name);
	}
	if (r->filled)
		*c = (unsigned char)r->chunk[r->at];
	return *c == 0 ? fail(r, EINVAL, "a NUL byte") : 0;
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next byte that is no white space, which is not taken. */
static int peek_token(struct reader *r, int *c)
{
	int ret;

	while ((ret = peek(r, c)) == 0 && is_space(*c))
		r->at++;
	return ret;
}

/* Takes one of the two bytes, behind white space; which one it was in *c. */
static int take(struct reader *r, char one, char other, const char *why, int *c)
{
	int ret = peek_token(r, c);

	if (ret)
		return ret;
	if (*c == EOF)
		return fail(r, EINVAL, "ends too early");
	if (*c != one && *c != other)
		return fail(r, EINVAL, why);
	r->at++;
	return 0;
}

/* Moves one byte that was peeked at into the slice. */
static int slice_take(struct reader *r, size_t max)
{
	if (r->slice_len == max)
		return fail(r, EFBIG, "too large");
	if (!vec_grow((void **)&r->slice, r->slice_len, &r->slice_cap, 1))
		return err_nomem(r->err);
	r->slice[r->slice_len++] = r->chunk[r->at++];
	return 0;
}

/* A string with its quotes, the first of which comes next. */
static int slice_string(struct reader *r, size_t max)
{
	bool escaped = true; /* the first quote closes nothing */

	for (;;) {
		int c, ret = peek(r, &c);
		bool closes = c == '"' && !escaped;

		if (ret)
			return ret;
		if (c == EOF)
			return fail(r, EINVAL, "ends in a string");
		escaped = c == '\\' && !escaped;
		ret = slice_take(r, max);
		if (ret || closes)
			return ret;
	}
}

/* An object or array.  Whether its brackets fit each other jansson tells. */
static int slice_nested(struct reader *r, int depth)
{
	size_t values = 0;
	int top = depth;

	for (;;) {
		int c, ret = peek(r, &c);

		if (ret)
			return ret;
		if (c == EOF)
			return fail(r, EINVAL, "ends too early");
		if (c == '"') {
			ret = slice_string(r, JSON_READ_ELEMENT_MAX);
			if (ret)
				return ret;
			continue;
		}
		if ((c == '{' || c == '[') && ++depth > JSON_READ_DEPTH_MAX)
			return fail(r, EINVAL, "nested too deep");
		if ((c == '{' || c == '[' || c == ',') && ++values > JSON_READ_VALUES_MAX)
			return fail(r, EFBIG, "too many values");
		if (c == '}' || c == ']')
			depth--;
		ret = slice_take(r, JSON_READ_ELEMENT_MAX);
		if (ret || depth == top)
			return ret;
	}
}

/* A number, true, false or null, or what stands in their place. */
static int slice_plain(struct reader *r)
{
	for (;;) {
		int c, ret = peek(r, &c);

		if (ret)
			return ret;
		if (c == EOF || is_space(c) || strchr(",:[]{}\"", c))
			return 0;
		ret = slice_take(r, JSON_READ_ELEMENT_MAX);
		if (ret)
			return ret;
	}
}

/* jansson's own texts quote the file: bytes that may not reach a terminal. */
static const char *reason(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_out_of_memory:
		return "out of memory";
	case json_error_invalid_utf8:
		return "no valid UTF-8";
	case json_error_duplicate_key:
		return "the same name twice";
	case json_error_numeric_overflow:
		return "a number out of range";
	case json_error_null_byte_in_key:
		return "a NUL in a name";
	case json_error_premature_end_of_input:
		return "a value is missing";
	default:
		return "no valid JSON";
	}
}

/* The slice as a value, to be released by the caller. */
static int decode(struct reader *r, uint64_t place, json_t **value)
{
	json_error_t error;

	*value = json_loadb(r->slice, r->slice_len,
			    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (*value)
		return 0;
	if (json_error_code(&error) == json_error_out_of_memory)
		return err_nomem(r->err);
	if (error.position > 0)
		place += (uint64_t)error.position;
	return fail_at(r, place, EINVAL, reason(&error));
}

/* The value that comes next; depth: of what it stands in. */
static int read_value(struct reader *r, int depth, json_t **value)
{
	uint64_t place;
	int c, ret = peek_token(r, &c);

	if (ret)
		return ret;
	place = r->base + r->at;
	r->slice_len = 0;
	if (c == '{' || c == '[')
		ret = slice_nested(r, depth);
	else if (c == '"')
		ret = slice_string(r, JSON_READ_ELEMENT_MAX);
	else
		ret = slice_plain(r);
	if (ret)
		return ret;
	if (r->slice_len == 0)
		return fail(r, EINVAL, c == EOF ? "ends too early" : "a value is missing");
	return decode(r, place, value);
}

static int hand_over(struct reader *r, int depth, json_read_fn *fn, void *ctx, const char *key,
		     size_t index)
{
	json_t *value = NULL;
	int ret = read_value(r, depth, &value);

	if (ret)
		return ret;
	ret = fn(ctx, key, index, value, r->err);
	json_decref(value);
	return ret;
}

/* The elements of an array whose bracket comes next. */
static int read_elements(struct reader *r, json_read_fn *fn, void *ctx, const char *key)
{
	int c, ret;

	r->at++;
	ret = peek_token(r, &c);
	if (ret)
		return ret;
	if (c == ']') {
		r->at++;
		return 0;
	}
	for (size_t index = 0;; index++) {
		ret = hand_over(r, 2, fn, ctx, key, index);
		if (!ret)
			ret = take(r, ',', ']', "neither ',' nor ']' behind an element", &c);
		if (ret || c == ']')
			return ret;
	}
}

/* The name of a member and its ':'.  *name is borrowed from r->names. */
static int read_name(struct reader *r, const char **name)
{
	json_t *value = NULL;
	uint64_t place;
	char *copy;
	bool nul;
	int c, ret = peek_token(r, &c);

	if (ret)
		return ret;
	place = r->base + r->at;
	if (c != '"')
		return fail(r, EINVAL, c == EOF ? "ends too early" : "a name is missing");
	r->slice_len = 0;
	ret = slice_string(r, JSON_READ_NAME_MAX);
	if (!ret)
		ret = decode(r, place, &value);
	if (ret)
		return ret;
	copy = strdup(json_string_value(value));
	nul = json_string_length(value) != strlen(json_string_value(value));
	json_decref(value);
	if (!copy || !VEC_PUSH(&r->names, copy)) {
		free(copy);
		return err_nomem(r->err);
	}
	if (nul)
		return fail_at(r, place, EINVAL, "a NUL in a name");
	if (r->names.n > JSON_READ_MEMBERS_MAX)
		return fail_at(r, place, EFBIG, "too many members");
	for (size_t i = 0; i + 1 < r->names.n; i++)
		if (strcmp(r->names.v[i], copy) == 0)
			return fail_at(r, place, EINVAL, "the same name twice");
	*name = copy;
	return take(r, ':', ':', "no ':' behind a name", &c);
}

static int read_member(struct reader *r, const char *stream_key, json_read_fn *fn, void *ctx)
{
	const char *name = "";
	int c, ret = read_name(r, &name);

	if (!ret)
		ret = peek_token(r, &c);
	if (ret)
		return ret;
	if (stream_key && c == '[' && strcmp(name, stream_key) == 0)
		return read_elements(r, fn, ctx, name);
	return hand_over(r, 1, fn, ctx, name, 0);
}

static int read_object(struct reader *r, const char *stream_key, json_read_fn *fn, void *ctx)
{
	int c, ret = take(r, '{', '{', "no JSON object", &c);

	if (!ret)
		ret = peek_token(r, &c);
	if (ret)
		return ret;
	if (c == '}') {
		r->at++;
		return 0;
	}
	do {
		ret = read_member(r, stream_key, fn, ctx);
		if (!ret)
			ret = take(r, ',', '}', "neither ',' nor '}' behind a member", &c);
	} while (!ret && c == ',');
	return ret;
}

int json_read_stream(FILE *in, const char *name, const char *stream_key, json_read_fn *fn,
		     void *ctx, struct err *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int c, ret;

	if (!r)
		return err_nomem(err);
	r->in = in;
	r->name = name;
	r->err = err;
	ret = read_object(r, stream_key, fn, ctx);
	if (!ret)
		ret = peek_token(r, &c);
	if (!ret && c != EOF)
		ret = fail(r, EINVAL, "more behind the object");
	for (size_t i = 0; i < r->names.n; i++)
		free(r->names.v[i]);
	free(r->names.v);
	free(r->slice);
	free(r);
	return ret;
}

int json_read_line(const char *line, size_t len, json_t **out, struct err *err)
{
	json_error_t error;

	*out = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
	if (json_is_object(*out))
		return 0;
	if (*out) {
		json_decref(*out);
		*out = NULL;
		return err_set(err, EINVAL, "byte 0: no JSON object");
	}
	if (json_error_code(&error) == json_error_out_of_memory)
		return err_nomem(err);
	return err_set(err, EINVAL, "byte %d: %s", error.position, reason(&error));
}
