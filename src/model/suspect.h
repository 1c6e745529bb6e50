/*
 * Suspects: processes with a positive reason to think that the work they
 * belong to is over while they live on (where no run is known).
 *
 * Needs origin_judge and lineage_judge before.  An origin can explain a reason
 * away; what it explained is kept in process.explained, so that `why` can say
 * so.  A child of a suspect is one too, unless an origin of its own (another
 * unit or container) begins with it.  Pure.
 */
#ifndef STRAY_MODEL_SUSPECT_H
#define STRAY_MODEL_SUSPECT_H

#include "model/family.h"
#include "model/table.h"

/* Sets suspect and explained of every process; *suspects: how many are.  0 or -ENOMEM. */
int suspect_judge(struct table *t, const struct family *f, size_t *suspects);

/* How much a suspect needs eyes: the weights of its reasons, and what it can reach. */
unsigned suspect_weight(const struct process *p);

/* The words for one reason: "parent gone", "session leader gone", ... */
const char *suspect_reason(unsigned bit);
/* The name of one reason in files: "reparented", "leader_gone", ... */
const char *suspect_name(unsigned bit);
#define SUSPECT_COUNT 7

/* A program that keeps other work running on purpose, by its executable
 * ("tmux", "screen"): it is named, and explains only that it itself lives on.  NULL: none. */
const char *suspect_multiplexer(const struct process *p);

/* The known mark that labels p, or NULL. */
const char *suspect_mark(const struct process *p);

#endif
