/*
 * The inside of details.c, for the files that read one detail each.
 */
#ifndef STRAY_SOURCE_DETAILS_PARTS_H
#define STRAY_SOURCE_DETAILS_PARTS_H

#include "source/details.h"

#define DETAILS_LINK_MAX 4096        /* PATH_MAX: d_path() of the kernel gives no more */
#define DETAILS_DELETED " (deleted)" /* proc(5), /proc/PID/exe */

/* All of these: dir is of /proc/PID; 0 (a length), or -errno. */

/*
 * Reads cmdline, environ or cgroup whole into the scratch buffer, which grows up to max bytes.
 * What fills less than was asked for is the last of it: they are written in a loop or as one
 * record (fs/proc/base.c, get_mm_cmdline, environ_read; fs/seq_file.c, single_open).
 */
ssize_t details_read_whole(struct details_reader *r, int dir, const char *name, size_t max);

/* Marks, and names that tell of a credential; the scratch is wiped of values. */
int details_read_environ(struct details_reader *r, int dir, struct detail *d);

/* What stdin, stdout and stderr are, and p->tty_closed: a terminal that closed stays open as
 * "/dev/pts/N (deleted)" (devpts). */
int details_read_stdio(struct details_reader *r, int dir, struct process *p, struct detail *d);

#endif
