/*
 * Freeze a unit without erasing anything, and thaw it.
 *
 * A cgroup is frozen by the kernel as a whole, newcomers included.  What has none is stopped by
 * stop_all() of stop.h: that its parent sees, and an orphaned process group is woken by
 * the kernel (HUP and CONT); the caller warns.  Thawing after a failure keeps the failure's error.
 */
#ifndef STRAY_CONTAIN_FREEZE_H
#define STRAY_CONTAIN_FREEZE_H

#include "contain/act.h"

#include <stdint.h>

/*
 * Freezes a v2 cgroup and waits until the kernel says that all in it are.  Where that does not
 * come before the deadline (CLOCK_BOOTTIME, ns; a process in D state) it is thawed again: -ETIME.
 * Else 0 or as cgroup_set_freeze.
 */
int freeze_cgroup(const char *path, uint64_t deadline_ns, struct err *err);

/* Thaws it and does not wait.  0 or as cgroup_set_freeze. */
int thaw_cgroup(const char *path, struct err *err);

/*
 * CONT to each that is alive, also to those that this set did not stop: the thaw of what another
 * stray froze.  0, or the errno of the first that could not be continued.
 */
int thaw_targets(struct target_set *set, const struct act_hooks *hooks, struct err *err);

#endif
