/*
 * The few fields of one process's stat that one about to act on it must see now.
 *
 * Sources read whole tables; this reads one process, at the moment of the act, so that an identity
 * can be checked.  It knows no run and changes nothing.
 */
#ifndef STRAY_BASE_PROC_STAT_H
#define STRAY_BASE_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
	char state; /* of the first thread */
	pid_t ppid, pgid, sid;
	int threads;
	uint64_t start; /* clock ticks since boot */
	int exit_code;  /* of a dead one, as waitpid(2) has it; 0 also where not permitted */
};

/* proc_pid_stat(5), parsed from its last ')'.  0; -ESRCH: no such process (also where hidepid
 * hides it); -EPROTO: not of that form; else -errno. */
int proc_stat_read(pid_t pid, struct proc_stat *out);
/* As that, through a descriptor of the directory /proc/PID, which names one process for good. */
int proc_stat_read_at(int dir, struct proc_stat *out);

/*
 * Whether it runs no code of its own now: every thread is stopped, traced-stopped, dead, or in
 * uninterruptible sleep (from which a pending STOP lets it come no further).  True also where it
 * is gone.
 */
bool proc_stat_halted(pid_t pid);

#endif
