/*
 * The heads of a run's journal on their way into the ledger, by a thread that nobody waits for
 * before the run is over: another may hold the ledger's lock, and a signal is due.
 *
 * Where no thread can be made they are kept until heads_close(), which notes them itself.
 */
#ifndef STRAY_ENGINE_HEADS_H
#define STRAY_ENGINE_HEADS_H

#include "model/run_state.h"
#include "record/statedir.h"

#include <stdint.h>

struct heads; /* opaque */

/* s is copied.  0 or -errno. */
int heads_open(const struct statedir *s, const char *run, struct heads **out, struct err *err);

/* The journal has that head now, with that change of state.  event: a literal. */
void heads_note(struct heads *h, const char *event, uint64_t seq, const char *hash,
		enum run_state state);

/* Waits until all are noted, or until_ns (CLOCK_BOOTTIME), and frees.  NULL is fine. */
void heads_close(struct heads *h, uint64_t until_ns);

#endif
