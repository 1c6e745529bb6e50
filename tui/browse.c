#include "tui/browse.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void browse_free(struct browse *b)
{
	free(b->shown.v);
	query_free(&b->find);
	query_free(&b->filter);
	memset(b, 0, sizeof(*b));
}

void browse_fill(struct browse *b, size_t n, size_t keep, browse_match_fn *fn, const void *ctx)
{
	size_t at = BROWSE_NONE;

	b->shown.n = 0;
	for (size_t i = 0; i < n; i++) {
		if (b->filter.kind != QUERY_NONE && !fn(ctx, i, &b->filter))
			continue;
		if (i == keep)
			at = b->shown.n;
		if (!VEC_PUSH(&b->shown, i))
			break; /* what cannot be for want of memory is left off */
	}
	if (b->follow && b->shown.n)
		b->cursor = b->shown.n - 1;
	else if (at != BROWSE_NONE)
		b->cursor = at;
	else if (b->cursor >= b->shown.n)
		b->cursor = b->shown.n ? b->shown.n - 1 : 0;
}

size_t browse_at(const struct browse *b)
{
	return b->cursor < b->shown.n ? b->shown.v[b->cursor] : BROWSE_NONE;
}

static void move(struct browse *b, long by)
{
	long last = b->shown.n ? (long)b->shown.n - 1 : 0, to = (long)b->cursor + by;

	b->cursor = to < 0 ? 0 : to > last ? (size_t)last : (size_t)to;
	b->follow = b->cursor == (size_t)last;
}

bool browse_action(struct browse *b, enum action a)
{
	int page = b->rows > 1 ? b->rows - 1 : 1;

	switch (a) {
	case ACTION_UP:
		move(b, -1);
		return true;
	case ACTION_DOWN:
		move(b, 1);
		return true;
	case ACTION_PAGE_UP:
		move(b, -page);
		return true;
	case ACTION_PAGE_DOWN:
		move(b, page);
		return true;
	case ACTION_HALF_UP:
		move(b, -(page + 1) / 2);
		return true;
	case ACTION_HALF_DOWN:
		move(b, (page + 1) / 2);
		return true;
	case ACTION_TOP:
		move(b, -(long)b->shown.n);
		return true;
	case ACTION_BOTTOM:
		move(b, (long)b->shown.n);
		return true;
	default:
		return false;
	}
}

bool browse_find(struct browse *b, int direction, browse_match_fn *fn, const void *ctx)
{
	size_t n = b->shown.n;

	for (size_t i = direction ? 1 : 0; i <= n && n; i++) {
		size_t at = (b->cursor + (direction < 0 ? n - i % n : i)) % n;

		if (!fn(ctx, b->shown.v[at], &b->find))
			continue;
		b->cursor = at;
		b->follow = at == n - 1;
		return true;
	}
	return false;
}

void browse_lay_out(struct browse *b, int rows)
{
	size_t room = rows > 0 ? (size_t)rows : 1;

	b->rows = rows;
	if (b->cursor < b->top)
		b->top = b->cursor;
	if (b->cursor >= b->top + room)
		b->top = b->cursor - room + 1;
	if (b->top + room > b->shown.n)
		b->top = b->shown.n > room ? b->shown.n - room : 0;
}

void browse_click(struct browse *b, int row)
{
	if (row >= 0 && row < b->rows && b->top + (size_t)row < b->shown.n)
		move(b, (long)(b->top + (size_t)row) - (long)b->cursor);
}

bool browse_text(const struct query *q, const char *text)
{
	return q->kind == QUERY_NONE || strcasestr(text, q->text) != NULL;
}
