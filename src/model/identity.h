/*
 * Who a process is: its PID and its start time.
 *
 * A PID names a process only while it lives; with the start time (field 22 of
 * /proc/PID/stat, proc(5): clock ticks since boot) it names one process of one
 * boot for ever.  Written "4131@881234".  The boot id is kept once a table
 * (struct host), not in each identity.  Never compare wall-clock starts.
 */
#ifndef STRAY_MODEL_IDENTITY_H
#define STRAY_MODEL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct identity {
	pid_t pid;      /* 0: none */
	uint64_t start; /* clock ticks since boot */
};

static inline bool identity_same(struct identity a, struct identity b)
{
	return a.pid == b.pid && a.start == b.start;
}

static inline bool identity_known(struct identity id)
{
	return id.pid > 0;
}

/* For qsort(3) and bsearch(3): by PID, then by start. */
int identity_order(const void *a, const void *b);
/* The same of pid_t. */
int pid_order(const void *a, const void *b);

struct pid_list {
	pid_t *v; /* owned: free(v) */
	size_t n, cap;
};

/* Whether it is in l, which ascends. */
bool pid_listed(const struct pid_list *l, pid_t pid);

/* A stable 64-bit tag: what rows, marks and folds are found again by. */
static inline uint64_t identity_tag(struct identity id)
{
	uint64_t h = ((uint64_t)id.pid << 40) ^ id.start;

	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL; /* the finalizer of MurmurHash3: one to one */
	h ^= h >> 33;
	return h;
}

/* How a fact is known, weakest first. */
enum known {
	KNOWN_NOT,      /* not known: never a default for anything else */
	KNOWN_PRESUMED, /* follows from a rule of doc/ARCHITECTURE.md */
	KNOWN_STATED,   /* an operator said so */
	KNOWN_SCANNED,  /* two readings of /proc differ */
	KNOWN_SEEN,     /* the kernel reported the event */
};

const char *known_name(enum known k); /* "seen", "scanned", ... */

#endif
