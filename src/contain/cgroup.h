/*
 * Control groups by path: found, asked, frozen, killed.
 *
 * A path is what /proc/PID/cgroup says ("/user.slice/x.scope"), relative to the hierarchy, never a
 * path of the file system: where the hierarchy is mounted is read from /proc/self/mountinfo (v2
 * may be at /sys/fs/cgroup/unified).  It never acts on the root of a hierarchy, nor on a cgroup
 * that holds this process or PID 1.  It makes no cgroups and moves nobody.  cgroups(7).
 */
#ifndef STRAY_CONTAIN_CGROUP_H
#define STRAY_CONTAIN_CGROUP_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_mount {
	char point[PATH_MAX]; /* where */
	char root[PATH_MAX];  /* which part of the hierarchy is seen there; "/": all */
};

/*
 * Looks in the text of a mountinfo for the v2 hierarchy (controller NULL) or for the v1 one of
 * that controller ("freezer"); one that shows the whole hierarchy is preferred.
 * 0 or -ENOENT.
 */
int cgroup_find_mount(const char *mountinfo, const char *controller, struct cgroup_mount *out);

/*
 * Takes from the text of a /proc/PID/cgroup the path in the v2 hierarchy (controller NULL) or in
 * that controller's.  0; -ENOENT: none; -ENAMETOOLONG.
 */
int cgroup_find_path(const char *text, const char *controller, char *out, size_t size);

/* As cgroup_find_path, of a process; *out is "" where it fails. */
int cgroup_path_of(pid_t pid, const char *controller, char *out, size_t size, struct err *err);

/*
 * Opens the directory of a path.  Returns an O_PATH descriptor, owned; -ENOENT: no such
 * hierarchy, or no such cgroup in what is mounted; -EINVAL: not a path within it.
 */
int cgroup_open(const char *path, const char *controller, struct err *err);

/* One yes or no of cgroup.events: "populated", "frozen".  v2.  0 or -errno. */
int cgroup_event(const char *path, const char *name, bool *yes, struct err *err);

/*
 * Asks the kernel to freeze it, or to thaw it (cgroup.freeze, Linux 5.2); comes back at once.
 * -EINVAL: refused, see above; -ENOENT; -EACCES.
 */
int cgroup_set_freeze(const char *path, bool freeze, struct err *err);

/* Whether cgroup_set_freeze() would be let, without doing it: 0, or its errors. */
int cgroup_can_freeze(const char *path, struct err *err);

/* Waits until cgroup.events says so: 0; -ETIME: not before the deadline (CLOCK_BOOTTIME, ns). */
int cgroup_wait_event(const char *path, const char *name, bool yes, uint64_t deadline_ns,
		      struct err *err);

enum cgroup_frozen {
	CGROUP_THAWED,
	CGROUP_FROZEN_V2, /* a KILL ends it, and a TERM that it does not catch */
	CGROUP_FROZEN_V1, /* also while it freezes.  Not even a KILL is acted on before the thaw */
};

/* Whether a process is frozen by its cgroup, or by one above it.  0 or -errno. */
int cgroup_frozen(pid_t pid, enum cgroup_frozen *how, struct err *err);

#endif
