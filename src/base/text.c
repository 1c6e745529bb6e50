#include "base/text.h"

#include "base/width_table.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ESCAPE_MAX 10 /* \U0010ffff */
#define ELLIPSIS "\xe2\x80\xa6"

/*
 * Length of the sequence that starts with b, 0 for none; the range of its
 * second byte is what excludes overlongs, surrogates and U+110000 upwards
 * (RFC 3629, section 4).
 */
static size_t sequence(unsigned char b, unsigned char *low, unsigned char *high)
{
	*low = b == 0xe0 ? 0xa0 : b == 0xf0 ? 0x90 : 0x80;
	*high = b == 0xed ? 0x9f : b == 0xf4 ? 0x8f : 0xbf;
	if (b >= 0xc2 && b <= 0xdf)
		return 2;
	if (b >= 0xe0 && b <= 0xef)
		return 3;
	if (b >= 0xf0 && b <= 0xf4)
		return 4;
	return 0;
}

/* Bytes at s that fit one sequence of n bytes; n where it is whole. */
static size_t matching(const unsigned char *s, size_t len, size_t n, unsigned char low,
		       unsigned char high)
{
	size_t i;

	for (i = 1; i < n && i < len; i++) {
		if (s[i] < low || s[i] > high)
			break;
		low = 0x80;
		high = 0xbf;
	}
	return i;
}

int text_decode(const char *s, size_t len, uint32_t *cp)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned char low, high;
	size_t n;

	if (len == 0)
		return 0;
	if (u[0] < 0x80) {
		*cp = u[0];
		return 1;
	}
	n = sequence(u[0], &low, &high);
	if (n == 0 || matching(u, len, n, low, high) < n)
		return 0;
	*cp = u[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		*cp = *cp << 6 | (u[i] & 0x3f);
	return (int)n;
}

size_t text_invalid_len(const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned char low, high;
	size_t n = sequence(u[0], &low, &high);

	return n ? matching(u, len, n, low, high) : 1;
}

int text_encode(uint32_t cp, char out[static 4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

/*
 * How many bytes from s on are printable ASCII, eight at a time: a byte below
 * 0x20 borrows, 0x7f carries, and one above has its top bit set already.
 */
static size_t plain_run(const char *s, size_t len)
{
	const uint64_t ones = 0x0101010101010101ULL;
	size_t n = 0;

	for (; len - n >= 8; n += 8) {
		uint64_t w;

		memcpy(&w, s + n, 8);
		if (((w - 0x20 * ones) | w | (w + ones)) & 0x80 * ones)
			break;
	}
	while (n < len && s[n] >= 0x20 && s[n] < 0x7f)
		n++;
	return n;
}

bool text_utf8_valid(const char *s, size_t len)
{
	uint32_t cp;

	for (size_t i = 0; i < len;) {
		size_t run = plain_run(s + i, len - i);
		int n;

		i += run;
		if (i == len)
			break;
		n = text_decode(s + i, len - i, &cp);
		if (n == 0)
			return false;
		i += (size_t)n;
	}
	return true;
}

int text_width_cp(uint32_t cp)
{
	size_t low = 0, high = width_table_len;

	if (cp >= 0x20 && cp < 0x7f)
		return 1;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cp < width_table[mid].first)
			high = mid;
		else if (cp > width_table[mid].last)
			low = mid + 1;
		else
			return width_table[mid].width;
	}
	return cp > 0x10ffff ? -1 : 1;
}

static size_t escape(uint32_t cp, char out[static ESCAPE_MAX + 1])
{
	static const char control[] = {['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

	if (cp < sizeof(control) && control[cp])
		return (size_t)snprintf(out, ESCAPE_MAX + 1, "\\%c", control[cp]);
	if (cp < 0xa0)
		return (size_t)snprintf(out, ESCAPE_MAX + 1, "\\x%02x", cp);
	return (size_t)snprintf(out, ESCAPE_MAX + 1, cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
}

/*
 * Makes safe the first character or invalid byte of s (len > 0): writes it to
 * out, its length to *wrote, and returns the bytes of s it stands for.
 * *marks: how many combining marks may still follow what went before.
 */
static size_t piece(const char *s, size_t len, bool ascii, int *marks,
		    char out[static ESCAPE_MAX + 1], size_t *wrote)
{
	uint32_t cp;
	int n = text_decode(s, len, &cp);
	int width;

	if (n == 0) {
		*marks = 0;
		*wrote = (size_t)snprintf(out, ESCAPE_MAX + 1, "\\x%02x", (unsigned char)*s);
		return 1;
	}
	width = text_width_cp(cp);
	if (width < 0 || (ascii && cp > 0x7e) || (width == 0 && *marks == 0)) {
		*marks = 0;
		*wrote = escape(cp, out);
		return (size_t)n;
	}
	*marks = width == 0 ? *marks - 1 : TEXT_COMBINING_MAX;
	memcpy(out, s, (size_t)n);
	*wrote = (size_t)n;
	return (size_t)n;
}

/* Writes to out where it is given; else only counts. */
static size_t make_safe(char *out, size_t room, const char *s, size_t len, bool ascii)
{
	size_t used = 0;
	int marks = 0;

	for (size_t i = 0; i < len;) {
		size_t run = plain_run(s + i, len - i), wrote, took;
		char buf[ESCAPE_MAX + 1];

		if (run) {
			wrote = run < room - used ? run : room - used;
			if (out)
				memcpy(out + used, s + i, wrote);
			used += wrote;
			if (wrote < run)
				break;
			i += run;
			/* On a blank a mark is drawn over nothing, or over what precedes. */
			marks = s[i - 1] == ' ' ? 0 : TEXT_COMBINING_MAX;
			continue;
		}
		took = piece(s + i, len - i, ascii, &marks, buf, &wrote);
		if (wrote > room - used)
			break;
		if (out)
			memcpy(out + used, buf, wrote);
		used += wrote;
		i += took;
	}
	return used;
}

size_t text_safe(char *out, size_t size, const char *s, size_t len, bool ascii)
{
	size_t used = make_safe(out, size - 1, s, len, ascii);

	out[used] = '\0';
	return used;
}

size_t text_safe_len(const char *s, size_t len, bool ascii)
{
	return make_safe(NULL, SIZE_MAX, s, len, ascii);
}

/* Cells of the first character of a safe string, and its length in bytes. */
static int step(const char *s, size_t len, size_t *n)
{
	uint32_t cp;
	int took = text_decode(s, len, &cp);
	int width;

	*n = took ? (size_t)took : 1;
	width = took ? text_width_cp(cp) : 1;
	return width < 0 ? 1 : width;
}

/*
 * How many bytes of s take at most limit cells, with the marks of the last
 * base; *cells: how many they do take.
 */
static size_t measure(const char *s, size_t len, int limit, int *cells)
{
	size_t i = 0;
	int used = 0;

	while (i < len) {
		size_t run = plain_run(s + i, len - i), n;
		int width;

		if (run > (size_t)(limit - used))
			run = (size_t)(limit - used);
		i += run;
		used += (int)run;
		if (i == len)
			break;
		width = step(s + i, len - i, &n);
		if (width > limit - used)
			break;
		used += width;
		i += n;
	}
	*cells = used;
	return i;
}

int text_cells(const char *safe)
{
	int cells;

	measure(safe, strlen(safe), INT_MAX, &cells);
	return cells;
}

/*
 * Replaces all between head and tail bytes of buf (len long) by before blanks,
 * an ellipsis and after blanks.  At least one character was between them, and
 * one of two cells for each blank.
 */
static void join(char *buf, size_t size, size_t len, size_t head, size_t tail, int before,
		 int after, bool ascii)
{
	size_t blanks = (size_t)before + (size_t)after;
	const char *mark = ELLIPSIS;
	char *to = buf + head;

	/* Where a short character was cut from a full buffer, "." still fits. */
	if (ascii || head + blanks + strlen(mark) + tail >= size)
		mark = ".";
	memmove(to + blanks + strlen(mark), buf + len - tail, tail);
	buf[head + blanks + strlen(mark) + tail] = '\0';
	memset(to, ' ', (size_t)before);
	memcpy(to + before, mark, strlen(mark));
	memset(to + (size_t)before + strlen(mark), ' ', (size_t)after);
}

void text_cut(char *buf, size_t size, int cells, bool ascii)
{
	size_t len = strlen(buf);
	int used;
	size_t head;

	if (text_cells(buf) <= cells)
		return;
	if (cells <= 0) {
		buf[0] = '\0';
		return;
	}
	head = measure(buf, len, cells - 1, &used);
	join(buf, size, len, head, 0, cells - 1 - used, 0, ascii);
}

void text_cut_middle(char *buf, size_t size, int cells, bool ascii)
{
	size_t len = strlen(buf), head, skip, n;
	int all = text_cells(buf);
	int head_cells = (cells - 1) / 2, tail_cells = cells - 1 - head_cells;
	int used, skipped;

	if (all <= cells)
		return;
	if (cells <= 0) {
		buf[0] = '\0';
		return;
	}
	head = measure(buf, len, head_cells, &used);
	skip = measure(buf, len, all - tail_cells, &skipped);
	if (skipped < all - tail_cells) {
		/* A wide character across the border goes too, with its marks. */
		skipped += step(buf + skip, len - skip, &n);
		skip += n;
		while (skip < len && step(buf + skip, len - skip, &n) == 0)
			skip += n;
	}
	join(buf, size, len, head, len - skip, head_cells - used, tail_cells - (all - skipped),
	     ascii);
}
