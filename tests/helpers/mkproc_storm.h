/*
 * The storms of mkproc: N slots, each held by one process at a time that ignores TERM, HUP and
 * INT, makes its successor and exits, over and over: by a fork, by one and setsid or setpgid, by
 * two.  What a storm is at is told in a page that is a file, so that who looks on needs nobody's
 * word for it.
 *
 * It does not grow: a process makes one successor and exits.  Nor does it take all the PIDs
 * of a host where nobody reaps: after STORM_FORKS its processes stay as they are.
 */
#ifndef STRAY_TESTS_MKPROC_STORM_H
#define STRAY_TESTS_MKPROC_STORM_H

#include <stdint.h>

#define STORM_MAX 1000
#define STORM_FORKS 8000 /* the least pid_max is 32768, and nobody may reap them */

/*
 * The file, in the byte order of the host.  Who holds a slot holds a lock on the file, too
 * (flock(2)): it is free as soon as the last of them is dead, and so is the maker.
 */
struct storm {
	uint64_t beat_ns; /* the last sign of life, CLOCK_BOOTTIME */
	uint32_t forks;   /* successors, so far */
	uint32_t n;
	int32_t pid[STORM_MAX]; /* who holds each slot */
};

/* Each has memory of its own, as what a shell runs; or all share the maker's, as after vfork(2), so
 * that they fork, and die, as fast as can be. */
void mk_storm(char **arg);
void mk_storm_light(char **arg);

#endif
