/*
 * Harmless processes of known shapes, for `stray doctor`: what the host lets stray do
 * is tried on these, not guessed.
 *
 * Each does nothing but wait, and ends by itself after its seconds (alarm(2)), whatever becomes of
 * who made it.
 */
#ifndef STRAY_CONTAIN_FIXTURE_H
#define STRAY_CONTAIN_FIXTURE_H

#include "base/err.h"
#include "model/identity.h"

enum fixture_shape {
	FIXTURE_CHILD,   /* in our session and group */
	FIXTURE_IGNORER, /* the same, and ignores TERM */
	FIXTURE_GROUP,   /* leads a group of its own (setpgid) */
	FIXTURE_SESSION, /* leads a session of its own (setsid) */
	FIXTURE_DAEMON,  /* double fork and setsid, its parent gone; ignores TERM */
	FIXTURE_SHAPES
};

const char *fixture_name(enum fixture_shape shape);  /* "child", "ignorer", ... */
const char *fixture_words(enum fixture_shape shape); /* "ignores TERM", ... */

struct fixture_options {
	unsigned seconds;
	int cgroup;      /* a directory of a cgroup to be in; -1: ours */
	bool keep_stdio; /* it holds 0 to 2; else they are /dev/null */
};

/* Makes one, and returns when it stands as it should.  0 or -errno. */
int fixture_make(enum fixture_shape shape, const struct fixture_options *o, struct identity *out,
		 struct err *err);

#endif
