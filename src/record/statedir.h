/*
 * The directory that records live in (stray(1), --state-dir).
 *
 * Which one, made where it is missing, and refused where another user could
 * have a hand in it.  Everything in it is reached through its descriptor, so
 * that what happens to its path afterwards changes nothing.
 *
 * Links: the directory itself and what is in it are never reached through a
 * symbolic link.  On the way to it a link is followed only if root or we own
 * it (an administrator's /var -> /data/var, a user's own ~/.local), since
 * then whoever could mislead us could do without.  The walk is by hand, one
 * openat(2) a component: openat2(2)'s RESOLVE_NO_SYMLINKS knows no owners.
 *
 * This module never follows a link of another user's, never loosens a mode,
 * and never removes what it did not make.
 */
#ifndef STRAY_RECORD_STATEDIR_H
#define STRAY_RECORD_STATEDIR_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

/* Each may be NULL or "", which count as not set. */
struct statedir_env {
	const char *option;          /* --state-dir */
	const char *stray_state_dir; /* the environment variables */
	const char *xdg_state_home;
	const char *home;
	const char *xdg_runtime_dir;
	uid_t euid;
};

/* Those of this process. */
struct statedir_env statedir_env_current(const char *option);

/*
 * The path that env asks for, owned by the caller.  XDG's variables and HOME count only if
 * absolute (XDG Base Directory Specification 0.8).  -ENOENT: none of them
 * says where; -EINVAL: an empty --state-dir; -ENOMEM.
 */
int statedir_choose(const struct statedir_env *env, char **path, struct err *err);

enum statedir_use {
	STATEDIR_READ,  /* makes nothing; root may read another user's */
	STATEDIR_WRITE, /* makes what is missing, each level 0700 */
};

struct statedir; /* opaque */

/*
 * Opens the directory at path.  -ENOENT: it is missing (STATEDIR_READ only).
 * -EPERM: it is another user's, another user can write to it, or (as root) it
 * would have to be made where another user can write.  -ELOOP: a link.
 * -ENOTDIR.  Else the -errno of what failed.  The text says what to do.
 */
int statedir_open(const char *path, enum statedir_use use, struct statedir **out, struct err *err);
void statedir_close(struct statedir *s); /* NULL is fine */

/* The same directory once more, whatever its path leads to by now. */
int statedir_copy(const struct statedir *s, struct statedir **out, struct err *err);

const char *statedir_path(const struct statedir *s); /* absolute; borrowed until closed */
int statedir_fd(const struct statedir *s);           /* borrowed until closed */

/*
 * Opens the directory `name` (no slash) in s, made 0700 where it is missing
 * and s was opened to be written to; checked like s itself.  *fd is the
 * caller's.  Errors as statedir_open.
 */
int statedir_subdir(const struct statedir *s, const char *name, int *fd, struct err *err);

#define STATEDIR_PROBE_BYTES 65536 /* a record of an act on some tens of processes */

/*
 * Whether a record can be written now: writes, syncs and removes a file of
 * STATEDIR_PROBE_BYTES, and first removes those of who was killed while at it.
 * To be asked before anything is done that must not go unrecorded, so that a
 * full disk is said before a signal is sent.  0 or -errno (ENOSPC, EDQUOT,
 * EROFS, EACCES, ...).
 */
int statedir_probe_writable(const struct statedir *s, struct err *err);

#endif
