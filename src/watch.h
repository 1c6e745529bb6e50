/*
 * stray watch: the one command that lives between cmd/ and tui/, which do not
 * know each other.
 */
#ifndef STRAY_WATCH_H
#define STRAY_WATCH_H

#include "cmd/cmd.h"

extern const struct cmd cmd_watch;

#endif
