/*
 * The terminal is given back on every way out.
 *
 * While armed, this module owns the signals that stop, continue, resize or end
 * the view.  Most of them it only notes, for the driver's loop to act on.  A
 * crash, or a request to end that the loop does not take up in RESCUE_PATIENCE
 * seconds, restores the terminal right in the handler, with what was stored
 * beforehand, and dies by that signal.  Only calls that signal-safety(7)
 * allows are made there.  The signals must not be blocked, and alarm(2) is
 * used here alone.  This module knows no ncurses; one terminal at a time.
 */
#ifndef STRAY_TUI_RESCUE_H
#define STRAY_TUI_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/err.h"

#define RESCUE_PATIENCE 3
#define RESCUE_SEQUENCE_MAX 256

enum rescue_note {
	RESCUE_RESIZED,   /* SIGWINCH */
	RESCUE_CONTINUED, /* SIGCONT: stopped by what could not be caught, perhaps */
	RESCUE_STOP,      /* SIGTSTP from elsewhere: the key arrives as a key */
	RESCUE_END,       /* SIGTERM, SIGHUP, SIGINT, SIGQUIT */
	RESCUE_NOTES
};

/*
 * Takes the signals.  Those that were ignored stay ignored.  fd: the terminal,
 * borrowed until rescue_close().  -EBUSY: there is one already.
 */
int rescue_open(int fd, struct err *err);

/* Gives the signals back as they were. */
void rescue_close(void);

/*
 * From now on (until rescue_disarm()) the terminal is ours: shell is how it
 * was, sequence what undoes the screen (at most RESCUE_SEQUENCE_MAX bytes).
 */
void rescue_arm(const struct termios *shell, const char *sequence, size_t len);
void rescue_disarm(void);

/* Becomes readable when something was noted. */
int rescue_fd(void);

/* Whether it was noted since the last time; signo (may be NULL): which, for RESCUE_END. */
bool rescue_take(enum rescue_note note, int *signo);

/* Whether something is noted that leaves the terminal in an unknown state. */
bool rescue_shaken(void);

/*
 * Stops this process by SIGTSTP (whole: all of its process group, as the key
 * does in a cooked terminal), and returns when it is continued.
 */
void rescue_stop(bool whole);

/* Whether the terminal may be changed: we are in its foreground, or it is not ours to ask. */
bool rescue_foreground(void);

#endif
