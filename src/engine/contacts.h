/*
 * Who is connected: fills in the connections of the processes that matter.
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

#endif
