/*
 * Looking at the host: a source, and the tracker its scans are folded into.
 *
 * Each look reads once and judges.  It blocks as long as reading takes; the
 * live view looks through engine/scanner.h instead.  Never signals or writes.
 */
#ifndef STRAY_ENGINE_LOOK_H
#define STRAY_ENGINE_LOOK_H

#include "model/tracker.h"
#include "source/source.h"

struct look {
	struct source *source; /* owned */
	struct tracker tracker;
};

int look_open(struct look *look, const struct source_options *options, struct err *err);
void look_close(struct look *look);

/* Scans and folds. */
int look_again(struct look *look, struct err *err);

#endif
