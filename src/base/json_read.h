/*
 * The one reader of JSON: jansson, behind a door.
 *
 * A snapshot of a whole host is too large to be held as a document (jansson
 * takes some 100 MB for 30,000 processes), so this reader walks the top-level
 * object and hands over one member at a time, and for an array member one
 * element at a time.  Strict: RFC 8259, valid UTF-8, no duplicate members.
 * It never follows what a file says: sizes and depth are bounded.
 */
#ifndef STRAY_BASE_JSON_READ_H
#define STRAY_BASE_JSON_READ_H

#include "base/bytes.h"
#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_READ_ELEMENT_MAX (64u << 20) /* bytes of one member or element */
/* Values in one member or element: jansson takes some 100 bytes for each. */
#define JSON_READ_VALUES_MAX (1u << 20)
#define JSON_READ_DEPTH_MAX 64     /* with the top-level object */
#define JSON_READ_MEMBERS_MAX 1024 /* at the top */
#define JSON_READ_NAME_MAX 1024    /* bytes of a name there, as written */

/*
 * Called for each top-level member in file order, or, where the member's name
 * is stream_key and its value an array, for each element of it (index counts
 * from 0).  value is borrowed until return.  A non-zero return stops the walk
 * and is returned by json_read_stream; set *err first.
 */
typedef int json_read_fn(void *ctx, const char *key, size_t index, const json_t *value,
			 struct err *err);

/*
 * Reads exactly one JSON object from in, then only white space to EOF.
 * Errors name the place: "NAME: byte N: why", counted from 0, and never quote
 * the file.  -EINVAL for bad JSON, -EFBIG for a member that is too large or one
 * member too many, else -errno.  What came before an error has been handed over.
 */
int json_read_stream(FILE *in, const char *name, const char *stream_key, json_read_fn *fn,
		     void *ctx, struct err *err);

/*
 * The one object that a line holds; *out is the caller's (json_decref).
 * -EINVAL with *err ("byte N: why") for what is no such object; -ENOMEM.
 */
int json_read_line(const char *line, size_t len, json_t **out, struct err *err);

/*
 * Members of an object.  Each: 0 and *out set; where the member is missing or
 * null, *out unchanged, 0 and (where given) *known false; -EINVAL with *err
 * for another type or a value out of range.
 */
int json_get_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *out,
		 bool *known, struct err *err);
/* Also takes a string of decimal digits, as jw_uint writes above 2^53. */
int json_get_uint(const json_t *o, const char *key, uint64_t *out, bool *known, struct err *err);
int json_get_bool(const json_t *o, const char *key, bool *out, bool *known, struct err *err);
/* *out borrowed from o; -EINVAL also for a text with a NUL in it. */
int json_get_str(const json_t *o, const char *key, const char **out, struct err *err);
/* A text into an array of size bytes; left as it is for null.  -EINVAL: too long. */
int json_get_text(const json_t *o, const char *key, char *out, size_t size, struct err *err);
/* Text and its *_b64 sibling: the exact bytes, which replace what out held.
 * For null out stays as it is: unknown, if it was. */
int json_get_bytes(const json_t *o, const char *key, struct bytes *out, struct err *err);
/* Takes over one text of a list; data has no NUL in it.  0 or -ENOMEM. */
typedef int json_text_fn(void *ctx, const char *data, size_t len);
/* A list of texts and the sibling with their exact bytes.  *known: it is not null. */
int json_get_texts(const json_t *o, const char *key, const char *b64_key, json_text_fn *take,
		   void *ctx, bool *known, struct err *err);
/* args and args_b64 as a command line, each ended by a NUL; it replaces what out held. */
int json_get_args(const json_t *o, struct bytes *out, bool *known, struct err *err);
/* base64 (RFC 4648, padded) to bytes; -EINVAL where it is none. */
int json_unbase64(const char *text, struct bytes *out, struct err *err);

#endif
