#include "tui/cell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What a cell takes at most as UTF-8. */
#define CELL_BYTES (4 * (1 + CELL_MARKS))

static const struct cell blank = {.cp = ' ', .width = 1};

static struct cell *cell(const struct grid *grid, int y, int x)
{
	return &grid->cells[(size_t)y * (size_t)grid->cols + (size_t)x];
}

int grid_resize(struct grid *grid, int rows, int cols, struct err *err)
{
	struct cell *cells;

	if (rows < 1)
		rows = 1;
	if (cols < 1)
		cols = 1;
	if (rows != grid->rows || cols != grid->cols) {
		cells = reallocarray(grid->cells, (size_t)rows * (size_t)cols, sizeof(*cells));
		if (!cells)
			return err_nomem(err);
		grid->cells = cells;
		grid->rows = rows;
		grid->cols = cols;
	}
	grid_clear(grid);
	return 0;
}

void grid_free(struct grid *grid)
{
	free(grid->cells);
	*grid = (struct grid){0};
}

void grid_clear(struct grid *grid)
{
	for (int i = 0; i < grid->rows * grid->cols; i++)
		grid->cells[i] = blank;
	grid->cursor_y = -1;
	grid->cursor_x = 0;
}

const struct cell *grid_at(const struct grid *grid, int y, int x)
{
	if (y < 0 || x < 0 || y >= grid->rows || x >= grid->cols)
		return NULL;
	return cell(grid, y, x);
}

/* Makes the cell blank, in the style it has. */
static void empty(struct cell *c)
{
	c->cp = ' ';
	memset(c->marks, 0, sizeof(c->marks));
	c->width = 1;
}

void grid_set(struct grid *grid, int y, int x, uint32_t cp, int width, enum style style)
{
	struct cell *c = cell(grid, y, x);
	int end = x + width;

	if (c->width == 0 && x > 0)
		empty(cell(grid, y, x - 1));
	if (end < grid->cols && cell(grid, y, end)->width == 0)
		empty(cell(grid, y, end));
	for (int i = x; i < end; i++) {
		c = cell(grid, y, i);
		empty(c);
		c->style = (uint8_t)style;
		c->selected = false;
	}
	c = cell(grid, y, x);
	c->cp = cp;
	c->width = (uint8_t)width;
	if (width == 2)
		c[1].width = 0;
}

void grid_mark(struct grid *grid, int y, int x, uint32_t mark)
{
	struct cell *c = cell(grid, y, x);

	for (int i = 0; i < CELL_MARKS; i++) {
		if (!c->marks[i]) {
			c->marks[i] = mark;
			return;
		}
	}
}

static size_t put_cell(char *out, const struct cell *c)
{
	char bytes[4];
	size_t n, used;

	if (c->width == 0)
		return 0;
	used = (size_t)text_encode(c->cp, bytes);
	memcpy(out, bytes, used);
	for (int i = 0; i < CELL_MARKS && c->marks[i]; i++) {
		n = (size_t)text_encode(c->marks[i], bytes);
		memcpy(out + used, bytes, n);
		used += n;
	}
	return used;
}

/* Blanks at the end of out[start, end) off, a newline on. */
static size_t end_line(char *out, size_t start, size_t end)
{
	while (end > start && out[end - 1] == ' ')
		end--;
	out[end++] = '\n';
	return end;
}

static char *to_text(const struct grid *grid, bool styled)
{
	size_t row = (size_t)grid->cols * (CELL_BYTES + 1) + 2;
	char *out = malloc((size_t)grid->rows * row + 1);
	size_t used = 0, start;

	if (!out)
		return NULL;
	for (int y = 0; y < grid->rows; y++) {
		start = used;
		for (int x = 0; x < grid->cols; x++)
			used += put_cell(out + used, cell(grid, y, x));
		used = end_line(out, start, used);
		if (!styled)
			continue;
		start = used;
		for (int x = 0; x < grid->cols; x++)
			out[used++] =
				style_letter(cell(grid, y, x)->style, cell(grid, y, x)->selected);
		used = end_line(out, start, used);
	}
	out[used] = '\0';
	return out;
}

char *grid_to_text(const struct grid *grid)
{
	return to_text(grid, false);
}

char *grid_to_styled_text(const struct grid *grid)
{
	return to_text(grid, true);
}
