/*
 * The terminal as a device: opened, asked, written to.
 *
 * Knows no ncurses, no screen and no signal.
 */
#ifndef STRAY_TUI_TTY_H
#define STRAY_TUI_TTY_H

#include <stdbool.h>
#include <stdio.h>
#include <termios.h>

#include "base/err.h"

/* What the error of a view that cannot be shown ends with. */
#define TTY_INSTEAD "; `stray list` prints the same once"

struct tty {
	FILE *in, *out;       /* owned; for ncurses' newterm(3X) */
	struct termios shell; /* the modes to give it back with */
};

/*
 * Opens the terminal on standard input and output anew, with file descriptions
 * of our own: so the shell's O_NONBLOCK is not ours, nor ours the shell's.
 * -ENOTTY: one of them is no terminal (the text names `stray list`).
 */
int tty_open(struct tty *tty, struct err *err);
void tty_close(struct tty *tty);

/* Writes all, as far as the terminal takes it; waits for one that is slow. */
void tty_write(const struct tty *tty, const char *text);

/* By TIOCGWINSZ; false where the terminal does not know (then nothing is set). */
bool tty_size(const struct tty *tty, int *rows, int *cols);

/* Notes the modes it has now as those to give it back with, if a shell's: line by line. */
void tty_note_modes(struct tty *tty);

/* Whether something arrives within ms. */
bool tty_wait(const struct tty *tty, int ms);

bool tty_hung_up(const struct tty *tty);

#endif
