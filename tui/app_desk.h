/*
 * Where the app's writing is done: one thread (engine/worker.h) that has the journal of the run in
 * view and the act under way, so that no key waits for a disk.
 *
 * The loop hands it jobs, which own what they need, and takes back what came of them; what is under
 * way, and for how long, is the view's to say.  The order of asking is the order on the disk.
 */
#ifndef STRAY_TUI_APP_DESK_H
#define STRAY_TUI_APP_DESK_H

#include "engine/act.h"
#include "engine/vigil.h"
#include "engine/worker.h"
#include "tui/view.h"

#define APP_DESK_LATE_NS 500000000ull /* what takes longer is said */

/* What the thread works with; nobody else touches it. */
struct desk {
	struct vigil *vigil; /* owned; NULL: no run is recorded or watched */
	struct act *act;     /* owned; NULL: none is under way */
};

struct app_job;

struct app_job_kind {
	const char *what; /* that is written, for the screen */
	void (*run)(struct desk *desk, struct app_job *job);
	/* In the loop's thread again, which `to` belongs to: 0, or -errno, which ends the view. */
	int (*done)(void *to, struct app_job *job, struct view *v, struct err *err);
	void (*drop)(struct app_job *job); /* frees it, in whichever thread */
};

/* The first member of each job. */
struct app_job {
	const struct app_job_kind *kind;
	void *to;
};

struct app_desk {
	struct worker *worker;
	bool told_alone;
};

int app_desk_open(struct app_desk *a, struct err *err);

/* Leaves behind what is being written; what waits is forgotten. */
void app_desk_close(struct app_desk *a);

int app_desk_fd(const struct app_desk *a);

/* Takes job, also where it fails.  0 or -ENOMEM. */
int app_desk_do(struct app_desk *a, struct app_job *job, struct err *err);

/* Tells who asked, and the view, what came of it: 1 where something has, 0, or -errno. */
int app_desk_take(struct app_desk *a, struct view *v, struct err *err);

bool app_desk_busy(struct app_desk *a);

/* Tells the view what is late, and where there is no thread: true where the screen changes. */
bool app_desk_tell(struct app_desk *a, struct view *v, uint64_t boot_ns);

/* Waits until all that was asked for is on the disk, limit_ns at most. */
void app_desk_wait(struct app_desk *a, uint64_t limit_ns);

#endif
