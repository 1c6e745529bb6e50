/*
 * Which connections a process holds.
 *
 * The kernel's table of sockets does not say whose they are: that is found by reading the links in
 * /proc/PID/fd, which is what costs (some 4 µs each), so only the processes asked for are read.
 * What cannot be read is said, with its errno; an empty answer is an answer only without one.
 * It opens no connection and ends none.
 */
#ifndef STRAY_REACH_REACH_H
#define STRAY_REACH_REACH_H

#include "model/identity.h"
#include "reach/sock.h"

struct reach_connection {
	int fd; /* the lowest that holds it */
	struct sock sock;
};

struct reach {
	/* 0; ESRCH: gone; EACCES: may not be read; EXDEV: it is in another network namespace,
	 * whose connections are not known here.  With one, all below is not known. */
	int error;
	bool partial;               /* it has more than FDS_MAX descriptors */
	unsigned outside;           /* established connections to other hosts */
	unsigned here;              /* established connections within this host */
	struct reach_connection *v; /* owned; those to outside first, each by descriptor */
	size_t n, cap;
};

/*
 * What each of n processes holds; out has room for n, each for reach_clear().  A process that
 * cannot be read is an answer (out[i].error), not an error.  0 or -ENOMEM.
 */
int reach_read(const struct sock_table *t, const struct identity *ids, size_t n, struct reach *out,
	       struct err *err);
void reach_clear(struct reach *r);

/* The remote end that tells most: of the first connection to outside, else of the first within
 * this host; false where there is none. */
bool reach_remote(const struct reach *r, char out[static SOCK_TEXT_MAX]);

enum reach_peer {
	REACH_PEER_UNKNOWN, /* no socket, or not to be told */
	REACH_PEER_OPEN,
	REACH_PEER_CLOSED,
};

/*
 * Whether what its stdin, stdout and stderr are connected to is still there: of unix stream
 * sockets and TCP connections; of pipes and terminals it is not known.
 * 0; -ESRCH; -EACCES; -EXDEV as above.
 */
int reach_stdio(const struct sock_table *t, struct identity id, enum reach_peer out[static 3],
		struct err *err);

#endif
