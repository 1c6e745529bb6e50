/*
 * A signal that was sent, as each journal and result tells of it (stray-formats(5)).
 *
 * Members of an object under way; sends nothing.
 */
#ifndef STRAY_ENGINE_SENT_JSON_H
#define STRAY_ENGINE_SENT_JSON_H

#include "base/json_write.h"
#include "contain/target.h"

/* key: its name without SIG; of a real-time signal, which has none, the number in digits. */
void sent_json_signal(struct jw *j, const char *key, int sig);

/* An element of "to": who, and what came of it.  error: an errno, or 0. */
void sent_json_to(struct jw *j, struct identity id, enum target_result result, int error);

#endif
