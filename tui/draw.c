#include "tui/draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define FORMAT_MAX 1024

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int min(int a, int b)
{
	return a < b ? a : b;
}

/* Stand-ins of one cell for what the screens' own text is drawn with. */
static const struct {
	uint32_t cp;
	char ascii;
} stand_ins[] = {
	{0x00b7, '|'}, /* · between facts */
	{0x00d7, 'x'}, /* × */
	{0x00b5, 'u'}, /* µ */
	{0x2013, '-'}, /* – */
	{0x2014, '-'}, /* — */
	{0x2026, '.'}, /* … */
	{0x2190, '<'}, /* ← */
	{0x2191, '^'}, /* ↑ */
	{0x2192, '>'}, /* → */
	{0x2193, 'v'}, /* ↓ */
	{0x21c4, '@'}, /* ⇄ connected to */
	{0x2500, '-'}, /* ─ */
	{0x2502, '|'}, /* │ */
	{0x250c, '+'}, /* ┌ */
	{0x2510, '+'}, /* ┐ */
	{0x2514, '`'}, /* └ a branch of a tree; a frame draws its own corner */
	{0x2518, '+'}, /* ┘ */
	{0x251c, '|'}, /* ├ */
	{0x2524, '|'}, /* ┤ */
	{0x252c, '+'}, /* ┬ */
	{0x2534, '+'}, /* ┴ */
	{0x253c, '+'}, /* ┼ */
	{0x2588, '#'}, /* █ a bar, full */
	{0x2591, '.'}, /* ░ a bar, empty */
	{0x25b8, '+'}, /* ▸ folded */
	{0x25be, '-'}, /* ▾ unfolded */
	{0x25cf, '*'}, /* ● */
};

static uint32_t to_ascii(uint32_t cp)
{
	if (cp < 0x7f)
		return cp;
	for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++) {
		if (stand_ins[i].cp == cp)
			return (uint32_t)stand_ins[i].ascii;
	}
	return '?';
}

struct area draw_whole(struct grid *grid)
{
	return (struct area){
		.grid = grid,
		.rows = grid->rows,
		.cols = grid->cols,
		.bottom = grid->rows,
		.right = grid->cols,
	};
}

struct area draw_part(const struct area *area, int y, int x, int rows, int cols)
{
	struct area part = {
		.grid = area->grid,
		.y = area->y + y,
		.x = area->x + x,
		.rows = max(rows, 0),
		.cols = max(cols, 0),
	};

	part.top = max(area->top, part.y);
	part.left = max(area->left, part.x);
	part.bottom = min(area->bottom, part.y + part.rows);
	part.right = min(area->right, part.x + part.cols);
	return part;
}

static bool visible(const struct area *area, int y, int x)
{
	return y >= area->top && y < area->bottom && x >= area->left && x < area->right;
}

/* One character at a place in the grid, clipped. */
static void put(const struct area *area, int y, int x, uint32_t cp, int width, enum style style)
{
	bool first = visible(area, y, x);
	bool second = width == 2 && visible(area, y, x + 1);

	if (first && (width == 1 || second))
		grid_set(area->grid, y, x, cp, width, style);
	else if (first)
		grid_set(area->grid, y, x, ' ', 1, style);
	else if (second)
		grid_set(area->grid, y, x + 1, ' ', 1, style);
}

/*
 * The next character of a string, fit for the grid: what must not be shown is
 * '?'.  0 at the end.
 */
static int next(const struct area *area, const char **s, size_t *left, uint32_t *cp)
{
	int len = text_decode(*s, *left, cp);
	int width;

	if (len == 0) {
		len = 1;
		*cp = '?';
	}
	*s += len;
	*left -= (size_t)len;
	if (area->grid->ascii)
		*cp = to_ascii(*cp);
	width = text_width_cp(*cp);
	if (width < 0) {
		*cp = '?';
		width = 1;
	}
	return width;
}

int draw_text(const struct area *area, int y, int x, enum style style, const char *safe)
{
	size_t left = strlen(safe);
	int base = -1; /* where the last character was drawn whole */
	int row = area->y + y, col = area->x + x;

	while (left > 0) {
		uint32_t cp;
		int width = next(area, &safe, &left, &cp);

		if (width == 0) {
			if (base >= 0)
				grid_mark(area->grid, row, base, cp);
			continue;
		}
		put(area, row, col, cp, width, style);
		base = visible(area, row, col) && visible(area, row, col + width - 1) ? col : -1;
		col += width;
	}
	return col - area->x;
}

int draw_format(const struct area *area, int y, int x, enum style style, const char *fmt, ...)
{
	char text[FORMAT_MAX];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	return draw_text(area, y, x, style, text);
}

int draw_right(const struct area *area, int y, int right, enum style style, const char *safe)
{
	int x = right - text_cells(safe);

	draw_text(area, y, x, style, safe);
	return x;
}

int draw_cut(const struct area *area, int y, int x, int cols, enum style style, const char *safe)
{
	struct area part;

	if (cols < 1)
		return x;
	if (text_cells(safe) <= cols)
		return draw_text(area, y, x, style, safe);
	part = draw_part(area, y, x, 1, cols - 1);
	draw_text(&part, 0, 0, style, safe);
	return draw_text(area, y, x + cols - 1, style, "…");
}

void draw_fill(const struct area *area, int y, int x, int rows, int cols, enum style style,
	       uint32_t cp)
{
	struct area part = draw_part(area, y, x, rows, cols);

	if (area->grid->ascii)
		cp = to_ascii(cp);
	for (int row = part.top; row < part.bottom; row++) {
		for (int col = part.left; col < part.right; col++)
			grid_set(area->grid, row, col, cp, 1, style);
	}
}

void draw_hline(const struct area *area, int y, int x, int cols, enum style style)
{
	draw_fill(area, y, x, 1, cols, style, 0x2500);
}

void draw_vline(const struct area *area, int y, int x, int rows, enum style style)
{
	draw_fill(area, y, x, rows, 1, style, 0x2502);
}

static void corner(const struct area *area, int y, int x, enum style style, uint32_t cp)
{
	draw_fill(area, y, x, 1, 1, style, area->grid->ascii ? '+' : cp);
}

void draw_box(const struct area *area, enum style frame, enum style title_style, const char *title)
{
	int bottom = area->rows - 1, right = area->cols - 1;
	int end;

	if (bottom < 1 || right < 1)
		return;
	draw_hline(area, 0, 1, right - 1, frame);
	draw_hline(area, bottom, 1, right - 1, frame);
	draw_vline(area, 1, 0, bottom - 1, frame);
	draw_vline(area, 1, right, bottom - 1, frame);
	corner(area, 0, 0, frame, 0x250c);
	corner(area, 0, right, frame, 0x2510);
	corner(area, bottom, 0, frame, 0x2514);
	corner(area, bottom, right, frame, 0x2518);
	if (!title || right < 6)
		return;
	/* At least one cell of the side stays on either end. */
	draw_text(area, 0, 2, frame, " ");
	end = draw_cut(area, 0, 3, right - 5, title_style, title);
	draw_text(area, 0, end, frame, " ");
}

void draw_select(const struct area *area, int y)
{
	int row = area->y + y;

	if (row < area->top || row >= area->bottom)
		return;
	for (int col = area->left; col < area->right; col++)
		area->grid->cells[row * area->grid->cols + col].selected = true;
}

void draw_restyle(const struct area *area, int y, int x, int cols, enum style style)
{
	struct area part = draw_part(area, y, x, 1, cols);

	for (int row = part.top; row < part.bottom; row++) {
		for (int col = part.left; col < part.right; col++)
			area->grid->cells[row * area->grid->cols + col].style = (uint8_t)style;
	}
}

void draw_cursor(const struct area *area, int y, int x)
{
	if (!visible(area, area->y + y, area->x + x))
		return;
	area->grid->cursor_y = area->y + y;
	area->grid->cursor_x = area->x + x;
}
