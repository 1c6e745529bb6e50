/*
 * The live view on a real terminal and a real host: the loop around tui/view.h.
 *
 * One epoll loop: keys, scans (in a thread, so that nothing blocks the keys),
 * ticks, and the act under way.  Prints nothing, exits never; the terminal is
 * given back when app_run() returns.
 */
#ifndef STRAY_TUI_APP_H
#define STRAY_TUI_APP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "engine/listener.h"
#include "model/selector.h"
#include "source/source.h"

struct app_options {
	struct source_options source;
	enum listener_how listen; /* to events, beside the scans */
	const char *source_words; /* "/proc", "replay:x.json": for the screen */
	const char *state_dir;    /* NULL: by default */
	const char *user;         /* only this user's; NULL: all.  By name or number */
	const pid_t *pids;        /* only these; NULL: all */
	size_t n_pids;
	const struct selector *target; /* the run to begin with; NULL: none */
	unsigned delay_ms;             /* between two scans */
	bool mouse, ascii, mono, readonly;
	bool next; /* shows the next run that is recorded */
};

/* Runs until it is quit.  0, or -errno: no terminal, no /proc, a target that
 * names nothing. */
int app_run(const struct app_options *options, struct err *err);

#endif
