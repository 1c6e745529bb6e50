/*
 * Digests of programs, remembered by what the file is (device, inode, size and time of its last
 * change), since to hash a large one takes a quarter of a second.
 *
 * STATE/digests/ holds a file for each, made once.  Who may write there may write any record.
 */
#ifndef STRAY_RECORD_DIGEST_CACHE_H
#define STRAY_RECORD_DIGEST_CACHE_H

#include "record/digest.h"
#include "record/statedir.h"

/* Of what the link of `proc` (a descriptor of /proc) leads to ("self/exe").  0; -ENOENT: it is not
 * remembered; -errno. */
int digest_cache_find(const struct statedir *s, int proc, const char *link,
		      char hex[static DIGEST_HEX], struct err *err);

/* The same, hashed and remembered where it was not. */
int digest_cache_make(const struct statedir *s, int proc, const char *link,
		      char hex[static DIGEST_HEX], struct err *err);

#endif
