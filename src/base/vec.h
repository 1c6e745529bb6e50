/*
 * A growing array, for any element type:
 *
 *	struct { struct process *v; size_t n, cap; } list = {0};
 *	if (!VEC_PUSH(&list, item)) return err_nomem(err);
 *	...
 *	free(list.v);
 *
 * Never shrinks by itself; never aborts.
 */
#ifndef STRAY_BASE_VEC_H
#define STRAY_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC(type)              \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}

/* Makes room for one more of the given size; false when out of memory. */
static inline bool vec_grow(void **v, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 8;
	void *grown;

	if (n < *cap)
		return true;
	if (want > SIZE_MAX / size)
		return false;
	grown = realloc(*v, want * size);
	if (!grown)
		return false;
	*v = grown;
	*cap = want;
	return true;
}

/* Makes room for n in all, no more; false when out of memory. */
static inline bool vec_reserve(void **v, size_t n, size_t *cap, size_t size)
{
	void *grown;

	if (n <= *cap)
		return true;
	if (n > SIZE_MAX / size)
		return false;
	grown = realloc(*v, n * size);
	if (!grown)
		return false;
	*v = grown;
	*cap = n;
	return true;
}

#define VEC_RESERVE(vec, n) vec_reserve((void **)&(vec)->v, (n), &(vec)->cap, sizeof(*(vec)->v))

/* Appends; false, and nothing appended, when out of memory. */
#define VEC_PUSH(vec, item)                                                        \
	(vec_grow((void **)&(vec)->v, (vec)->n, &(vec)->cap, sizeof(*(vec)->v)) && \
	 ((vec)->v[(vec)->n++] = (item), true))

#endif
