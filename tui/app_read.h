/*
 * What the app reads of single processes besides the scans: all details of one, and who is
 * connected.
 *
 * By errands (engine/errand.h), so that a reading that hangs blocks no key: it is given up after
 * ERRAND_HANG_NS, said, and that process not asked again.  Writes nothing and signals nobody.
 */
#ifndef STRAY_TUI_APP_READ_H
#define STRAY_TUI_APP_READ_H

#include "engine/errand.h"
#include "source/source.h"
#include "tui/view.h"

struct app_read {
	const struct source_options *source; /* borrowed */
	struct errand *detail, *contacts;
	struct {
		struct identity *v;
		size_t n, cap;
	} avoid; /* whose descriptors hang */
};

int app_read_open(struct app_read *r, const struct source_options *source, struct err *err);
void app_read_close(struct app_read *r);

/* Begins to read all details of v->why_of. */
void app_read_detail(struct app_read *r, struct view *v, uint64_t boot_ns);

/* Begins to ask who is connected: suspects, members, and the row under the cursor.  No effect
 * while that is under way.  0 or -ENOMEM. */
int app_read_contacts(struct app_read *r, struct view *v, uint64_t boot_ns, struct err *err);

/* Whether an answer about connections is awaited. */
bool app_read_asks(const struct app_read *r);

/* Takes what is there, gives up what is late.  1 where the view has changed, 0, or -ENOMEM. */
int app_read_take(struct app_read *r, struct view *v, uint64_t boot_ns, struct err *err);

#endif
