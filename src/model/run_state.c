#include "model/run_state.h"

#include <stddef.h>
#include <string.h>

static const char *const names[RUN_STATES] = {
	"unknown",  "active", "expired",  "ending",   "ended",
	"survived", "lost",   "finished", "leftover",
};

#define FROM(s) (1u << (s))
#define FROM_ANY (~0u)

static const struct {
	const char *event;
	unsigned from;
	enum run_state to; /* RUN_UNKNOWN: what the event says */
} transitions[] = {
	{"run_opened", FROM(RUN_UNKNOWN), RUN_ACTIVE},
	{"deadline_expired", FROM(RUN_ACTIVE), RUN_EXPIRED},
	{"end_requested", FROM_ANY & ~FROM(RUN_ENDED) & ~FROM(RUN_FINISHED), RUN_ENDING},
	{"runner_lost", FROM(RUN_ACTIVE) | FROM(RUN_EXPIRED) | FROM(RUN_ENDING), RUN_LOST},
	{"run_closed", FROM_ANY, RUN_UNKNOWN},
};

const char *run_state_name(enum run_state s)
{
	return names[s];
}

enum run_state run_state_parse(const char *name)
{
	for (int s = RUN_ACTIVE; s < RUN_STATES; s++)
		if (strcmp(name, names[s]) == 0)
			return s;
	return RUN_UNKNOWN;
}

enum run_state run_state_next(enum run_state s, const char *event, enum run_state closed_as)
{
	for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		if (strcmp(event, transitions[i].event) != 0 || !(transitions[i].from & FROM(s)))
			continue;
		if (transitions[i].to != RUN_UNKNOWN)
			return transitions[i].to;
		return closed_as != RUN_UNKNOWN ? closed_as : s;
	}
	return s;
}

int run_state_rank(enum run_state s)
{
	static const int ranks[RUN_STATES] = {
		[RUN_SURVIVED] = 7, [RUN_LEFTOVER] = 6, [RUN_LOST] = 5,     [RUN_ENDING] = 4,
		[RUN_EXPIRED] = 3,  [RUN_ACTIVE] = 2,   [RUN_FINISHED] = 1, [RUN_ENDED] = 1,
	};

	return ranks[s];
}
