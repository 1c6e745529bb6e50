/*
 * A small choice over the screen: which run, which user, which signal, which
 * order.  Pure.
 */
#ifndef STRAY_TUI_MENU_H
#define STRAY_TUI_MENU_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/draw.h"
#include "tui/input.h"

struct menu_item {
	char text[100]; /* safe */
	char right[32]; /* safe: at the right side */
	char *value;    /* owned: what the caller makes of it; may be NULL */
	int number;
};

struct menu {
	bool open;
	char title[64];
	char hint[80]; /* below the items */
	struct {
		struct menu_item *v;
		size_t n, cap;
	} items;
	size_t cursor, top;
};

void menu_open(struct menu *m, const char *title, const char *hint);
void menu_close(struct menu *m); /* frees */

/* value is copied, or NULL.  false when out of memory. */
bool menu_add(struct menu *m, const char *text, const char *right, const char *value, int number);

enum menu_result { MENU_STAYS, MENU_CHOSEN, MENU_CLOSED };

/* MENU_CHOSEN: the item under the cursor; the caller closes. */
enum menu_result menu_input(struct menu *m, const struct input *in);

void menu_draw(struct menu *m, const struct area *screen);

#endif
