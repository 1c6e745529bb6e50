/*
 * For tests in C: starts mkproc with a shape and knows the PIDs it printed.
 *
 * A test that cannot have its situation (mkproc says the kernel or the user
 * cannot) is skipped; every other failure fails it.  made_end() in the test's
 * last line, or the alarm that made_start() leaves in place, cleans up.
 */
#ifndef STRAY_TESTS_MADE_H
#define STRAY_TESTS_MADE_H

#include <stdbool.h>
#include <sys/types.h>

#define MADE_MAX 256

struct made {
	pid_t maker;
	int in;
	int n;
	struct {
		char name[32];
		long number;
	} line[MADE_MAX];
};

/* argv without mkproc itself, ended by NULL: {"group", "3", NULL} */
void made_start(struct made *m, const char *const *argv);
/* As made_start; false, and nothing made, in place of skipping the test. */
bool made_try(struct made *m, const char *const *argv);

/* The i-th number printed under that name, from 0; fails the test where there is none. */
pid_t made_pid(const struct made *m, const char *name, int i);

void made_end(struct made *m);

/* State letter, or 0 where it is gone; the start time in ticks, 0 likewise. */
char made_state(pid_t pid);
/* Whether it comes to be in that state (0: gone, also dead and unreaped) within 5 s. */
bool made_becomes(pid_t pid, char state);
unsigned long long made_start_ticks(pid_t pid);

/* Runs f in a child as uid 65534; its return is the child's exit status.  Skips the test where
 * that cannot be. */
int as_nobody(int (*f)(void *ctx), void *ctx);

#define MADE(m, ...) made_start(m, (const char *const[]){__VA_ARGS__, NULL})

#endif
