/*
 * What a host runs apart from suspects, by what accounts for it.
 *
 * Every process that is no suspect is in exactly one bucket, so that the
 * numbers on the screen add up.  Pure.
 */
#ifndef STRAY_TUI_ACCOUNTED_H
#define STRAY_TUI_ACCOUNTED_H

#include "base/err.h"
#include "model/table.h"

enum bucket {
	BUCKET_SERVICES,
	BUCKET_CONTAINERS,
	BUCKET_LOGINS,
	BUCKET_KERNEL,
	BUCKET_APPS, /* of a user manager */
	BUCKET_CRON,
	BUCKET_MULTIPLEXERS,
	BUCKET_YOU,   /* stray and its ancestors */
	BUCKET_DEAD,  /* zombies: their parents must reap them */
	BUCKET_OTHER, /* no unit and no login known, and no reason to suspect */
	BUCKET_COUNT
};

struct bucket_sum {
	unsigned processes;
	char text[48]; /* "38 units", "7 docker", "pts/2", "tmux"; safe; may be "" */
};

struct accounted {
	struct bucket_sum sums[BUCKET_COUNT];
	uint8_t *of; /* owned: the bucket of each process, in the order of the table */
	size_t n;
};

const char *bucket_name(enum bucket b); /* "services", ... */

/*
 * Puts each process of t that is no suspect into its bucket; those that want
 * (NULL: all) is false for are in none.  0 or -ENOMEM.
 */
int accounted_count(const struct table *t, bool (*want)(void *ctx, const struct process *p),
		    void *ctx, struct accounted *out, struct err *err);
void accounted_free(struct accounted *a);

#endif
