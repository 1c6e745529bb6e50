/*
 * The one place that signals.
 *
 * Every signal goes to an identity through its pidfd (where there are no pidfds: to its number,
 * when it was just seen to be its own), or to a process group of which an identity was just seen to
 * be a living member.  Nothing here can reach PID, PGID or SID 0, 1 or -1, this
 * process, or its own group.  Whom one may signal (kernel threads, ancestors, the run's requester)
 * is for the caller to decide, and so is recording it: see act.h.
 */
#ifndef STRAY_CONTAIN_SIGNAL_H
#define STRAY_CONTAIN_SIGNAL_H

#include "base/err.h"
#include "contain/target.h"

#include <stddef.h>

/*
 * Sends sig to one process.  t->result and t->error say what came of it; a STOP remembers whether
 * it found the process running.  0; -ESRCH: gone (nothing is sent to a zombie); -EPERM; -EINVAL:
 * no such signal; -EMFILE.  pidfd_send_signal(2), Linux 5.1.
 */
int signal_target(struct target *t, int sig);

/* Sends sig to each that is alive; returns how many it was sent to. */
size_t signal_each(struct target_set *set, int sig);

/* Whether sig could be sent, without sending: 0, -ESRCH, -EPERM, -EMFILE. */
int signal_permitted(struct target *t, int sig);

/*
 * Sends sig to the process group pgid in one act.  members are those that the caller means: each
 * result says whether it was among the receivers, since the kernel calls it a success where one
 * process could be signalled.  Processes of the group that are not in members get it too.
 * Through the leader's pidfd where one can be had (PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9: it wants
 * the leader's, alive or dead, not any member's); else kill(2), right after a member was seen.
 * 0; -EINVAL: pgid <= 1 or our own group; -ESRCH: no member is alive in it, nothing was sent;
 * -EPERM: none may be signalled, nothing was sent.
 */
int signal_group(pid_t pgid, struct target_set *members, int sig, struct err *err);

/* Ends this very process by that signal, without a core; returns where it cannot. */
void signal_die_of(int sig);

/*
 * Continues what signal_target() stopped, last first.  Returns how many could not be.
 */
size_t signal_undo_stop(struct target_set *set);

#endif
