/*
 * The host before and after a run: what went and came that was not the run's.
 *
 * A scan before the command starts and a look after it ended, at all or at those that are known to
 * have come or gone; a security agent that the command
 * stopped stands out.  Knows no run: who belonged to it is told by identity.
 */
#ifndef STRAY_ENGINE_BASELINE_H
#define STRAY_ENGINE_BASELINE_H

#include "base/err.h"
#include "base/json_write.h"
#include "model/table.h"

#define BASELINE_AGE_NS 10000000000ull /* younger ones come and go on any host */

struct baseline; /* opaque */

struct baseline_diff {
	struct table *removed; /* owned: old ones that went; NULL: not known */
	struct {
		struct process *before, *after; /* borrowed from the tables */
	} * restarted;
	size_t n_restarted;
	size_t other_added, other_removed; /* the rest of the host's coming and going */
	struct table *added;               /* owned */
};

/* The host as it is now.  0 or why it cannot be read. */
int baseline_take(struct baseline **out, struct err *err);
void baseline_free(struct baseline *b); /* NULL is fine */

/* What is known of who came and went meanwhile; borrowed. */
struct baseline_known {
	const struct identity *ours; /* who belonged to the run or to stray, sorted by identity */
	size_t n_ours;
	const pid_t *others; /* ascending: the PIDs of all others that came or went */
	size_t n_others;
	bool others_known; /* else everybody is looked at */
};

/* What is different now. */
int baseline_compare(struct baseline *b, const struct baseline_known *known,
		     struct baseline_diff *out, struct err *err);
/* Whether that one of d->removed is to be named: old, and not restarted. */
bool baseline_is_removed(const struct baseline_diff *d, const struct process *p);

void baseline_diff_clear(struct baseline_diff *d);

#endif
