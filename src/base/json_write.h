/*
 * The one writer of JSON: streaming, strict RFC 8259, valid UTF-8 always.
 *
 * Commas and nesting are its business; a caller that nests wrongly gets an
 * assert, not a broken file.  Invalid UTF-8 in a value becomes U+FFFD;
 * jw_bytes() also writes the sibling *_b64 member then, and only then.
 * C1 controls, bidi controls, U+2028/9, DEL and all else that text_width_cp()
 * calls unfit for a terminal are written as \uXXXX, so that a file is safe to
 * cat.  Nothing is allocated after jw_open.
 * Write errors are remembered; jw_close returns them.
 * The prefix is jw_, not json_: jansson has a json_object of its own, which in
 * one program would be taken for ours.
 */
#ifndef STRAY_BASE_JSON_WRITE_H
#define STRAY_BASE_JSON_WRITE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct jw; /* opaque */

#define JW_DEPTH_MAX 64  /* objects and arrays in one another; more: assert */
#define JW_STRF_MAX 4096 /* bytes of a formatted text, with its NUL */

/*
 * Writes to out (borrowed: it is flushed, not closed, by jw_close).
 * pretty: two spaces a level, one member a line; else all on one line.
 * NULL when out of memory.
 */
struct jw *jw_open(FILE *out, bool pretty);

/* A newline after the value, fflush, free.  0 or the first -errno. */
int jw_close(struct jw *j);

/* Frees without asking whether the value is whole: for who gives up midway.
 * What was written is no JSON.  NULL is fine. */
void jw_discard(struct jw *j);

/* key is NULL in an array and at the top; else a literal of ours. */
void jw_object(struct jw *j, const char *key);
void jw_object_end(struct jw *j);
void jw_array(struct jw *j, const char *key);
void jw_array_end(struct jw *j);
void jw_null(struct jw *j, const char *key);
void jw_bool(struct jw *j, const char *key, bool v);
void jw_int(struct jw *j, const char *key, int64_t v);
/* As a number; above 2^53 as a string, since readers keep 53 bits only. */
void jw_uint(struct jw *j, const char *key, uint64_t v);
/* Always a string of decimal digits: counters and masks. */
void jw_uint_string(struct jw *j, const char *key, uint64_t v);
void jw_str(struct jw *j, const char *key, const char *s); /* NULL: null */
void jw_strn(struct jw *j, const char *key, const char *s, size_t len);
/* A text that does not fit JW_STRF_MAX is not written but is an error,
 * -EOVERFLOW, of jw_close. */
void jw_strf(struct jw *j, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* key, and key_b64 where the bytes are not valid UTF-8; unknown: null.
 * Only inside an object. */
void jw_bytes(struct jw *j, const char *key, const struct bytes *b);
/*
 * A whole value that is strict JSON already (by contract): its bytes as they are, but
 * that characters unfit for a terminal become \uXXXX, which means the same.
 */
void jw_raw(struct jw *j, const char *key, const char *json, size_t len);
/* The members of an object that is strict JSON already, into the open one. */
void jw_members(struct jw *j, const char *object, size_t len);
/* The bytes of s in base64 as one string value. */
void jw_base64(struct jw *j, const char *key, const char *s, size_t len);

#endif
