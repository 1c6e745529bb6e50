/*
 * What a command's TARGET means on this host: a recorded run, or one made of
 * what the target names now.
 *
 * Found in a look that was made; nothing is written.
 */
#ifndef STRAY_CMD_SUBJECT_H
#define STRAY_CMD_SUBJECT_H

#include "cmd/cmd.h"
#include "engine/look.h"
#include "engine/recorded.h"

struct subject {
	struct run run; /* of what is not recorded; owned */
	struct recorded recorded;
	bool is_recorded;
	struct run *in_view; /* one of the two; NULL: none */
	struct err damage;   /* code set: its journal does not hold; it is used all the same */
};

/*
 * Finds it and makes it the run in view of the look's tracker.  For a recorded
 * run that is of another boot or PID namespace -ESRCH with *err; for what names
 * nothing alive as cmd_no_target().  subject_clear() in any case, before the
 * look is closed.
 */
int subject_find(struct subject *s, const struct cmd_common *common, const struct selector *target,
		 struct look *look, struct err *err);

/*
 * Without a TARGET: the id of the recorded run that most needs eyes; false:
 * there is none, or what is recorded cannot be read.  look: as above; its run in
 * view stays.
 */
bool subject_default(const struct cmd_common *common, struct look *look,
		     char id[static RUN_ID_MAX + 1]);

void subject_clear(struct subject *s);

/* "run-7f3c0a12, leftover: ..." and, where its journal is damaged, that: for people. */
void subject_print(struct line *o, const struct subject *s, const struct table *now);

#endif
