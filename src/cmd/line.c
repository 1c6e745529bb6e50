#include "cmd/line.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS_ROOM 8 /* what text_cut() may put behind, and the NUL */
#define BYTES_A_CELL 4  /* of UTF-8: the longest that fills one */

void line_init(struct line *l, FILE *out, int columns, bool color, bool ascii)
{
	*l = (struct line){.out = out, .columns = columns, .color = color, .ascii = ascii};
}

void line_free(struct line *l)
{
	free(l->text);
	l->text = NULL;
	l->len = l->cap = 0;
}

/* Room for n bytes more, and for an ellipsis. */
static bool reserve(struct line *l, size_t n)
{
	size_t want = l->len + n + ELLIPSIS_ROOM;
	char *grown;

	if (want <= l->cap)
		return true;
	grown = realloc(l->text, want * 2);
	if (!grown) {
		l->failed = true;
		return false;
	}
	l->text = grown;
	l->cap = want * 2;
	return true;
}

static void begin_piece(struct line *l, enum role role)
{
	if (l->n && (l->n == LINE_PIECES_MAX || l->pieces[l->n - 1].role == role))
		return;
	l->pieces[l->n].at = l->len;
	l->pieces[l->n++].role = role;
}

void line_put(struct line *l, enum role role, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n <= 0 || !reserve(l, (size_t)n))
		return;
	begin_piece(l, role);
	va_start(ap, fmt);
	vsnprintf(l->text + l->len, l->cap - l->len, fmt, ap);
	va_end(ap);
	l->len += (size_t)n;
}

void line_safe(struct line *l, enum role role, const char *data, size_t len)
{
	size_t most = l->columns > 0 ? ((size_t)l->columns + 1) * BYTES_A_CELL : len;

	if (len > most) /* an argument may be megabytes long */
		len = most;
	if (!len || !reserve(l, text_safe_len(data, len, l->ascii)))
		return;
	begin_piece(l, role);
	text_safe(l->text + l->len, l->cap - l->len, data, len, l->ascii);
	l->len += strlen(l->text + l->len);
}

/* As the live view's eight colours, so that both speak alike. */
static const char *const looks[ROLE_COUNT] = {
	[ROLE_HEAD] = "\033[36m",       [ROLE_SUSPECT] = "\033[33m",
	[ROLE_SURVIVOR] = "\033[1;31m", [ROLE_AUTHORITY] = "\033[1;33m",
	[ROLE_GOOD] = "\033[32m",       [ROLE_DIM] = "\033[2m",
};

/* Where a piece begins after the cut: an ellipsis has bytes of its own, and is not split. */
static size_t piece_at(const struct line *l, unsigned i, size_t len)
{
	size_t at = i < l->n && l->pieces[i].at < len ? l->pieces[i].at : len;

	while (at < len && ((unsigned char)l->text[at] & 0xC0) == 0x80)
		at++;
	return at;
}

void line_end(struct line *l)
{
	size_t len = l->len;

	if (l->len && l->columns > 0) {
		text_cut(l->text, l->cap, l->columns, l->ascii);
		len = strlen(l->text);
	}
	for (unsigned i = 0; i < l->n; i++) {
		size_t from = piece_at(l, i, len), to = piece_at(l, i + 1, len);
		const char *look = l->color ? looks[l->pieces[i].role] : NULL;

		if (from >= to)
			continue;
		if (look)
			fputs(look, l->out);
		fwrite(l->text + from, 1, to - from, l->out);
		if (look)
			fputs("\033[0m", l->out);
	}
	putc('\n', l->out);
	l->len = 0;
	l->n = 0;
}
