/*
 * A host made by hand for tests of the screens, and a way to drive the view:
 * a key script and a size in, a screen of text out.
 *
 * Everything here fails the test (cmocka) when it goes wrong.
 */
#ifndef STRAY_TESTS_UNIT_VIEW_WORLD_H
#define STRAY_TESTS_UNIT_VIEW_WORLD_H

#include "model/tracker.h"
#include "tui/view.h"

struct world {
	struct tracker tracker;
	struct view view;
	struct grid grid;
	enum request last; /* what the view asked for last, but for nothing */
	unsigned asked[REQUEST_FLUSH + 1];
	char *text; /* of the last world_screen() */
};

/* A host at 14:11:07, before anything was scanned. */
void world_start(struct world *w, int rows, int cols);
void world_end(struct world *w);

/* An ordinary server with nothing left behind: services, a login, this stray. */
struct table *world_calm(void);
/* With the two suspicious sessions of the picture. */
struct table *world_incident(void);

/* One process more: a shell of user op with its own group; in the order of PIDs. */
struct process *world_add(struct table *t, pid_t pid, pid_t ppid, pid_t pgid, pid_t sid,
			  const char *args, const char *exe);
/* One process less; returns t. */
struct table *world_without(struct table *t, pid_t pid);
/* Later by s seconds. */
void world_age(struct table *t, unsigned s);

/* Folds a scan (takes it). */
void world_scan(struct world *w, struct table *scan);

/* Types a key script; a dialog that is asked for counts as drawn at once. */
void world_keys(struct world *w, const char *script);

/* The screen as text, borrowed until the next call. */
const char *world_screen(struct world *w);
/* Fails with the whole screen unless it holds text; or holds it not. */
void world_shows(struct world *w, const char *text);
void world_hides(struct world *w, const char *text);
/* The line that holds the text, without blanks at its end; fails where none does. */
void world_line(struct world *w, const char *text, char *out, size_t size);

/*
 * Compares the screen with tests/unit/screens/NAME.txt; with
 * STRAY_REGENERATE set it writes that file.
 */
void world_golden(struct world *w, const char *name);

#endif
