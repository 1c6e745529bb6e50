#include "tui/lineedit.h"

#include <string.h>

#include "base/text.h"

/* Where the character at at ends, with its marks. */
static size_t after(const struct lineedit *ed, size_t at)
{
	uint32_t cp;
	size_t end = at;

	while (end < ed->len) {
		int len = text_decode(ed->text + end, ed->len - end, &cp);

		if (end > at && text_width_cp(cp) != 0)
			break;
		end += len > 0 ? (size_t)len : 1;
	}
	return end;
}

/* Where the character that ends at at begins. */
static size_t before(const struct lineedit *ed, size_t at)
{
	size_t start = 0, end;

	while (start < at) {
		end = after(ed, start);
		if (end >= at)
			break;
		start = end;
	}
	return start;
}

/* Takes bytes [from, to) out; the cursor goes to from. */
static enum lineedit_result cut(struct lineedit *ed, size_t from, size_t to)
{
	if (from == to)
		return LINEEDIT_MOVED;
	memmove(ed->text + from, ed->text + to, ed->len - to + 1);
	ed->len -= to - from;
	ed->at = from;
	return LINEEDIT_CHANGED;
}

static enum lineedit_result move(struct lineedit *ed, size_t at)
{
	ed->at = at;
	return LINEEDIT_MOVED;
}

static size_t word_before(const struct lineedit *ed)
{
	size_t at = ed->at;

	while (at > 0 && ed->text[at - 1] == ' ')
		at--;
	while (at > 0 && ed->text[at - 1] != ' ')
		at--;
	return at;
}

static bool takes(const struct lineedit *ed, uint32_t cp)
{
	if (ed->digits_only)
		return cp >= '0' && cp <= '9';
	return cp >= ' ' && text_width_cp(cp) >= 0;
}

static bool insert(struct lineedit *ed, uint32_t cp)
{
	char bytes[4];
	size_t len;

	if (!takes(ed, cp))
		return false;
	len = (size_t)text_encode(cp, bytes);
	if (ed->len + len >= sizeof(ed->text))
		return false;
	memmove(ed->text + ed->at + len, ed->text + ed->at, ed->len - ed->at + 1);
	memcpy(ed->text + ed->at, bytes, len);
	ed->len += len;
	ed->at += len;
	return true;
}

static bool insert_text(struct lineedit *ed, const char *text)
{
	size_t left = strlen(text);
	bool any = false;
	uint32_t cp;

	while (left > 0) {
		int len = text_decode(text, left, &cp);

		if (len == 0)
			break;
		any |= insert(ed, cp);
		text += len;
		left -= (size_t)len;
	}
	return any;
}

void lineedit_set(struct lineedit *ed, const char *text)
{
	ed->len = ed->at = 0;
	ed->text[0] = '\0';
	insert_text(ed, text);
}

static enum lineedit_result backspace(struct lineedit *ed)
{
	if (ed->len == 0)
		return LINEEDIT_CANCEL;
	return cut(ed, before(ed, ed->at), ed->at);
}

static enum lineedit_result edit_key(struct lineedit *ed, uint32_t key)
{
	switch (key) {
	case INPUT_ENTER:
		return LINEEDIT_DONE;
	case INPUT_ESC:
	case INPUT_CTRL('C'):
		return LINEEDIT_CANCEL;
	case INPUT_BACKSPACE:
	case INPUT_CTRL('H'):
		return backspace(ed);
	case INPUT_DEL:
	case INPUT_CTRL('D'):
		return cut(ed, ed->at, after(ed, ed->at));
	case INPUT_CTRL('U'):
		return cut(ed, 0, ed->at);
	case INPUT_CTRL('W'):
		return cut(ed, word_before(ed), ed->at);
	case INPUT_CTRL('K'):
		return cut(ed, ed->at, ed->len);
	case INPUT_LEFT:
	case INPUT_CTRL('B'):
		return move(ed, before(ed, ed->at));
	case INPUT_RIGHT:
	case INPUT_CTRL('F'):
		return move(ed, after(ed, ed->at));
	case INPUT_HOME:
	case INPUT_CTRL('A'):
		return move(ed, 0);
	case INPUT_END_KEY:
	case INPUT_CTRL('E'):
		return move(ed, ed->len);
	default:
		return LINEEDIT_IGNORED;
	}
}

enum lineedit_result lineedit_input(struct lineedit *ed, const struct input *in)
{
	if (in->kind == INPUT_PASTE) {
		if (ed->digits_only)
			return LINEEDIT_MOVED;
		return insert_text(ed, in->text) ? LINEEDIT_CHANGED : LINEEDIT_MOVED;
	}
	if (in->kind != INPUT_KEY)
		return LINEEDIT_IGNORED;
	if (input_types(in))
		return insert(ed, in->key) ? LINEEDIT_CHANGED : LINEEDIT_MOVED;
	return edit_key(ed, in->key);
}

/* Cells before the cursor. */
static int cells_before(const struct lineedit *ed)
{
	char head[LINEEDIT_MAX];

	memcpy(head, ed->text, ed->at);
	head[ed->at] = '\0';
	return text_cells(head);
}

void lineedit_draw(const struct lineedit *ed, const struct area *area, int y, int x, int cols)
{
	struct area field = draw_part(area, y, x, 1, cols);
	int cursor = cells_before(ed);
	int scroll = cursor < cols ? 0 : cursor - cols + 1;

	draw_fill(&field, 0, 0, 1, cols, STYLE_INPUT, ' ');
	draw_text(&field, 0, -scroll, STYLE_INPUT, ed->text);
	draw_cursor(&field, 0, cursor - scroll);
}
