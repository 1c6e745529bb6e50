#include "engine/contacts.h"

#include "reach/reach.h"

#include <errno.h>
#include <string.h>

struct wanted {
	struct process **v;
	size_t n, cap;
};

static int by_age(const void *a, const void *b)
{
	const struct process *p = *(struct process *const *)a, *q = *(struct process *const *)b;

	return (p->reach_scan > q->reach_scan) - (p->reach_scan < q->reach_scan);
}

_Static_assert(CONTACT_TEXT_MAX == SOCK_TEXT_MAX, "both hold what sock_remote_text() writes");

static int choose(struct tracker *k, const struct process *also, struct wanted *w, struct err *err)
{
	for (size_t i = 0; i < k->now->procs.n; i++) {
		struct process *p = &k->now->procs.v[i];

		if (process_is_kthread(p) || process_is_dead(p) ||
		    (!p->suspect && !p->evidence && p != also))
			continue;
		if (!VEC_PUSH(w, p))
			return err_nomem(err);
	}
	if (w->n > CONTACTS_MAX) {
		qsort(w->v, w->n, sizeof(*w->v), by_age);
		w->n = CONTACTS_MAX;
	}
	return 0;
}

static int fill(struct process *p, const struct reach *r)
{
	char remote[SOCK_TEXT_MAX];

	p->reach_error = (uint8_t)r->error;
	p->connections = r->outside < UINT16_MAX ? (uint16_t)r->outside : UINT16_MAX;
	bytes_free(&p->remote);
	if (reach_remote(r, remote) && !bytes_set(&p->remote, remote, strlen(remote)))
		return -ENOMEM;
	return 0;
}

static int read_all(const struct sock_table *socks, struct wanted *w, struct err *err)
{
	struct identity *ids = calloc(w->n, sizeof(*ids));
	struct reach *reach = calloc(w->n, sizeof(*reach));
	int r = ids && reach ? 0 : err_nomem(err);

	for (size_t i = 0; !r && i < w->n; i++)
		ids[i] = w->v[i]->id;
	if (!r)
		r = reach_read(socks, ids, w->n, reach, err);
	for (size_t i = 0; !r && i < w->n; i++)
		if (fill(w->v[i], &reach[i]) < 0)
			r = err_nomem(err);
	for (size_t i = 0; reach && i < w->n; i++)
		reach_clear(&reach[i]);
	free(reach);
	free(ids);
	return r;
}

int contacts_read(struct tracker *k, const struct process *also, struct err *err)
{
	struct sock_table socks = {0};
	struct wanted w = {0};
	struct err asked = {0};
	int r = choose(k, also, &w, err);

	if (!r && w.n) {
		int e = sock_table_read(&socks, &asked);

		for (size_t i = 0; i < w.n; i++) {
			w.v[i]->reach_known = true;
			w.v[i]->reach_scan = k->scans;
			w.v[i]->reach_error = (uint8_t)(e < 0 ? -e : 0);
		}
		if (e == -ENOMEM)
			r = err_nomem(err);
		else if (!e)
			r = read_all(&socks, &w, err);
		if (!e)
			sock_table_clear(&socks);
	}
	free(w.v);
	return r;
}

static int by_process_and_ends(const void *a, const void *b)
{
	const struct contact *x = a, *y = b;
	int ends = strcmp(x->remote, y->remote);

	if (x->id.pid != y->id.pid)
		return (x->id.pid > y->id.pid) - (x->id.pid < y->id.pid);
	return ends ? ends : strcmp(x->local, y->local);
}

static int list_one(const struct sock_table *socks, struct identity id, struct contacts *out,
		    struct err *err)
{
	struct reach reach;
	int r = reach_read(socks, &id, 1, &reach, err);

	if (r < 0)
		return r;
	if (reach.error && reach.error != ESRCH) {
		out->unread++;
		out->error = out->error ? out->error : reach.error;
	}
	for (size_t i = 0; !r && i < reach.n; i++) {
		struct contact c = {.id = id};

		sock_local_text(&reach.v[i].sock, c.local);
		sock_remote_text(&reach.v[i].sock, c.remote);
		if (!VEC_PUSH(out, c))
			r = err_nomem(err);
	}
	reach_clear(&reach);
	return r;
}

int contacts_list(const struct identity *ids, size_t n, struct contacts *out, struct err *err)
{
	size_t asked = n < CONTACTS_MAX ? n : CONTACTS_MAX;
	struct sock_table socks = {0};
	int r = n ? sock_table_read(&socks, NULL) : 0;

	*out = (struct contacts){.unread = n - asked, .error = n > asked ? E2BIG : 0};
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		out->unread = n;
		out->error = -r;
		return 0;
	}
	for (size_t i = 0; !r && i < asked; i++)
		r = list_one(&socks, ids[i], out, err);
	if (n)
		sock_table_clear(&socks);
	if (r < 0) {
		contacts_clear(out);
		return r;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_process_and_ends);
	return 0;
}

void contacts_clear(struct contacts *c)
{
	free(c->v);
	*c = (struct contacts){0};
}
