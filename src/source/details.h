/*
 * The details of one process, read by hand from /proc/PID (proc(5)).
 *
 * All files are opened below one descriptor of /proc/PID, which stands for
 * that process and no later one: after its end reads fail with ESRCH, and the
 * PID's next owner is never read in its place.
 */
#ifndef STRAY_SOURCE_DETAILS_H
#define STRAY_SOURCE_DETAILS_H

#include "model/process.h"
#include "source/source.h"

struct details_reader {
	int proc_fd; /* of /proc, borrowed */
	const struct source_options *options;
	struct source_pulse own, *pulse; /* for source_reading() */
	char *buf;                       /* scratch, owned */
	size_t buf_size;
	struct {
		uid_t uid;
		char name[40];
	} users[16]; /* a small cache of user names */
	unsigned n_users;
};

int details_open(struct details_reader *r, int proc_fd, const struct source_options *options,
		 struct err *err);
void details_close(struct details_reader *r);

/*
 * Reads `bits` of p into a new p->detail (an old one is released).  comm: what
 * libproc2 said, or NULL.  What could not be read is in detail.unread.
 * Returns 0; -ESRCH where the process has ended (then detail stays NULL);
 * -ENOMEM.  Sets p->tty_closed where DETAIL_STDIO was asked for.
 */
int details_read(struct details_reader *r, struct process *p, const char *comm, unsigned bits);

/* A process is not dead while one of its threads lives: its state becomes that thread's. */
void details_correct_state(struct details_reader *r, struct process *p);

/*
 * The same of the process p->id, with what its stat says and its owner; bits 0: those alone.
 * -ESRCH also where the number is another's; else why it cannot be read.
 */
int details_read_process(struct details_reader *r, struct process *p, unsigned bits);

#endif
