/*
 * Watching a recorded run: what each look shows of its members goes into its
 * journal, and its state changes when what is shows that it has.
 *
 * One stray at a time does so (rundir_watch); it says when it began and when
 * it stopped, so that a gap in the journal is told from silence.  What came and
 * went between two looks, and was not heard, is not invented.  Never signals.
 */
#ifndef STRAY_ENGINE_CHRONICLE_H
#define STRAY_ENGINE_CHRONICLE_H

#include "engine/recorded.h"

struct chronicle; /* opaque */

/*
 * Brings the state in r's journal up to what k shows, once: a deadline that has
 * passed, a command that has ended.  For who does not watch; where another stray
 * does it changes nothing but the story.  k's run must be r->run.
 */
int chronicle_settle(struct recorded *r, const struct tracker *k, struct err *err);

/*
 * Tells what k shows of r's members, once, whoever watches; the state stays.  For who
 * acted on them and knows that something changed.
 */
int chronicle_tell(struct recorded *r, const struct tracker *k, struct err *err);

/*
 * Begins to watch r, which must be open to be written to and stay so until
 * chronicle_close().  now: the look to begin with, judged for r->run.  -EBUSY:
 * another stray watches it already, and nothing is to be written.
 */
int chronicle_open(struct recorded *r, const struct tracker *now, uint64_t interval_ms,
		   struct chronicle **out, struct err *err);

/*
 * What was heard of a member since the last look (engine/listener.h): told at the next
 * chronicle_fold() in this order, before what that shows.  detail: after an exec; NULL: not
 * known.  Of those that came and ended between two looks, and left nothing, CHRONICLE_BRIEF_MAX
 * are told, the rest is counted in watch_stopped.
 */
#define CHRONICLE_BRIEF_MAX 10000
#define CHRONICLE_HEARD_MAX 65536 /* of a view that is paused; more is counted as not told */
void chronicle_hear(struct chronicle *c, const struct kin_change *change, struct detail *detail);

/* So many more were heard, and could not be kept: they are counted as not told. */
void chronicle_not_heard(struct chronicle *c, uint64_t n);

/*
 * Tells what k shows since the last time, as events, and changes the state where
 * it did.  0, or -errno where the journal cannot be written: what was not
 * written is tried again at the next look.
 */
int chronicle_fold(struct chronicle *c, const struct tracker *k, struct err *err);

/* Says that nobody watches from here on; reason: "asked", "over", "signal".  NULL is fine. */
void chronicle_close(struct chronicle *c, const char *reason);

/* How many process events it counted, and did not write. */
uint64_t chronicle_not_told(const struct chronicle *c);

/* How many events it wrote. */
uint64_t chronicle_events(const struct chronicle *c);

#endif
