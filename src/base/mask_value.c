#include "base/mask.h"
#include "base/mask_parts.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

/* A password with a '/' in it is looked for so far behind the '/'. */
#define URL_LOOK 256
/* https://TOKEN@host: a user's name as long as this, with digits, is a token. */
#define TOKEN_USER_MIN 20

void mask_hide(struct masker *m, const char *s, size_t len)
{
	struct mask_span span = {(size_t)(s - m->raw), len};

	if (len == 0 || (len == strlen(MASK_TEXT) && memcmp(s, MASK_TEXT, len) == 0))
		return;
	assert(m->spans.n == 0 ||
	       m->spans.v[m->spans.n - 1].at + m->spans.v[m->spans.n - 1].len <= span.at);
	if (!VEC_PUSH(&m->spans, span))
		m->nomem = true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What names of variables, options, headers and properties are made of. */
static bool in_name(char c)
{
	return mask_is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

size_t mask_name_run(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && in_name(s[n]))
		n++;
	return n;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(s, word, len) == 0;
}

static bool is_one_of(const char *s, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (is_word(s, len, *words))
			return true;
	return false;
}

static bool starts(const char *s, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

/* The place of the quote that closes the one at s[at], or len. */
size_t mask_closing(const char *s, size_t len, size_t at)
{
	for (size_t i = at + 1; i < len; i++) {
		if (s[i] == s[at])
			return i;
		if (s[i] == '\\' && s[at] == '"')
			i++;
	}
	return len;
}

/* $NAME and ${NAME} in a text for a shell: the reader learns more from it. */
static bool is_reference(const char *s, size_t len)
{
	size_t i = 1;

	if (len == 0 || s[0] != '$')
		return false;
	while (i < len && ((s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' || is_digit(s[i]) ||
			   s[i] == '{' || s[i] == '}'))
		i++;
	return i == len;
}

static bool is_path(const char *s, size_t len)
{
	return starts(s, len, "/") || starts(s, len, "./") || starts(s, len, "../") ||
	       starts(s, len, "~");
}

/* A value that a secret's name promises to be one; some are plainly none. */
void mask_hide_value(struct masker *m, const struct mask_line *l, enum mask_name class,
		     const char *s, size_t len)
{
	static const char *const switches[] = {"true", "false", "yes", "no", "none", "null", NULL};

	if (len >= 2 && mask_is_quote(s[0]) && s[len - 1] == s[0]) {
		s++;
		len -= 2;
	}
	if (is_one_of(s, len, switches) || (len == 1 && is_digit(s[0])))
		return;
	if (l->depth > 0 && is_reference(s, len))
		return;
	if (class == MASK_NAME_SECRET_OR_PATH && is_path(s, len))
		return;
	/* openssl -pass file:PATH; docker build --secret id=NAME,src=FILE */
	if (starts(s, len, "file:") || starts(s, len, "env:") || starts(s, len, "fd:") ||
	    starts(s, len, "id="))
		return;
	mask_hide(m, s, len);
}

/* What stands behind the first sep; before it is a name. */
static void hide_behind(struct masker *m, char sep, const char *s, size_t len)
{
	const char *at = memchr(s, sep, len);

	if (at)
		mask_hide(m, at + 1, (size_t)(s + len - at - 1));
}

static bool is_scheme(const char *s, size_t len)
{
	static const char *const schemes[] = {
		"ApiKey", "AWS4-HMAC-SHA256", "Basic", "Bearer", "Bot",   "Digest",
		"Key",    "Negotiate",        "NTLM",  "OAuth",  "Token", NULL};

	return is_one_of(s, len, schemes);
}

/* The value of a header, of which the scheme is kept. */
void mask_hide_header(struct masker *m, struct mask_line *l, const char *s, size_t len)
{
	size_t n;

	while (len && mask_is_space(*s)) {
		s++;
		len--;
	}
	n = mask_name_run(s, len);
	if (len == 0) {
		l->expect = MASK_VALUE_HEADER;
		return;
	}
	if (!is_scheme(s, n) || (n < len && !mask_is_space(s[n]))) {
		mask_hide(m, s, len);
		return;
	}
	while (n < len && mask_is_space(s[n]))
		n++;
	if (n == len)
		l->expect = MASK_VALUE_SECRET;
	mask_hide(m, s + n, len - n);
}

/*
 * Whether "name:" with next behind it (0: nothing) starts a secret.  Without
 * a blank many other things look so: an image vault-token:v1.
 */
bool mask_is_header(const char *name, size_t len, char next)
{
	static const char *const always[] = {
		"authorization", "proxy-authorization", "cookie", "set-cookie", "pass", NULL};

	if (!mask_name_is_secret(name, len))
		return false;
	return next == '\0' || mask_is_space(next) || is_one_of(name, len, always) ||
	       (len > 2 && strncasecmp(name, "x-", 2) == 0);
}

static bool is_token(const char *user, size_t len)
{
	if (len < TOKEN_USER_MIN)
		return false;
	for (size_t i = 0; i < len; i++)
		if (is_digit(user[i]))
			return true;
	return false;
}

/* scheme://user:secret@host, with the ':' at s[colon].  Returns where to go on. */
static size_t take_url(struct masker *m, const char *s, size_t len, size_t colon)
{
	static const char stop[] = "/?#\"'`<>\\ \t\n";
	size_t start = colon + 3, end = start;
	const char *at, *sep;

	while (end < len && !memchr(stop, s[end], sizeof(stop)))
		end++;
	at = memrchr(s + start, '@', end - start);
	sep = memchr(s + start, ':', end - start);
	if (!at && sep && end < len && s[end] == '/' && s[start] != '[' &&
	    strspn(sep + 1, "0123456789") < (size_t)(s + end - sep - 1)) {
		size_t limit = len - end < URL_LOOK ? len : end + URL_LOOK;

		while (end < limit && !mask_is_space(s[end]) && !mask_is_quote(s[end]) &&
		       s[end] != '@')
			end++;
		if (end < limit && s[end] == '@')
			at = s + end;
	}
	if (!at)
		return start;
	if (sep && sep < at)
		mask_hide(m, sep + 1, (size_t)(at - sep - 1));
	else if (is_token(s + start, (size_t)(at - s) - start))
		mask_hide(m, s + start, (size_t)(at - s) - start);
	return (size_t)(at - s);
}

/* Where the name that ends before s[end] starts; not before from. */
static size_t name_start(const char *s, size_t from, size_t end)
{
	size_t b = end;

	while (b > from && end - b < MASK_NAME_LOOK && in_name(s[b - 1]))
		b--;
	return b;
}

/* Where a value ends, by what stands before its name (0: nothing does). */
static size_t value_end(const char *s, size_t len, size_t at, char before)
{
	const char *stop;

	switch (before) {
	case '\0':
	case '=':
		return len;
	case '?':
	case '&':
		stop = "&;# \t\n\"'`\\";
		break;
	case ',':
		stop = ", \t\n\"'";
		break;
	case ';':
		stop = ";\"'";
		break;
	default:
		stop = "\"'`&;,|)}<> \t\n";
		break;
	}
	while (at < len && s[at] && !strchr(stop, s[at]))
		at++;
	return at;
}

/* NAME=value with the '=' at s[eq]; nothing before from.  Returns where to go on. */
static size_t take_assignment(struct masker *m, const struct mask_line *l, const char *s,
			      size_t len, size_t from, size_t eq)
{
	size_t b = name_start(s, from, eq), v = eq + 1, end;
	char before = b ? s[b - 1] : '\0';
	enum mask_name class = mask_name_class(s + b, eq - b);

	if (class == MASK_NAME_PLAIN && strchr("?&;,", before) && before &&
	    mask_name_in_query(s + b, eq - b))
		class = MASK_NAME_SECRET;
	if (class != MASK_NAME_SECRET && class != MASK_NAME_SECRET_OR_PATH)
		return v;
	if (v < len && mask_is_quote(s[v])) {
		end = mask_closing(s, len, v);
		mask_hide_value(m, l, class, s + v + 1, end - v - 1);
		return end;
	}
	end = value_end(s, len, v, before);
	mask_hide_value(m, l, class, s + v, end - v);
	return end;
}

/* "name":"value" with the ':' at s[colon]; each quote may have a backslash. */
static size_t take_member(struct masker *m, struct mask_line *l, const char *s, size_t len,
			  size_t from, size_t colon)
{
	size_t end = colon - 1, v = colon + 1, b;
	char quote = s[end];

	if (end > from && s[end - 1] == '\\')
		end--;
	b = name_start(s, from, end);
	if (b == from || s[b - 1] != quote || !mask_name_is_secret(s + b, end - b))
		return v;
	while (v < len && mask_is_space(s[v]))
		v++;
	if (v == len) {
		l->expect = MASK_VALUE_SECRET;
		return v;
	}
	if (s[v] == '\\')
		v++;
	if (v < len && mask_is_quote(s[v])) {
		const char *close = memchr(s + v + 1, s[v], len - v - 1);

		v++;
		end = close ? (size_t)(close - s) : len;
		mask_hide_value(m, l, MASK_NAME_SECRET, s + v,
				end - v - (end > v && s[end - 1] == '\\'));
		return end;
	}
	end = value_end(s, len, v, ',');
	mask_hide_value(m, l, MASK_NAME_SECRET, s + v, end - v);
	return end;
}

static size_t take_colon(struct masker *m, struct mask_line *l, const char *s, size_t len,
			 size_t from, size_t colon)
{
	size_t b, end;

	if (colon + 2 < len && s[colon + 1] == '/' && s[colon + 2] == '/')
		return take_url(m, s, len, colon);
	if (colon > from && mask_is_quote(s[colon - 1]))
		return take_member(m, l, s, len, from, colon);
	b = name_start(s, from, colon);
	if (!mask_is_header(s + b, colon - b, colon + 1 < len ? s[colon + 1] : '\0'))
		return colon + 1;
	end = value_end(s, len, colon + 1, ' ');
	mask_hide_header(m, l, s + colon + 1, end - colon - 1);
	return end;
}

/* A word that is no option and has no blanks: what may stand anywhere in it. */
void mask_flat(struct masker *m, struct mask_line *l, const char *s, size_t len)
{
	size_t from = 0; /* behind what was masked last */

	for (size_t i = 0; i < len;) {
		size_t next = i + 1;

		if (s[i] == '=') {
			next = take_assignment(m, l, s, len, from, i);
		} else if (s[i] == ':') {
			next = take_colon(m, l, s, len, from, i);
		} else if (mask_is_letter(s[i]) &&
			   (i == 0 || !in_name(s[i - 1]) || s[i - 1] == '.')) {
			size_t n = mask_shape(s + i, len - i);

			if (n)
				mask_hide(m, s + i, n);
			next = i + (n ? n : 1);
		}
		if (next > i + 1)
			from = next;
		i = next;
	}
}

/* A secret, or one in quotes with more behind it: "x","user":"y"}. */
static void hide_first(struct masker *m, struct mask_line *l, enum mask_name class, const char *s,
		       size_t len)
{
	size_t end = l->depth > 0 && len && mask_is_quote(s[0]) ? mask_closing(s, len, 0) : len;

	if (end == len) {
		mask_hide_value(m, l, class, s, len);
		return;
	}
	mask_hide_value(m, l, class, s, end + 1);
	mask_flat(m, l, s + end + 1, len - end - 1);
}

void mask_expected(struct masker *m, struct mask_line *l, enum mask_value value, const char *s,
		   size_t len)
{
	switch (value) {
	case MASK_VALUE_NONE:
	case MASK_VALUE_QUOTED:
		break;
	case MASK_VALUE_SECRET:
		hide_first(m, l, MASK_NAME_SECRET, s, len);
		break;
	case MASK_VALUE_SECRET_OR_PATH:
		hide_first(m, l, MASK_NAME_SECRET_OR_PATH, s, len);
		break;
	case MASK_VALUE_HEADER:
		mask_hide_header(m, l, s, len);
		break;
	case MASK_VALUE_COLON:
		hide_behind(m, ':', s, len);
		break;
	case MASK_VALUE_COMMA:
		hide_behind(m, ',', s, len);
		break;
	case MASK_VALUE_PERCENT:
		hide_behind(m, '%', s, len);
		break;
	case MASK_VALUE_COOKIE:
		if (memchr(s, '=', len))
			mask_hide(m, s, len);
		break;
	}
}
