#include "reach/ends.h"

#include "base/file.h"
#include "base/vec.h"
#include "reach/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was read of one process. */
struct seen {
	struct identity id;
	uint64_t start_stack; /* changes with exec */
	uint8_t ends, error;
};

struct seen_list {
	struct seen *v;
	size_t n, cap;
};

struct ends_reader {
	struct ends_wanted wanted;
	struct seen_list seen, now; /* sorted by PID; now: of the reading under way */
};

static int take_own(void *ctx, int fds, const char *name)
{
	struct run *run = ctx;
	struct pipe_end end;
	int access;

	if (name[0] > '2' || name[1] || !fds_inode(fds, name, "pipe", &end.inode))
		return 0;
	access = fds_access(fds, name);
	if (access < 0)
		return 0;
	end.access = (uint8_t)access;
	run->ends[name[0] - '0'] = end;
	return 0;
}

void ends_ask(struct run *run)
{
	AUTO_FD dir = identity_known(run->root) ? fds_open_process(run->root) : -ESRCH;
	int r = dir < 0 ? dir : fds_each(dir, take_own, run);

	run->ends_asked = true;
	run->ends_error = r < 0 ? (uint8_t)-r : 0;
}

struct ends_wanted ends_wanted(const struct run *run)
{
	struct ends_wanted w = {0};
	bool any = false;

	if (!run || !run->ends_asked || run->ends_error)
		return w;
	for (int i = 0; i < RUN_ENDS; i++)
		any |= run->ends[i].inode != 0;
	if (!any)
		return w;
	w.root = run->root;
	memcpy(w.end, run->ends, sizeof(w.end));
	return w;
}

struct ends_reader *ends_reader_new(void)
{
	return calloc(1, sizeof(struct ends_reader));
}

void ends_reader_free(struct ends_reader *r)
{
	if (!r)
		return;
	free(r->seen.v);
	free(r->now.v);
	free(r);
}

struct reading {
	const struct ends_wanted *w;
	uint8_t ends;
};

static int take_fd(void *ctx, int fds, const char *name)
{
	struct reading *r = ctx;
	uint64_t inode;
	int access = -1;

	if (!fds_inode(fds, name, "pipe", &inode))
		return 0;
	for (int i = 0; i < RUN_ENDS; i++) {
		if (r->w->end[i].inode != inode)
			continue;
		if (access < 0)
			access = fds_access(fds, name);
		if (access >= 0)
			r->ends |=
				(uint8_t)(1u << (r->w->end[i].access == access ? i : RUN_ENDS + i));
	}
	return 0;
}

static void read_one(const struct ends_wanted *w, struct seen *s)
{
	struct reading reading = {w, 0};
	int r = fds_each_of_pid(s->id.pid, take_fd, &reading);

	if (r >= 0 && reading.ends) { /* still that one: so it was while it was read */
		AUTO_FD dir = fds_open_process(s->id);

		if (dir < 0)
			r = dir;
	}
	if (r == FDS_TOO_MANY && !reading.ends) /* what was not reached is not known */
		r = -E2BIG;
	/* who has ended since the scan holds nothing: that is known */
	s->error = r < 0 && r != -ESRCH ? (uint8_t)-r : 0;
	s->ends = r < 0 ? 0 : reading.ends;
}

/* Both lists are in the order of PIDs: goes on from where the last one was. */
static const struct seen *find(const struct seen_list *l, size_t *from, const struct process *p)
{
	while (*from < l->n && l->v[*from].id.pid < p->id.pid)
		(*from)++;
	if (*from < l->n && identity_same(l->v[*from].id, p->id) &&
	    l->v[*from].start_stack == p->start_stack)
		return &l->v[*from];
	return NULL;
}

static bool same_wanted(const struct ends_wanted *a, const struct ends_wanted *b)
{
	for (int i = 0; i < RUN_ENDS; i++)
		if (a->end[i].inode != b->end[i].inode || a->end[i].access != b->end[i].access)
			return false;
	return identity_same(a->root, b->root);
}

static void want(struct ends_reader *r, const struct ends_wanted *w)
{
	if (same_wanted(&r->wanted, w))
		return;
	r->wanted = *w;
	r->seen.n = 0;
}

int ends_reader_seed(struct ends_reader *r, const struct ends_wanted *w, const struct table *t)
{
	want(r, w);
	r->seen.n = 0;
	if (!identity_same(t->ends_of, w->root))
		return 0;
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		struct seen s = {p->id, p->start_stack, p->ends, p->ends_error};

		if (p->ends_known && !VEC_PUSH(&r->seen, s))
			return -ENOMEM;
	}
	return 0;
}

int ends_read(struct ends_reader *r, const struct ends_wanted *w, struct table *t)
{
	struct seen_list swap;
	size_t from = 0;

	want(r, w);
	if (!identity_known(w->root))
		return 0;
	r->now.n = 0;
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];
		const struct seen *old = find(&r->seen, &from, p);
		struct seen now = {.id = p->id, .start_stack = p->start_stack};

		if (process_is_kthread(p) || process_is_dead(p))
			continue;
		if (old)
			now = *old;
		else
			read_one(w, &now);
		p->ends_known = true;
		p->ends = now.ends;
		p->ends_error = now.error;
		if (!VEC_PUSH(&r->now, now))
			return -ENOMEM;
	}
	swap = r->seen;
	r->seen = r->now;
	r->now = swap;
	t->ends_of = w->root;
	return 0;
}
