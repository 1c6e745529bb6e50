#include "record/markdown.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Within a word an underscore is no emphasis (CommonMark 6.2). */
static bool is_within_word(const char *s, size_t at)
{
	return at > 0 && is_word(s[at - 1]) && is_word(s[at + 1]);
}

/* The dot of "www.": GitHub makes a link of what begins so. */
static bool ends_www(const char *s, size_t at)
{
	return at >= 3 && strncasecmp(s + at - 3, "www", 3) == 0;
}

/*
 * Any ASCII punctuation may be escaped by a backslash (CommonMark 2.4).  What
 * has a meaning in its place only is left alone elsewhere, to stay readable.
 */
static bool needs_backslash(const char *s, size_t at)
{
	switch (s[at]) {
	case '\\':
	case '`':
	case '*':
	case '[':
	case ']':
	case '|':
	case '~':
	case '$':
		return true;
	case '_':
		return !is_within_word(s, at);
	case '(':
		return at > 0 && s[at - 1] == ']';
	case '#':
	case '-':
	case '+':
	case '=':
		return at == 0;
	case ':':
		return s[at + 1] == '/';
	case '.':
		return ends_www(s, at);
	}
	return false;
}

static void put(FILE *out, const char *s, size_t at)
{
	switch (s[at]) {
	case '&':
		fputs("&amp;", out);
		return;
	case '<':
		fputs("&lt;", out);
		return;
	case '>':
		fputs("&gt;", out);
		return;
	}
	if (needs_backslash(s, at))
		fputc('\\', out);
	fputc(s[at], out);
}

/* Not within a character. */
static size_t cut(const char *s, size_t len, size_t max)
{
	if (!max || len <= max)
		return len;
	while (max && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

int markdown_text(FILE *out, const char *s, size_t len, size_t max)
{
	size_t shown = cut(s, len, max);
	size_t size = text_safe_len(s, shown, false) + 1;
	AUTO_FREE char *safe = malloc(size);

	if (!safe)
		return -ENOMEM;
	text_safe(safe, size, s, shown, false);
	for (size_t i = 0; safe[i]; i++)
		put(out, safe, i);
	if (shown < len)
		fputs("…", out);
	return 0;
}

int markdown_bytes(FILE *out, const struct bytes *b, size_t max)
{
	if (b->data)
		return markdown_text(out, b->data, b->len, max);
	fputs("not known", out);
	return 0;
}
