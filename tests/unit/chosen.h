/*
 * A run chosen on a host that is written down as text (hosts.h): looked at again as often as
 * wanted, and asked who its members are.
 */
#ifndef STRAY_TESTS_UNIT_CHOSEN_H
#define STRAY_TESTS_UNIT_CHOSEN_H

#include "tests/unit/hosts.h"

struct chosen {
	struct tracker k;
	struct run run;
};

/* Chooses the target on the host; what is to be said of the run besides is set before
 * chosen_watch(). */
void chosen_find(struct chosen *c, const char *target, const char *host);
/* From here on its members are looked for. */
void chosen_watch(struct chosen *c);
void chosen_end(struct chosen *c);

/* Fails, naming what, where the members are others: "300 group chosen, 301 parent". */
void chosen_expect(const struct chosen *c, const char *what, const char *evidence);

#endif
