#include "tui/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"

#define LABEL_CELLS 12
#define FOLD_MIN 16 /* cells: with less room a line is cut, and scrolled sideways */

static void drop_lines(struct page *p)
{
	for (size_t i = 0; i < p->lines.n; i++)
		free(p->lines.v[i].text);
	p->lines.n = 0;
}

void page_start(struct page *p, const char *title)
{
	char safe[sizeof(p->title)];

	drop_lines(p);
	text_safe(safe, sizeof(safe), title, strlen(title), false);
	if (strcmp(p->title, safe) == 0)
		return;
	p->top = 0;
	p->sideways = 0;
	memcpy(p->title, safe, sizeof(safe));
}

void page_free(struct page *p)
{
	drop_lines(p);
	free(p->lines.v);
	memset(p, 0, sizeof(*p));
}

static void add(struct page *p, enum style style, int label, char *text)
{
	struct page_line line = {.text = text, .style = style, .label = label};

	if (text && !VEC_PUSH(&p->lines, line))
		free(text);
}

void page_add(struct page *p, enum style style, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	add(p, style, 0, text);
}

/* Where a line that has room for so many cells ends: at the last blank, else within a word. */
static size_t break_at(const char *text, int cells)
{
	size_t at = 0, blank = 0, len = strlen(text), lead = strspn(text, " ");
	int used = 0;

	while (at < len) {
		uint32_t cp;
		int n = text_decode(text + at, len - at, &cp), wide = n ? text_width_cp(cp) : 1;

		if (used + wide > cells)
			break;
		if (text[at] == ' ' && at > lead)
			blank = at;
		used += wide;
		at += n ? (size_t)n : 1;
	}
	return at == len || !blank || text[at] == ' ' ? at : blank;
}

/* One fact over as many lines as it needs; what goes on is indented as it began. */
static void add_folded(struct page *p, const char *label, enum style style, const char *value)
{
	int room = p->cols - LABEL_CELLS, indent = (int)strspn(value, " ");
	char *text;

	if (p->cols == 0 || room - indent < FOLD_MIN)
		room = text_cells(value);
	for (const char *at = value; *at || at == value;) {
		int in = at == value ? 0 : indent;
		size_t n = break_at(at, room - in);

		if (asprintf(&text, "%-*s%*s%.*s", LABEL_CELLS, at == value ? label : "", in, "",
			     (int)n, at) < 0)
			return;
		add(p, style, LABEL_CELLS, text);
		if (!at[n])
			return;
		at += n;
		at += strspn(at, " ");
	}
}

void page_fact(struct page *p, const char *label, enum style style, const char *fmt, ...)
{
	char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0)
		value = NULL;
	va_end(ap);
	if (value)
		add_folded(p, label, style, value);
	free(value);
}

void page_right(struct page *p, int cell, enum style style)
{
	if (!p->lines.n)
		return;
	p->lines.v[p->lines.n - 1].right = cell;
	p->lines.v[p->lines.n - 1].right_style = style;
}

void page_gap(struct page *p)
{
	add(p, STYLE_NORMAL, 0, strdup(""));
}

static void scroll(struct page *p, long by)
{
	long most = (long)p->lines.n - p->shown, to = (long)p->top + by;

	if (to > most)
		to = most;
	p->top = to < 0 ? 0 : (size_t)to;
}

bool page_action(struct page *p, enum action a)
{
	int page = p->shown > 1 ? p->shown - 1 : 1;

	switch (a) {
	case ACTION_UP:
		scroll(p, -1);
		return true;
	case ACTION_DOWN:
		scroll(p, 1);
		return true;
	case ACTION_PAGE_UP:
		scroll(p, -page);
		return true;
	case ACTION_PAGE_DOWN:
		scroll(p, page);
		return true;
	case ACTION_HALF_UP:
		scroll(p, -page / 2);
		return true;
	case ACTION_HALF_DOWN:
		scroll(p, page / 2);
		return true;
	case ACTION_TOP:
		p->top = 0;
		return true;
	case ACTION_BOTTOM:
		scroll(p, (long)p->lines.n);
		return true;
	case ACTION_SCROLL_LEFT:
		p->sideways = p->sideways > 8 ? p->sideways - 8 : 0;
		return true;
	case ACTION_SCROLL_RIGHT:
		p->sideways += 8;
		return true;
	default:
		return false;
	}
}

void page_draw(struct page *p, const struct area *area)
{
	p->shown = area->rows;
	scroll(p, 0);
	for (int y = 0; y < area->rows && p->top + (size_t)y < p->lines.n; y++) {
		const struct page_line *l = &p->lines.v[p->top + (size_t)y];

		if (p->sideways == 0)
			draw_cut(area, y, 0, area->cols, l->style, l->text);
		else
			draw_text(area, y, -p->sideways, l->style, l->text);
		if (l->right > p->sideways)
			draw_restyle(area, y, l->right - p->sideways, area->cols, l->right_style);
		if (l->label > p->sideways)
			draw_restyle(area, y, 0, l->label - p->sideways, STYLE_HEADER);
	}
	if (p->top + (size_t)area->rows < p->lines.n && area->rows > 1)
		draw_right(area, area->rows - 1, area->cols, STYLE_DIM, " more ↓");
}
