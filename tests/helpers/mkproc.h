/*
 * mkproc: makes an exact kernel situation and holds it.
 *
 * What a shape may use.  A shape runs in the maker, forks what it needs with
 * mk_fork(), and waits with mk_collect() and mk_wait_*() until the situation is
 * there; READY is printed after it returned.  Every process bounds its own life
 * by alarm(2); one that will be stopped (an alarm then waits) also asks to be
 * killed when the maker dies.
 */
#ifndef STRAY_TESTS_MKPROC_H
#define STRAY_TESTS_MKPROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MK_CANNOT 77 /* exit status: this kernel or user cannot; Automake's SKIP */

/* For what processes run that share one memory: the sanitizer's own stacks are a thread's each. */
#define MK_ONE_MEMORY __attribute__((no_sanitize("address")))

struct shape {
	const char *name, *args, *about;
	void (*make)(char **arg); /* arg ends with NULL */
	bool needs_maker;         /* cannot be left behind: --leave is refused */
};

extern const struct shape mk_shapes[]; /* ends with a NULL name */

/* In any process: sends name with the caller's own PID and pidfd to the maker,
 * which kills it at the end.  Async-signal-safe, and fit for a vfork child. */
void mk_report(const char *name);
void mk_cannot(void) __attribute__((noreturn)); /* the maker exits MK_CANNOT */

/* fork(2) that never fails; the child did mk_child(). */
pid_t mk_fork(void);
/* What every process that is made does first: bounds its life by what is left, lets go of the
 * caller's stdio (unless --stdio), takes back the maker's handlers. */
void mk_child(void);
void mk_child_same(void); /* that, but for the handlers */
void mk_bound_life(void); /* the first of these alone */
void mk_pause(void) __attribute__((noreturn));
bool mk_over(void); /* the end was asked for: fork no more */

/* In the maker: */
pid_t mk_collect(const char *name); /* waits for a report of that name; prints it */
void mk_print(const char *name, long number);
void mk_own(pid_t child); /* kill it by number: unreaped, so the number is its own */
void mk_reap(pid_t child);
void mk_wait_state(pid_t pid, char state);      /* of /proc/PID/stat */
void mk_wait_reparented(pid_t pid, pid_t from); /* until its parent is another */
void mk_wait_no_tty(pid_t pid);
void mk_die(const char *what) __attribute__((noreturn)); /* says errno, cleans up, exits 1 */
void mk_usage(void) __attribute__((noreturn));

/* A number from text, deflt where text is NULL; 1 to max, else a usage error. */
int mk_number(const char *text, int deflt, int max);
/* Bytes from hex, without NUL; a usage error where it is none.  Never freed. */
char *mk_unhex(const char *hex);

/* What a re-executed mkproc runs, chosen by its environment; returns if it was not. */
void mk_role(void);
extern int mk_report_fd;

#endif
