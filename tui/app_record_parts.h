/* The inside of what the app does of recorded runs.  For app_record*.c alone. */
#ifndef STRAY_TUI_APP_RECORD_PARTS_H
#define STRAY_TUI_APP_RECORD_PARTS_H

#include "tui/app_record.h"

struct record_job {
	struct app_job job; /* first */
	struct vigil_options o;
	unsigned chosen;
	struct tracker k; /* a copy, where it is about a look */
	struct app_heards heard;
	char name[RUN_ID_MAX + 1]; /* of the run */
	char *text;                /* owned: of a note; what a run is to be opened by */
	struct identity member;    /* whom that explains */
	struct rundir_list known;  /* owned */
	enum app_open why;
	const char *reason; /* a literal */
	/* what came of it */
	int result;
	struct err err;
	struct vigil *shown; /* owned; NULL: nothing else is to be shown */
	struct vigil_stamp stamp;
	bool found;
};

struct record_job *record_job_new(struct app_record *r, const struct app_job_kind *kind,
				  struct err *err); /* NULL: out of memory */
void record_job_drop(struct app_job *job);

void record_heard_clear(struct app_heards *h);
void record_shown_free(struct vigil *g); /* NULL is fine */

/* At the desk: struct app_job_kind. */
void record_run_adopt(struct desk *d, struct app_job *job);
void record_run_open(struct desk *d, struct app_job *job);
void record_run_look(struct desk *d, struct app_job *job);
void record_run_note(struct desk *d, struct app_job *job);
void record_run_leave(struct desk *d, struct app_job *job);
void record_run_list(struct desk *d, struct app_job *job);
void record_run_newcomer(struct desk *d, struct app_job *job);

#endif
