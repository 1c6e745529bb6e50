/*
 * What the app does of recorded runs for the view: a run that was chosen is
 * adopted, one that is asked for is opened; both are watched with each scan until
 * another is chosen or the view ends.
 *
 * All of it is done at the desk (tui/app_desk.h): what is asked for here is told to the view when
 * it is on the disk.  A look is recorded when the one before it is; scans in between are not.
 */
#ifndef STRAY_TUI_APP_RECORD_H
#define STRAY_TUI_APP_RECORD_H

#include "engine/listener.h"
#include "tui/app_desk.h"

/* What was heard of a member, for the next look. */
struct app_heard {
	struct kin_change change;
	struct detail *detail; /* counted; NULL: none */
};

struct app_heards {
	struct app_heard *v; /* owned */
	size_t n, cap;
	uint64_t more; /* that could not be kept */
};

struct app_record {
	struct vigil_options o;
	struct listener *listener; /* borrowed: follows the run in view */
	struct app_desk *desk;     /* borrowed */
	struct vigil *shown; /* owned: what the view shows of the run at the desk; NULL: none */
	struct vigil_stamp stamp; /* of that */
	unsigned chosen; /* how often a run was chosen: what was asked for before is of another */
	bool adopting;   /* the run in view is being recorded */
	size_t opening;  /* how many are being opened */
	bool wants_scan; /* another run is in view; the app's to clear */
	struct app_heards heard;
	struct rundir_list known; /* owned: while the next run is waited for */
};

/* The view has chosen another run, or none.  0 or -ENOMEM. */
int app_record_run(struct app_record *r, struct view *v, struct err *err);

enum app_open {
	APP_OPEN_ASKED,   /* on the screen of runs */
	APP_OPEN_TARGET,  /* the view is about it: that it cannot be opened ends the view */
	APP_OPEN_DEFAULT, /* as it needs eyes */
	APP_OPEN_NEXT,    /* as it is the next one */
};

/* The recorded run that name means is to be in view.  0 or -ENOMEM. */
int app_record_open(struct app_record *r, const char *name, enum app_open why, struct view *v,
		    struct err *err);

/* From soon on the next run that is recorded is taken into view.  0 or -ENOMEM. */
int app_record_await(struct app_record *r, struct err *err);

/* Takes what was heard of its members (listener.h). */
void app_record_hear(struct app_record *r, struct view *v);

/* After each scan.  0 or -ENOMEM. */
int app_record_look(struct app_record *r, struct view *v, struct err *err);

/* Writes the note that the view asks for.  0 or -ENOMEM. */
int app_record_note(struct app_record *r, struct view *v, struct err *err);

/* Nobody watches from here on: to be asked for once all else is.  by_signal: the view was asked to
 * end by one. */
void app_record_leave(struct app_record *r, bool by_signal);

/* After the desk's. */
void app_record_close(struct app_record *r);

#endif
