#include "model/family.h"

#include <errno.h>

uint32_t family_index(const struct family *f, pid_t pid)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->pids[mid] < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n && f->pids[lo] == pid ? (uint32_t)lo : FAMILY_NONE;
}

static void find_parents(const struct table *t, struct family *f)
{
	for (size_t i = 0; i < f->n; i++)
		f->pids[i] = t->procs.v[i].id.pid;
	for (size_t i = 0; i < f->n; i++)
		f->parent[i] = family_index(f, t->procs.v[i].ppid);
}

enum { UNSEEN, ON_THE_WAY, PLACED };

/* From each process up to one that is placed, then down again, placing. */
static void find_order(struct family *f, uint32_t *way, unsigned char *seen)
{
	size_t placed = 0;

	for (size_t i = 0; i < f->n; i++) {
		uint32_t at = (uint32_t)i;
		size_t up = 0;

		while (at != FAMILY_NONE && seen[at] == UNSEEN) {
			seen[at] = ON_THE_WAY;
			way[up++] = at;
			at = f->parent[at];
		}
		if (at != FAMILY_NONE && seen[at] == ON_THE_WAY)
			f->parent[way[up - 1]] = FAMILY_NONE; /* a ring */
		while (up) {
			at = way[--up];
			seen[at] = PLACED;
			f->order[placed++] = at;
		}
	}
}

int family_make(const struct table *t, struct family *out)
{
	size_t n = t->procs.n;
	uint32_t *way = calloc(n + 1, sizeof(*way));
	unsigned char *seen = calloc(n + 1, 1);
	int r = -ENOMEM;

	out->n = n;
	out->parent = calloc(n + 1, sizeof(*out->parent));
	out->order = calloc(n + 1, sizeof(*out->order));
	out->pids = calloc(n + 1, sizeof(*out->pids));
	if (way && seen && out->parent && out->order && out->pids) {
		find_parents(t, out);
		find_order(out, way, seen);
		r = 0;
	}
	free(way);
	free(seen);
	return r;
}

void family_free(struct family *f)
{
	free(f->parent);
	free(f->order);
	free(f->pids);
	*f = (struct family){0};
}
