/*
 * A set of row tags, each with a number of its own: what is folded, tagged,
 * shown, and in which order.  Sorted, so that a look-up in ten thousand is
 * cheap.
 */
#ifndef STRAY_TUI_TAGSET_H
#define STRAY_TUI_TAGSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tag_at {
	uint64_t tag;
	uint32_t at;
};

struct tagset {
	struct tag_at *v; /* owned, sorted by tag, unique */
	size_t n, cap;
};

void tagset_free(struct tagset *s); /* empty afterwards, and usable */

/* Borrowed until the set changes; NULL: not in it. */
const struct tag_at *tagset_find(const struct tagset *s, uint64_t tag);
bool tagset_has(const struct tagset *s, uint64_t tag);

/* Adding one again changes its number.  false when out of memory. */
bool tagset_add(struct tagset *s, uint64_t tag, uint32_t at);
void tagset_remove(struct tagset *s, uint64_t tag);

/* In if it was out, out if it was in; false when out of memory. */
bool tagset_toggle(struct tagset *s, uint64_t tag);

/*
 * Many at once: tagset_push in any order, then tagset_sort before the next
 * look-up.  Of two with one tag the smaller number stays.
 */
bool tagset_push(struct tagset *s, uint64_t tag, uint32_t at);
void tagset_sort(struct tagset *s);

#endif
