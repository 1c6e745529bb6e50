#include "tui/tagset.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void tagset_free(struct tagset *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

/* The first element that is not below tag. */
static size_t place(const struct tagset *s, uint64_t tag)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].tag < tag)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct tag_at *tagset_find(const struct tagset *s, uint64_t tag)
{
	size_t i = place(s, tag);

	return i < s->n && s->v[i].tag == tag ? &s->v[i] : NULL;
}

bool tagset_has(const struct tagset *s, uint64_t tag)
{
	return tagset_find(s, tag) != NULL;
}

bool tagset_add(struct tagset *s, uint64_t tag, uint32_t at)
{
	size_t i = place(s, tag);

	if (i < s->n && s->v[i].tag == tag) {
		s->v[i].at = at;
		return true;
	}
	if (!tagset_push(s, tag, at))
		return false;
	memmove(&s->v[i + 1], &s->v[i], (s->n - 1 - i) * sizeof(*s->v));
	s->v[i] = (struct tag_at){tag, at};
	return true;
}

void tagset_remove(struct tagset *s, uint64_t tag)
{
	size_t i = place(s, tag);

	if (i >= s->n || s->v[i].tag != tag)
		return;
	memmove(&s->v[i], &s->v[i + 1], (s->n - 1 - i) * sizeof(*s->v));
	s->n--;
}

bool tagset_toggle(struct tagset *s, uint64_t tag)
{
	if (!tagset_has(s, tag))
		return tagset_add(s, tag, 0);
	tagset_remove(s, tag);
	return true;
}

bool tagset_push(struct tagset *s, uint64_t tag, uint32_t at)
{
	struct tag_at t = {tag, at};

	return VEC_PUSH(s, t);
}

static int by_tag(const void *a, const void *b)
{
	const struct tag_at *x = a, *y = b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void tagset_sort(struct tagset *s)
{
	size_t kept = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_tag);
	for (size_t i = 0; i < s->n; i++)
		if (!kept || s->v[kept - 1].tag != s->v[i].tag)
			s->v[kept++] = s->v[i];
	s->n = kept;
}
