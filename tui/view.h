/*
 * The live view's state, and how input changes it.
 *
 * view_update() and view_draw() are pure but for memory: they read no clock, no
 * terminal and no /proc.  What the view wants done it says as a request; the
 * app (tui/app.h) does it and tells the outcome.  Rows are found again by tag, so
 * that a new scan never moves the selection to another process.
 */
#ifndef STRAY_TUI_VIEW_H
#define STRAY_TUI_VIEW_H

#include "engine/act.h"
#include "model/tracker.h"
#include "model/tree.h"
#include "tui/cell.h"
#include "tui/input.h"
#include "tui/lineedit.h"

enum screen { SCREEN_MAIN, SCREEN_WHY, SCREEN_DIFF, SCREEN_HELP };

enum request_kind {
	REQUEST_NONE,
	REQUEST_QUIT,
	REQUEST_SUSPEND,  /* Ctrl-Z */
	REQUEST_REDRAW,   /* Ctrl-L */
	REQUEST_RESCAN,   /* wants facts at once, not at the next tick */
	REQUEST_ACT,      /* carry out view.dialog's plan with view.act_options */
	REQUEST_SNAPSHOT, /* `s`: write the held before state */
	REQUEST_EXPORT,   /* `e`: write the last act's record, or say where it is */
	REQUEST_DETAIL,   /* all details of view.wanted are wanted (why screen) */
	REQUEST_FLUSH,    /* a dialog was opened: throw away what was typed before it was drawn */
};

#endif
