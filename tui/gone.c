#include "tui/gone.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gone_free(struct gone *g)
{
	for (size_t i = 0; i < g->n; i++)
		process_clear(&g->v[i]);
	free(g->v);
	free(g->when.v);
	tagset_free(&g->tags);
	memset(g, 0, sizeof(*g));
}

static bool copy(struct bytes *to, const struct bytes *from)
{
	return !from->data || bytes_set(to, from->data, from->len);
}

/* false when out of memory. */
static bool make(struct process *p, const struct story_member *m)
{
	memset(p, 0, sizeof(*p));
	p->id = m->id;
	p->ppid = m->ppid;
	p->pgid = m->pgid;
	p->sid = m->sid;
	p->state = 'X';
	p->evidence = (uint16_t)m->evidence;
	p->survived = m->survived;
	p->detail = detail_new();
	if (!p->detail)
		return false;
	p->detail->have = DETAIL_COMM | DETAIL_CMDLINE;
	p->detail->cmdline_total = m->args.len;
	return copy(&p->detail->comm, &m->comm) && copy(&p->detail->cmdline, &m->args) &&
	       bytes_set(&p->detail->user, "?", 1); /* the journal does not say whose it was */
}

uint64_t gone_when(const struct gone *g, uint64_t tag)
{
	const struct tag_at *at = tagset_find(&g->tags, tag);

	return at ? g->when.v[at->at] : 0;
}

int gone_take(struct gone *g, const struct story *s)
{
	size_t of = 0, skip;

	for (size_t i = 0; i < s->members.n; i++)
		of += s->members.v[i].gone;
	if (of == g->of)
		return 0;
	gone_free(g);
	skip = of > GONE_MAX ? of - GONE_MAX : 0;
	for (size_t i = 0; i < s->members.n; i++) {
		struct process p;

		if (!s->members.v[i].gone || (skip && skip--))
			continue;
		if (!make(&p, &s->members.v[i]) || !VEC_PUSH(g, p)) {
			process_clear(&p);
			gone_free(g);
			return -ENOMEM;
		}
		if (!VEC_PUSH(&g->when, s->members.v[i].gone_wall_ns) ||
		    !tagset_push(&g->tags, identity_tag(p.id), (uint32_t)(g->n - 1))) {
			gone_free(g);
			return -ENOMEM;
		}
	}
	tagset_sort(&g->tags);
	g->of = of;
	return 0;
}
