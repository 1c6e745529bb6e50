#include "tests/unit/intents.h"

#include <signal.h>

struct intent intent_term(const struct host *host)
{
	static const int term_kill[] = {SIGTERM, SIGKILL};

	return (struct intent){
		.kind = "end",
		.title = "TERM to group 4160",
		.target = "pgid:4160",
		.unit = "group",
		.number = 4160,
		.signals = term_kill,
		.n_signals = 2,
		.grace_ns = 5000000000,
		.host = host,
		.operator= {1000, 1000, "", "pts/2"},
		.wall_ns = 1784902269214000000,
		.boot_ns = 90716218000000,
	};
}
