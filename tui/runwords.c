#include "tui/runwords.h"

#include "base/clock.h"

const char *runwords_state(enum run_state s)
{
	static const char *const words[RUN_STATES] = {
		[RUN_UNKNOWN] = "NOT KNOWN", [RUN_ACTIVE] = "ACTIVE",
		[RUN_EXPIRED] = "EXPIRED",   [RUN_ENDING] = "ENDING",
		[RUN_ENDED] = "ENDED",       [RUN_SURVIVED] = "SURVIVED",
		[RUN_LOST] = "LOST",         [RUN_FINISHED] = "FINISHED",
		[RUN_LEFTOVER] = "LEFTOVER",
	};

	return words[s];
}

enum style runwords_style(enum run_state s)
{
	switch (s) {
	case RUN_SURVIVED:
	case RUN_LEFTOVER:
	case RUN_LOST:
		return STYLE_SURVIVOR;
	case RUN_EXPIRED:
	case RUN_ENDING:
	case RUN_UNKNOWN:
		return STYLE_WARNING;
	case RUN_ENDED:
	case RUN_FINISHED:
		return STYLE_GOOD;
	default:
		return STYLE_MEMBER;
	}
}

void runwords_ago(struct line *l, const char *what, uint64_t since_ns, uint64_t now_ns)
{
	char age[16];

	if (!since_ns || now_ns < since_ns)
		return;
	clock_age((now_ns - since_ns) / CLOCK_NS_PER_S, age);
	line_add(l, "%s%s ago", what, age);
}

void runwords_bar(struct line *l, uint64_t from_ns, uint64_t to_ns, uint64_t now_ns, int cells)
{
	uint64_t span = to_ns > from_ns ? to_ns - from_ns : 1;
	uint64_t gone = now_ns > from_ns ? now_ns - from_ns : 0;
	int full;

	if (!to_ns)
		return;
	full = gone >= span ? cells : (int)((double)gone / (double)span * cells);
	for (int i = 0; i < cells; i++)
		line_add(l, "%s", i < full ? "█" : "░");
}
