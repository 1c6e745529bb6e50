/*
 * What is known of a process, in the words of the screens.
 *
 * All text is safe for a terminal.  Pure: nothing is read, ages are taken
 * from the table's own moment.
 */
#ifndef STRAY_TUI_FACTS_H
#define STRAY_TUI_FACTS_H

#include "model/run.h"
#include "model/table.h"
#include "tui/line.h"

/* The command line in one line, cut to cells. */
void facts_command(struct line *l, const struct process *p, int cells);
void facts_name(struct line *l, const struct process *p); /* the comm */
void facts_user(struct line *l, const struct process *p);

uint64_t facts_wall_ns(const struct host *h, uint64_t ticks);      /* of a start time */
uint64_t facts_age(const struct host *h, const struct process *p); /* s */

/* "14:02:40", or "Jul 23" where that was another day.  out holds 9 bytes. */
void facts_when(const struct host *h, uint64_t wall_ns, char out[static 9]);

/* "512K", "12M", "3.4G".  out holds 8 bytes. */
void facts_size(uint64_t kb, char out[static 8]);

/* "pts/3", "pts/3 closed", "no tty". */
void facts_tty(struct line *l, const struct process *p);

/* Reasons to suspect, joined by commas, but for those in `but`: what stands
 * beside it already. */
void facts_reasons(struct line *l, const struct process *p, unsigned but);

/* Of one session or one login: what belongs together for an eye. */
bool facts_related(const struct process *p, const struct process *q);

/* What holds a signal back: "ignores TERM", "stopped", ...; nothing where nothing does. */
void facts_resists(struct line *l, const struct process *p);

/* "session-12.scope, login closed", "docker 3f2a91c04b7e"; nothing where nothing is known. */
void facts_origin(struct line *l, const struct table *t, const struct process *p);

/* The coverage: each piece of what is not known is one call of fn, most telling first. */
void facts_not_known(const struct table *t, const struct run *run,
		     void (*fn)(void *ctx, const char *safe), void *ctx);

/* Since when it is seen, and by what: "scans since 14:00:02", "netlink since 14:00:02, nothing
 * lost".  Returns whether what lives between two scans is seen, too. */
bool facts_seen(const struct table *t, struct line *l);

/* "TERM", "KILL", "34". */
const char *facts_signal(int sig, char out[static 8]);

#endif
