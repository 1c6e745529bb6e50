/*
 * What the loop of tui/app.h does to the disk and to processes for the view:
 * asks whether a record can be written, begins an act and takes it on, writes a
 * snapshot.  Nothing here decides what is hit; that is the view's plan.
 *
 * All of it is done at the desk (tui/app_desk.h), in the order of engine/act.h; the view sees
 * copies of what came of an act until it is done.
 */
#ifndef STRAY_TUI_APP_ACT_H
#define STRAY_TUI_APP_ACT_H

#include "tui/app_desk.h"

struct app_act {
	const char *state_dir; /* NULL: by default */
	struct app_desk *desk; /* borrowed */
	struct act *act;       /* the last one that is done, owned: its outcome is on the screen */
	struct act_outcome *seen; /* owned: of the one under way, as it was last seen */
	int fd;               /* owned: readable when that wants to go on; -1: none is under way */
	uint64_t wakes_ns;    /* and by when, CLOCK_BOOTTIME */
	bool stepping;        /* it is going on */
	bool probing, saving; /* under way */
	bool wants_scan;      /* it has changed the host; the app's to clear */
	struct table *held;   /* owned: the before state that `s` writes */
};

/* After the desk's. */
void app_act_free(struct app_act *a);

/* Asks whether a record can be written now: the dialog is told.  0 or -ENOMEM. */
int app_act_probe(struct app_act *a, struct err *err);

/*
 * Carries out the view's dialog, and tells the view.  adopting: its run is being recorded; the act
 * is to be in that record.  0 or -ENOMEM.
 */
int app_act_begin(struct app_act *a, struct view *v, bool adopting, struct err *err);

/* Goes on where there is something to do.  0 or -ENOMEM. */
int app_act_step(struct app_act *a, uint64_t boot_ns, struct err *err);

/* Readable when the act wants to go on; -1: there is none under way. */
int app_act_fd(const struct app_act *a);

/* CLOCK_BOOTTIME ns by which app_act_step() is wanted; UINT64_MAX: not at all. */
uint64_t app_act_wakes_at(const struct app_act *a);

/* Holds a copy of the view's table as the before state; a failure is no harm. */
void app_act_hold(struct app_act *a, struct view *v);

/* Writes the held state (of the run's members, where one is chosen), tells the
 * view where, and holds the present one from then on.  0 or -ENOMEM. */
int app_act_snapshot(struct app_act *a, struct view *v, struct err *err);

#endif
