/*
 * What the app reads of recorded runs besides the one in view, and an export: by errands
 * (engine/errand.h), so that neither a large journal nor a slow disk blocks a key.
 *
 * Signals nobody.  An export is written to STATE/exports/, never over a file that is there.
 */
#ifndef STRAY_TUI_APP_LOAD_H
#define STRAY_TUI_APP_LOAD_H

#include "engine/errand.h"
#include "source/source.h"
#include "tui/view.h"

#define APP_LOAD_EVERY_NS 5000000000ull  /* how often the list of runs is read while it is shown */
#define APP_LOAD_COUNT_NS 30000000000ull /* and while how many there are is */

struct app_load {
	const char *state_dir; /* borrowed; NULL: by default */
	bool replay;           /* a recorded host: of no run is anybody looked for */
	struct errand *runs, *events, *export;
	uint64_t runs_read_ns; /* when they were asked for last, boot time */
	uint64_t events_size;  /* of the journal as it was read last */
	char events_id[RUN_ID_MAX + 1];
};

int app_load_open(struct app_load *l, const char *state_dir, bool replay, struct err *err);
void app_load_close(struct app_load *l);

/* Begin; no effect while the same is under way.  living: which run needs eyes is all that is asked
 * for, and the past is not read. */
void app_load_runs(struct app_load *l, const struct view *v, bool living, uint64_t boot_ns);
void app_load_events(struct app_load *l, struct view *v, uint64_t boot_ns);
void app_load_export(struct app_load *l, struct view *v, uint64_t boot_ns);

/* Asks anew for what is on the screen and may have changed. */
void app_load_again(struct app_load *l, struct view *v, uint64_t boot_ns);

bool app_load_awaits_runs(const struct app_load *l);

/* Tells the view what has arrived: true where something has. */
bool app_load_take(struct app_load *l, struct view *v);

#endif
