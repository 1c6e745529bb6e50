/*
 * Reading a journal and checking its chain, offline: what `stray verify` says,
 * and the one way in for all who read events.
 *
 * Lines that hold are handed over in order, up to the first that does not:
 * what stands behind a fault proves nothing.  Torn tails that a later writer
 * closed are no fault.  Never writes; a hostile file costs at most
 * JOURNAL_LINE_MAX bytes of memory and 8 for each line.
 */
#ifndef STRAY_RECORD_JOURNAL_READ_H
#define STRAY_RECORD_JOURNAL_READ_H

#include "base/json_read.h"
#include "record/chain.h"

enum journal_fault {
	JOURNAL_HOLDS,
	JOURNAL_CHANGED,   /* the line is not what was sealed, or no line of a journal */
	JOURNAL_MISSING,   /* one or more before the line are not there */
	JOURNAL_DOUBLED,   /* the line was there before */
	JOURNAL_REORDERED, /* the line stands where another should, which comes later */
	JOURNAL_REWRITTEN, /* sealed, in its place, but not upon the line before */
	JOURNAL_OTHER,     /* of another version, or no journal at all */
	JOURNAL_CUT,       /* holds, but was longer: a later head is known */
};

struct journal_verdict {
	enum journal_fault fault;
	uint64_t line;         /* of the fault, from 1; 0: none */
	char why[200];         /* the fault in words; "": none */
	uint64_t seq;          /* of the last event that holds; 0: none */
	char head[CHAIN_HEX];  /* its hash; CHAIN_START: none */
	uint64_t torn_bytes;   /* unfinished at the end, not closed yet */
	uint64_t torn_closed;  /* torn tails that a later writer closed */
	uint64_t anchored_seq; /* of the last head that also went elsewhere; 0: none */
};

/*
 * One event that holds; borrowed until return.  Non-zero stops the reading and
 * is returned; set *err first.
 */
typedef int journal_event_fn(void *ctx, const json_t *event, struct err *err);

/* The same event as the line that holds it, without its newline; comes before it. */
typedef int journal_line_fn(void *ctx, const char *line, size_t len, struct err *err);

/* A head that is known from elsewhere: a ledger, a syslog, a paper. */
struct journal_head {
	uint64_t seq; /* 0: not known */
	char hash[CHAIN_HEX];
	const char *from; /* in words, for the verdict: "the ledger" */
};

struct journal_reading {
	const char *name;      /* of the file, for the text of an error */
	const char *schema;    /* JOURNAL_SCHEMA or LEDGER_SCHEMA */
	journal_event_fn *fn;  /* may be NULL */
	journal_line_fn *line; /* may be NULL */
	void *ctx;
	const struct journal_head *heads; /* that must be in it */
	size_t n_heads;
};

/*
 * Reads the file at fd from its beginning (fd's offset is not used).  0 with
 * *verdict; else what fn returned, -ENOMEM or the -errno of reading.
 */
int journal_read(int fd, const struct journal_reading *what, struct journal_verdict *verdict,
		 struct err *err);

/*
 * The last lines alone, as far as they begin in the last JOURNAL_END_BYTES.  *holds: there are
 * some, each upon the one before, and nothing behind them.  Else as journal_read().
 */
#define JOURNAL_END_BYTES 4096
int journal_read_end(int fd, const struct journal_reading *what, bool *holds, struct err *err);

/*
 * Opens the file `name` in dirfd to be read: a regular file, no link followed.
 * *fd is the caller's.
 */
int journal_open_read(int dirfd, const char *name, int *fd, struct err *err);

/* "changed", "missing", ...: a literal. */
const char *journal_fault_name(enum journal_fault fault);

#endif
