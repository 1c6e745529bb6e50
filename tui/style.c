#include "tui/style.h"

#include <ctype.h>

enum { NONE = STYLE_DEFAULT_COLOR, BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE };

/* Short, so that the table below is one. */
enum { B = STYLE_BOLD, F = STYLE_FAINT, R = STYLE_REVERSE, U = STYLE_UNDERLINE };

struct role {
	const char *name;
	unsigned mono;
	struct style_look color8, color256;
	short lit; /* the 256-colour foreground on the cursor's bar */
	char letter;
};

/*
 * The 256-colour foregrounds are of middle lightness, so that they can be read
 * on a dark and on a light background; bars bring both their colours.
 */
static const struct role roles[STYLE_COUNT] = {
	[STYLE_NORMAL] = {"normal", 0, {NONE, NONE, 0}, {NONE, NONE, 0}, 231, ' '},
	[STYLE_HEADER] = {"header", B, {CYAN, NONE, 0}, {67, NONE, 0}, 153, 'h'},
	[STYLE_MEMBER] = {"member", 0, {CYAN, NONE, 0}, {73, NONE, 0}, 159, 'm'},
	[STYLE_SUSPECT] = {"suspect", B, {YELLOW, NONE, 0}, {136, NONE, 0}, 222, 's'},
	[STYLE_DETACHED] = {"detached", U, {MAGENTA, NONE, 0}, {140, NONE, 0}, 183, 'd'},
	[STYLE_SURVIVOR] = {"survivor", B | U, {RED, NONE, B}, {203, NONE, B}, 217, 'v'},
	[STYLE_AUTHORITY] = {"authority", B, {YELLOW, NONE, B}, {208, NONE, B}, 220, 'a'},
	[STYLE_DIM] = {"dim", F, {NONE, NONE, F}, {244, NONE, 0}, 250, 'g'},
	[STYLE_SELECTED] = {"selected", R, {BLACK, CYAN, 0}, {231, 25, 0}, 231, 'l'},
	[STYLE_TAGGED] = {"tagged", B, {GREEN, NONE, B}, {70, NONE, B}, 120, 'x'},
	[STYLE_TITLE] = {"title", R, {WHITE, BLUE, B}, {255, 238, B}, 231, 't'},
	[STYLE_WARNING] = {"warning", B, {RED, NONE, B}, {203, NONE, B}, 217, 'w'},
	[STYLE_GOOD] = {"good", 0, {GREEN, NONE, 0}, {71, NONE, 0}, 120, 'o'},
	[STYLE_KEY] = {"key", B, {NONE, NONE, B}, {NONE, NONE, B}, 231, 'k'},
	[STYLE_ENDED] = {"ended", F, {NONE, NONE, F}, {244, NONE, 0}, 250, 'e'},
	[STYLE_INPUT] = {"input", U, {NONE, NONE, U}, {NONE, NONE, U}, 231, 'i'},
};

/*
 * The cursor's bar.  Eight colours leave no legible red or yellow on cyan, and
 * bold black may be grey: there a role on the bar is told by its letter or word.
 */
static struct style_look selected_look(const struct role *r, enum style_depth depth)
{
	struct style_look bar = roles[STYLE_SELECTED].color8;

	if (depth == STYLE_COLOR256) {
		bar = roles[STYLE_SELECTED].color256;
		bar.fg = r->lit;
		bar.attr |= r->color256.attr;
		return bar;
	}
	bar.attr |= r->color8.attr & U;
	return bar;
}

struct style_look style_look(enum style role, bool selected, enum style_depth depth)
{
	const struct role *r = &roles[role];

	if (depth == STYLE_MONO)
		return (struct style_look){NONE, NONE, selected ? r->mono | R : r->mono};
	if (selected)
		return selected_look(r, depth);
	return depth == STYLE_COLOR256 ? r->color256 : r->color8;
}

char style_letter(enum style role, bool selected)
{
	char letter = roles[role].letter;

	if (!selected)
		return letter;
	return role == STYLE_NORMAL ? '_' : (char)toupper((unsigned char)letter);
}

const char *style_name(enum style role)
{
	return roles[role].name;
}
