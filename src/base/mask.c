#include "base/mask.h"

#include "base/mask_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* sh -c "ssh host 'sh -c \"...\"'": so far quotes are followed.  It also
 * bounds how often a byte is looked at. */
#define DEPTH_MAX 4

#define PEM_BEGIN "-----BEGIN "
#define PEM_END "-----END "
#define PEM_LABEL 32 /* "ENCRYPTED PRIVATE KEY-----" is the longest in use */

static void take_content(struct masker *m, struct mask_line *l, const char *s, size_t len,
			 bool command);

static bool has_space(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (mask_is_space(s[i]))
			return true;
	return false;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(s, word, len) == 0;
}

/* -x or --xyz: then the option before had no value. */
static bool is_option(const char *s, size_t len)
{
	if (len < 2 || s[0] != '-')
		return false;
	return len == 2 ? mask_is_letter(s[1]) : s[1] == '-' && mask_is_letter(s[2]);
}

/* sh -c, bash -lc, su -c: a command line follows. */
static bool announces_command(const char *s, size_t len)
{
	if (len < 2 || len > 5 || s[len - 1] != 'c')
		return false;
	for (size_t i = 1; i < len; i++)
		if (s[i] < 'a' || s[i] > 'z')
			return false;
	return true;
}

static void expect_value(struct mask_line *l, enum mask_name class)
{
	if (class == MASK_NAME_LOGIN)
		l->expect = MASK_VALUE_COLON;
	else if (class == MASK_NAME_SECRET_OR_PATH)
		l->expect = MASK_VALUE_SECRET_OR_PATH;
	else if (class == MASK_NAME_SECRET)
		l->expect = MASK_VALUE_SECRET;
}

/* Whether a word that starts with '-' is done with. */
static bool take_option(struct masker *m, struct mask_line *l, const char *s, size_t len)
{
	size_t n = mask_name_run(s, len), at;
	enum mask_value value = mask_program_option(&l->programs, s, len, &at);
	enum mask_name class;

	if (value != MASK_VALUE_NONE) {
		if (at == len)
			l->expect = value;
		else
			mask_expected(m, l, value, s + at, len - at);
		return true;
	}
	if (n == len) {
		expect_value(l, mask_name_class(s, len));
		l->command_next = announces_command(s, len);
		return true;
	}
	if (s[n] == '=') {
		class = mask_name_class(s, n);
		n++;
		if (class == MASK_NAME_LOGIN)
			mask_expected(m, l, MASK_VALUE_COLON, s + n, len - n);
		else if (class != MASK_NAME_PLAIN)
			mask_hide_value(m, l, class, s + n, len - n);
		else
			take_content(m, l, s + n, len - n, false);
		return true;
	}
	/* curl -HAuthorization:... */
	if (s[1] == 'H') {
		take_content(m, l, s + 2, len - 2, false);
		return true;
	}
	return false;
}

/* Words that are no option, but say what the next one is. */
static void take_setting(struct mask_line *l, const char *s, size_t len)
{
	bool identified = l->identified;

	l->identified = is_word(s, len, "identified");
	if (is_word(s, len, "password") || (identified && is_word(s, len, "by")))
		l->expect = MASK_VALUE_QUOTED;
	if (mask_program_has_settings(&l->programs) && mask_name_is_secret(s, len))
		l->expect = MASK_VALUE_SECRET;
}

static void take_word(struct masker *m, struct mask_line *l, const char *s, size_t len, bool quoted)
{
	enum mask_value value = l->expect;
	bool command = l->command_next;

	l->expect = MASK_VALUE_NONE;
	l->command_next = false;
	if (value == MASK_VALUE_QUOTED)
		value = quoted ? MASK_VALUE_SECRET : MASK_VALUE_NONE;
	if (value != MASK_VALUE_NONE && !is_option(s, len)) {
		mask_expected(m, l, value, s, len);
		return;
	}
	mask_program_note(&l->programs, s, len, !l->started);
	l->started = true;
	if (len > 1 && s[0] == '-' && take_option(m, l, s, len))
		return;
	take_setting(l, s, len);
	take_content(m, l, s, len, command);
}

/* One word of a text, from s[at] on; returns its end. */
static size_t word_end(const char *s, size_t len, size_t at, bool quotes)
{
	while (at < len && !mask_is_space(s[at]) && !memchr(";|&()`<>", s[at], 8)) {
		if (s[at] == '\\' && at + 1 < len) {
			at += 2;
		} else if (mask_is_quote(s[at])) {
			size_t close = quotes ? mask_closing(s, len, at) : at;

			if (!quotes)
				break;
			/* An apostrophe. */
			at = close < len ? close + 1 : at + 1;
		} else {
			at++;
		}
	}
	return at;
}

/* A text as a shell would take it apart. */
static void take_text(struct masker *m, const char *s, size_t len, int depth)
{
	struct mask_line l = {.depth = depth};
	bool quotes = depth < DEPTH_MAX;

	for (size_t i = 0; i < len;) {
		size_t end = word_end(s, len, i, quotes);
		bool quoted =
			end - i >= 2 && mask_is_quote(s[i]) && mask_closing(s, end, i) == end - 1;

		if (end > i)
			take_word(m, &l, s + i + quoted, end - i - 2 * quoted, quoted);
		/* Behind a newline, ';', '|', '&' or '(' stands another command. */
		if (end < len && memchr("\n;|&(`", s[end], 6))
			l = (struct mask_line){.depth = depth};
		i = end > i ? end : i + 1;
	}
}

/*
 * The first private key in armour (RFC 7468), whose blanks and line ends are
 * part of it: up to the end of its last line, or all where that is missing.
 */
static const char *find_key(const char *s, size_t len, size_t *key_len)
{
	const char *stop = s + len;

	for (;;) {
		const char *at = memmem(s, (size_t)(stop - s), PEM_BEGIN, strlen(PEM_BEGIN));
		size_t label;

		if (!at)
			return NULL;
		s = at + strlen(PEM_BEGIN);
		label = (size_t)(stop - s) < PEM_LABEL ? (size_t)(stop - s) : PEM_LABEL;
		if (!memmem(s, label, "KEY", 3) || memmem(s, label, "PUBLIC", 6))
			continue;
		*key_len = (size_t)(stop - at);
		s = memmem(s, (size_t)(stop - s), PEM_END, strlen(PEM_END));
		if (s)
			s = memmem(s + strlen(PEM_END), (size_t)(stop - s) - strlen(PEM_END),
				   "-----", 5);
		if (s)
			*key_len = (size_t)(s + 5 - at);
		return at;
	}
}

/* The class of NAME=, which may also be what a text's '&' or ';' cut off. */
static enum mask_name assigned(const struct masker *m, const char *name, size_t len)
{
	enum mask_name class = mask_name_class(name, len);

	if (class == MASK_NAME_PLAIN && name > m->raw && (name[-1] == '&' || name[-1] == ';') &&
	    mask_name_in_query(name, len))
		return MASK_NAME_SECRET;
	return class == MASK_NAME_LOGIN ? MASK_NAME_PLAIN : class;
}

/* An object, or an array of them: no shell would take it apart rightly. */
static bool is_json(const char *s, size_t len)
{
	bool object = false;
	size_t i = 0;

	for (; i < len; i++) {
		if (s[i] == '{')
			object = true;
		else if (!mask_is_space(s[i]) && s[i] != '[')
			break;
	}
	return object && i < len && mask_is_quote(s[i]);
}

/* What a word holds.  command: it is a command line, by the option before. */
static void take_content(struct masker *m, struct mask_line *l, const char *s, size_t len,
			 bool command)
{
	size_t n = mask_name_run(s, len);
	bool spaces = has_space(s, len);

	if (n && n < len && s[n] == '=' && !(command && spaces)) {
		enum mask_name class = assigned(m, s, n);

		if (class != MASK_NAME_PLAIN) {
			mask_hide_value(m, l, class, s + n + 1, len - n - 1);
			return;
		}
	}
	if (n && n < len && s[n] == ':' && mask_is_header(s, n, n + 1 < len ? s[n + 1] : '\0')) {
		mask_hide_header(m, l, s + n + 1, len - n - 1);
		return;
	}
	if (spaces && l->depth < DEPTH_MAX && !is_json(s, len))
		take_text(m, s, len, l->depth + 1);
	else
		mask_flat(m, l, s, len);
}

/* One argument, or a text of its own. */
static void take_argument(struct masker *m, struct mask_line *l, const char *s, size_t len)
{
	size_t key_len;
	const char *key = find_key(s, len, &key_len);

	for (; key; key = find_key(s, len, &key_len)) {
		take_text(m, s, (size_t)(key - s), 1);
		mask_hide(m, key, key_len);
		len -= (size_t)(key - s) + key_len;
		s = key + key_len;
		l->expect = MASK_VALUE_NONE;
	}
	take_word(m, l, s, len, false);
}

static int write_masked(struct masker *m, size_t len, struct bytes *out, unsigned *masked)
{
	size_t size = len, from = 0, used = 0;
	char *text;

	if (masked)
		*masked = (unsigned)m->spans.n;
	for (size_t i = 0; i < m->spans.n; i++)
		size += strlen(MASK_TEXT) - m->spans.v[i].len;
	text = m->nomem ? NULL : malloc(size + 1);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i <= m->spans.n; i++) {
		bool last = i == m->spans.n;
		size_t to = last ? len : m->spans.v[i].at;

		memcpy(text + used, m->raw + from, to - from);
		used += to - from;
		if (last)
			break;
		memcpy(text + used, MASK_TEXT, strlen(MASK_TEXT));
		used += strlen(MASK_TEXT);
		from = to + m->spans.v[i].len;
	}
	text[used] = '\0';
	bytes_free(out);
	out->data = text;
	out->len = used;
	return 0;
}

static int keep(const char *raw, size_t len, struct bytes *out, unsigned *masked)
{
	if (masked)
		*masked = 0;
	return bytes_set(out, raw, len) ? 0 : -ENOMEM;
}

int mask_args(const char *raw, size_t len, struct bytes *out, unsigned *masked)
{
	struct masker m = {.raw = raw};
	struct mask_line l = {0};
	int r;

	if (!mask_worth_a_look(raw, len))
		return keep(raw, len, out, masked);
	for (size_t i = 0; i < len;) {
		size_t n = strnlen(raw + i, len - i);

		take_argument(&m, &l, raw + i, n);
		i += n + 1;
	}
	r = write_masked(&m, len, out, masked);
	free(m.spans.v);
	return r;
}

int mask_text(const char *text, size_t len, struct bytes *out, unsigned *masked)
{
	struct masker m = {.raw = text};
	struct mask_line l = {.depth = 1, .command_next = true};
	int r;

	if (!mask_worth_a_look(text, len))
		return keep(text, len, out, masked);
	take_argument(&m, &l, text, len);
	r = write_masked(&m, len, out, masked);
	free(m.spans.v);
	return r;
}
