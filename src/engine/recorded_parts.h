/* What recorded.c shares with recorded_adopt.c and launched.c, which make records.  Nobody else
 * includes this. */
#ifndef STRAY_ENGINE_RECORDED_PARTS_H
#define STRAY_ENGINE_RECORDED_PARTS_H

#include "engine/recorded.h"

/* A person's words, which may quote a command line; *out owned.  0 or -ENOMEM. */
int recorded_copy_masked(const char *text, char **out);

/* Of a run that was made just now: what its files say is what r is. */
int recorded_settle(struct recorded *r, struct err *err);

/* Opening, expiry and closing, which a later cut must not take away: the head goes to the ledger
 * and the system log. */
void recorded_make_known(struct recorded *r, const char *event);

#endif
