/*
 * Where facts about processes come from: one interface, several ways to know.
 *
 * A source reads; it keeps no opinion.  It never signals, never writes, never
 * follows a process's links, and never keeps the value of an environment variable other
 * than that of a mark.  Command lines are masked here (base/mask.h), at the
 * door, so that nothing further in can forget to.
 *
 * Calls may block on a process that hangs in the kernel: who must not block
 * calls from a thread of its own (engine/scanner.h).  Not re-entrant.
 */
#ifndef STRAY_SOURCE_SOURCE_H
#define STRAY_SOURCE_SOURCE_H

#include "base/err.h"
#include "model/table.h"

#include <stdatomic.h>

struct source; /* opaque */

/* What is being read this moment, for whoever watches for a reading that hangs: another thread, or
 * a process that shares this memory. */
struct source_pulse {
	atomic_int pid;            /* whose details; 0: nothing is read */
	atomic_uint bit;           /* which (detail_bits) */
	_Atomic uint64_t since_ns; /* CLOCK_BOOTTIME */
};

struct source_options {
	unsigned details;           /* detail_bits wanted of every process; 0: only its stat */
	unsigned candidate_details; /* and of those for which lineage_candidate() holds */
	size_t cmdline_keep;        /* bytes kept of a longer command line, head and tail; 0: all */
	bool unmask;
	bool again_and_again; /* scans follow one another: keep open what each reads (statfds.h) */
	/* without libproc2, whose start takes as long as a short command: no owners, and of the
	 * kernel's own threads no details */
	bool lean;
	const char *const *marks; /* more environment names to keep, borrowed */
	size_t n_marks;
	const char *replay; /* a snapshot file; NULL: /proc */
	const pid_t *avoid; /* processes whose details hang: only their stat is read; copied */
	size_t n_avoid;
	struct source_pulse *pulse; /* told there, too; borrowed; NULL: nobody asks */
};

/* The environment names that label a tree (doc/WORDS.md, "Mark"), NULL-terminated. */
extern const char *const source_known_marks[];

int source_open(const struct source_options *options, struct source **out, struct err *err);
void source_close(struct source *s); /* NULL is fine */

/*
 * Reads the whole table.  Details come with processes that are new to this
 * source, were exec'd since its last scan, or of which more is wanted now; for all
 * others `detail` is NULL and tracker_fold() carries them over.  *out is owned
 * by the caller.  -ENODATA where /proc holds not even ourselves: an empty
 * answer is an error, never "clean".
 */
int source_scan(struct source *s, struct table **out, struct err *err);

/* Of a lean source: whom its next scan would read; *out, empty, is the caller's to free. */
int source_list(struct source *s, struct pid_list *out, struct err *err);
/* And the same as a scan, of these PIDs alone, which ascend. */
int source_scan_some(struct source *s, const pid_t *pids, size_t n, struct table **out,
		     struct err *err);

/* The next scan fills t, which is empty, rather than a table of its own.  Takes t; NULL is fine. */
void source_reuse(struct source *s, struct table *t);

/*
 * From now on looks at each scan whether these processes were moved to another cgroup, which is
 * no exec: then their details are read anew.  Some 20 µs each; copied.  0 or -ENOMEM.
 */
int source_watch(struct source *s, const struct identity *ids, size_t n);

/*
 * Reads the details `bits` of one process now.  -ESRCH where it is gone or the
 * PID is another's.  *out owned (detail_unref).
 */
int source_detail(struct source *s, struct identity id, unsigned bits, struct detail **out,
		  struct err *err);

/* Fills p, of which only the identity is set: what its stat says, its owner, and, where bits are
 * asked for, details.  As source_detail(); not of a replay. */
int source_process(struct source *s, unsigned bits, struct process *p, struct err *err);

/* What one that has just called execve(2) became: comm, exe and arguments, of which those that were
 * gone when they were read are not known.  As source_detail(). */
int source_exec(struct source *s, struct identity id, struct detail **out, struct err *err);

/*
 * Streams: calls fn for each process in ascending PID order with all wanted
 * details; p is borrowed until return.  Nothing is kept.  host is filled in
 * before the first call, coverage complete after the last.
 */
typedef int source_each_fn(void *ctx, const struct host *host, struct process *p, struct err *err);
int source_each(struct source *s, source_each_fn *fn, void *ctx, struct host *host,
		struct coverage *coverage, struct err *err);

/* Whose details have been read for longer than after_ns; 0: nobody's. */
pid_t source_hangs(const struct source_pulse *pulse, uint64_t after_ns);

/* Of that source; lives as long. */
const struct source_pulse *source_reading(const struct source *s);

#endif
