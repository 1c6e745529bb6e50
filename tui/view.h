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
#include "engine/vigil.h"
#include "model/tracker.h"
#include "tui/browse.h"
#include "tui/dialog.h"
#include "tui/events.h"
#include "tui/gone.h"
#include "tui/input.h"
#include "tui/keymap.h"
#include "tui/line.h"
#include "tui/lineedit.h"
#include "tui/menu.h"
#include "tui/page.h"
#include "tui/query.h"
#include "tui/rows.h"
#include "tui/runlist.h"

#define VIEW_COLS_MIN 40
#define VIEW_ROWS_MIN 10

enum screen { SCREEN_LIST, SCREEN_WHY, SCREEN_DIFF, SCREEN_HELP, SCREEN_RUNS, SCREEN_EVENTS };

enum request {
	REQUEST_NONE,
	REQUEST_QUIT,
	REQUEST_SUSPEND,  /* Ctrl-Z */
	REQUEST_REDRAW,   /* Ctrl-L */
	REQUEST_RESCAN,   /* wants facts at once, not at the next tick */
	REQUEST_RUN,      /* another run was chosen, or none: adopt it, let go of the one before */
	REQUEST_RUNS,     /* the recorded runs are wanted: view_runs_loaded() */
	REQUEST_OPEN_RUN, /* the recorded run view.runs_at is to be in view: view_record() */
	REQUEST_EVENTS,   /* the journal of view.events_of is wanted: view_events_loaded() */
	REQUEST_NOTE,     /* view.edit's text goes to the journal, about view.note_of */
	REQUEST_EXPORT,   /* the incident record of the run whose events or members are shown */
	REQUEST_ACT,      /* carry out view.dialog's plan: view_acted() or view_act_failed() */
	REQUEST_SNAPSHOT, /* `s`: write the held before state: view_say() */
	REQUEST_DETAIL,   /* all details of view.why_of are wanted: view_detail() */
	/* A dialog was opened: draw it, throw away what was typed before it was
	 * drawn, and ask whether a record can be written: view_dialog_drawn(). */
	REQUEST_FLUSH,
};

/* Reading all details of one process. */
enum reading {
	READING_NONE,
	READING_UNDER_WAY,
	READING_DONE,
	READING_LATE, /* it hangs, and was given up */
	READING_FAILED,
};

enum popup { POPUP_NONE, POPUP_RUN, POPUP_USER, POPUP_SIGNAL, POPUP_SORT };
enum prompt { PROMPT_NONE, PROMPT_FIND, PROMPT_FILTER, PROMPT_NOTE };

struct view_options {
	bool readonly;      /* acts are absent */
	bool ascii;         /* for text_safe() */
	const char *source; /* "/proc", "replay:x.json"; safe */
	const char *user;   /* -u; NULL: any.  Borrowed */
	const pid_t *pids;  /* -p; NULL: any.  Borrowed */
	size_t n_pids;
};

struct view {
	struct view_options o;
	struct tracker *k; /* borrowed; now may be NULL before the first scan */
	int screen_rows, screen_cols;

	enum screen screen;
	enum list_kind list;
	enum sort sort;
	bool flat, paused, follow;
	char user[64];

	struct run run;
	uint64_t chosen_wall_ns;
	bool has_run;
	bool freezer_works; /* of its control group, where it has one; set by the app */
	bool told_detach, told_late, told_over; /* once a run */
	const struct vigil *vigil; /* borrowed from the app; NULL: the run is not recorded */
	struct gone gone;          /* members whom its journal saw end */
	bool told_unwritten;
	bool waiting; /* for the next run to be recorded */

	struct rows rows;
	struct tagset toggled, tagged;
	size_t cursor; /* an index of rows.list */
	uint64_t cursor_tag;
	bool here_known;
	bool cursor_lost;      /* its row went: the next act is not for the row it stands on now */
	char lost_words[96];   /* what it was */
	char cursor_words[96]; /* what the row under the cursor is, kept for that */
	unsigned top;          /* first line shown */
	int list_rows;         /* lines of the list in the last drawing */
	int list_y;            /* where it begins on the screen */
	int sideways;

	struct query find, filter;
	enum prompt prompt;
	struct lineedit edit;
	enum popup popup;
	struct menu menu;
	struct dialog dialog;
	char changed[320]; /* why the dialog is to ask again after the next scan; "": it is not */
	struct page page;

	struct plan here; /* what T would hit at the cursor, if here_known */

	struct identity why_of;
	struct detail *why_detail; /* counted; NULL: not read yet */
	enum reading why_reading;

	struct runlist runs;
	struct browse runs_list;
	bool runs_known;
	char runs_at[RUN_ID_MAX + 1]; /* the run under the cursor; "": none */

	struct events events;
	struct browse events_list;
	bool events_known;
	char events_of[RUN_ID_MAX + 1]; /* whose they are; "": nobody's yet */
	char events_trouble[300];       /* what is wrong with that journal; "": nothing */
	uint64_t events_at;             /* the seq of the event under the cursor */
	enum screen events_back;        /* where Esc leads */

	struct identity note_of; /* whom a note explains; pid 0: the run */
	char note_title[100];

	const struct act_outcome *outcome; /* borrowed from the app; NULL: nothing was sent */
	uint64_t held_wall_ns;             /* the before state that the app holds; 0: none */
	bool acting;                       /* an act is under way */
	char act_title[96];                /* which; "": none yet */
	bool act_begins; /* nothing of it was sent yet: its intent is being written */
	const char
		*writing; /* borrowed: what has been waiting for the disk; NULL: nothing is late */
	unsigned writing_s; /* and for how long */
	bool leaving;       /* asked to quit: what is being written is waited for */
	bool elsewhere;     /* the diff screen shows the rest of the host */
	bool bell;          /* taken by the app */
	bool touched;       /* a key was pressed, or the mouse */
	bool find_waits;    /* what was typed to be found, for the first list */

	char message[320]; /* until the next key; "" none */
	enum style message_style;
	char trouble[320]; /* the last scan failed */
};

/* The view borrows tracker, and its run: tracker->run is the view's business. */
void view_init(struct view *v, const struct view_options *o, struct tracker *tracker);
void view_free(struct view *v);

enum request view_update(struct view *v, const struct input *in);

/* Draws the whole screen. */
void view_draw(struct view *v, struct grid *grid);

/* After each tracker_fold(): builds the rows.  0 or -ENOMEM. */
int view_scanned(struct view *v, struct err *err);
/* A scan failed: what is on the screen is old, and says so. */
void view_scan_failed(struct view *v, const struct err *why);

/* Chooses the run (NULL: none).  -ESRCH, -ENOMEM. */
int view_choose(struct view *v, const struct selector *target, struct err *err);

/*
 * Takes a recorded run into view; g is borrowed until another is chosen.  NULL: the run stays,
 * and is not recorded.  -ENOMEM.
 */
int view_record(struct view *v, const struct vigil *g, struct err *err);

/* The run in view is recorded now, as g: as view_record(), but all stays where it was. */
int view_adopted(struct view *v, const struct vigil *g, struct err *err);

/* After another look; g in place of the one before. */
int view_record_again(struct view *v, const struct vigil *g, struct err *err);

/* What changes with each of these. */
void view_recorded(struct view *v);

/* The dialog was drawn and older input thrown away; problem: why nothing can be
 * recorded, or NULL. */
void view_dialog_drawn(struct view *v, const char *problem);

/* The dialog's act is being prepared: *plan is the caller's from here on.  What follows is one of
 * the next two. */
void view_act_begins(struct view *v, struct plan *plan);

/*
 * The act has begun, gone on, or is done; borrowed until the next one begins.
 * unrecorded: why the record could not be completed; NULL: it could.
 */
void view_acted(struct view *v, const struct act_outcome *outcome, const struct err *unrecorded);
/* Nothing was sent.  again: something changed; the dialog asks again after the
 * next scan, with what is known then. */
void view_act_failed(struct view *v, bool again, const struct err *why);

/* What came of reading the details of why_of (a reference is taken; NULL: those before stay). */
void view_detail(struct view *v, enum reading how, struct detail *d);

/* It is known anew who is connected. */
void view_contacts(struct view *v);

/* All recorded runs: taken, runs is empty then. */
void view_runs_loaded(struct view *v, struct runlist *runs);
/* The journal of events_of: taken.  trouble: what is wrong with it, "": nothing. */
void view_events_loaded(struct view *v, struct events *events, const char *trouble);

/* A line at the foot of the screen until the next key. */
void view_say(struct view *v, enum style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The terminal's title: safe text. */
void view_title(const struct view *v, char *out, size_t size);

/* --- between the files of the view ---------------------------------------- */

struct dialog_host view_host(const struct view *v);
struct rows_options view_rows_options(const struct view *v);

/* Builds the rows anew; the cursor stays on its row. */
void view_rebuild(struct view *v, bool settle);

/* Shows another list, in an order of its own, from its first row on. */
void view_show(struct view *v, enum list_kind list);

/* The row under the cursor, or NULL. */
const struct row *view_row(const struct view *v);
/* Its process: of a session or group row the leader, else the first below; NULL: none. */
const struct process *view_process(const struct view *v);
void view_move_to(struct view *v, size_t i);
/* Movement, folds, tags; false where the action is none of these. */
bool view_list_action(struct view *v, enum action a);
void view_scroll_to_cursor(struct view *v);
/* The identities that an act at the cursor, or on the tagged rows, aims at.
 * owned by the caller: free(*ids).  0 or -ENOMEM. */
int view_targets(const struct view *v, struct identity **ids, size_t *n, bool *picked);

/* Whether another list is shown than that of the run in view: q leads back to it. */
bool view_has_way_back(const struct view *v);

/* Finds the next row that matches view.find; unfolds what hides it. */
void view_find(struct view *v, int direction);
/* The search that was typed before there was a list. */
void view_find_waiting(struct view *v);

/* "2 of 2 gone", "1 of 2 gone; 4131 alive (ignores the signal)" */
void view_outcome_words(const struct act_outcome *o, struct line *l);
/* A reason of doc/FORMATS.md for being alive, in words. */
const char *view_why_words(const char *why);

/* Plans the dialog anew where something changed under it. */
void view_ask_again(struct view *v);

/* Acts: opens the dialog for them. */
enum request view_act_action(struct view *v, enum action a);
enum request view_open_dialog(struct view *v, enum act_kind kind, int sig, enum scope scope);

/* Whether a run chosen here is to be recorded. */
bool view_may_record(const struct view *v);
void view_open_run_menu(struct view *v);
void view_open_user_menu(struct view *v);
void view_open_sort_menu(struct view *v);
enum request view_menu_chosen(struct view *v);

/* Makes the text of the screen anew, where it is one of text. */
void view_page_again(struct view *v);
void view_why_page(struct view *v);
void view_help_page(struct view *v);
void view_diff_page(struct view *v);

/* Plans what T would hit at the cursor, once a row and scan. */
void view_plan_here(struct view *v);

/* The screens of runs and events. */
enum request view_open_runs(struct view *v);
enum request view_open_events(struct view *v, const char *id); /* NULL: no run is in view */
enum request view_open_note(struct view *v);
enum request view_runs_key(struct view *v, enum action a);
enum request view_events_key(struct view *v, enum action a);
void view_runs_filter(struct view *v); /* after its query has changed */
void view_events_filter(struct view *v);
void view_runs_find(struct view *v, int direction);
void view_events_find(struct view *v, int direction);
void view_draw_runs(struct view *v, const struct area *area);
void view_draw_events(struct view *v, const struct area *area);
void view_draw_note(const struct view *v, const struct area *screen);
/* The first line of a screen that is not about processes. */
void view_draw_title(const struct view *v, const struct area *area, const char *what,
		     const struct query *filter);

/* Pieces of the screen; each draws into its area alone. */
void view_draw_head(const struct view *v, const struct area *area); /* lines above the list */
int view_head_rows(const struct view *v);
/* Of a recorded run: its state, where the next piece may begin; what its journal covers. */
int view_draw_state(const struct view *v, const struct area *area, int y, int x);
void view_draw_journal(const struct view *v, const struct area *area, int y);
/* "nobody watched from ... to ..."; nothing where there was no gap. */
void view_add_gap(const struct view *v, struct line *l);
void view_draw_list(struct view *v, const struct area *area);
void view_draw_pane(const struct view *v, const struct area *area);
void view_draw_keys(const struct view *v, const struct area *area);
/* The key that stands in that column of the last line; 0: none. */
uint32_t view_key_at(const struct view *v, int x);

#endif
