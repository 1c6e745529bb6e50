#include "tui/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void line_start(struct line *l, bool ascii)
{
	l->text[0] = '\0';
	l->len = 0;
	l->ascii = ascii;
}

/* Takes a cut character off the end. */
static void mend(struct line *l)
{
	size_t at = l->len;
	uint32_t cp;

	while (at > 0 && l->len - at < 4 && ((unsigned char)l->text[at - 1] & 0xc0) == 0x80)
		at--;
	if (at > 0 && (unsigned char)l->text[at - 1] >= 0xc0 &&
	    !text_decode(l->text + at - 1, l->len - at + 1, &cp))
		l->len = at - 1;
	l->text[l->len] = '\0';
}

void line_add(struct line *l, const char *fmt, ...)
{
	size_t room = sizeof(l->text) - l->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		l->text[l->len] = '\0';
	else if ((size_t)n < room)
		l->len += (size_t)n;
	else {
		l->len = sizeof(l->text) - 1;
		mend(l);
	}
}

void line_dot(struct line *l)
{
	if (l->len)
		line_add(l, " · ");
}

void line_comma(struct line *l)
{
	if (l->len)
		line_add(l, ", ");
}

void line_bytes(struct line *l, const struct bytes *b, int cells)
{
	char safe[LINE_MAX_BYTES];
	size_t len = b->len;

	if (!b->data) {
		line_add(l, "?");
		return;
	}
	if (len > sizeof(safe)) /* no more is made safe than can be shown */
		len = sizeof(safe);
	text_safe(safe, sizeof(safe) - 4, b->data, len, l->ascii);
	text_cut(safe, sizeof(safe), cells, l->ascii);
	line_add(l, "%s", safe);
}

void line_text(struct line *l, const char *s, int cells)
{
	struct bytes b = {(char *)s, strlen(s)}; /* only read from */

	line_bytes(l, &b, cells);
}
