#include "tui/keymap.h"

#include <stdio.h>
#include <string.h>

#include "tui/input.h"

#define ROWS (KEYMAP_LIST | KEYMAP_RUNS | KEYMAP_EVENTS)
#define TEXT (KEYMAP_PAGE | KEYMAP_DIFF)
#define SCREENS (ROWS | TEXT)
#define EVERYWHERE (SCREENS | KEYMAP_DIALOG)
#define CTRL INPUT_CTRL
#define F INPUT_F

static const struct keymap_entry entries[] = {
	{ACTION_UP, EVERYWHERE, KEYMAP_MOVE, {INPUT_UP, 'k'}, "up", NULL},
	{ACTION_DOWN, EVERYWHERE, KEYMAP_MOVE, {INPUT_DOWN, 'j'}, "down", NULL},
	{ACTION_PAGE_UP, EVERYWHERE, KEYMAP_MOVE, {INPUT_PGUP}, "a page up", NULL},
	{ACTION_PAGE_DOWN, EVERYWHERE, KEYMAP_MOVE, {INPUT_PGDN}, "a page down", NULL},
	{ACTION_HALF_UP, SCREENS, KEYMAP_MOVE, {CTRL('U')}, "half a page up", NULL},
	{ACTION_HALF_DOWN, SCREENS, KEYMAP_MOVE, {CTRL('D')}, "half a page down", NULL},
	{ACTION_TOP, SCREENS, KEYMAP_MOVE, {INPUT_HOME, 'g'}, "to the first row", NULL},
	{ACTION_BOTTOM, SCREENS, KEYMAP_MOVE, {INPUT_END_KEY, 'G'}, "to the last row", NULL},
	{ACTION_PREV_SESSION, KEYMAP_LIST, KEYMAP_MOVE, {'['}, "previous session", NULL},
	{ACTION_NEXT_SESSION, KEYMAP_LIST, KEYMAP_MOVE, {']'}, "next session", NULL},
	{ACTION_SCROLL_LEFT, SCREENS, KEYMAP_MOVE, {'<'}, "scroll left", NULL},
	{ACTION_SCROLL_RIGHT, SCREENS, KEYMAP_MOVE, {'>'}, "scroll right", NULL},

	{ACTION_UNFOLD, KEYMAP_LIST, KEYMAP_FOLD, {INPUT_RIGHT, '+'}, "unfold", NULL},
	{ACTION_FOLD, KEYMAP_LIST, KEYMAP_FOLD, {INPUT_LEFT, '-'}, "fold", NULL},
	{ACTION_FOLD_ALL, KEYMAP_LIST, KEYMAP_FOLD, {'*'}, "unfold or fold all", NULL},

	{ACTION_TAG, KEYMAP_LIST, KEYMAP_TAG, {' '}, "tag: tagged rows are the target", NULL},
	{ACTION_TAG_CHILDREN, KEYMAP_LIST, KEYMAP_TAG, {'c'}, "tag with its children", NULL},
	{ACTION_UNTAG_ALL, KEYMAP_LIST, KEYMAP_TAG, {'U'}, "tag none", NULL},

	{ACTION_FIND, ROWS, KEYMAP_FIND, {'/'}, "find: PID, time, address, text", NULL},
	{ACTION_FIND_NEXT, ROWS, KEYMAP_FIND, {'n'}, "find the next", NULL},
	{ACTION_FIND_PREV, ROWS, KEYMAP_FIND, {'N'}, "find the one before", NULL},
	{ACTION_FILTER, ROWS, KEYMAP_FIND, {'\\', F(4)}, "show matching rows only", NULL},
	{ACTION_USER, KEYMAP_LIST, KEYMAP_FIND, {'u'}, "one user's only", NULL},
	{ACTION_SUSPECTS, KEYMAP_LIST, KEYMAP_FIND, {'o'}, "suspects only", NULL},
	{ACTION_ALL, KEYMAP_LIST, KEYMAP_FIND, {'a'}, "the whole host", NULL},
	{ACTION_CHOOSE_RUN, KEYMAP_LIST, KEYMAP_FIND, {'r'}, "choose or adopt the run", NULL},

	{ACTION_OPEN, KEYMAP_LIST | KEYMAP_RUNS, KEYMAP_SHOW, {INPUT_ENTER}, "open the row", NULL},
	{ACTION_WHY, KEYMAP_LIST, KEYMAP_SHOW, {'w'}, "why: evidence, lineage", NULL},
	{ACTION_DIFF, KEYMAP_LIST, KEYMAP_SHOW, {'d'}, "diff: before and after", NULL},
	{ACTION_ELSEWHERE, KEYMAP_DIFF, KEYMAP_SHOW, {'o'}, "the rest of the host too", NULL},
	{ACTION_FOLLOW, KEYMAP_LIST, KEYMAP_SHOW, {'F'}, "follow this process", NULL},
	{ACTION_PAUSE, KEYMAP_LIST, KEYMAP_SHOW, {'Z'}, "pause the list", NULL},
	{ACTION_SORT, KEYMAP_LIST, KEYMAP_SHOW, {'S'}, "sort by", NULL},
	{ACTION_FLAT, KEYMAP_LIST, KEYMAP_SHOW, {'i'}, "tree or flat", NULL},
	{ACTION_HELP, SCREENS, KEYMAP_SHOW, {F(1), '?', 'h'}, "keys, flags, coverage", NULL},
	{ACTION_RUNS, SCREENS, KEYMAP_SHOW, {F(2), 'R'}, "the recorded runs", NULL},
	{ACTION_EVENTS, ROWS, KEYMAP_SHOW, {'E'}, "the run's journal as it grows", NULL},
	{ACTION_HOLDS,
	 KEYMAP_LIST,
	 KEYMAP_SHOW,
	 {'l'},
	 "descriptors, sockets, names",
	 "comes with what a process can reach"},
	{ACTION_TIMELINE,
	 KEYMAP_LIST,
	 KEYMAP_SHOW,
	 {'t'},
	 "a bar a member, fork to exit",
	 "comes with a later version"},

	{ACTION_TERM, KEYMAP_LIST, KEYMAP_ACT, {'T'}, "TERM to the row's group", NULL},
	{ACTION_KILL, KEYMAP_LIST, KEYMAP_ACT, {'K'}, "KILL to the row's group", NULL},
	{ACTION_SIGNAL, KEYMAP_LIST, KEYMAP_ACT, {F(9)}, "any signal", NULL},
	{ACTION_END_RUN, KEYMAP_LIST, KEYMAP_ACT, {'x'}, "end: TERM, grace, KILL", NULL},
	{ACTION_FREEZE, KEYMAP_LIST, KEYMAP_ACT, {'z'}, "freeze, and thaw again", NULL},
	{ACTION_CUT, KEYMAP_LIST, KEYMAP_ACT, {'X'}, "cut its connections", "comes with stray cut"},

	{ACTION_SNAPSHOT, KEYMAP_LIST, KEYMAP_RECORD, {'s'}, "snapshot: mark this moment", NULL},
	{ACTION_EXPORT,
	 KEYMAP_LIST | KEYMAP_DIFF | KEYMAP_EVENTS,
	 KEYMAP_RECORD,
	 {'e'},
	 "export the record",
	 NULL},
	{ACTION_NOTE,
	 KEYMAP_LIST | KEYMAP_EVENTS,
	 KEYMAP_RECORD,
	 {'m'},
	 "note: explain a leftover",
	 NULL},

	{ACTION_SCOPE, KEYMAP_DIALOG, KEYMAP_ASK, {INPUT_TAB}, "wider or narrower scope", NULL},
	{ACTION_SCOPE_BACK, KEYMAP_DIALOG, KEYMAP_ASK, {INPUT_BACKTAB}, "the scope before", NULL},
	{ACTION_FIRST_FREEZE, KEYMAP_DIALOG, KEYMAP_ASK, {'F'}, "freeze first", NULL},
	{ACTION_INCLUDE, KEYMAP_DIALOG, KEYMAP_ASK, {' '}, "add or spare the row", NULL},
	{ACTION_PREV_CHOICE, KEYMAP_DIALOG, KEYMAP_ASK, {INPUT_LEFT}, "the choice before", NULL},
	{ACTION_NEXT_CHOICE, KEYMAP_DIALOG, KEYMAP_ASK, {INPUT_RIGHT}, "the next choice", NULL},
	{ACTION_CONFIRM, KEYMAP_DIALOG, KEYMAP_ASK, {INPUT_ENTER}, "do it", NULL},

	{ACTION_BACK, EVERYWHERE, KEYMAP_LEAVE, {INPUT_ESC}, "back; nothing is done", NULL},
	{ACTION_BACK, TEXT | KEYMAP_RUNS | KEYMAP_EVENTS, KEYMAP_LEAVE, {'q', F(10)}, "back", NULL},
	{ACTION_QUIT, KEYMAP_LIST, KEYMAP_LEAVE, {'q', F(10)}, "quit; back to the run", NULL},
	{ACTION_CANCEL, EVERYWHERE, KEYMAP_LEAVE, {CTRL('C')}, "cancel, then quit", NULL},
	{ACTION_SUSPEND, EVERYWHERE, KEYMAP_LEAVE, {CTRL('Z')}, "suspend; fg comes back", NULL},
	{ACTION_REDRAW, EVERYWHERE, KEYMAP_LEAVE, {CTRL('L')}, "redraw", NULL},
};

static const char *const group_names[KEYMAP_GROUPS] = {
	[KEYMAP_MOVE] = "Move",     [KEYMAP_FOLD] = "Fold",   [KEYMAP_TAG] = "Tag",
	[KEYMAP_FIND] = "Find",     [KEYMAP_SHOW] = "Show",   [KEYMAP_ACT] = "Act",
	[KEYMAP_RECORD] = "Record", [KEYMAP_LEAVE] = "Leave", [KEYMAP_ASK] = "In a dialog",
};

const struct keymap_entry *keymap_entry(size_t i)
{
	return i < sizeof(entries) / sizeof(entries[0]) ? &entries[i] : NULL;
}

const struct keymap_entry *keymap_find(uint32_t key, unsigned place)
{
	const struct keymap_entry *e;

	for (size_t i = 0; (e = keymap_entry(i)); i++) {
		if (!(e->places & place))
			continue;
		for (size_t k = 0; k < KEYMAP_KEYS && e->keys[k]; k++) {
			if (e->keys[k] == key)
				return e;
		}
	}
	return NULL;
}

void keymap_keys(const struct keymap_entry *entry, char *out, size_t size)
{
	char name[INPUT_NAME_MAX];
	size_t used = 0;

	out[0] = '\0';
	for (size_t k = 0; k < KEYMAP_KEYS && entry->keys[k]; k++) {
		input_key_name(entry->keys[k], name);
		if (used + strlen(name) + 2 > size)
			break;
		used += (size_t)snprintf(out + used, size - used, "%s%s", k ? " " : "", name);
	}
}

const char *keymap_group_name(enum keymap_group group)
{
	return group_names[group];
}
