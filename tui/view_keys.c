/* Which key does what: the dispatch of all input. */
#include "tui/view.h"

#include <stdio.h>
#include <string.h>

/* What a search, or a filter, of this screen is. */
static struct query *prompt_query(struct view *v, enum prompt prompt)
{
	bool find = prompt == PROMPT_FIND;

	if (v->screen == SCREEN_RUNS)
		return find ? &v->runs_list.find : &v->runs_list.filter;
	if (v->screen == SCREEN_EVENTS)
		return find ? &v->events_list.find : &v->events_list.filter;
	return find ? &v->find : &v->filter;
}

static void open_prompt(struct view *v, enum prompt prompt)
{
	v->prompt = prompt;
	lineedit_set(&v->edit, prompt == PROMPT_FILTER ? prompt_query(v, prompt)->text : "");
}

static void search(struct view *v, int direction)
{
	if (v->screen == SCREEN_RUNS)
		view_runs_find(v, direction);
	else if (v->screen == SCREEN_EVENTS)
		view_events_find(v, direction);
	else if (v->k->now)
		view_find(v, direction);
	else
		v->find_waits = true;
}

static void filtered(struct view *v)
{
	if (v->screen == SCREEN_RUNS)
		view_runs_filter(v);
	else if (v->screen == SCREEN_EVENTS)
		view_events_filter(v);
	else if (v->k->now)
		view_show(v, v->list);
}

static enum request prompt_done(struct view *v)
{
	enum prompt prompt = v->prompt;
	struct query *q;

	v->prompt = PROMPT_NONE;
	if (prompt == PROMPT_NOTE)
		return v->edit.len ? REQUEST_NOTE : REQUEST_NONE;
	if (prompt == PROMPT_FIND && !v->edit.len)
		return REQUEST_NONE; /* the last search stays: n goes on with it */
	q = prompt_query(v, prompt);
	query_free(q);
	query_parse(v->edit.text, q);
	if (prompt == PROMPT_FIND)
		search(v, 0);
	else
		filtered(v);
	return REQUEST_NONE;
}

static enum request prompt_input(struct view *v, const struct input *in)
{
	switch (lineedit_input(&v->edit, in)) {
	case LINEEDIT_DONE:
		return prompt_done(v);
	case LINEEDIT_CANCEL:
		if (v->prompt == PROMPT_FILTER &&
		    prompt_query(v, PROMPT_FILTER)->kind != QUERY_NONE) {
			query_free(prompt_query(v, PROMPT_FILTER));
			filtered(v);
		}
		v->prompt = PROMPT_NONE;
		break;
	default:
		break;
	}
	return REQUEST_NONE;
}

static enum request quit(struct view *v)
{
	static const char again[] = "is under way: q again leaves it as it is";

	if (!v->acting || v->leaving || strstr(v->message, again))
		return REQUEST_QUIT;
	view_say(v, STYLE_WARNING, "%s %s", v->act_title, again);
	return REQUEST_NONE;
}

static bool is_quit(uint32_t key)
{
	const struct keymap_entry *e = keymap_find(key, KEYMAP_LIST);

	return e && (e->action == ACTION_QUIT || e->action == ACTION_CANCEL);
}

bool view_has_way_back(const struct view *v)
{
	return v->has_run && v->list != LIST_RUN;
}

/* Esc and ^C take one thing back at a time; false: there was nothing. */
static bool step_back(struct view *v)
{
	if (v->filter.kind != QUERY_NONE) {
		query_free(&v->filter);
		view_show(v, v->list);
	} else if (v->tagged.n) {
		v->tagged.n = 0;
		view_rebuild(v, false);
	} else if (v->follow) {
		v->follow = false;
	} else if (view_has_way_back(v)) {
		view_show(v, LIST_RUN);
	} else if (v->list != LIST_SUSPECTS && !v->has_run) {
		view_show(v, LIST_SUSPECTS);
	} else {
		return false;
	}
	return true;
}

static enum request open_why(struct view *v)
{
	const struct process *p = view_process(v);

	if (!p) {
		view_say(v, STYLE_DIM, "no process stands in this row");
		return REQUEST_NONE;
	}
	if (!identity_same(v->why_of, p->id)) {
		detail_unref(v->why_detail);
		v->why_detail = NULL;
	}
	v->why_of = p->id;
	v->why_reading = v->k->now->coverage.sources & 1u << SOURCE_REPLAY ? READING_NONE
									   : READING_UNDER_WAY;
	v->screen = SCREEN_WHY;
	v->page.title[0] = '\0';
	view_why_page(v);
	return REQUEST_DETAIL;
}

/* Enter: what can be unfolded is, else why. */
static enum request open_row(struct view *v)
{
	const struct row *row = view_row(v);

	if (!row)
		return REQUEST_NONE;
	if (v->cursor_lost) {
		view_say(v, STYLE_WARNING, "%s has gone; the cursor stands on %s now: press again",
			 v->lost_words, v->cursor_words);
		v->cursor_lost = false;
		return REQUEST_NONE;
	}
	if (row->kind == ROW_NEW) {
		view_rebuild(v, true);
		return REQUEST_NONE;
	}
	if (row->kind != ROW_PROCESS) {
		view_list_action(v, row->folded ? ACTION_UNFOLD : ACTION_FOLD);
		return REQUEST_NONE;
	}
	return open_why(v);
}

static void toggle_pause(struct view *v)
{
	v->paused = !v->paused;
	if (v->paused)
		view_say(v, STYLE_WARNING, "paused: the list stands still; Z goes on");
}

static void toggle_follow(struct view *v)
{
	v->follow = !v->follow;
	view_say(v, STYLE_DIM, v->follow ? "following %s" : "%s is not followed any more",
		 v->cursor_words);
}

static void toggle_flat(struct view *v)
{
	uint64_t tag = v->cursor_tag;

	v->flat = !v->flat;
	view_rebuild(v, true);
	v->cursor_lost = v->cursor_lost && rows_find(&v->rows, tag) >= 0;
}

static enum request show_action(struct view *v, enum action a)
{
	switch (a) {
	case ACTION_FIND:
		open_prompt(v, PROMPT_FIND);
		break;
	case ACTION_FILTER:
		open_prompt(v, PROMPT_FILTER);
		break;
	case ACTION_FIND_NEXT:
		search(v, 1);
		break;
	case ACTION_FIND_PREV:
		search(v, -1);
		break;
	case ACTION_RUNS:
		return view_open_runs(v);
	case ACTION_EVENTS:
		return view_open_events(v, v->vigil ? v->vigil->recorded.dir.id : NULL);
	case ACTION_USER:
		view_open_user_menu(v);
		break;
	case ACTION_SORT:
		view_open_sort_menu(v);
		break;
	case ACTION_CHOOSE_RUN:
		view_open_run_menu(v);
		break;
	case ACTION_SUSPECTS:
		view_show(v, v->list == LIST_SUSPECTS && v->has_run ? LIST_RUN : LIST_SUSPECTS);
		break;
	case ACTION_ALL:
		view_show(v, v->list != LIST_ALL ? LIST_ALL
			     : v->has_run        ? LIST_RUN
						 : LIST_SUSPECTS);
		break;
	case ACTION_FOLLOW:
		toggle_follow(v);
		break;
	case ACTION_PAUSE:
		toggle_pause(v);
		break;
	case ACTION_FLAT:
		toggle_flat(v);
		break;
	case ACTION_OPEN:
		return open_row(v);
	case ACTION_WHY:
		return open_why(v);
	case ACTION_DIFF:
		v->screen = SCREEN_DIFF;
		view_diff_page(v);
		break;
	case ACTION_HELP:
		v->screen = SCREEN_HELP;
		view_help_page(v);
		break;
	default:
		break;
	}
	return REQUEST_NONE;
}

static enum request record_action(struct view *v, enum action a)
{
	if (a == ACTION_SNAPSHOT)
		return REQUEST_SNAPSHOT;
	if (a == ACTION_NOTE)
		return view_open_note(v);
	if (v->vigil)
		return REQUEST_EXPORT;
	if (!v->outcome)
		view_say(v, STYLE_DIM, "nothing was sent yet: there is no record to export");
	else if (v->outcome->dir[0])
		view_say(v, STYLE_NORMAL, "the record of %s is in %s", v->outcome->title,
			 v->outcome->dir);
	else
		view_say(v, STYLE_WARNING, "%s was not recorded", v->outcome->title);
	return REQUEST_NONE;
}

/* Before the first scan there is nothing that the other keys could be about.  What is searched for
 * may be typed: its letters would be keys else. */
static bool means_something(const struct view *v, enum action a)
{
	return v->k->now || a == ACTION_QUIT || a == ACTION_CANCEL || a == ACTION_HELP ||
	       a == ACTION_FIND || a == ACTION_FILTER;
}

static enum request list_key(struct view *v, const struct keymap_entry *e)
{
	if (!means_something(v, e->action))
		return REQUEST_NONE;
	if (view_list_action(v, e->action))
		return REQUEST_NONE;
	switch (e->action) {
	case ACTION_QUIT:
		if (!view_has_way_back(v))
			return quit(v);
		view_show(v, LIST_RUN);
		return REQUEST_NONE;
	case ACTION_CANCEL:
		return step_back(v) ? REQUEST_NONE : quit(v);
	case ACTION_BACK:
		step_back(v);
		return REQUEST_NONE;
	case ACTION_SNAPSHOT:
	case ACTION_EXPORT:
	case ACTION_NOTE:
		return record_action(v, e->action);
	default:
		break;
	}
	return e->group == KEYMAP_ACT ? view_act_action(v, e->action) : show_action(v, e->action);
}

static enum request page_key(struct view *v, const struct keymap_entry *e)
{
	if (page_action(&v->page, e->action))
		return REQUEST_NONE;
	switch (e->action) {
	case ACTION_BACK:
	case ACTION_CANCEL:
		v->screen = SCREEN_LIST;
		break;
	case ACTION_HELP:
		v->screen = v->screen == SCREEN_HELP ? SCREEN_LIST : SCREEN_HELP;
		if (v->screen == SCREEN_HELP)
			view_help_page(v);
		break;
	case ACTION_ELSEWHERE:
		v->elsewhere = !v->elsewhere;
		view_diff_page(v);
		break;
	case ACTION_RUNS:
		return view_open_runs(v);
	case ACTION_EXPORT:
		return record_action(v, e->action);
	default:
		break;
	}
	return REQUEST_NONE;
}

/* The keys that the screens of runs and events have in common. */
static enum request browse_key(struct view *v, const struct keymap_entry *e)
{
	switch (e->action) {
	case ACTION_FIND:
	case ACTION_FILTER:
	case ACTION_FIND_NEXT:
	case ACTION_FIND_PREV:
	case ACTION_HELP:
		return show_action(v, e->action);
	case ACTION_BACK:
	case ACTION_CANCEL:
		if (prompt_query(v, PROMPT_FILTER)->kind == QUERY_NONE)
			break;
		query_free(prompt_query(v, PROMPT_FILTER));
		filtered(v);
		return REQUEST_NONE;
	default:
		break;
	}
	return v->screen == SCREEN_RUNS ? view_runs_key(v, e->action)
					: view_events_key(v, e->action);
}

static enum request key(struct view *v, uint32_t k)
{
	static const unsigned places[] = {
		[SCREEN_LIST] = KEYMAP_LIST, [SCREEN_WHY] = KEYMAP_PAGE,
		[SCREEN_DIFF] = KEYMAP_DIFF, [SCREEN_HELP] = KEYMAP_PAGE,
		[SCREEN_RUNS] = KEYMAP_RUNS, [SCREEN_EVENTS] = KEYMAP_EVENTS,
	};
	const struct keymap_entry *e = keymap_find(k, places[v->screen]);
	char asked[sizeof(v->message)];

	snprintf(asked, sizeof(asked), "%s", v->message);
	if (!e || e->action != ACTION_QUIT)
		v->message[0] = '\0';
	if (!e)
		return REQUEST_NONE;
	if (e->later) {
		char keys[32];

		keymap_keys(e, keys, sizeof(keys));
		view_say(v, STYLE_DIM, "%s: %s %s", keys, e->help, e->later);
		return REQUEST_NONE;
	}
	if (v->screen == SCREEN_RUNS || v->screen == SCREEN_EVENTS)
		return browse_key(v, e);
	return v->screen == SCREEN_LIST ? list_key(v, e) : page_key(v, e);
}

static void click_row(struct view *v, const struct input *in)
{
	unsigned line = v->top + (unsigned)(in->y - v->list_y);

	if (v->screen == SCREEN_RUNS)
		browse_click(&v->runs_list, in->y - v->list_y);
	else if (v->screen == SCREEN_EVENTS)
		browse_click(&v->events_list, in->y - v->list_y);
	if (v->screen != SCREEN_LIST || in->y < v->list_y || in->y >= v->list_y + v->list_rows)
		return;
	for (size_t i = 0; i < v->rows.list.n; i++) {
		const struct row *row = &v->rows.list.v[i];
		bool right = row->half == 2, on_right = in->x >= v->screen_cols / 2;

		if (row->line != line || row->kind == ROW_RULE ||
		    (row->half && right != on_right &&
		     !(row->half == 1 &&
		       (i + 1 == v->rows.list.n || v->rows.list.v[i + 1].half != 2))))
			continue;
		if (v->cursor == i && row->foldable)
			view_list_action(v, row->folded ? ACTION_UNFOLD : ACTION_FOLD);
		else
			view_move_to(v, i);
		return;
	}
}

/* A row is selected; one of the keys on the last line is pressed. */
static enum request click(struct view *v, const struct input *in)
{
	uint32_t code = in->y == v->screen_rows - 1 ? view_key_at(v, in->x) : 0;

	v->message[0] = '\0';
	if (code)
		return key(v, code);
	click_row(v, in);
	return REQUEST_NONE;
}

static enum request dialog_key(struct view *v, const struct input *in)
{
	struct dialog_host h = view_host(v);

	switch (dialog_input(&v->dialog, &h, in)) {
	case DIALOG_SEND:
		return REQUEST_ACT;
	case DIALOG_CANCEL:
		dialog_close(&v->dialog);
		view_say(v, STYLE_DIM, "nothing was sent");
		break;
	case DIALOG_FULL:
		dialog_close(&v->dialog);
		view_say(v, STYLE_WARNING, "out of memory: nothing was sent");
		break;
	case DIALOG_STAYS:
		break;
	}
	return REQUEST_NONE;
}

static enum request popup_input(struct view *v, const struct input *in)
{
	switch (menu_input(&v->menu, in)) {
	case MENU_CHOSEN:
		return view_menu_chosen(v);
	case MENU_CLOSED:
		menu_close(&v->menu);
		v->popup = POPUP_NONE;
		break;
	case MENU_STAYS:
		break;
	}
	return REQUEST_NONE;
}

static void wheel(struct view *v, const struct input *in)
{
	enum action a = in->key == INPUT_UP ? ACTION_UP : ACTION_DOWN;

	for (int i = 0; i < 3; i++) {
		if (v->screen == SCREEN_LIST)
			view_list_action(v, a);
		else if (v->screen == SCREEN_RUNS)
			view_runs_key(v, a);
		else if (v->screen == SCREEN_EVENTS)
			view_events_key(v, a);
		else
			page_action(&v->page, a);
	}
}

enum request view_update(struct view *v, const struct input *in)
{
	switch (in->kind) {
	case INPUT_RESIZE:
		v->screen_rows = in->y;
		v->screen_cols = in->x;
		view_page_again(v);
		return REQUEST_NONE;
	case INPUT_TICK:
		return REQUEST_NONE;
	case INPUT_END:
		return REQUEST_QUIT;
	default:
		break;
	}
	v->touched = true;
	if (in->kind == INPUT_KEY && in->key == INPUT_CTRL('L'))
		return REQUEST_REDRAW;
	if (in->kind == INPUT_KEY && in->key == INPUT_CTRL('Z'))
		return REQUEST_SUSPEND;
	if (v->leaving && in->kind == INPUT_KEY && is_quit(in->key))
		return REQUEST_QUIT;
	if (v->dialog.open)
		return dialog_key(v, in);
	if (v->popup)
		return popup_input(v, in);
	if (v->prompt)
		return prompt_input(v, in);
	if (in->kind == INPUT_CLICK)
		return click(v, in);
	if (in->kind == INPUT_WHEEL)
		wheel(v, in);
	return in->kind == INPUT_KEY ? key(v, in->key) : REQUEST_NONE;
}
