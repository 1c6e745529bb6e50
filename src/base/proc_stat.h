/*
 * The one parser of /proc/PID/stat (proc_pid_stat(5)): of a line that a source has read, and of
 * one process at the moment that somebody is about to act on it.
 *
 * It knows no run and no table, and changes nothing.
 */
#ifndef STRAY_BASE_PROC_STAT_H
#define STRAY_BASE_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_STAT_MAX 2048 /* 52 numbers of up to 20 digits, and a name */

struct proc_stat {
	pid_t pid;  /* as the PID namespace of that /proc has it */
	char state; /* of the first thread */
	pid_t ppid, pgid, sid;
	uint32_t tty_nr, flags;
	pid_t tpgid; /* -1: no terminal */
	int threads;
	uint64_t cpu_ticks; /* in user and kernel mode */
	uint64_t start;     /* clock ticks since boot */
	uint64_t rss_pages, start_stack;
	int exit_code; /* of a dead one, as waitpid(2) has it; 0 also where not permitted */
};

/*
 * Parses one line, from its last ')': what is in the name cannot forge a field.  *comm, where not
 * NULL, becomes the name, ended in place, borrowed from text.  0; -EPROTO: not of that form.
 */
int proc_stat_parse(char *text, struct proc_stat *out, const char **comm);

/* 0; -ESRCH: no such process (also where hidepid hides it); -EPROTO: not of that form; else
 * -errno. */
int proc_stat_read(pid_t pid, struct proc_stat *out);
/* As that; -ESRCH also where the number is by now that of a process with another start. */
int proc_stat_read_same(pid_t pid, uint64_t start, struct proc_stat *out);
/* As that, of the stat file at path below dir.  A descriptor of /proc/PID names one process for
 * good; another /proc than this process's own can be asked, too. */
int proc_stat_read_at(int dir, const char *path, struct proc_stat *out);

/*
 * The line itself, for proc_stat_parse(), in one read(2): the kernel makes it whole
 * (fs/proc/base.c, proc_single_show).  0 or as proc_stat_read().
 */
int proc_stat_read_text(int dir, const char *path, char buf[static PROC_STAT_MAX]);

/* This process's own.  -EXDEV: /proc is that of another PID namespace, with other numbers. */
int proc_stat_read_self(struct proc_stat *out);

/* Whether no thread of it runs any more: it waits for its parent to reap it. */
bool proc_stat_dead(const struct proc_stat *st);

/* Whether nobody has that PID, not even as a zombie.  Of who is gone /proc says so, too, in ten
 * times as long (getpgid(2)). */
bool proc_is_gone(pid_t pid);

/* Whether the process of that start is gone, or dead.  False also where that cannot be known. */
bool proc_has_ended(pid_t pid, uint64_t start);

/* Takes the next PID of a list as in /proc/PID/task/TID/children; 0: there is no more. */
pid_t proc_next_pid(char **at);

/*
 * Whether it runs no code of its own now: every thread is stopped, traced-stopped, dead, or in
 * uninterruptible sleep (from which a pending STOP lets it come no further).  True also where it
 * is gone.
 */
bool proc_stat_halted(pid_t pid);

#endif
