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

/* The text from a byte to another, coloured; len: where all of it ends. */
static void print_part(const struct line *l, size_t begin, size_t end, size_t len)
{
	for (unsigned i = 0; i < l->n; i++) {
		size_t from = piece_at(l, i, len), to = piece_at(l, i + 1, len);
		const char *look = l->color ? looks[l->pieces[i].role] : NULL;

		from = from < begin ? begin : from;
		to = to > end ? end : to;
		if (from >= to)
			continue;
		if (look)
			fputs(look, l->out);
		fwrite(l->text + from, 1, to - from, l->out);
		if (look)
			fputs("\033[0m", l->out);
	}
	putc('\n', l->out);
}

void line_end(struct line *l)
{
	size_t len = l->len;

	if (l->len && l->columns > 0) {
		text_cut(l->text, l->cap, l->columns, l->ascii);
		len = strlen(l->text);
	}
	print_part(l, 0, len, len);
	l->len = 0;
	l->n = 0;
}

/* --- folded ---------------------------------------------------------------- */

#define FOLD_ROOM 16 /* cells: with fewer beside it an indentation is not worth its width */

/* An escape of text_safe() stays in one piece: how many bytes it has, or 0. */
static size_t escape_len(const char *s, size_t len)
{
	static const struct {
		char letter;
		size_t digits;
	} kinds[] = {{'x', 2}, {'u', 4}, {'U', 8}, {'n', 0}, {'r', 0}, {'t', 0}};

	for (size_t i = 0; len > 1 && s[0] == '\\' && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = 2 + kinds[i].digits;

		if (s[1] == kinds[i].letter && n <= len &&
		    strspn(s + 2, "0123456789abcdef") >= kinds[i].digits)
			return n;
	}
	return 0;
}

/* What is not to be torn apart: an escape, or a character with its combining marks. */
static size_t unit_len(const char *s, size_t len, int *cells)
{
	size_t n = escape_len(s, len);
	uint32_t cp;
	int bytes;

	*cells = (int)n;
	if (n)
		return n;
	bytes = text_decode(s, len, &cp);
	*cells = bytes ? text_width_cp(cp) : 1;
	n = bytes ? (size_t)bytes : 1;
	while (n < len && (bytes = text_decode(s + n, len - n, &cp)) && text_width_cp(cp) == 0)
		n += (size_t)bytes;
	return n;
}

/* How many bytes of s fit into so many cells, at least one unit; up to a blank, if any. */
static size_t fitting(const char *s, size_t len, int cells)
{
	size_t at = 0, blank = 0;
	int used = 0, wide;

	while (at < len) {
		size_t n = unit_len(s + at, len - at, &wide);

		if (used + wide > cells)
			break;
		if (s[at] == ' ')
			blank = at;
		used += wide;
		at += n;
	}
	if (at == len || s[at] == ' ')
		return at;
	if (blank)
		return blank;
	if (at)
		return at;
	/* wider than all of the line: torn after all, an escape is ASCII */
	at = unit_len(s, len, &wide);
	return escape_len(s, len) ? (size_t)cells : at;
}

void line_end_folded(struct line *l, int hang)
{
	size_t at = 0;

	if (l->columns <= 0 || text_cells(l->len ? l->text : "") <= l->columns) {
		line_end(l);
		return;
	}
	if (l->columns - hang < FOLD_ROOM)
		hang = 0;
	while (at < l->len) {
		int indent = at ? hang : 0;
		size_t n = fitting(l->text + at, l->len - at, l->columns - indent);

		fprintf(l->out, "%*s", indent, "");
		print_part(l, at, at + n, l->len);
		at += n;
		while (at < l->len && l->text[at] == ' ')
			at++;
	}
	l->len = 0;
	l->n = 0;
}
