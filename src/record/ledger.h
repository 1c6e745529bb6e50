/*
 * The ledger, STATE/ledger.jsonl: of each run its opening and the head of its
 * journal at each change of state, chained like a journal.
 *
 * So a run directory that was removed, or a journal whose tail was cut off,
 * shows.  Never waits long for its lock: LEDGER_PATIENCE_NS.
 */
#ifndef STRAY_RECORD_LEDGER_H
#define STRAY_RECORD_LEDGER_H

#include "model/run_state.h"
#include "record/journal_read.h"
#include "record/statedir.h"

#define LEDGER_NAME "ledger.jsonl"
#define LEDGER_PATIENCE_NS 1000000000ull

/* Notes that run's journal has that head now, and its state.  sync: not before it is on the disk.
 * 0 or -errno. */
int ledger_note(const struct statedir *s, const char *run, const char *event, uint64_t seq,
		const char *head, enum run_state state, bool sync, struct err *err);

/*
 * The heads that it knows of a run, since it was opened last after one of that id was
 * pruned; out->v is the caller's (free).  Where the ledger does not hold, those before the
 * fault, and *verdict tells.  -ENOENT: there is no ledger.
 */
struct ledger_heads {
	struct journal_head *v;
	size_t n, cap;
};
int ledger_heads(const struct statedir *s, const char *run, struct ledger_heads *out,
		 struct journal_verdict *verdict, struct err *err);

#endif
