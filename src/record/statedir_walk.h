/*
 * The walk to a state directory, component by component, and what is refused
 * on it.  Private to statedir.c and rundir.c; rules and errors: statedir.h.
 */
#ifndef STRAY_RECORD_STATEDIR_WALK_H
#define STRAY_RECORD_STATEDIR_WALK_H

#include "record/statedir.h"

/* path is absolute; *fd is open for reading, the caller's. */
int statedir_walk(const char *path, enum statedir_use use, int *fd, struct err *err);

/* Opens and checks the directory `name` in dir, which exists; path is for the text. */
int statedir_enter(int dir, const char *name, const char *path, enum statedir_use use, int *fd,
		   struct err *err);

#endif
