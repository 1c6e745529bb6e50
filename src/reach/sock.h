/*
 * The TCP connections of this network namespace, by socket inode.
 *
 * One dump of the kernel's table (NETLINK_SOCK_DIAG; 3,000 sockets take some 4 ms).  Whose they
 * are is not in it: see reach.h.  Other network namespaces are not in it either.
 */
#ifndef STRAY_REACH_SOCK_H
#define STRAY_REACH_SOCK_H

#include "base/err.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOCK_TEXT_MAX 56 /* "[" IPv6 "]:65535" and a NUL */

struct sock {
	uint64_t inode;                /* N of "socket:[N]"; the kernel reports its lower 32 bits */
	uint8_t state;                 /* TCP_ESTABLISHED or TCP_CLOSE_WAIT of netinet/tcp.h */
	uint8_t family;                /* AF_INET, also for IPv4 inside an IPv6 socket; AF_INET6 */
	uint8_t local[16], remote[16]; /* network order; IPv4 in the first four */
	uint16_t local_port, remote_port;
	bool here; /* the other end is on this host: loopback, or the same address */
};

struct sock_table {
	struct sock *v; /* owned; sorted by inode */
	size_t n, cap;
	uint64_t net_ns; /* inode of the namespace it was read in; 0: not known */
};

/*
 * Reads connections that are established, or closed by the other end only.  Any user may.
 * 0; -ENOENT: a kernel without tcp_diag; -EACCES, -EPERM, -EPROTONOSUPPORT: not allowed, or not
 * there, as in some sandboxes; -EAGAIN; -ENOMEM.  *out is for sock_table_clear() on success.
 */
int sock_table_read(struct sock_table *out, struct err *err);
void sock_table_clear(struct sock_table *t);

/* Borrowed; NULL: no TCP connection, or none of this namespace. */
const struct sock *sock_find(const struct sock_table *t, uint64_t inode);

/* "198.51.100.9:443", "[2001:db8::1]:443": the remote end. */
void sock_remote_text(const struct sock *s, char out[static SOCK_TEXT_MAX]);
void sock_local_text(const struct sock *s, char out[static SOCK_TEXT_MAX]);

/*
 * Whether the other end of a connected unix stream socket is closed (UNIX_DIAG).  0 and *closed;
 * -ENOENT: no unix socket of this network namespace; -ENOTCONN: none that has a peer (a datagram
 * or listening one); else -errno.
 */
int sock_unix_peer_closed(uint64_t inode, bool *closed, struct err *err);

#endif
