/*
 * Who is connected: fills in the connections of the processes that matter, or lists them.
 *
 * Reading a process's descriptors costs, so it is done for suspects, members
 * of the run in view and those asked for, at most CONTACTS_MAX at a time, the
 * longest not read first.  Others stay "not known".
 */
#ifndef STRAY_ENGINE_CONTACTS_H
#define STRAY_ENGINE_CONTACTS_H

#include "model/tracker.h"

#define CONTACTS_MAX 256 /* some 20 ms of reading */

/*
 * Sets reach_known, reach_error, connections and remote of k->now's suspects
 * and members; with also (may be NULL, borrowed) of that process too.
 * 0; where sockets cannot be asked for at all the errno is in reach_error of
 * each and the result is 0 too.  -ENOMEM.
 */
int contacts_read(struct tracker *k, const struct process *also, struct err *err);

#define CONTACT_TEXT_MAX 56 /* "[" IPv6 "]:65535" and a NUL */

/* One established TCP connection, by who holds it. */
struct contact {
	struct identity id;
	char local[CONTACT_TEXT_MAX], remote[CONTACT_TEXT_MAX];
};

struct contacts {
	struct contact *v; /* owned; sorted by PID, then remote and local end */
	size_t n, cap;
	size_t unread; /* processes whose connections are not known: see error, or too many */
	int error;     /* errno of the first of them; 0: all could be asked */
};

/*
 * Every connection that n processes hold, of the first CONTACTS_MAX of them.  Who has ended holds
 * none, and is not unread.  contacts_clear() on success.  0 or -ENOMEM.
 */
int contacts_list(const struct identity *ids, size_t n, struct contacts *out, struct err *err);
void contacts_clear(struct contacts *c);

#endif
