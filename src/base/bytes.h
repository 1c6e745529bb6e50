/*
 * Bytes that somebody else chose: any value but for the length is possible.
 *
 * Such text is never printed as it is: it goes through text_safe() (screens)
 * or jw_bytes() (files).  data is NUL-terminated for convenience, but may
 * hold NULs too (a command line does).  A NULL data means "not known", which
 * differs from "known to be empty".
 */
#ifndef STRAY_BASE_BYTES_H
#define STRAY_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	char *data; /* owned, NUL-terminated; NULL: not known */
	size_t len; /* without that NUL */
};

static inline bool bytes_known(const struct bytes *b)
{
	return b->data != NULL;
}

/* Replaces *b by a copy; false and *b unchanged when out of memory. */
static inline bool bytes_set(struct bytes *b, const void *data, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return false;
	if (len)
		memcpy(copy, data, len);
	copy[len] = '\0';
	free(b->data);
	b->data = copy;
	b->len = len;
	return true;
}

static inline void bytes_free(struct bytes *b)
{
	free(b->data);
	b->data = NULL;
	b->len = 0;
}

/* Both unknown, or both known and the same. */
static inline bool bytes_same(const struct bytes *a, const struct bytes *b)
{
	if (!a->data || !b->data)
		return a->data == b->data;
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Whether b is known and equals the C string s. */
static inline bool bytes_is(const struct bytes *b, const char *s)
{
	return b->data && strlen(s) == b->len && memcmp(b->data, s, b->len) == 0;
}

#endif
