/* What recorded.c shares with launched.c, which makes records of its own.  Nobody else includes
 * this. */
#ifndef STRAY_ENGINE_RECORDED_PARTS_H
#define STRAY_ENGINE_RECORDED_PARTS_H

#include "engine/recorded.h"

/* A person's words, which may quote a command line; *out owned.  0 or -ENOMEM. */
int recorded_copy_masked(const char *text, char **out);

/* Of a run that was made just now: what its files say is what r is. */
int recorded_settle(struct recorded *r, struct err *err);

#endif
