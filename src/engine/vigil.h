/*
 * A recorded run kept in view: adopted or found again, watched as far as that is
 * ours to do, followed where another stray does it or it cannot be written to.
 *
 * What goes wrong with its journal is kept to be said and ends nothing: the
 * next look tries again.  Never signals.
 *
 * It writes in its caller's thread, which of the live view is not the one that reads keys: a look
 * that shows nothing of note appends lines to a file at most; a change of state waits for the disk
 * four times (after.json and its name, the journal, the ledger), an adoption some sixteen times.
 * A lock that another writer holds is waited for VIGIL_PATIENCE_NS only, the ledger's, at a change
 * of state, as long as ledger.h says.
 */
#ifndef STRAY_ENGINE_VIGIL_H
#define STRAY_ENGINE_VIGIL_H

#include "engine/chronicle.h"

#define VIGIL_PATIENCE_NS 200000000ull
#define VIGIL_GAP_NS 1000000000ull /* what is shorter is no gap in looks a second apart */

struct vigil {
	struct recorded recorded; /* who has its run in view takes a copy: it may be read anew */
	bool open;
	bool writes;                     /* its journal may be written to */
	bool other;                      /* another stray watches it */
	struct chronicle *chronicle;     /* NULL: we do not watch it */
	enum run_state state;            /* as of the last look */
	struct err trouble;              /* why the last look was not written; code 0: it was */
	struct err damage;               /* its journal does not hold */
	uint64_t gap_from_ns, gap_to_ns; /* nobody watched before us, wall clock; 0: no gap */
	bool gap_lost;                   /* as who watched died without a word */
	const char *state_dir;           /* borrowed; NULL: by default */
	uint64_t interval_ms;
};

struct vigil_options {
	const char *state_dir; /* borrowed as long as the vigil; NULL: by default */
	bool readonly;         /* write nothing */
	uint64_t interval_ms;  /* between two looks, for the record */
};

/* Makes a recorded run of k's run, and watches it.  Errors as recorded_adopt(): g stays closed. */
int vigil_adopt(struct vigil *g, const struct vigil_options *o, const struct tracker *k,
		struct err *err);

/*
 * Opens the run that name means.  host: this one; -ESRCH where the run is of another boot or
 * PID namespace.  Else as recorded_open(), but for a damaged one, which opens.  Watching
 * begins with the first look.
 */
int vigil_open(struct vigil *g, const struct vigil_options *o, const char *name,
	       const struct host *host, struct err *err);

/* What k, judged for the run, shows now; watches from here on where nobody else does. */
void vigil_look(struct vigil *g, const struct tracker *k);

/* What was heard of a member: told at the next look, if it is ours to tell (listener.h). */
void vigil_hear(struct vigil *g, const struct kin_change *c, struct detail *detail);

/* So many more were heard, and could not be kept. */
void vigil_not_heard(struct vigil *g, uint64_t n);

/* reason: as chronicle_close().  Of zeros, and of a copy, too. */
void vigil_close(struct vigil *g, const char *reason);

/* What is to be shown of it, for another thread: its files are not the copy's, and nothing is
 * written by it.  0 or -ENOMEM. */
int vigil_copy(struct vigil *to, const struct vigil *from);

/* Of two moments of one vigil: whether a copy of the later one shows anything else. */
struct vigil_stamp {
	uint64_t seq, end, gap_to_ns;
	enum run_state state, story_state;
	int trouble, damage;
	bool writes, other;
};
struct vigil_stamp vigil_stamp(const struct vigil *g);
bool vigil_stamp_same(const struct vigil_stamp *a, const struct vigil_stamp *b);

/* Whether nothing is to be expected of it any more. */
bool vigil_is_over(const struct vigil *g);

/* A note for its journal; member: whom it explains, zeros: the run.  Secrets in it are masked. */
int vigil_note(struct vigil *g, const char *text, struct identity member, struct err *err);

/*
 * The run that is there and was not among `known`: 1 and its id, 0 where there is none,
 * or -errno.
 */
int vigil_newcomer(const char *state_dir, const struct rundir_list *known,
		   char id[static RUN_ID_MAX + 1], struct err *err);

#endif
