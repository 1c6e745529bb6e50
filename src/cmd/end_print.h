/*
 * What end, freeze and thaw would do and have done, as text and as JSON
 * (doc/FORMATS.md, stray.end/1).  It prints; it decides and sends nothing.
 */
#ifndef STRAY_CMD_END_PRINT_H
#define STRAY_CMD_END_PRINT_H

#include "cmd/cmd.h"
#include "engine/act.h"

/* Who would be hit, and who would not. */
void end_print_plan(struct line *o, const struct table *t, const struct plan *p);

void end_print_outcome(struct line *o, const struct act_outcome *outcome);

/*
 * outcome: NULL where nothing was sent: then what the plan is, and the reason
 * where it is refused.  0, or -errno with *err set.
 */
int end_json(const char *target, const struct table *t, const struct plan *plan,
	     const struct act_outcome *outcome, struct err *err);

#endif
