/*
 * A file that is written once, whole or not at all.
 *
 * It is made new (O_EXCL, 0600): what exists is never overwritten and no link
 * is followed.  It counts only once outfile_finish has put it and its name on
 * the disk; whatever goes wrong before removes it again.
 */
#ifndef STRAY_RECORD_OUTFILE_H
#define STRAY_RECORD_OUTFILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct outfile {
	FILE *stream;    /* to write to; closed by finish or discard */
	bool sync_later; /* for the caller to set: who syncs it and its directory afterwards */
	char *name;      /* the last component; what follows is this module's */
	char *path;      /* as given, for the text of an error */
	int dir;
	dev_t dev;
	ino_t inode;
};

/*
 * Makes the file at path, relative to the directory dirfd (or AT_FDCWD).
 * 0; -EEXIST; -ENOENT, -EACCES, -EROFS and so on; -ENOMEM.
 */
int outfile_create(int dirfd, const char *path, struct outfile *out, struct err *err);

/* Flushes and (but for sync_later) syncs the file and its directory, and frees *f.  Where that
 * fails (ENOSPC, EIO, ...) the file is removed.  0 or -errno. */
int outfile_finish(struct outfile *f, struct err *err);

/* Removes the file, if it still is the one that was made, and frees *f.
 * Harmless on one that is finished, or zero. */
void outfile_discard(struct outfile *f);

#endif
