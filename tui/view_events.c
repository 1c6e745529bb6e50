/* The journal of a run as it grows; notes. */
#include "tui/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/facts.h"

static bool match(const void *ctx, size_t i, const struct query *q)
{
	const struct events *e = ctx;

	return events_match(&e->v[i], q);
}

/* Where the event of that number stands now; older ones may have been left off. */
static size_t find_seq(const struct view *v, uint64_t seq)
{
	for (size_t i = v->events.n; i-- > 0;)
		if (v->events.v[i].seq == seq)
			return i;
	return BROWSE_NONE;
}

static const struct event_line *chosen(const struct view *v)
{
	size_t i = browse_at(&v->events_list);

	return i == BROWSE_NONE ? NULL : &v->events.v[i];
}

static void note_cursor(struct view *v)
{
	const struct event_line *e = chosen(v);

	v->events_at = e ? e->seq : 0;
}

static void fill(struct view *v)
{
	browse_fill(&v->events_list, v->events.n, find_seq(v, v->events_at), match, &v->events);
	note_cursor(v);
}

void view_events_loaded(struct view *v, struct events *events, const char *trouble)
{
	events_free(&v->events);
	v->events = *events;
	memset(events, 0, sizeof(*events));
	v->events_known = true;
	text_safe(v->events_trouble, sizeof(v->events_trouble), trouble, strlen(trouble),
		  v->o.ascii);
	fill(v);
}

void view_events_filter(struct view *v)
{
	fill(v);
}

void view_events_find(struct view *v, int direction)
{
	if (!browse_find(&v->events_list, direction, match, &v->events))
		view_say(v, STYLE_WARNING, "no event matches '%s'", v->events_list.find.text);
	note_cursor(v);
}

enum request view_open_events(struct view *v, const char *id)
{
	if (!id) {
		view_say(v, STYLE_WARNING,
			 "no recorded run is in view: r adopts one, R lists those there are");
		return REQUEST_NONE;
	}
	if (strcmp(v->events_of, id) != 0) {
		events_free(&v->events);
		browse_free(&v->events_list);
		v->events_known = false;
		v->events_trouble[0] = '\0';
		v->events_at = 0;
		snprintf(v->events_of, sizeof(v->events_of), "%s", id);
	}
	v->events_list.follow = true;
	v->events_back = v->screen;
	v->screen = SCREEN_EVENTS;
	fill(v);
	return REQUEST_EVENTS;
}

/* --- notes ----------------------------------------------------------------- */

static bool is_member(const struct view *v, struct identity id)
{
	return identity_known(id) && story_member(&v->vigil->recorded.story, id);
}

enum request view_open_note(struct view *v)
{
	const struct process *p = v->screen == SCREEN_LIST ? view_process(v) : NULL;
	const struct event_line *e = v->screen == SCREEN_EVENTS ? chosen(v) : NULL;
	struct identity id = p ? p->id : e ? e->process : (struct identity){0};
	struct line l;

	if (!v->vigil || (e && strcmp(v->events_of, v->vigil->recorded.dir.id) != 0)) {
		view_say(v, STYLE_WARNING,
			 "a note goes to the journal of the recorded run in view: %s",
			 v->vigil ? "this is another's" : "r adopts one");
		return REQUEST_NONE;
	}
	if (!v->vigil->writes) {
		view_say(v, STYLE_WARNING, "no notes: nothing is written from here");
		return REQUEST_NONE;
	}
	v->note_of = is_member(v, id) ? id : (struct identity){0};
	line_start(&l, v->o.ascii);
	if (v->note_of.pid)
		line_add(&l, "Note on %d ", v->note_of.pid);
	else
		line_add(&l, "Note on ");
	if (v->note_of.pid && p)
		facts_name(&l, p);
	else
		line_text(&l, v->vigil->recorded.dir.id, 40);
	snprintf(v->note_title, sizeof(v->note_title), "%.90s", l.text);
	v->prompt = PROMPT_NOTE;
	lineedit_set(&v->edit, "");
	return REQUEST_NONE;
}

void view_draw_note(const struct view *v, const struct area *screen)
{
	int cols = screen->cols > 84 ? 80 : screen->cols - 4, rows = 5;
	int y = (screen->rows - rows) / 2, x = (screen->cols - cols) / 2;
	struct area box = draw_part(screen, y, x, rows, cols);

	draw_fill(&box, 0, 0, rows, cols, STYLE_NORMAL, ' ');
	draw_box(&box, STYLE_HEADER, STYLE_HEADER, v->note_title);
	lineedit_draw(&v->edit, &box, 1, 2, cols - 4);
	draw_cut(&box, 3, 2, cols - 4, STYLE_DIM,
		 "Enter writes it to the journal, secrets masked · Esc writes nothing");
}

/* --- keys ------------------------------------------------------------------ */

enum request view_events_key(struct view *v, enum action a)
{
	if (browse_action(&v->events_list, a)) {
		note_cursor(v);
		return REQUEST_NONE;
	}
	switch (a) {
	case ACTION_NOTE:
		return view_open_note(v);
	case ACTION_EXPORT:
		return REQUEST_EXPORT;
	case ACTION_RUNS:
		return view_open_runs(v);
	case ACTION_EVENTS:
	case ACTION_BACK:
	case ACTION_CANCEL:
		v->screen = v->events_back == SCREEN_RUNS ? SCREEN_RUNS : SCREEN_LIST;
		break;
	default:
		break;
	}
	return REQUEST_NONE;
}

/* --- drawing --------------------------------------------------------------- */

#define SEQ_X 2
#define TIME_X 9
#define NAME_X 22
#define PROCESS_X 39
#define WORDS_X 48
#define KNOWN_CELLS 9

static void draw_event(const struct area *a, int y, const struct event_line *e)
{
	char when[CLOCK_RFC3339_MAX];
	enum style style = events_style(e);

	draw_format(a, y, SEQ_X, STYLE_DIM, "%6" PRIu64, e->seq);
	clock_rfc3339(e->wall_ns, when);
	draw_format(a, y, TIME_X, STYLE_NORMAL, "%.12s", when + 11);
	draw_cut(a, y, NAME_X, PROCESS_X - NAME_X - 1, style, e->name);
	if (e->process.pid)
		draw_format(a, y, PROCESS_X, STYLE_NORMAL, "%7d", e->process.pid);
	draw_cut(a, y, WORDS_X, a->cols - WORDS_X - KNOWN_CELLS - 2, style, e->words);
	draw_cut(a, y, a->cols - KNOWN_CELLS - 1, KNOWN_CELLS, STYLE_DIM, e->known);
}

static void draw_head(const struct view *v, const struct area *a)
{
	const struct events *e = &v->events;
	int x;

	if (!v->events_known) {
		draw_cut(a, 1, 1, a->cols - 2, STYLE_DIM, "reading the journal …");
		return;
	}
	x = draw_format(a, 1, 1, STYLE_NORMAL, "%zu events", e->n);
	if (e->left_off)
		x = draw_format(a, 1, x, STYLE_DIM, ", %" PRIu64 " older ones left off",
				e->left_off);
	if (v->events_list.filter.kind != QUERY_NONE)
		x = draw_format(a, 1, x, STYLE_WARNING, " · %zu shown", v->events_list.shown.n);
	draw_text(a, 1, x, STYLE_DIM,
		  v->events_list.follow ? " · follows the end" : " · G follows the end");
	if (v->events_trouble[0])
		draw_cut(a, 2, 1, a->cols - 2, STYLE_SURVIVOR, v->events_trouble);
}

void view_draw_events(struct view *v, const struct area *a)
{
	struct browse *b = &v->events_list;
	char title[RUN_ID_MAX + 32];

	snprintf(title, sizeof(title), "%s · events", v->events_of);
	view_draw_title(v, a, title, &b->filter);
	draw_head(v, a);
	draw_text(a, 3, SEQ_X + 3, STYLE_HEADER, "SEQ");
	draw_text(a, 3, TIME_X, STYLE_HEADER, "UTC");
	draw_text(a, 3, NAME_X, STYLE_HEADER, "EVENT");
	draw_text(a, 3, PROCESS_X, STYLE_HEADER, "PROCESS");
	draw_text(a, 3, a->cols - KNOWN_CELLS - 1, STYLE_HEADER, "KNOWN");
	v->list_y = 4;
	browse_lay_out(b, a->rows - v->list_y - 1);
	for (int y = 0; y < b->rows && b->top + (size_t)y < b->shown.n; y++) {
		size_t at = b->top + (size_t)y;

		if (at == b->cursor)
			draw_text(a, v->list_y + y, 0, STYLE_NORMAL, ">");
		draw_event(a, v->list_y + y, &v->events.v[b->shown.v[at]]);
		if (at == b->cursor)
			draw_select(a, v->list_y + y);
	}
}
