/*
 * Where a journal's last line that holds ends, and what stands behind it.
 * Private to journal.c and journal_read.c.
 */
#ifndef STRAY_RECORD_JOURNAL_TAIL_H
#define STRAY_RECORD_JOURNAL_TAIL_H

#include "record/chain.h"

#include <stdint.h>

struct journal_tail {
	uint64_t seq;         /* of that line; 0: there is none */
	char hash[CHAIN_HEX]; /* CHAIN_START where there is none; "": not looked for yet */
	uint64_t end;         /* where it ends, with its newline */
	bool newline_missing; /* all of it is there but its newline */
	uint64_t torn_bytes;  /* behind it, without what closes them */
	bool torn_closed;     /* a closer, or a newline, stands behind them already */
	char torn_sha256[CHAIN_HEX];
};

/*
 * Of the file at fd, which has that size.  tail: what was found before, or
 * zeros; where nothing was added since nothing is read.  0; -EFBIG where no
 * line holds in the last 64 MiB; -errno of reading.
 */
int journal_tail_find(int fd, uint64_t size, const char *name, struct journal_tail *tail,
		      struct err *err);

#endif
