#include "model/units.h"

#include <errno.h>
#include <string.h>

static bool has_unit(const struct process *p)
{
	return p->unit_len && p->detail && p->unit_len <= p->detail->cgroup.len;
}

static bool same_unit(const struct process *a, const struct process *b)
{
	return has_unit(a) && has_unit(b) && a->unit_len == b->unit_len &&
	       memcmp(a->detail->cgroup.data, b->detail->cgroup.data, a->unit_len) == 0;
}

/* Eight bytes at a step: this is asked of every process at every scan. */
static uint64_t hash(const char *path, size_t len)
{
	uint64_t h = len;

	while (len) {
		size_t n = len < sizeof(uint64_t) ? len : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, path, n);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull; /* 2^64 by the golden ratio */
		h ^= h >> 32;
		path += n;
		len -= n;
	}
	return h;
}

/* Where p's unit is in the hash, or the free place it would have. */
static struct unit *slot_of(const struct units *u, const struct process *p)
{
	size_t at = hash(p->detail->cgroup.data, p->unit_len) & u->mask;

	while (u->v[at].first != FAMILY_NONE && !same_unit(&u->t->procs.v[u->v[at].first], p))
		at = (at + 1) & u->mask;
	return &u->v[at];
}

/* Whether who started it is its parent still, and outside the unit. */
static bool entered(const struct units *u, size_t i)
{
	const struct process *p = &u->t->procs.v[i];
	uint32_t parent = u->f->parent[i];

	return p->reparented == KNOWN_NOT &&
	       (parent == FAMILY_NONE || !same_unit(&u->t->procs.v[parent], p));
}

static bool older(const struct process *a, const struct process *b)
{
	return a->id.start != b->id.start ? a->id.start < b->id.start : a->id.pid < b->id.pid;
}

static bool comes_before(const struct units *u, size_t a, size_t b)
{
	bool a_entered = entered(u, a), b_entered = entered(u, b);

	if (a_entered != b_entered)
		return a_entered;
	return older(&u->t->procs.v[a], &u->t->procs.v[b]);
}

int units_make(const struct table *t, const struct family *f, struct units *out)
{
	*out = (struct units){.t = t, .f = f, .mask = 15};
	while (out->mask < 2 * t->procs.n)
		out->mask = out->mask * 2 + 1;
	out->v = malloc((out->mask + 1) * sizeof(*out->v));
	if (!out->v)
		return -ENOMEM;
	memset(out->v, 0xff, (out->mask + 1) * sizeof(*out->v)); /* FAMILY_NONE */
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		struct unit *unit;

		if (!has_unit(p) || process_is_dead(p))
			continue;
		unit = slot_of(out, p);
		if (unit->first == FAMILY_NONE || comes_before(out, i, unit->first))
			unit->first = (uint32_t)i;
		if (unit->oldest == FAMILY_NONE || older(p, &t->procs.v[unit->oldest]))
			unit->oldest = (uint32_t)i;
	}
	return 0;
}

void units_free(struct units *u)
{
	free(u->v);
	u->v = NULL;
}

const struct process *units_first(const struct units *u, const struct process *p)
{
	uint32_t first = has_unit(p) ? slot_of(u, p)->first : FAMILY_NONE;

	return first == FAMILY_NONE ? NULL : &u->t->procs.v[first];
}

const struct process *units_oldest(const struct units *u, const struct process *p)
{
	uint32_t oldest = has_unit(p) ? slot_of(u, p)->oldest : FAMILY_NONE;

	return oldest == FAMILY_NONE ? NULL : &u->t->procs.v[oldest];
}
