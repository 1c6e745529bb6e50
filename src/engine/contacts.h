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

/*
 * The same in three parts, so that the reading can be an errand (engine/errand.h) while the table
 * lives on.  An ask is of the identities alone.
 */
struct contacts_ask; /* opaque */

/* Whom to ask; those in avoid (borrowed) are left out, as their files hang.  0 or -ENOMEM. */
int contacts_ask_new(const struct tracker *k, const struct process *also,
		     const struct identity *avoid, size_t n_avoid, struct contacts_ask **out,
		     struct err *err);

/* Reads; may hang.  Fits struct errand_job. */
void contacts_ask_run(void *ask);

/* Of whom it reads just now; pid 0: of nobody.  Safe while another thread runs it. */
struct identity contacts_ask_at(const struct contacts_ask *ask);

/* Fills in what was found, of those that still live.  -ENOMEM, also where reading ran out of it. */
int contacts_ask_apply(const struct contacts_ask *ask, struct tracker *k, struct err *err);

void contacts_ask_free(void *ask); /* NULL is fine */

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
