#include "reach/reach.h"

#include "base/file.h"
#include "base/vec.h"
#include "reach/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* 0: in the namespace of the table; -EXDEV; -EACCES and the like: may not be asked. */
static int same_net(int dir, const struct sock_table *t)
{
	struct stat st;

	if (fstatat(dir, "ns/net", &st, 0) < 0)
		return errno == ENOENT ? -ESRCH : -errno; /* a zombie has none */
	return t->net_ns && st.st_ino != t->net_ns ? -EXDEV : 0;
}

/* What read_fds() fills in, and from what. */
struct reading {
	const struct sock_table *t;
	struct reach *out;
};

static int take_fd(void *ctx, int fds, const char *name)
{
	struct reading *r = ctx;
	const struct sock *s;
	uint64_t inode;

	if (!fds_inode(fds, name, "socket", &inode))
		return 0;
	s = sock_find(r->t, inode);
	if (s && s->state == TCP_ESTABLISHED &&
	    !VEC_PUSH(r->out, ((struct reach_connection){atoi(name), *s})))
		return -ENOMEM;
	return 0;
}

static int read_fds(int dir, const struct sock_table *t, struct reach *out)
{
	struct reading reading = {t, out};
	int r = fds_each(dir, take_fd, &reading);

	out->partial = r == FDS_TOO_MANY;
	return r < 0 ? r : 0;
}

static int by_inode_and_fd(const void *a, const void *b)
{
	const struct reach_connection *x = a, *y = b;

	if (x->sock.inode != y->sock.inode)
		return x->sock.inode < y->sock.inode ? -1 : 1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

static int outside_first(const void *a, const void *b)
{
	const struct reach_connection *x = a, *y = b;

	if (x->sock.here != y->sock.here)
		return x->sock.here ? 1 : -1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

/* Each connection once, by its lowest descriptor; counted; in order. */
static void settle(struct reach *r)
{
	size_t kept = 0;

	if (!r->n)
		return;
	qsort(r->v, r->n, sizeof(*r->v), by_inode_and_fd);
	for (size_t i = 0; i < r->n; i++) {
		if (kept && r->v[kept - 1].sock.inode == r->v[i].sock.inode)
			continue;
		r->v[kept++] = r->v[i];
		++*(r->v[i].sock.here ? &r->here : &r->outside);
	}
	r->n = kept;
	qsort(r->v, r->n, sizeof(*r->v), outside_first);
}

static int read_one(const struct sock_table *t, struct identity id, struct reach *out)
{
	AUTO_FD dir = fds_open_process(id);
	int r;

	if (dir < 0)
		return dir;
	r = same_net(dir, t);
	if (r == 0)
		r = read_fds(dir, t, out);
	if (r == 0)
		settle(out);
	return r;
}

int reach_read(const struct sock_table *t, const struct identity *ids, size_t n, struct reach *out,
	       struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		out[i] = (struct reach){0};
		r = read_one(t, ids[i], &out[i]);
		if (r == 0)
			continue;
		reach_clear(&out[i]);
		if (r == -ENOMEM) {
			while (i-- > 0)
				reach_clear(&out[i]);
			return err_nomem(err);
		}
		out[i].error = -r;
	}
	return 0;
}

void reach_clear(struct reach *r)
{
	free(r->v);
	*r = (struct reach){0};
}

bool reach_remote(const struct reach *r, char out[static SOCK_TEXT_MAX])
{
	if (!r->n)
		return false;
	sock_remote_text(&r->v[0].sock, out);
	return true;
}

static enum reach_peer peer_of(const struct sock_table *t, int fds, const char *name)
{
	const struct sock *s;
	uint64_t inode;
	bool closed;

	if (!fds_inode(fds, name, "socket", &inode))
		return REACH_PEER_UNKNOWN;
	s = sock_find(t, inode);
	if (s)
		return s->state == TCP_CLOSE_WAIT ? REACH_PEER_CLOSED : REACH_PEER_OPEN;
	if (sock_unix_peer_closed(inode, &closed, NULL) < 0)
		return REACH_PEER_UNKNOWN;
	return closed ? REACH_PEER_CLOSED : REACH_PEER_OPEN;
}

int reach_stdio(const struct sock_table *t, struct identity id, enum reach_peer out[static 3],
		struct err *err)
{
	static const char *const names[3] = {"0", "1", "2"};
	AUTO_FD dir = fds_open_process(id);
	AUTO_FD fds = -1;
	int r = dir < 0 ? dir : same_net(dir, t);

	if (r == 0) {
		fds = openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = fds < 0 ? -errno : 0;
	}
	if (r < 0)
		return err_errno(err, -r, "descriptors of process %d", id.pid);
	for (int i = 0; i < 3; i++)
		out[i] = peer_of(t, fds, names[i]);
	return 0;
}
