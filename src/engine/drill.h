/*
 * A drill: fixtures that an executor is to end with its command, and, when its
 * timeout is over, which of them it did not.
 *
 * The drill is started as the executor's command is.  It makes one process of each shape, writes
 * down in the state directory who they are, and waits; whatever is left is looked for, and ended,
 * by drill_after().  All end by themselves after the drill's seconds.
 */
#ifndef STRAY_ENGINE_DRILL_H
#define STRAY_ENGINE_DRILL_H

#include "base/err.h"
#include "contain/fixture.h"

#include <stdbool.h>
#include <stdint.h>

#define DRILL_SECONDS 120u

struct drill_member {
	enum fixture_shape shape;
	struct identity id;
	pid_t pgid, sid;
	bool alive; /* drill_after(): it was, and was ended */
};

struct drill {
	char name[64]; /* of its file */
	uint64_t started_wall_ns;
	struct identity self;
	pid_t pgid, sid;
	bool self_alive;
	struct drill_member v[FIXTURE_SHAPES];
	unsigned n;
};

/* Makes them and writes who they are.  0 or -errno, and nothing is left. */
int drill_start(const char *state_dir, unsigned seconds, struct drill *out, struct err *err);

/*
 * Reads the drill of that name, NULL: the last; looks who is alive, and ends them.  -ENOENT: none;
 * -ESTALE: of another boot or PID namespace.
 */
int drill_after(const char *state_dir, const char *name, struct drill *out, struct err *err);

#endif
