/*
 * A signal that is to be sent, that was sent, and who lived through it, as each journal and result
 * tells of it (stray-formats(5)).
 *
 * Members of an object under way; sends nothing.
 */
#ifndef STRAY_ENGINE_SENT_JSON_H
#define STRAY_ENGINE_SENT_JSON_H

#include "base/json_write.h"
#include "contain/target.h"
#include "record/intent.h"

/* key: its name without SIG; of a real-time signal, which has none, the number in digits. */
void sent_json_signal(struct jw *j, const char *key, int sig);

/* What is to be told of a batch when it is over. */
struct sent_list {
	struct sent {
		struct identity id;
		enum target_result result;
		int error; /* errno, or 0 */
	} * v;             /* owned: free(v) */
	size_t n, cap;
};

bool sent_add(struct sent_list *l, const struct target *t); /* false: out of memory */

/* Of `signal_intent`; of i: operator, unit, number, grace_ns and those that are spared. */
void sent_json_intent(struct jw *j, const struct intent *i, int sig, const struct identity *to,
		      size_t n);
/* Of `signal_sent`. */
void sent_json_sent(struct jw *j, int sig, const struct sent_list *l);
/* Of `survivor`; why NULL: not known. */
void sent_json_survivor(struct jw *j, struct identity id, int sig, const char *why, int error);

#endif
