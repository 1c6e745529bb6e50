/*
 * The terminal: the one file that knows ncurses.
 *
 * Brings a grid to the screen (changed rows only), turns what arrives into
 * events, and gives the terminal back: on close, on suspend, on a signal and
 * on a crash (tui/rescue.h).  It never exits, prints nothing but the screen,
 * and decides nothing about what is shown.  setlocale(LC_CTYPE, "") must have
 * been called before.
 *
 * A loop polls driver_fd() and driver_signal_fd() for reading, waits at most
 * driver_wait_ms(), calls driver_read() until it returns 0, and then flushes.
 */
#ifndef STRAY_TUI_DRIVER_H
#define STRAY_TUI_DRIVER_H

#include <stdbool.h>

#include "base/err.h"
#include "tui/cell.h"
#include "tui/input.h"

struct driver;

struct driver_options {
	bool ascii; /* ASCII even where the locale has UTF-8 */
	bool mono;  /* no colours even where the terminal has them */
	bool mouse;
};

/*
 * Takes the terminal on standard input and output.  -ENOTTY: one of them is
 * none; -EINVAL: TERM is unset, dumb or not known; -EBUSY: taken already.  The
 * error's text names `stray list`.  *driver is owned: driver_close().
 */
int driver_open(const struct driver_options *options, struct driver **driver, struct err *err);

/* Gives the terminal back.  NULL is allowed. */
void driver_close(struct driver *driver);

int driver_fd(const struct driver *driver);
int driver_signal_fd(const struct driver *driver);

/* ms after which driver_read() wants to be called though nothing came; -1: none. */
int driver_wait_ms(const struct driver *driver);

/* Whether the screen is to be drawn in ASCII: for grid.ascii and text_safe(). */
bool driver_ascii(const struct driver *driver);

/* The size by TIOCGWINSZ; LINES and COLUMNS in the environment do not count. */
void driver_size(const struct driver *driver, int *rows, int *cols);

/* Shows the grid.  What lies outside of the screen is left off. */
void driver_flush(struct driver *driver, const struct grid *grid);

/*
 * The next event: 1; or 0: none now.  An external SIGTSTP suspends here.
 * INPUT_RESIZE comes also when the size is as before but the screen has to be
 * drawn again.  Once the terminal is gone nothing follows its INPUT_END.
 */
int driver_read(struct driver *driver, struct input *in);

/*
 * Throws away what was typed or pasted up to now, also what is still on its
 * way: waits until nothing came for 20 ms, 250 ms at most.  A bracketed paste
 * under way is swallowed to its end, however late that comes.
 */
void driver_flush_input(struct driver *driver);

/* Suspends as Ctrl-Z does; returns when continued, an INPUT_RESIZE then follows. */
void driver_suspend(struct driver *driver);

/* Everything is sent anew with the next flush (Ctrl-L). */
void driver_redraw(struct driver *driver);

/* Sets the terminal's title (safe text) where it has one; it is put back at the end. */
void driver_title(struct driver *driver, const char *safe);

void driver_bell(struct driver *driver);

#endif
