/*
 * Why a process is alive after the signals that should have ended it.
 *
 * Asks the kernel whether it is frozen; the rest is told from what was read of it.
 */
#ifndef STRAY_ENGINE_SURVIVOR_H
#define STRAY_ENGINE_SURVIVOR_H

#include "contain/ladder.h"
#include "model/process.h"

/* A name of doc/FORMATS.md ("ignores_term", ...), a literal; NULL: not known.  p: as it is now,
 * NULL: nothing of it is known. */
const char *survivor_why(const struct process *p, const struct ladder_outcome *o);

/* Whether its cgroup, or one above it, is frozen. */
bool survivor_is_frozen(pid_t pid);

#endif
