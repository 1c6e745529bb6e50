/*
 * A recorded run in the words of the screens: its state, its deadline as a bar.
 *
 * Pure, but that a story's text is made safe.
 */
#ifndef STRAY_TUI_RUNWORDS_H
#define STRAY_TUI_RUNWORDS_H

#include "model/run_state.h"
#include "tui/line.h"
#include "tui/style.h"

#include <stdint.h>

/* "ACTIVE", "LEFTOVER", ... */
const char *runwords_state(enum run_state s);
enum style runwords_style(enum run_state s);

/* How long ago, "3m05s ago", with what stands before it; nothing where since_ns is 0. */
void runwords_ago(struct line *l, const char *what, uint64_t since_ns, uint64_t now_ns);

/* How much of the time from..to is over, in so many cells; nothing where it has no end. */
void runwords_bar(struct line *l, uint64_t from_ns, uint64_t to_ns, uint64_t now_ns, int cells);

#endif
