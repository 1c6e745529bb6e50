/*
 * Tables for tests: made by hand, or at random from a seed.
 *
 * Everything here fails the test (cmocka) when out of memory.
 */
#ifndef STRAY_TESTS_UNIT_TABLES_H
#define STRAY_TESTS_UNIT_TABLES_H

#include "model/table.h"

/* An empty table of host "web-01", taken at 2026-07-24T14:11:07.000250Z. */
struct table *tables_new(void);

/*
 * Adds a process with all basic details: a shell of uid 1000 in /home/op, in
 * its own group and session.  Borrowed until the next one is added.
 */
struct process *tables_add(struct table *t, pid_t pid, uint64_t start, pid_t ppid);

/* Sets b to the C string, NULL: to not known. */
void tables_set(struct bytes *b, const char *text);
/* Sets the arguments, each ended by a NUL; the list ends with NULL. */
void tables_args(struct process *p, ...);

/* A generator of its own, so that a seed gives the same table everywhere. */
unsigned tables_random(unsigned *seed, unsigned below);

/* n processes with any value in any field that a kernel could give. */
struct table *tables_make(unsigned *seed, size_t n);

/* A later moment of t: some went, some came, some changed, some came back. */
struct table *tables_later(const struct table *t, unsigned *seed);

#endif
