#include "reach/spoken.h"

#include "base/file.h"
#include "base/vec.h"
#include "reach/diag.h"
#include "reach/fds.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ENOUGH 1 /* what ends a reading that would take too long */

/* A connected socket and the one it is connected to, by inode. */
struct pair {
	uint32_t own, peer;
	bool named; /* own has a name: it is a service's */
};

struct pairs {
	struct pair *v;
	size_t n, cap;
};

/* A service's socket that a member is connected to. */
struct asked {
	uint32_t inode;
	uint64_t since; /* when that member started: the connection is no older */
};

struct asked_list {
	struct asked *v;
	size_t n, cap;
};

struct reading {
	const struct spoken_wanted *w;
	struct pairs pairs;      /* sorted */
	struct asked_list asked; /* sorted when all members are read */
	unsigned fds;            /* read by now */
	uint64_t now;            /* in ticks since boot */
	uint64_t since;          /* when the member that is read started */
	struct process *service; /* whose descriptors are read */
};

void spoken_wanted(const struct run *run, const struct table *t, uint64_t turn,
		   struct spoken_wanted *out)
{
	size_t all = 0, skip, at = 0;

	out->n = 0;
	for (size_t i = 0; run && t && i < t->procs.n; i++)
		all += run_is_member(&t->procs.v[i]) && !process_is_dead(&t->procs.v[i]);
	if (!all)
		return;
	out->since = run->since_ticks;
	out->until = run->over_ticks ? run->over_ticks : UINT64_MAX;
	out->turn = turn;
	skip = all > SPOKEN_MEMBERS_MAX ? turn * SPOKEN_MEMBERS_MAX % all : 0;
	for (size_t i = 0; i < t->procs.n && out->n < SPOKEN_MEMBERS_MAX; i++) {
		const struct process *p = &t->procs.v[i];

		if (!run_is_member(p) || process_is_dead(p))
			continue;
		if ((at++ + all - skip) % all < SPOKEN_MEMBERS_MAX)
			out->members[out->n++] = p->id;
	}
}

static int by_own(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->own > y->own) - (x->own < y->own);
}

static int by_inode(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static int add_pair(void *ctx, const void *payload, size_t len)
{
	const struct unix_diag_msg *m = payload;
	struct pairs *pairs = ctx;
	struct pair p = {.own = m->udiag_ino};
	int left = (int)len - (int)NLMSG_ALIGN(sizeof(*m));

	if (left < 0)
		return 0;
	for (const struct rtattr *at = (const struct rtattr *)(m + 1); RTA_OK(at, left);
	     at = RTA_NEXT(at, left)) {
		if (at->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(at) >= sizeof(p.peer))
			memcpy(&p.peer, RTA_DATA(at), sizeof(p.peer));
		p.named |= at->rta_type == UNIX_DIAG_NAME;
	}
	return !p.peer || VEC_PUSH(pairs, p) ? 0 : -ENOMEM;
}

/* Where the kernel does not tell, nobody is spoken with that we know of. */
static int read_pairs(struct pairs *pairs)
{
	const struct unix_diag_req req = {.sdiag_family = AF_UNIX,
					  .udiag_states = 1u << TCP_ESTABLISHED,
					  .udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_NAME};
	int r = diag_ask(&req, sizeof(req), NLM_F_DUMP, add_pair, pairs, NULL);

	if (pairs->n)
		qsort(pairs->v, pairs->n, sizeof(*pairs->v), by_own);
	return r == -ENOMEM ? r : 0;
}

static const struct pair *find_pair(const struct pairs *pairs, uint64_t inode)
{
	const struct pair key = {.own = (uint32_t)inode};

	return pairs->n ? bsearch(&key, pairs->v, pairs->n, sizeof(key), by_own) : NULL;
}

static int take_member_fd(void *ctx, int fds, const char *name)
{
	struct reading *r = ctx;
	struct asked asked = {.since = r->since};
	const struct pair *own, *other;
	uint64_t inode;

	if (++r->fds > SPOKEN_FDS_MAX)
		return ENOUGH;
	if (!fds_inode(fds, name, "socket", &inode))
		return 0;
	own = find_pair(&r->pairs, inode);
	other = own ? find_pair(&r->pairs, own->peer) : NULL;
	if (!other || !other->named)
		return 0;
	asked.inode = other->own;
	return VEC_PUSH(&r->asked, asked) ? 0 : -ENOMEM;
}

static int take_service_fd(void *ctx, int fds, const char *name)
{
	struct reading *r = ctx;
	struct process *s = r->service;
	struct asked key = {0};
	const struct asked *a;
	uint64_t inode;

	if (++r->fds > SPOKEN_FDS_MAX)
		return ENOUGH;
	if (!fds_inode(fds, name, "socket", &inode))
		return 0;
	key.inode = (uint32_t)inode;
	a = bsearch(&key, r->asked.v, r->asked.n, sizeof(key), by_inode);
	if (!a)
		return 0;
	if (!s->spoke_until || a->since < s->spoke_from)
		s->spoke_from = a->since;
	s->spoke_until = r->now;
	return 0;
}

static int read_fds(struct reading *r, struct identity id, fds_fn *fn)
{
	AUTO_FD dir = fds_open_process(id);
	int rc = dir < 0 ? dir : fds_each(dir, fn, r);

	return rc == -ENOMEM ? rc : 0;
}

static bool is_member(const struct spoken_wanted *w, struct identity id)
{
	return bsearch(&id, w->members, w->n, sizeof(id), identity_order) != NULL;
}

/* The parent that may have been asked for p, or NULL. */
static struct process *parent_to_ask(const struct spoken_wanted *w, const struct table *t,
				     const struct process *p)
{
	struct process *parent;

	if (p->id.start < w->since || p->id.start > w->until || process_is_kthread(p) ||
	    process_is_dead(p) || is_member(w, p->id))
		return NULL;
	parent = table_pid(t, p->ppid);
	return parent && parent->id.pid != 1 && !process_is_dead(parent) &&
			       !is_member(w, parent->id)
		       ? parent
		       : NULL;
}

/* The indexes of all that may have been asked; their number in *n.  Owned; NULL: out of memory. */
static uint32_t *find_services(const struct spoken_wanted *w, const struct table *t, size_t *n)
{
	uint32_t *found = malloc((t->procs.n + 1) * sizeof(*found));
	bool *is_found = calloc(t->procs.n + 1, sizeof(*is_found));

	*n = 0;
	for (size_t i = 0; found && is_found && i < t->procs.n; i++) {
		const struct process *parent = parent_to_ask(w, t, &t->procs.v[i]);
		size_t at = parent ? (size_t)(parent - t->procs.v) : 0;

		if (!parent || is_found[at])
			continue;
		is_found[at] = true;
		found[(*n)++] = (uint32_t)at;
	}
	if (!is_found) {
		free(found);
		found = NULL;
	}
	free(is_found);
	return found;
}

static int read_members(struct reading *r)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->w->n; i++) {
		r->since = r->w->members[i].start;
		rc = read_fds(r, r->w->members[i], take_member_fd);
	}
	if (r->asked.n)
		qsort(r->asked.v, r->asked.n, sizeof(*r->asked.v), by_inode);
	return rc;
}

static int read_services(struct reading *r, const uint32_t *services, size_t n, struct table *t)
{
	size_t from = r->w->turn * SPOKEN_SERVICES_MAX % n;
	int rc = 0;

	for (size_t i = 0; !rc && i < n && i < SPOKEN_SERVICES_MAX; i++) {
		r->service = &t->procs.v[services[(from + i) % n]];
		rc = read_fds(r, r->service->id, take_service_fd);
	}
	return rc;
}

int spoken_read(const struct spoken_wanted *w, struct table *t)
{
	struct reading reading = {.w = w, .now = host_now_ticks(&t->host)};
	size_t n;
	uint32_t *services;
	int r = 0;

	if (!w->n)
		return 0;
	services = find_services(w, t, &n);
	if (!services)
		return -ENOMEM;
	if (n)
		r = read_pairs(&reading.pairs);
	if (!r && reading.pairs.n)
		r = read_members(&reading);
	if (!r && reading.asked.n)
		r = read_services(&reading, services, n, t);
	free(services);
	free(reading.pairs.v);
	free(reading.asked.v);
	return r;
}
