#include "tui/accounted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "model/suspect.h"

#define NO_BUCKET BUCKET_COUNT

const char *bucket_name(enum bucket b)
{
	static const char *const names[] = {
		[BUCKET_SERVICES] = "services",
		[BUCKET_CONTAINERS] = "containers",
		[BUCKET_LOGINS] = "logins",
		[BUCKET_KERNEL] = "kernel threads",
		[BUCKET_APPS] = "user apps",
		[BUCKET_CRON] = "cron",
		[BUCKET_MULTIPLEXERS] = "multiplexers",
		[BUCKET_YOU] = "you",
		[BUCKET_DEAD] = "dead, not reaped",
		[BUCKET_OTHER] = "others",
	};

	return names[b];
}

static enum bucket by_origin(const struct process *p)
{
	switch ((enum origin_kind)p->origin) {
	case ORIGIN_KERNEL:
		return BUCKET_KERNEL;
	case ORIGIN_INIT:
	case ORIGIN_SERVICE:
		return BUCKET_SERVICES;
	case ORIGIN_USER_MANAGER:
	case ORIGIN_USER_UNIT:
		return BUCKET_APPS;
	case ORIGIN_LOGIN:
		return BUCKET_LOGINS;
	case ORIGIN_CONTAINER:
		return BUCKET_CONTAINERS;
	case ORIGIN_CRON:
		return BUCKET_CRON;
	case ORIGIN_UNKNOWN:
		break;
	}
	return BUCKET_OTHER;
}

static enum bucket bucket_of(const struct process *p)
{
	if (p->suspect)
		return NO_BUCKET;
	if (process_is_kthread(p))
		return BUCKET_KERNEL;
	if (process_is_dead(p))
		return BUCKET_DEAD;
	if (suspect_multiplexer(p))
		return BUCKET_MULTIPLEXERS;
	return by_origin(p);
}

/* Stray and its ancestors, up to what is no one's in particular. */
static void mark_own(const struct table *t, struct accounted *a)
{
	const struct process *p = table_find(t, t->host.self);

	for (int depth = 0; p && p->id.pid > 1 && depth < 1000; depth++) {
		size_t i = (size_t)(p - t->procs.v);

		if (a->of[i] != BUCKET_SERVICES && a->of[i] != NO_BUCKET)
			a->of[i] = BUCKET_YOU;
		p = table_pid(t, p->ppid);
	}
}

struct name {
	uint32_t hash;
	uint32_t process; /* an index: one that has this name */
};

static int by_hash(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static uint32_t hash(const struct bytes *b)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < b->len; i++)
		h = (h ^ (unsigned char)b->data[i]) * 16777619u;
	return h;
}

/* The first word of a container's name is its engine. */
static size_t engine_len(const struct bytes *name)
{
	const char *blank = name->data ? memchr(name->data, ' ', name->len) : NULL;

	return blank ? (size_t)(blank - name->data) : name->len;
}

static bool one_engine(const struct table *t, const struct name *names, size_t n)
{
	const struct bytes *first = &t->procs.v[names[0].process].origin_name;
	size_t len = engine_len(first);

	for (size_t i = 1; i < n; i++) {
		const struct bytes *b = &t->procs.v[names[i].process].origin_name;

		if (engine_len(b) != len || memcmp(b->data, first->data, len) != 0)
			return false;
	}
	return len > 0;
}

/* How many different units, containers, ... there are. */
static void sum_names(const struct table *t, enum bucket b, struct name *names, size_t n,
		      struct bucket_sum *sum)
{
	static const char *const units[BUCKET_COUNT][2] = {
		[BUCKET_SERVICES] = {"unit", "units"},
		[BUCKET_CONTAINERS] = {"container", "containers"},
		[BUCKET_LOGINS] = {"login", "logins"},
		[BUCKET_APPS] = {"unit", "units"},
		[BUCKET_CRON] = {"unit", "units"},
	};
	size_t distinct = 0;

	if (!n || !units[b][0])
		return;
	qsort(names, n, sizeof(*names), by_hash);
	for (size_t i = 0; i < n; i++)
		if (!distinct || names[distinct - 1].hash != names[i].hash)
			names[distinct++] = names[i];
	if (b == BUCKET_CONTAINERS && one_engine(t, names, distinct)) {
		const struct bytes *first = &t->procs.v[names[0].process].origin_name;
		char engine[24];

		text_safe(engine, sizeof(engine), first->data, engine_len(first), true);
		snprintf(sum->text, sizeof(sum->text), "%zu %s", distinct, engine);
		return;
	}
	snprintf(sum->text, sizeof(sum->text), "%zu %s", distinct, units[b][distinct != 1]);
}

static void add_multiplexer(struct bucket_sum *sum, const struct process *p)
{
	const char *name = suspect_multiplexer(p);
	size_t used = strlen(sum->text);

	if (!strstr(sum->text, name))
		snprintf(sum->text + used, sizeof(sum->text) - used, "%s%s", used ? ", " : "",
			 name);
}

static void sum_bucket(const struct table *t, struct accounted *a, enum bucket b,
		       struct name *names)
{
	struct bucket_sum *sum = &a->sums[b];
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct process *p = &t->procs.v[i];

		if (a->of[i] != b)
			continue;
		sum->processes++;
		names[n++] = (struct name){hash(&p->origin_name), (uint32_t)i};
		if (b == BUCKET_MULTIPLEXERS)
			add_multiplexer(sum, p);
	}
	sum_names(t, b, names, n, sum);
}

static void name_you(const struct table *t, struct accounted *a)
{
	const struct process *self = table_find(t, t->host.self);
	char tty[32];

	if (self && tty_name(self->tty_nr, tty))
		snprintf(a->sums[BUCKET_YOU].text, sizeof(a->sums[BUCKET_YOU].text), "%s", tty);
}

int accounted_count(const struct table *t, bool (*want)(void *ctx, const struct process *p),
		    void *ctx, struct accounted *out, struct err *err)
{
	struct name *names = malloc((t->procs.n + 1) * sizeof(*names));

	memset(out, 0, sizeof(*out));
	out->of = malloc(t->procs.n + 1);
	if (!names || !out->of) {
		free(names);
		accounted_free(out);
		return err_nomem(err);
	}
	out->n = t->procs.n;
	for (size_t i = 0; i < t->procs.n; i++)
		out->of[i] = (uint8_t)bucket_of(&t->procs.v[i]);
	mark_own(t, out);
	for (size_t i = 0; want && i < t->procs.n; i++)
		if (!want(ctx, &t->procs.v[i]))
			out->of[i] = NO_BUCKET;
	for (enum bucket b = 0; b < BUCKET_COUNT; b++)
		sum_bucket(t, out, b, names);
	name_you(t, out);
	free(names);
	return 0;
}

void accounted_free(struct accounted *a)
{
	free(a->of);
	memset(a, 0, sizeof(*a));
}
