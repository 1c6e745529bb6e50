/*
 * `stray why --json`: one item of stray.why/1 (doc/FORMATS.md).
 */
#ifndef STRAY_CMD_WHY_JSON_H
#define STRAY_CMD_WHY_JSON_H

#include "base/err.h"
#include "base/json_write.h"
#include "model/tracker.h"

/* Writes one object into the open array.  0 or -ENOMEM (then the object is not whole: discard). */
int why_json_item(struct jw *j, const struct tracker *k, const struct process *p, struct err *err);

#endif
