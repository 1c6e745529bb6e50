/*
 * The record of one act for people: Markdown that reads raw as well.
 *
 * Says what was aimed at and why, what was not, what was sent and when, who is
 * gone and who lives and why, what appeared since, what is not known, and how
 * to check the files beside it.  Pure formatting: it reads what it is given.
 * All text of processes passes markdown_text().
 */
#ifndef STRAY_RECORD_REPORT_H
#define STRAY_RECORD_REPORT_H

#include "base/err.h"
#include "model/diff.h"
#include "model/run.h"
#include "record/digest.h"
#include "record/intent.h"

#include <stdio.h>

enum report_result {
	REPORT_GONE,
	REPORT_ALIVE,
	REPORT_FROZEN,
	REPORT_THAWED,
	REPORT_NOT_AIMED, /* lives, and was not aimed at */
	REPORT_APPEARED,  /* a member that was not there before */
	REPORT_RESULTS
};

struct report_item {
	const struct process *process; /* as last seen alive */
	enum report_result result;
	int died_of;       /* the signal that ended it; 0: not known */
	int last_signal;   /* the last of ours that reached it; 0: none */
	uint64_t after_ns; /* from the first of ours to it until it was found gone */
	/* alive: a name of doc/FORMATS.md ("ignores_term"); not aimed at: in words; or NULL */
	const char *why;
	int error;                /* errno of the last signal to it, or 0 */
	int outlived;             /* a signal that it lived through before the last; 0: none */
	const char *outlived_why; /* a name of doc/FORMATS.md, or NULL */
};

struct report_signal {
	int signal;
	const char *to; /* "group 4160", "4171@884190" */
	size_t reached; /* how many it was sent to; */
	int error;      /* or why not, errno */
	uint64_t wall_ns;
};

/* All borrowed. */
struct report {
	const struct intent *intent;
	const struct run *run; /* in view; NULL: none */
	const struct report_item *items;
	size_t n_items;
	const struct report_signal *signals; /* in order of time */
	size_t n_signals;
	const struct table *before;
	const struct table *after; /* NULL: there was no second look */
	const struct diff *diff;   /* NULL: none was made */
	uint64_t ended_wall_ns;    /* of the last look */
	const char *missing;       /* what could not be recorded and why; NULL: nothing */
};

struct report_file {
	const char *name;
	char sha256[DIGEST_HEX];
	uint64_t size;
};

/* 0 or -ENOMEM; errors of writing are out's, for its owner to find. */
int report_write(FILE *out, const struct report *r, const struct report_file *files, size_t n_files,
		 struct err *err);

#endif
