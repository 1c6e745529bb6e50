/*
 * What events told of the run in view (kin.h), and what scans show of it: each
 * brought to the other.
 *
 * The table learns who was seen being forked, and by whom; the fold of events learns
 * whom the table shows to be members, for reasons of which it knows nothing.  Pure.
 */
#ifndef STRAY_MODEL_HEARD_H
#define STRAY_MODEL_HEARD_H

#include "model/kin.h"
#include "model/run.h"

/*
 * A fold for the run, whose members t shows.  Stray itself, its ancestors and who asked for the run
 * are none (run.h).  Owned (kin_free); NULL: out of memory.
 */
struct kin *heard_new(const struct run *run, const struct table *t);

/* A scan's processes learn what was heard of them; before they are judged. */
void heard_apply(const struct kin *kin, struct table *t);

/* The fold learns what t, judged for the run, shows.  0 or -ENOMEM. */
int heard_feed(struct kin *kin, const struct table *t);

#endif
