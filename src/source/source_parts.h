/*
 * The inside of a source: what its interface (source.c) and its scans (source_scan.c) share.
 */
#ifndef STRAY_SOURCE_SOURCE_PARTS_H
#define STRAY_SOURCE_SOURCE_PARTS_H

#include "source/details.h"
#include "source/source.h"

/* What this source knows it has read already: one a process, sorted by PID. */
struct seen {
	struct identity id;
	uint64_t start_stack;
	uint32_t comm_hash;
	uint32_t cgroup_hash; /* where it was read */
	unsigned have;
	bool tty_closed;
};

struct seen_list {
	struct seen *v;
	size_t n, cap;
};

struct source {
	struct source_options options;
	pid_t *avoid; /* owned: options.avoid */
	int proc_fd;
	struct pids_reader *pids; /* from the first scan that needs it on */
	struct statfds *statfds;  /* from the second scan on, where asked for: then pids is NULL */
	struct details_reader details;
	struct seen_list seen;
	struct seen_list now; /* of the scan under way */
	struct {
		struct identity *v; /* sorted by PID */
		size_t n;
	} watched;
	uint64_t first_scan_wall_ns;
	struct table *spare;    /* for the next scan, empty; NULL: none */
	struct table *recorded; /* a replayed file: then nothing of /proc is read */
};

#endif
