#include "reach/sock.h"

#include "base/vec.h"
#include "reach/diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define STATES (1u << TCP_ESTABLISHED | 1u << TCP_CLOSE_WAIT)
#define TRIES 3 /* at a table that changed while it was read */

static bool is_loopback(int family, const uint8_t addr[16])
{
	static const uint8_t one[16] = {[15] = 1};

	return family == AF_INET ? addr[0] == 127 : memcmp(addr, one, 16) == 0;
}

/* ::ffff:a.b.c.d, an IPv4 peer of an IPv6 socket */
static bool is_mapped(const uint8_t addr[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(addr, prefix, sizeof(prefix)) == 0;
}

static int add_tcp(void *ctx, const void *payload, size_t len)
{
	const struct inet_diag_msg *m = payload;
	struct sock_table *t = ctx;
	struct sock s = {0};
	size_t skip = 0, size;

	if (len < sizeof(*m) || !m->idiag_inode)
		return 0;
	s.inode = m->idiag_inode;
	s.state = m->idiag_state;
	s.family = m->idiag_family;
	if (s.family == AF_INET6 && is_mapped((const uint8_t *)m->id.idiag_dst)) {
		s.family = AF_INET;
		skip = 12;
	}
	size = s.family == AF_INET ? 4 : 16;
	memcpy(s.local, (const uint8_t *)m->id.idiag_src + skip, size);
	memcpy(s.remote, (const uint8_t *)m->id.idiag_dst + skip, size);
	s.local_port = ntohs(m->id.idiag_sport);
	s.remote_port = ntohs(m->id.idiag_dport);
	s.here = is_loopback(s.family, s.remote) || memcmp(s.local, s.remote, size) == 0;
	return VEC_PUSH(t, s) ? 0 : -ENOMEM;
}

static int by_inode(const void *a, const void *b)
{
	const struct sock *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static int read_families(struct sock_table *t, struct err *err)
{
	static const uint8_t families[] = {AF_INET, AF_INET6};
	int r = 0;

	for (size_t i = 0; i < sizeof(families) && r == 0; i++) {
		struct inet_diag_req_v2 req = {.sdiag_family = families[i],
					       .sdiag_protocol = IPPROTO_TCP,
					       .idiag_states = STATES};

		r = diag_ask(&req, sizeof(req), NLM_F_DUMP, add_tcp, t, err);
		/* a kernel without IPv6 has no such handler, and no such connection */
		if (r == -ENOENT && families[i] == AF_INET6)
			r = 0;
	}
	return r;
}

int sock_table_read(struct sock_table *out, struct err *err)
{
	struct sock_table t;
	struct err why;
	struct stat st;
	int r, tries = 0;

	do {
		t = (struct sock_table){0};
		why = (struct err){0};
		r = read_families(&t, &why);
		if (r < 0)
			sock_table_clear(&t);
	} while (r == -EAGAIN && ++tries < TRIES);
	if (r < 0)
		return why.code ? err_set(err, why.code, "%s", why.text) : err_nomem(err);
	if (t.n)
		qsort(t.v, t.n, sizeof(*t.v), by_inode);
	if (stat("/proc/self/ns/net", &st) == 0)
		t.net_ns = st.st_ino;
	*out = t;
	return 0;
}

void sock_table_clear(struct sock_table *t)
{
	free(t->v);
	*t = (struct sock_table){0};
}

const struct sock *sock_find(const struct sock_table *t, uint64_t inode)
{
	const struct sock key = {.inode = (uint32_t)inode};

	return t->n ? bsearch(&key, t->v, t->n, sizeof(*t->v), by_inode) : NULL;
}

static void to_text(int family, const uint8_t *addr, unsigned port, char out[static SOCK_TEXT_MAX])
{
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(family, addr, text, sizeof(text));
	snprintf(out, SOCK_TEXT_MAX, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
}

void sock_remote_text(const struct sock *s, char out[static SOCK_TEXT_MAX])
{
	to_text(s->family, s->remote, s->remote_port, out);
}

void sock_local_text(const struct sock *s, char out[static SOCK_TEXT_MAX])
{
	to_text(s->family, s->local, s->local_port, out);
}

struct unix_answer {
	bool connected, closed;
};

static int take_unix(void *ctx, const void *payload, size_t len)
{
	const struct unix_diag_msg *m = payload;
	struct unix_answer *a = ctx;
	int left = (int)len - (int)NLMSG_ALIGN(sizeof(*m));

	if (left < 0 || m->udiag_state != TCP_ESTABLISHED ||
	    (m->udiag_type != SOCK_STREAM && m->udiag_type != SOCK_SEQPACKET))
		return 0;
	a->connected = true;
	/* The peer's release shuts both directions down for good: af_unix.c, unix_release_sock */
	for (const struct rtattr *at = (const struct rtattr *)(m + 1); RTA_OK(at, left);
	     at = RTA_NEXT(at, left))
		if (at->rta_type == UNIX_DIAG_SHUTDOWN && RTA_PAYLOAD(at) >= 1)
			a->closed = (*(const uint8_t *)RTA_DATA(at) & 3) == 3;
	return 0;
}

int sock_unix_peer_closed(uint64_t inode, bool *closed, struct err *err)
{
	struct unix_diag_req req = {.sdiag_family = AF_UNIX,
				    .udiag_states = ~0u,
				    .udiag_ino = (uint32_t)inode,
				    .udiag_show = UDIAG_SHOW_PEER,
				    .udiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}};
	struct unix_answer a = {0};
	int r = diag_ask(&req, sizeof(req), 0, take_unix, &a, err);

	if (r < 0)
		return r;
	if (!a.connected)
		return err_set(err, ENOTCONN, "unix socket %u has no peer", req.udiag_ino);
	*closed = a.closed;
	return 0;
}
