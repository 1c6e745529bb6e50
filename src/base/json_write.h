/*
 * The one writer of JSON: streaming, strict RFC 8259, valid UTF-8 always.
 *
 * Commas and nesting are its business; a caller that nests wrongly gets an
 * assert, not a broken file.  Invalid UTF-8 in a value becomes U+FFFD;
 * json_bytes() also writes the sibling *_b64 member then, and only then.
 * C1 controls, bidi controls, U+2028/9 and DEL are written as \uXXXX, so that
 * a file is safe to cat.  Nothing is allocated after json_open.
 * Write errors are remembered; json_close returns them.
 */
#ifndef STRAY_BASE_JSON_WRITE_H
#define STRAY_BASE_JSON_WRITE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json; /* opaque */

/*
 * Writes to out (borrowed: it is flushed, not closed, by json_close).
 * pretty: two spaces a level, one member a line; else all on one line.
 * NULL when out of memory.
 */
struct json *json_open(FILE *out, bool pretty);

/* A newline after the value, fflush, free.  0 or the first -errno. */
int json_close(struct json *j);

/* key is NULL in an array and at the top; else a literal of ours. */
void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_null(struct json *j, const char *key);
void json_bool(struct json *j, const char *key, bool v);
void json_int(struct json *j, const char *key, int64_t v);
/* As a number; above 2^53 as a string, since readers keep 53 bits only. */
void json_uint(struct json *j, const char *key, uint64_t v);
/* Always a string of decimal digits: counters and masks. */
void json_uint_string(struct json *j, const char *key, uint64_t v);
void json_str(struct json *j, const char *key, const char *s); /* NULL: null */
void json_strn(struct json *j, const char *key, const char *s, size_t len);
void json_strf(struct json *j, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* key, and key_b64 where the bytes are not valid UTF-8; unknown: null.
 * Only inside an object. */
void json_bytes(struct json *j, const char *key, const struct bytes *b);
/* The bytes of s in base64 as one string value. */
void json_base64(struct json *j, const char *key, const char *s, size_t len);

#endif
