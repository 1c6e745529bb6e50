#include "base/json_write.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER 4096
#define EXACT_MAX (UINT64_C(1) << 53) /* RFC 8259, section 6: doubles are exact so far */

struct level {
	bool array;
	bool some; /* holds a value already */
};

struct jw {
	FILE *out;
	bool pretty;
	int error; /* the first, -errno; nothing is written behind it */
	int depth; /* level[0] is the top: at most one value */
	struct level level[JW_DEPTH_MAX + 1];
	size_t n; /* of buf: not given to out yet; most of what is written is a few bytes long */
	char buf[BUFFER];
};

struct jw *jw_open(FILE *out, bool pretty)
{
	struct jw *j = malloc(sizeof(*j));

	if (!j)
		return NULL;
	j->out = out;
	j->pretty = pretty;
	j->error = 0;
	j->depth = 0;
	j->level[0] = (struct level){0};
	j->n = 0;
	return j;
}

static void give(struct jw *j, const char *s, size_t len)
{
	if (j->error || len == 0)
		return;
	errno = 0;
	if (fwrite_unlocked(s, 1, len, j->out) != len)
		j->error = errno ? -errno : -EIO;
}

static void give_all(struct jw *j)
{
	give(j, j->buf, j->n);
	j->n = 0;
}

static void put(struct jw *j, const char *s, size_t len)
{
	if (!len)
		return;
	if (len > BUFFER - j->n)
		give_all(j);
	if (len > BUFFER) {
		give(j, s, len);
		return;
	}
	memcpy(j->buf + j->n, s, len);
	j->n += len;
}

static void put_char(struct jw *j, char c)
{
	if (j->n == BUFFER)
		give_all(j);
	j->buf[j->n++] = c;
}

static void put_text(struct jw *j, const char *s)
{
	put(j, s, strlen(s));
}

int jw_close(struct jw *j)
{
	int error;

	assert(j->depth == 0 && j->level[0].some);
	put_char(j, '\n');
	give_all(j);
	errno = 0;
	if (!j->error && fflush(j->out) != 0)
		j->error = errno ? -errno : -EIO;
	error = j->error;
	free(j);
	return error;
}

void jw_discard(struct jw *j)
{
	free(j);
}

static void put_newline(struct jw *j)
{
	static const char blanks[] = "                                ";
	size_t indent = 2 * (size_t)j->depth;

	put_char(j, '\n');
	for (; indent > sizeof(blanks) - 1; indent -= sizeof(blanks) - 1)
		put(j, blanks, sizeof(blanks) - 1);
	put(j, blanks, indent);
}

/* What a character below 0x20, a quote or a backslash is written as; 0: \u. */
static char short_escape(uint32_t cp)
{
	switch (cp) {
	case '"':
	case '\\':
		return (char)cp;
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	default:
		return 0;
	}
}

static void put_u(struct jw *j, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";
	char buf[6] = {
		'\\',          'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15],
		hex[unit & 15]};

	put(j, buf, sizeof(buf));
}

static void put_escaped(struct jw *j, uint32_t cp)
{
	char buf[2] = {'\\', short_escape(cp)};

	if (buf[1]) {
		put(j, buf, 2);
	} else if (cp < 0x10000) {
		put_u(j, cp);
	} else {
		put_u(j, 0xd800 + ((cp - 0x10000) >> 10));
		put_u(j, 0xdc00 + ((cp - 0x10000) & 0x3ff));
	}
}

/* The quoted text, without what stands around it. */
static void put_string(struct jw *j, const char *s, size_t len)
{
	size_t start = 0, i = 0; /* s[start..i) goes out as it is */

	put_char(j, '"');
	while (i < len) {
		uint32_t cp;
		int n;

		if (s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\') {
			i++;
			continue;
		}
		n = text_decode(s + i, len - i, &cp);
		if (n && cp > 0x7f && text_width_cp(cp) >= 0) {
			i += (size_t)n;
			continue;
		}
		put(j, s + start, i - start);
		if (n)
			put_escaped(j, cp);
		else
			put(j, "\xef\xbf\xbd", 3); /* U+FFFD */
		i += n ? (size_t)n : text_invalid_len(s + i, len - i);
		start = i;
	}
	put(j, s + start, len - start);
	put_char(j, '"');
}

/* All that comes before a value: comma, line, name; suffix belongs to the name. */
static void begin(struct jw *j, const char *key, const char *suffix)
{
	struct level *l = &j->level[j->depth];

	if (j->depth == 0)
		assert(!key && !l->some);
	else
		assert(l->array == !key);
	if (l->some)
		put_char(j, ',');
	l->some = true;
	if (j->pretty && j->depth > 0)
		put_newline(j);
	if (!key)
		return;
	put_char(j, '"');
	put_text(j, key);
	put_text(j, suffix);
	put_text(j, j->pretty ? "\": " : "\":");
}

static void enter(struct jw *j, const char *key, bool array)
{
	begin(j, key, "");
	assert(j->depth < JW_DEPTH_MAX);
	put_char(j, array ? '[' : '{');
	j->depth++;
	j->level[j->depth] = (struct level){.array = array};
}

static void leave(struct jw *j, bool array)
{
	bool some = j->level[j->depth].some;

	assert(j->depth > 0 && j->level[j->depth].array == array);
	j->depth--;
	if (j->pretty && some)
		put_newline(j);
	put_char(j, array ? ']' : '}');
}

void jw_object(struct jw *j, const char *key)
{
	enter(j, key, false);
}

void jw_object_end(struct jw *j)
{
	leave(j, false);
}

void jw_array(struct jw *j, const char *key)
{
	enter(j, key, true);
}

void jw_array_end(struct jw *j)
{
	leave(j, true);
}

void jw_null(struct jw *j, const char *key)
{
	begin(j, key, "");
	put_text(j, "null");
}

void jw_bool(struct jw *j, const char *key, bool v)
{
	begin(j, key, "");
	put_text(j, v ? "true" : "false");
}

/* By hand: a snapshot holds a million numbers. */
static void put_digits(struct jw *j, bool minus, uint64_t v, const char *quote)
{
	char buf[24], *p = buf + sizeof(buf);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	if (minus)
		*--p = '-';
	put_text(j, quote);
	put(j, p, (size_t)(buf + sizeof(buf) - p));
	put_text(j, quote);
}

void jw_int(struct jw *j, const char *key, int64_t v)
{
	begin(j, key, "");
	put_digits(j, v < 0, v < 0 ? -(uint64_t)v : (uint64_t)v, "");
}

void jw_uint(struct jw *j, const char *key, uint64_t v)
{
	begin(j, key, "");
	put_digits(j, false, v, v > EXACT_MAX ? "\"" : "");
}

void jw_uint_string(struct jw *j, const char *key, uint64_t v)
{
	begin(j, key, "");
	put_digits(j, false, v, "\"");
}

void jw_str(struct jw *j, const char *key, const char *s)
{
	if (s)
		jw_strn(j, key, s, strlen(s));
	else
		jw_null(j, key);
}

void jw_strn(struct jw *j, const char *key, const char *s, size_t len)
{
	begin(j, key, "");
	put_string(j, s, len);
}

void jw_strf(struct jw *j, const char *key, const char *fmt, ...)
{
	char buf[JW_STRF_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if ((n < 0 || (size_t)n >= sizeof(buf)) && !j->error)
		j->error = -EOVERFLOW;
	jw_strn(j, key, buf, j->error ? 0 : (size_t)n);
}

static void put_raw(struct jw *j, const char *json, size_t len)
{
	size_t start = 0, i = 0; /* json[start..i) goes out as it is */

	while (i < len) {
		uint32_t cp;
		int n = text_decode(json + i, len - i, &cp);

		/* what is below 0x20 can only be white space between two tokens */
		if (n && (cp < 0x20 || text_width_cp(cp) >= 0)) {
			i += (size_t)n;
			continue;
		}
		put(j, json + start, i - start);
		if (n)
			put_escaped(j, cp);
		i += n ? (size_t)n : 1;
		start = i;
	}
	put(j, json + start, len - start);
}

void jw_raw(struct jw *j, const char *key, const char *json, size_t len)
{
	begin(j, key, "");
	put_raw(j, json, len);
}

void jw_members(struct jw *j, const char *object, size_t len)
{
	struct level *l = &j->level[j->depth];

	assert(len >= 2 && object[0] == '{' && object[len - 1] == '}' && !l->array);
	if (len == 2)
		return;
	if (l->some)
		put_char(j, ',');
	l->some = true;
	if (j->pretty)
		put_newline(j);
	put_raw(j, object + 1, len - 2);
}

static void put_base64(struct jw *j, const char *s, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *u = (const unsigned char *)s;

	put_char(j, '"');
	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)u[i] << 16;
		char quad[4];

		if (i + 1 < len)
			v |= (uint32_t)u[i + 1] << 8;
		if (i + 2 < len)
			v |= u[i + 2];
		quad[0] = digit[v >> 18];
		quad[1] = digit[v >> 12 & 63];
		quad[2] = i + 1 < len ? digit[v >> 6 & 63] : '=';
		quad[3] = i + 2 < len ? digit[v & 63] : '=';
		put(j, quad, 4);
	}
	put_char(j, '"');
}

void jw_bytes(struct jw *j, const char *key, const struct bytes *b)
{
	assert(key);
	if (!bytes_known(b)) {
		jw_null(j, key);
		return;
	}
	jw_strn(j, key, b->data, b->len);
	if (text_utf8_valid(b->data, b->len))
		return;
	begin(j, key, "_b64");
	put_base64(j, b->data, b->len);
}

void jw_base64(struct jw *j, const char *key, const char *s, size_t len)
{
	begin(j, key, "");
	put_base64(j, s, len);
}
