/*
 * What the loop of tui/app.h does to the disk and to processes for the view:
 * asks whether a record can be written, begins an act and takes it on, writes a
 * snapshot.  Nothing here decides what is hit; that is the view's plan.
 */
#ifndef STRAY_TUI_APP_ACT_H
#define STRAY_TUI_APP_ACT_H

#include "engine/act.h"
#include "tui/view.h"

struct app_act {
	const char *state_dir; /* NULL: by default */
	struct act *act;       /* the last one, owned: its outcome is on the screen */
	struct table *held;    /* owned: the before state that `s` writes */
};

void app_act_free(struct app_act *a);

/* Whether a record can be written now.  0 or -errno. */
int app_act_probe(const struct app_act *a, struct err *err);

/* Carries out the view's dialog, and tells the view. */
void app_act_begin(struct app_act *a, struct view *v);

/* Goes on where there is something to do; true: the view was told something new. */
bool app_act_step(struct app_act *a, struct view *v, uint64_t boot_ns);

/* Readable when the act wants to go on; -1: there is none under way. */
int app_act_fd(const struct app_act *a);

/* CLOCK_BOOTTIME ns by which app_act_step() is wanted; UINT64_MAX: not at all. */
uint64_t app_act_wakes_at(const struct app_act *a);

/* Holds a copy of the view's table as the before state; a failure is no harm. */
void app_act_hold(struct app_act *a, struct view *v);

/* Writes the held state (of the run's members, where one is chosen), tells the
 * view where, and holds the present one from then on. */
void app_act_snapshot(struct app_act *a, struct view *v);

#endif
