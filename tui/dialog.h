/*
 * Before anything is done to processes: what it hits, what it does not, what
 * is known to be useless, and what is asked.
 *
 * A dialog holds its plan as it was drawn: a scan in between changes no target.
 * This module decides when a plan may be carried out; engine/act.h carries it
 * out, and checks every identity once more.  Pure but for memory.
 */
#ifndef STRAY_TUI_DIALOG_H
#define STRAY_TUI_DIALOG_H

#include "engine/act.h"
#include "tui/draw.h"
#include "tui/input.h"
#include "tui/lineedit.h"

/* What a dialog looks at, borrowed for one call. */
struct dialog_host {
	const struct table *now;
	const struct run *run; /* NULL: none chosen */
	bool freezer_works;    /* act_freezer_works() of the run's control group */
};

struct dialog_aim {
	enum act_kind kind;
	int signal;
	enum scope scope;
	const struct identity *ids; /* the row's, or the tagged rows' */
	size_t n_ids;
	bool tagged; /* or a fold's: several processes picked by hand */
};

struct dialog {
	bool open;
	bool drawn; /* it was on the screen: from then on keys count */
	struct act_options act;
	int signal;
	enum scope scope;
	bool tagged;
	bool members_only; /* the unit is refused: members are offered one by one */
	char refused[256]; /* why the unit is refused; "": it is not */
	struct {
		struct identity *v;
		size_t n, cap;
	} ids, added;
	struct plan plan;
	struct lineedit count;
	size_t cursor, top; /* among the rows */
	char problem[320];  /* why it cannot be done now, or what changed; "": nothing */
	bool blocked;       /* by the problem */
	char unit[64];      /* "group 4160" */
};

/* Plans and opens.  0 or -ENOMEM. */
int dialog_open(struct dialog *d, const struct dialog_host *h, const struct dialog_aim *aim,
		struct err *err);
void dialog_close(struct dialog *d); /* frees; fine where it is not open */

/* Plans anew with what is known now, and says why: what changed. */
int dialog_again(struct dialog *d, const struct dialog_host *h, const char *changed,
		 struct err *err);

/* Nothing can be recorded: said, and nothing will be sent.  NULL: it can. */
void dialog_block(struct dialog *d, const char *why);

enum dialog_result {
	DIALOG_STAYS,
	DIALOG_SEND,   /* carry out plan with act; the dialog stays until it is told */
	DIALOG_CANCEL, /* nothing is sent */
	DIALOG_FULL,   /* out of memory: nothing is sent */
};

enum dialog_result dialog_input(struct dialog *d, const struct dialog_host *h,
				const struct input *in);

void dialog_draw(struct dialog *d, const struct dialog_host *h, const struct area *screen);

/* "TERM to group 4160", "end of session 4102", "freeze of group 4160" */
void dialog_title(const struct dialog *d, char *out, size_t size);

/* Whether the number of targets is to be typed. */
bool dialog_asks_count(const struct dialog *d);

#endif
