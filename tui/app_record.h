/*
 * What the app does of recorded runs for the view: a run that was chosen is
 * adopted, one that is asked for is opened; both are watched with each scan until
 * another is chosen or the view ends.
 */
#ifndef STRAY_TUI_APP_RECORD_H
#define STRAY_TUI_APP_RECORD_H

#include "engine/listener.h"
#include "engine/vigil.h"
#include "tui/view.h"

struct app_record {
	struct vigil_options o;
	struct listener *listener; /* borrowed: follows the run in view */
	struct vigil vigil;
	struct rundir_list known; /* owned: while the next run is waited for */
};

/* The view has chosen another run, or none.  0 or -ENOMEM. */
int app_record_run(struct app_record *r, struct view *v, struct err *err);

/* Takes the recorded run that name means into view.  As vigil_open(). */
int app_record_open(struct app_record *r, struct view *v, const char *name, struct err *err);

/* From now on the next run that is recorded is taken into view.  0 or -errno. */
int app_record_await(struct app_record *r, struct view *v, struct err *err);

/* Takes what was heard of its members (listener.h). */
void app_record_hear(struct app_record *r, struct view *v);

/* After each scan.  0 or -ENOMEM. */
int app_record_look(struct app_record *r, struct view *v, struct err *err);

/* Writes the note that the view asks for. */
void app_record_note(struct app_record *r, struct view *v);

/* by_signal: the view was asked to end by one. */
void app_record_close(struct app_record *r, bool by_signal);

#endif
