/*
 * Which key does what, where: one table for the dispatch and for the help.
 *
 * A key is looked up for the place that has the focus.  This module decides
 * nothing: it names the action, the screen carries it out.
 */
#ifndef STRAY_TUI_KEYMAP_H
#define STRAY_TUI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places, as bits. */
enum {
	KEYMAP_LIST = 1 << 0,   /* the processes: nothing recorded, or a run */
	KEYMAP_RUNS = 1 << 1,   /* the recorded runs */
	KEYMAP_PAGE = 1 << 2,   /* text to read: why, holds, help */
	KEYMAP_DIFF = 1 << 3,   /* before and after */
	KEYMAP_EVENTS = 1 << 5, /* the journal of a run */
	KEYMAP_DIALOG = 1 << 4, /* something is about to be done */
};

enum keymap_group {
	KEYMAP_MOVE,
	KEYMAP_FOLD,
	KEYMAP_TAG,
	KEYMAP_FIND,
	KEYMAP_SHOW,
	KEYMAP_ACT, /* absent with --readonly */
	KEYMAP_RECORD,
	KEYMAP_LEAVE,
	KEYMAP_ASK, /* in a dialog */
	KEYMAP_GROUPS
};

enum action {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_HALF_UP,
	ACTION_HALF_DOWN,
	ACTION_TOP,
	ACTION_BOTTOM,
	ACTION_PREV_SESSION,
	ACTION_NEXT_SESSION,
	ACTION_SCROLL_LEFT,
	ACTION_SCROLL_RIGHT,
	ACTION_FOLD,
	ACTION_UNFOLD,
	ACTION_FOLD_ALL,
	ACTION_TAG,
	ACTION_TAG_CHILDREN,
	ACTION_UNTAG_ALL,
	ACTION_FIND,
	ACTION_FIND_NEXT,
	ACTION_FIND_PREV,
	ACTION_FILTER,
	ACTION_USER,
	ACTION_SUSPECTS,
	ACTION_ALL,
	ACTION_FOLLOW,
	ACTION_PAUSE,
	ACTION_SORT,
	ACTION_FLAT,
	ACTION_CHOOSE_RUN,
	ACTION_OPEN, /* Enter: why, or unfold where the row is a section */
	ACTION_WHY,
	ACTION_HOLDS,
	ACTION_EVENTS,
	ACTION_TIMELINE,
	ACTION_RUNS,
	ACTION_DIFF,
	ACTION_HELP,
	ACTION_TERM,
	ACTION_KILL,
	ACTION_SIGNAL,
	ACTION_END_RUN,
	ACTION_FREEZE,
	ACTION_CUT,
	ACTION_SNAPSHOT,
	ACTION_EXPORT,
	ACTION_NOTE,
	ACTION_ELSEWHERE,
	ACTION_BACK,
	ACTION_QUIT,
	ACTION_CANCEL, /* ^C: what is under way, else the view */
	ACTION_SUSPEND,
	ACTION_REDRAW,
	ACTION_SCOPE,
	ACTION_SCOPE_BACK,
	ACTION_FIRST_FREEZE,
	ACTION_INCLUDE,
	ACTION_PREV_CHOICE,
	ACTION_NEXT_CHOICE,
	ACTION_CONFIRM,
	ACTION_COUNT
};

#define KEYMAP_KEYS 4 /* keys that one action has at most in one place */

struct keymap_entry {
	enum action action;
	unsigned places;
	enum keymap_group group;
	uint32_t keys[KEYMAP_KEYS]; /* 0 behind the last */
	const char *help;           /* what it does, in a few words */
	const char *later;          /* NULL, or with what this will come: not there yet */
};

/* What key means in one place; NULL where it means nothing. */
const struct keymap_entry *keymap_find(uint32_t key, unsigned place);

/* The whole table, in the order of the help; NULL behind its end. */
const struct keymap_entry *keymap_entry(size_t i);

/* The keys of an entry by name, "Up k"; at most size - 1 bytes. */
void keymap_keys(const struct keymap_entry *entry, char *out, size_t size);

/* "Move", the heading of a group in the help. */
const char *keymap_group_name(enum keymap_group group);

#endif
