/*
 * SHA-256 of files, as sha256sum(1) prints it (libsodium).
 */
#ifndef STRAY_RECORD_DIGEST_H
#define STRAY_RECORD_DIGEST_H

#include "base/err.h"

#include <stdint.h>

#define DIGEST_HEX 65 /* 64 digits and a NUL */

/*
 * Of the regular file `name` in the directory dirfd, read to its end as it is
 * on the disk; a link is not followed.  *size (may be NULL): its bytes.
 */
int digest_file(int dirfd, const char *name, char hex[static DIGEST_HEX], uint64_t *size,
		struct err *err);

/* The same of what a link leads to: the file behind /proc/PID/exe, which may have no name
 * any more. */
int digest_link(int dirfd, const char *name, char hex[static DIGEST_HEX], struct err *err);

#endif
