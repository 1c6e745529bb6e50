/*
 * What terminals send and understand whatever their description says.
 *
 * Terminfo entries name one sequence a key, and often not the one that the
 * emulator at hand sends; and they lack what is newer than they are.  The
 * sequences are XTerm's ("XTerm Control Sequences"), the VT220's and the Linux
 * console's (console_codes(4)); tmux knows them, others ignore what they do
 * not know.  This module knows no terminal.
 */
#ifndef STRAY_TUI_SEQUENCES_H
#define STRAY_TUI_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

/* Bracketed paste: what is pasted arrives between two marks. */
#define SEQUENCE_PASTE_ON "\033[?2004h"
#define SEQUENCE_PASTE_OFF "\033[?2004l"

#define SEQUENCE_MOUSE_OFF "\033[?1006l\033[?1000l"

/* The window's title: kept, put back, set (the text goes between). */
#define SEQUENCE_TITLE_PUSH "\033[22;2t"
#define SEQUENCE_TITLE_POP "\033[23;2t"
#define SEQUENCE_TITLE "\033]2;"
#define SEQUENCE_TITLE_END "\007"

struct sequence {
	const char *bytes; /* or a capability's name */
	uint32_t code;     /* a key of tui/input.h, or a mark of tui/decode.h */
};

/* The i-th key that terminals send, described or not; NULL behind the last. */
const struct sequence *sequence_usual(size_t i);

/* The i-th key by its capability in terminfo(5); NULL behind the last. */
const struct sequence *sequence_capability(size_t i);

#endif
