/*
 * What a person, a terminal or a clock tells the view: one event at a time.
 *
 * The driver makes events; tests and key scripts write them as words.  This
 * module knows no terminal and reads nothing.
 */
#ifndef STRAY_TUI_INPUT_H
#define STRAY_TUI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum input_kind {
	INPUT_KEY,    /* key */
	INPUT_CLICK,  /* left button pressed at y, x */
	INPUT_WHEEL,  /* turned at y, x; key is INPUT_UP or INPUT_DOWN */
	INPUT_PASTE,  /* text */
	INPUT_RESIZE, /* the screen has y rows and x columns now, or is to be drawn again */
	INPUT_TICK,   /* time went by */
	INPUT_END,    /* asked to end: by signal y, or 0: the terminal is gone */
};

/* A key: a character (also a control character, INPUT_CTRL), or one of these. */
enum {
	INPUT_UP = 0x110000, /* the first behind Unicode */
	INPUT_DOWN,
	INPUT_LEFT,
	INPUT_RIGHT,
	INPUT_PGUP,
	INPUT_PGDN,
	INPUT_HOME,
	INPUT_END_KEY,
	INPUT_ENTER,
	INPUT_ESC,
	INPUT_TAB,
	INPUT_BACKTAB,
	INPUT_BACKSPACE,
	INPUT_DEL,
	INPUT_INS,
	INPUT_F0, /* INPUT_F(1) to INPUT_F(12) follow */
	INPUT_KEY_END = INPUT_F0 + 13,
};

#define INPUT_F(n) ((uint32_t)INPUT_F0 + (n))
#define INPUT_CTRL(letter) ((uint32_t)(letter)&0x1f)

/* Pasted text beyond this is left off: no field of the view holds more. */
#define INPUT_TEXT_MAX 512

struct input {
	enum input_kind kind;
	uint32_t key;
	int y, x;
	char text[INPUT_TEXT_MAX + 1]; /* INPUT_PASTE: one line of safe UTF-8 */
};

struct input input_key(uint32_t key);

/* Whether it is a key that types a character. */
bool input_types(const struct input *in);

/*
 * The name of a key: "Up", "F9", "^C", "Space", or the character itself.
 * Returns out, which holds at least INPUT_NAME_MAX bytes.
 */
#define INPUT_NAME_MAX 16
const char *input_key_name(uint32_t key, char out[static INPUT_NAME_MAX]);

/* An event in the words of a script; at most size - 1 bytes. */
void input_format(const struct input *in, char *out, size_t size);

/*
 * A key script: words between blanks.
 *
 *	Down Down r Enter ^C F9 Space   keys by name, or a character for itself
 *	<ab cd>                         characters typed one by one ("\>": a >)
 *	Paste<ab cd>  Click:4,10  WheelUp:4,10  WheelDown:4,10
 *	Resize:24x80  Tick  End:15
 *
 * A '<' alone is the key '<'.
 */
struct input_script {
	const char *at;
	bool in_text;
};

/* 1 and an event; 0 at the end; -EINVAL where a word means nothing. */
int input_script_next(struct input_script *script, struct input *in, struct err *err);

#endif
