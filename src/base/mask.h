/*
 * Secrets in command lines, masked.
 *
 * What is known to carry a secret by its form is replaced by "***" before it
 * reaches a screen or a file: --token=…, --password …, -p… of mysql,
 * Authorization: Bearer/Basic …, X-Api-Key: …, NAME=value where the name tells
 * of a credential (see mask_name_is_secret), passwords in URLs
 * (scheme://user:***@host), query parameters such as ?access_token=…, and
 * values that are secrets by their own shape (ghp_…, sk-…, AKIA…, eyJ….….…,
 * -----BEGIN … KEY).  What does not look like one is left alone: masking is a
 * courtesy to the reader of a record, no proof that nothing secret is in it.
 * A bare --key, -k or key= is left alone (it is as often a name or a file)
 * but for ?key= in a query; so are switches, $NAME in a shell's text, and file
 * names where a name can mean one (--private-key /path).
 * This module knows no process and does no I/O.
 */
#ifndef STRAY_BASE_MASK_H
#define STRAY_BASE_MASK_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

#define MASK_TEXT "***"

/*
 * raw holds arguments as /proc/PID/cmdline does: each ends with a NUL (the
 * last one may lack it).  *out becomes the same with secrets replaced, owned by
 * the caller (bytes_free; what it held is freed); the number of arguments stays
 * the same.  An argument that holds a command line (sh -c "...") is looked into.
 * *masked (may be NULL): how many places were masked.
 * 0 or -ENOMEM.
 */
int mask_args(const char *raw, size_t len, struct bytes *out, unsigned *masked);

/* One text that is not split into arguments (a process title, a path, a URL). */
int mask_text(const char *text, size_t len, struct bytes *out, unsigned *masked);

/* Whether an environment or option name tells of a credential: PASSWORD,
 * SECRET, TOKEN, API_KEY, ACCESS_KEY, PGPASSWORD, DATABASE_URL, ...
 * Letter case is ignored; '-' and '_' are one. */
bool mask_name_is_secret(const char *name, size_t len);

#endif
