/*
 * What a dialog says above and below its rows of processes.  Internal to the
 * files that draw the dialog.
 */
#ifndef STRAY_TUI_DIALOG_WORDS_H
#define STRAY_TUI_DIALOG_WORDS_H

#include "tui/dialog.h"

#define BODY_MAX 40

/* Lines of text, each with its role. */
struct body {
	struct {
		char text[400];
		enum style style;
	} line[BODY_MAX];
	int n;
};

/* Each makes the lines anew, none wider than cols cells. */
void dialog_head(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols);
void dialog_notes(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols);
void dialog_question(const struct dialog *d, struct body *b, int cols);

#endif
