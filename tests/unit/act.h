/* What the tests of acts on processes share. */
#ifndef STRAY_TESTS_ACT_H
#define STRAY_TESTS_ACT_H

#include "contain/act.h"
#include "tests/helpers/made.h"

struct identity identity_of(pid_t pid);

/* Marks what made_start() makes from now on; marked_members() finds the living of it. */
void mark_new(void);

/* A hook for struct act_hooks.members: all that carry the mark, but for the maker in ctx
 * (struct made *). */
int marked_members(void *ctx, struct identity_list *out, struct err *err);

#endif
