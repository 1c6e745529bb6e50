/* The result of stray run as one JSON object, stray.run/1 (doc/FORMATS.md). */
#ifndef STRAY_CMD_RUN_JSON_H
#define STRAY_CMD_RUN_JSON_H

#include "engine/launch.h"

/* 0 or the -errno of writing. */
int run_json(FILE *out, const struct launch_result *r, struct err *err);

#endif
