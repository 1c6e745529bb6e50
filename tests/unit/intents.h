/* What the tests of an act's record share: what is about to be done. */
#ifndef STRAY_TESTS_UNIT_INTENTS_H
#define STRAY_TESTS_UNIT_INTENTS_H

#include "record/intent.h"

/*
 * TERM, 5 s of grace, KILL to group 4160, by uid 1000 on pts/2, at 2026-07-24T14:11:09.214Z.  At
 * whom it is aimed and whom it spares is for the test to say.  host: borrowed.
 */
struct intent intent_term(const struct host *host);

#endif
