/*
 * Whose child a process is, and whether it was always so.
 *
 * The tracker sees a parent change between two scans (observed); this module
 * reads one scan and says what follows from it by inheritance of the session
 * (presumed), or what could be but is not shown (possible).  Rules and their
 * exceptions: doc/ARCHITECTURE.md "Reparented, and what explains it".  Pure.
 */
#ifndef STRAY_MODEL_LINEAGE_H
#define STRAY_MODEL_LINEAGE_H

#include "model/family.h"
#include "model/table.h"

/* PID 1, a user manager, or the init of a PID namespace: a parent that adopts. */
bool lineage_is_reaper(const struct process *p);

/* Whether p's session leader has ended.  False where the table does not show all
 * (then nothing follows from absence), and for session 0 (leader outside). */
bool lineage_leader_gone(const struct table *t, const struct process *p);
/* The same of the process at that index, for many. */
bool lineage_leader_gone_at(const struct table *t, const struct family *f, size_t i);

/* Whether the parent is outside p's PID namespace: p was put into it, no
 * orphan of it (PPID 0, or nsenter, docker exec seen from the host). */
bool lineage_parent_outside(const struct table *t, const struct process *p);

/*
 * Sets reparented (to KNOWN_PRESUMED where it is not known better) and
 * reparent_possible.  Needs origin_judge before.
 */
void lineage_judge(struct table *t, const struct family *f);

/*
 * Whether there is a reason to read all details of p: it is a reaper's child, its
 * session is not its parent's, its leader is gone; or, where its cgroup is known
 * by now, it may be the first of an application.  below_systemd: its parent's comm
 * is "systemd", which a scan knows also where it did not read the parent's details again.
 */
bool lineage_candidate(const struct table *t, const struct process *p, bool below_systemd);

#endif
