/*
 * What the drawing of the list's rows has in common: where the columns are.
 * Internal to the files that draw the list.
 */
#ifndef STRAY_TUI_FRAME_H
#define STRAY_TUI_FRAME_H

#include "tui/view.h"

#define FRAME_LEFT 3 /* where the columns begin */
#define FRAME_FIELDS_MAX 12

enum field {
	FIELD_END,
	FIELD_FLAGS,
	FIELD_PID,
	FIELD_PPID,
	FIELD_PGID,
	FIELD_SID,
	FIELD_STATE,
	FIELD_START,
	FIELD_AFTER, /* since the run was over */
	FIELD_CPU,
	FIELD_RSS,
	FIELD_USER,
};

struct frame {
	const struct view *v;
	const struct table *t;
	const struct area *a;                /* its row 0 holds the names of the columns */
	enum field fields[FRAME_FIELDS_MAX]; /* ends with FIELD_END */
	int pid_width, user_width;
	int command_x, note_x; /* note_x 0: no notes */
};

/* Chooses the columns for the width and what is listed. */
void frame_lay_out(struct frame *f);
void frame_draw_names(const struct frame *f);

/* One process with its columns, its place in the tree, and a note. */
void frame_draw_process(const struct frame *f, int y, const struct row *row);
void frame_draw_flags(const struct frame *f, int y, int x, const struct process *p, bool dead);

#endif
