/* The last line: the keys that may be pressed, a message, what is being typed. */
#include "tui/view.h"

#include "base/text.h"

static const struct {
	enum action action;
	char key[4];
	const char *word;
	bool act;
} keys[] = {
	{ACTION_CHOOSE_RUN, "r", "run", false}, {ACTION_FREEZE, "z", "freeze", true},
	{ACTION_TERM, "T", "term", true},       {ACTION_KILL, "K", "kill", true},
	{ACTION_END_RUN, "x", "end run", true}, {ACTION_DIFF, "d", "diff", false},
	{ACTION_EXPORT, "e", "export", false},  {ACTION_WHY, "w", "why", false},
	{ACTION_FIND, "/", "find", false},      {ACTION_HELP, "?", "keys", false},
	{ACTION_QUIT, "q", "quit", false},
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

/* What is left off first where there is no room. */
static const enum action dispensable[] = {ACTION_EXPORT, ACTION_DIFF, ACTION_WHY, ACTION_FREEZE,
					  ACTION_END_RUN};

static bool key_shown(const struct view *v, size_t i, size_t dropped)
{
	if (keys[i].act && v->o.readonly)
		return false;
	if (keys[i].action == ACTION_END_RUN && !v->has_run)
		return false;
	for (size_t k = 0; k < dropped; k++)
		if (dispensable[k] == keys[i].action)
			return false;
	return true;
}

static const char *word_of(const struct view *v, size_t i)
{
	return keys[i].action == ACTION_QUIT && view_has_way_back(v) ? "back" : keys[i].word;
}

/* One key of the last line, where it stands. */
struct placed_key {
	int x, end; /* end: the first cell behind it */
	const char *key, *word;
	uint32_t code; /* 0: no click runs it */
};

#define PLACED_MAX 16

static size_t place(struct placed_key *out, size_t n, const char *key, const char *word,
		    uint32_t code)
{
	int x = n ? out[n - 1].end + 2 : 1;

	out[n] = (struct placed_key){.x = x,
				     .end = x + text_cells(key) + 1 + text_cells(word),
				     .key = key,
				     .word = word,
				     .code = code};
	return n + 1;
}

static size_t place_list_keys(const struct view *v, int cols, struct placed_key *out)
{
	size_t most = sizeof(dispensable) / sizeof(dispensable[0]), n;

	for (size_t dropped = 0;; dropped++) {
		n = 0;
		for (size_t i = 0; i < N_KEYS; i++)
			if (key_shown(v, i, dropped))
				n = place(out, n, keys[i].key, word_of(v, i),
					  (unsigned char)keys[i].key[0]);
		if (dropped == most || (n && out[n - 1].end < cols))
			return n;
	}
}

static size_t place_list_page_keys(const struct view *v, struct placed_key *out)
{
	size_t n = place(out, 0, "Esc", "back", INPUT_ESC);

	if (v->screen == SCREEN_RUNS) {
		n = place(out, n, "Enter", "open", INPUT_ENTER);
		n = place(out, n, "E", "events", 'E');
	} else {
		n = place(out, n, "m", "note", 'm');
		n = place(out, n, "e", "export", 'e');
		n = place(out, n, "R", "runs", 'R');
	}
	n = place(out, n, "/", "find", '/');
	n = place(out, n, "\\", "filter", '\\');
	return place(out, n, "?", "keys", '?');
}

static size_t place_page_keys(const struct view *v, struct placed_key *out)
{
	size_t n = place(out, 0, "Esc", "back", INPUT_ESC);

	n = place(out, n, "Up Down", "scroll", 0);
	if (v->screen == SCREEN_RUNS || v->screen == SCREEN_EVENTS)
		return place_list_page_keys(v, out);
	if (v->screen == SCREEN_DIFF)
		n = place(out, n, "o", v->elsewhere ? "the run alone" : "elsewhere too", 'o');
	return n;
}

static size_t place_keys(const struct view *v, int cols, struct placed_key out[PLACED_MAX])
{
	_Static_assert(N_KEYS <= PLACED_MAX, "all keys find a place");
	if (v->prompt || v->message[0])
		return 0;
	return v->screen == SCREEN_LIST ? place_list_keys(v, cols, out) : place_page_keys(v, out);
}

uint32_t view_key_at(const struct view *v, int x)
{
	struct placed_key placed[PLACED_MAX];
	size_t n = place_keys(v, v->screen_cols, placed);

	for (size_t i = 0; i < n; i++)
		if (x >= placed[i].x && x < placed[i].end)
			return placed[i].code;
	return 0;
}

void view_draw_keys(const struct view *v, const struct area *a)
{
	static const char *const prompts[] = {
		[PROMPT_NONE] = "",
		[PROMPT_FIND] = "find: ",
		[PROMPT_FILTER] = "show only: ",
		[PROMPT_NOTE] = "",
	};
	struct placed_key placed[PLACED_MAX];
	size_t n = place_keys(v, a->cols, placed);
	int x;

	if (v->prompt == PROMPT_NOTE) {
		return; /* it has a box of its own */
	} else if (v->prompt) {
		x = draw_text(a, 0, 1, STYLE_KEY, prompts[v->prompt]);
		lineedit_draw(&v->edit, a, 0, x, a->cols - x - 1);
	} else if (v->message[0]) {
		draw_cut(a, 0, 1, a->cols - 2, v->message_style, v->message);
	}
	for (size_t i = 0; i < n; i++) {
		x = draw_text(a, 0, placed[i].x, STYLE_KEY, placed[i].key);
		draw_text(a, 0, x + 1, STYLE_DIM, placed[i].word);
	}
	if (n && v->screen == SCREEN_LIST && v->o.readonly)
		draw_right(a, 0, a->cols - 1, STYLE_WARNING, "read only");
}
