#include "tui/menu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

#define WIDTH_MAX 78

void menu_open(struct menu *m, const char *title, const char *hint)
{
	menu_close(m);
	m->open = true;
	snprintf(m->title, sizeof(m->title), "%s", title);
	snprintf(m->hint, sizeof(m->hint), "%s", hint);
}

void menu_close(struct menu *m)
{
	for (size_t i = 0; i < m->items.n; i++)
		free(m->items.v[i].value);
	free(m->items.v);
	memset(m, 0, sizeof(*m));
}

bool menu_add(struct menu *m, const char *text, const char *right, const char *value, int number)
{
	struct menu_item item = {.number = number};

	snprintf(item.text, sizeof(item.text), "%s", text);
	snprintf(item.right, sizeof(item.right), "%s", right ? right : "");
	if (value) {
		item.value = strdup(value);
		if (!item.value)
			return false;
	}
	if (VEC_PUSH(&m->items, item))
		return true;
	free(item.value);
	return false;
}

static void move(struct menu *m, long by)
{
	long to = (long)m->cursor + by;

	if (to >= (long)m->items.n)
		to = (long)m->items.n - 1;
	m->cursor = to < 0 ? 0 : (size_t)to;
}

enum menu_result menu_input(struct menu *m, const struct input *in)
{
	if (in->kind != INPUT_KEY)
		return MENU_STAYS;
	switch (in->key) {
	case INPUT_UP:
	case 'k':
		move(m, -1);
		return MENU_STAYS;
	case INPUT_DOWN:
	case 'j':
		move(m, 1);
		return MENU_STAYS;
	case INPUT_PGUP:
		move(m, -10);
		return MENU_STAYS;
	case INPUT_PGDN:
		move(m, 10);
		return MENU_STAYS;
	case INPUT_HOME:
	case 'g':
		m->cursor = 0;
		return MENU_STAYS;
	case INPUT_END_KEY:
	case 'G':
		move(m, (long)m->items.n);
		return MENU_STAYS;
	case INPUT_ENTER:
		return m->items.n ? MENU_CHOSEN : MENU_CLOSED;
	case INPUT_ESC:
	case INPUT_CTRL('C'):
	case 'q':
	case INPUT_F(10):
		return MENU_CLOSED;
	default:
		return MENU_STAYS;
	}
}

static int width_wanted(const struct menu *m)
{
	int most = text_cells(m->title) + 6, hint = text_cells(m->hint) + 4;

	if (hint > most)
		most = hint;
	for (size_t i = 0; i < m->items.n; i++) {
		int w = text_cells(m->items.v[i].text) + text_cells(m->items.v[i].right) + 7;

		if (w > most)
			most = w;
	}
	return most < WIDTH_MAX ? most : WIDTH_MAX;
}

static void draw_item(const struct menu *m, const struct area *box, size_t i, int y)
{
	const struct menu_item *item = &m->items.v[i];
	struct area inner = draw_part(box, y, 1, 1, box->cols - 2);
	int right = inner.cols - 1;

	draw_fill(&inner, 0, 0, 1, inner.cols, STYLE_NORMAL, ' ');
	draw_text(&inner, 0, 0, STYLE_KEY, i == m->cursor ? ">" : " ");
	if (item->right[0])
		right = draw_right(&inner, 0, right, STYLE_DIM, item->right) - 2;
	draw_cut(&inner, 0, 2, right - 2, STYLE_NORMAL, item->text);
	if (i == m->cursor)
		draw_select(&inner, 0);
}

void menu_draw(struct menu *m, const struct area *screen)
{
	int cols = width_wanted(m), rows = (int)m->items.n + (m->hint[0] ? 4 : 2), shown;
	struct area box;

	if (cols > screen->cols)
		cols = screen->cols;
	if (rows > screen->rows - 2)
		rows = screen->rows - 2;
	shown = rows - (m->hint[0] ? 4 : 2);
	if (shown < 1)
		shown = 1;
	if (m->cursor < m->top)
		m->top = m->cursor;
	if (m->cursor >= m->top + (size_t)shown)
		m->top = m->cursor - (size_t)shown + 1;
	box = draw_part(screen, (screen->rows - rows) / 2, (screen->cols - cols) / 2, rows, cols);
	draw_fill(&box, 0, 0, rows, cols, STYLE_NORMAL, ' ');
	draw_box(&box, STYLE_HEADER, STYLE_KEY, m->title);
	for (int y = 0; y < shown && m->top + (size_t)y < m->items.n; y++)
		draw_item(m, &box, m->top + (size_t)y, y + 1);
	if (m->hint[0])
		draw_cut(&box, rows - 2, 2, cols - 4, STYLE_DIM, m->hint);
}
