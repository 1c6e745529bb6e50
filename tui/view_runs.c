/* The recorded runs, newest first. */
#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/runwords.h"

#define BAR_CELLS 10
#define COLS_FOR_BAR 90

static bool match(const void *ctx, size_t i, const struct query *q)
{
	const struct runlist *l = ctx;

	return runlist_match(&l->v[i], q);
}

static void fill(struct view *v)
{
	const struct runlist_item *was = v->runs_at[0] ? runlist_find(&v->runs, v->runs_at) : NULL;

	browse_fill(&v->runs_list, v->runs.n, was ? (size_t)(was - v->runs.v) : BROWSE_NONE, match,
		    &v->runs);
}

/* The run under the cursor, or NULL. */
static const struct runlist_item *chosen(const struct view *v)
{
	size_t i = browse_at(&v->runs_list);

	return i == BROWSE_NONE ? NULL : &v->runs.v[i];
}

/* Which it is is kept by its id: newer ones come above it. */
static void note_cursor(struct view *v)
{
	const struct runlist_item *item = chosen(v);

	snprintf(v->runs_at, sizeof(v->runs_at), "%s", item ? item->id : "");
}

void view_runs_loaded(struct view *v, struct runlist *runs)
{
	runlist_free(&v->runs);
	v->runs = *runs;
	memset(runs, 0, sizeof(*runs));
	v->runs_known = true;
	fill(v);
	note_cursor(v);
}

void view_runs_filter(struct view *v)
{
	fill(v);
	note_cursor(v);
}

void view_runs_find(struct view *v, int direction)
{
	if (!browse_find(&v->runs_list, direction, match, &v->runs))
		view_say(v, STYLE_WARNING, "no run matches '%s'", v->runs_list.find.text);
	note_cursor(v);
}

enum request view_open_runs(struct view *v)
{
	v->screen = SCREEN_RUNS;
	return REQUEST_RUNS;
}

static enum request open_one(struct view *v)
{
	const struct runlist_item *item = chosen(v);

	if (!item)
		return REQUEST_NONE;
	if (!item->readable) {
		view_say(v, STYLE_WARNING, "%s cannot be read: %s", item->id, item->why);
		return REQUEST_NONE;
	}
	if (!item->here) {
		view_say(v, STYLE_WARNING,
			 "%s is of another boot or PID namespace: E shows its events", item->id);
		return REQUEST_NONE;
	}
	note_cursor(v);
	return REQUEST_OPEN_RUN;
}

enum request view_runs_key(struct view *v, enum action a)
{
	const struct runlist_item *item;

	if (browse_action(&v->runs_list, a)) {
		v->runs_list.follow = false;
		note_cursor(v);
		return REQUEST_NONE;
	}
	item = chosen(v);
	switch (a) {
	case ACTION_OPEN:
		return open_one(v);
	case ACTION_EVENTS:
		return item ? view_open_events(v, item->id) : REQUEST_NONE;
	case ACTION_RUNS:
	case ACTION_BACK:
	case ACTION_CANCEL:
		v->screen = SCREEN_LIST;
		break;
	default:
		break;
	}
	return REQUEST_NONE;
}

/* --- drawing --------------------------------------------------------------- */

struct columns {
	int id, state, age, bar, alive, left, watched, command;
};

static struct columns lay_out(const struct view *v, int cols)
{
	struct columns c = {.id = 2};
	int id = 12;

	for (size_t i = 0; i < v->runs.n; i++) {
		int cells = (int)strlen(v->runs.v[i].id);

		id = cells > id ? cells : id;
	}
	c.state = c.id + (id > 24 ? 24 : id) + 1;
	c.age = c.state + 9;
	c.bar = cols >= COLS_FOR_BAR ? c.age + 8 : 0;
	c.alive = c.age + 8 + (c.bar ? BAR_CELLS + 1 : 0);
	c.left = c.alive + 6;
	c.watched = c.left + 5;
	c.command = c.watched + 8;
	return c;
}

static void draw_names(const struct columns *c, const struct area *a, int y)
{
	draw_text(a, y, c->id, STYLE_HEADER, "RUN");
	draw_text(a, y, c->state, STYLE_HEADER, "STATE");
	draw_right(a, y, c->age + 7, STYLE_HEADER, "AGE");
	if (c->bar)
		draw_text(a, y, c->bar, STYLE_HEADER, "DEADLINE");
	draw_text(a, y, c->alive, STYLE_HEADER, "ALIVE");
	draw_text(a, y, c->left, STYLE_HEADER, "LEFT");
	draw_text(a, y, c->watched, STYLE_HEADER, "WATCHED");
	draw_text(a, y, c->command, STYLE_HEADER, "COMMAND");
}

static void draw_count(const struct area *a, int y, int right, bool known, size_t n, enum style s)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", n);
	draw_right(a, y, right, known && n ? s : STYLE_DIM, known ? text : "?");
}

static void draw_item(const struct view *v, const struct columns *c, const struct area *a, int y,
		      const struct runlist_item *item)
{
	uint64_t now = v->k->now ? v->k->now->host.wall_ns : item->began_ns;
	char age[16] = "?";
	struct line l;
	int x;

	draw_cut(a, y, c->id, c->state - c->id - 1, STYLE_NORMAL, item->id);
	if (!item->readable) {
		x = draw_text(a, y, c->state, STYLE_SURVIVOR, "DAMAGED  ");
		draw_cut(a, y, x, a->cols - x - 1, STYLE_SURVIVOR, item->why);
		return;
	}
	draw_text(a, y, c->state, runwords_style(item->state), runwords_state(item->state));
	if (item->began_ns && now >= item->began_ns)
		clock_age((now - item->began_ns) / CLOCK_NS_PER_S, age);
	draw_right(a, y, c->age + 7, STYLE_NORMAL, age);
	if (c->bar) {
		line_start(&l, v->o.ascii);
		runwords_bar(&l, item->began_ns, item->deadline_ns, now, BAR_CELLS);
		draw_text(a, y, c->bar, item->state == RUN_ACTIVE ? STYLE_NORMAL : STYLE_DIM,
			  l.text);
	}
	draw_count(a, y, c->alive + 5, item->here, item->alive, STYLE_SURVIVOR);
	draw_count(a, y, c->left + 4, true, item->left, STYLE_SURVIVOR);
	draw_text(a, y, c->watched, STYLE_DIM, item->watched > 0 ? "yes" : "no");
	x = c->command;
	if (item->why[0]) {
		draw_cut(a, y, x, a->cols - x - 1, STYLE_SURVIVOR, item->why);
		return;
	}
	if (!item->here)
		x = draw_text(a, y, x, STYLE_WARNING, "not of this boot · ");
	draw_cut(a, y, x, a->cols - x - 1, STYLE_NORMAL, item->command);
}

static void draw_head(const struct view *v, const struct area *a)
{
	size_t alive = 0;

	if (v->runs.trouble[0]) {
		draw_cut(a, 1, 1, a->cols - 2, STYLE_WARNING, v->runs.trouble);
		return;
	}
	if (!v->runs_known) {
		draw_cut(a, 1, 1, a->cols - 2, STYLE_DIM, "reading the recorded runs …");
		return;
	}
	for (size_t i = 0; i < v->runs.n; i++)
		alive += v->runs.v[i].here && v->runs.v[i].alive;
	if (!v->runs.n)
		draw_cut(a, 1, 1, a->cols - 2, STYLE_NORMAL,
			 "nothing is recorded yet: r on a process, or stray adopt, records a run");
	else
		draw_format(a, 1, 1, alive ? STYLE_SURVIVOR : STYLE_GOOD,
			    "%zu of %zu with something alive", alive, v->runs.n);
}

void view_draw_runs(struct view *v, const struct area *a)
{
	struct columns c = lay_out(v, a->cols);
	struct browse *b = &v->runs_list;

	view_draw_title(v, a, "recorded runs, newest first", &b->filter);
	draw_head(v, a);
	if (v->runs.n)
		draw_names(&c, a, 3);
	v->list_y = 4;
	browse_lay_out(b, a->rows - v->list_y - 1);
	for (int y = 0; y < b->rows && b->top + (size_t)y < b->shown.n; y++) {
		size_t at = b->top + (size_t)y;

		if (at == b->cursor)
			draw_text(a, v->list_y + y, 0, STYLE_NORMAL, ">");
		draw_item(v, &c, a, v->list_y + y, &v->runs.v[b->shown.v[at]]);
		if (at == b->cursor)
			draw_select(a, v->list_y + y);
	}
}
