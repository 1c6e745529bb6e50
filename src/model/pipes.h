/*
 * Members by the pipes of a run's root.
 *
 * Who holds the same end of a pipe that is the root's stdin, stdout or stderr
 * has inherited it from the run, if it started after the root and nobody older
 * holds that end.  Who holds the other end is the run's peer, and no member.
 * Sources say who holds what (process.ends); this only judges.  Pure.
 */
#ifndef STRAY_MODEL_PIPES_H
#define STRAY_MODEL_PIPES_H

#include "model/run.h"

/* Takes in the facts of t, where it has those of this run's root. */
void pipes_judge(struct run *run, const struct table *t);

/* Whether p is a member by a pipe; after pipes_judge(). */
bool pipes_evidence(const struct run *run, const struct table *t, const struct process *p);

/* The root's descriptors whose other end p holds, as bits 1 << descriptor. */
unsigned pipes_peer(const struct run *run, const struct table *t, const struct process *p);

/* "stdin", "stdout", "stderr" */
const char *pipes_name(int descriptor);

/* The names of those bits: "stdout, stderr"; "" where there is none. */
#define PIPES_WORDS_MAX 24
void pipes_words(unsigned bits, char out[static PIPES_WORDS_MAX]);

/*
 * What cannot be told of members by pipes, in words to stand behind "not known: "; false where
 * nothing is missing.  Where pipes were not asked about (a recorded file) nothing is.
 */
bool pipes_unknown(const struct run *run, char *out, size_t size);

#endif
