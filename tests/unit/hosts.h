/*
 * Hosts written down as text, so that a test case reads as an example.
 *
 * One thing a line; # begins a comment; "…" holds a word together:
 *
 *	host self=900 hidepid
 *	login 12 leader=4100 tty=pts/3
 *	in cgroup=/user.slice/user-1000.slice/session-12.scope uid=1000
 *	#  pid ppid pgid  sid state start comm
 *	  4131    1 4102 4102     S   500 sh    mark=AI_AGENT:1 sigign=HUP,TERM
 *
 * host   self=PID uid=N at=SECONDS (since boot: 10000) ticks=N; hidepid,
 *        partial; pipes-of=PID: whose pipes holds= and other= are about;
 *        no-logins: /run/systemd/sessions cannot be read; inner-pid-ns: seen
 *        from a PID namespace that is not the initial one.
 * login  its id, then leader= uid= scope= state= service= tty= audit=; what is
 *        left out follows from the id: an active session-N.scope of sshd.
 * in     what the processes below it have in common; alone: nothing any more.
 * PID…   cgroup= exe= cwd= fd0= fd1= fd2= args= (blanks part them)
 *        mark=NAME[:VALUE] secret=NAME uid= euid= sigign= sigblk= sigcgt=
 *        nspid=OUTER/INNER audit= loginuid= tracer= tty=pts/N cpu=TICKS
 *        threads= stack= remote= unread=DETAIL holds=FD,FD other=FD,FD spoke=FROM-UNTIL
 *        (ticks); cwd_deleted, tty_closed, kthread; noread: none of its details, fds_unread.
 *
 * Left out, a process is root's, without an audit session, in "/", in the
 * cgroup "/", all details read.  What is not understood fails the test.
 */
#ifndef STRAY_TESTS_UNIT_HOSTS_H
#define STRAY_TESTS_UNIT_HOSTS_H

#include "model/tracker.h"

#define HOSTS_TEXT 4096

/* Owned: table_free().  In any order of lines, sorted. */
struct table *hosts_table(const char *text);

/* A tracker that has looked at the host once.  tracker_free(). */
void hosts_track(struct tracker *k, const char *text);

/* Looks again. */
void hosts_look(struct tracker *k, const char *text);

/* The process of k or t with that PID; fails where there is none. */
struct process *hosts_process(const struct table *t, pid_t pid);

/*
 * What was found, as text to compare: "4131 reparented leader_gone, 4150 child";
 * "" where there is none.  In order of PID, bits in the order of their values.
 */
void hosts_suspects(const struct table *t, char out[static HOSTS_TEXT]);
void hosts_explained(const struct table *t, char out[static HOSTS_TEXT]);
void hosts_evidence(const struct table *t, char out[static HOSTS_TEXT]);
/* "4131 presumed, 4150 possible, 4160 scanned" */
void hosts_reparented(const struct table *t, char out[static HOSTS_TEXT]);
/* "1 init init.scope, 4131 login session-12.scope": where one is known. */
void hosts_origins(const struct table *t, char out[static HOSTS_TEXT]);

#endif
