/*
 * Processes that a service forked while a member of a run spoke with it.
 *
 * Sources say who was spoken with, and when (process.spoke_from, spoke_until); this only judges.
 * What was asked for is not known, so they are possible members at most.  Pure.
 */
#ifndef STRAY_MODEL_ASKED_H
#define STRAY_MODEL_ASKED_H

#include "model/run.h"

/*
 * Whether p was born while the run was there, of one that a member spoke with at that time and that
 * is no member itself.  Of whom nothing says who forked him, as of PID 1's and a user manager's
 * children, it is not told.
 */
bool asked_evidence(const struct run *run, const struct table *t, const struct process *p);

/* Takes from a scan before what it knew of whom was spoken with. */
void asked_carry_over(struct process *p, const struct process *was);

#endif
