#include "contain/act.h"

#include "base/file.h"

#include <signal.h>
#include <stdlib.h>

int act_announce(const struct act_hooks *hooks, int sig, struct target_set *set, size_t first,
		 struct err *err)
{
	AUTO_FREE struct identity *ids = NULL;
	size_t n = 0;

	if (!hooks->before_signal || first >= set->n)
		return 0;
	ids = calloc(set->n - first, sizeof(*ids));
	if (!ids)
		return err_nomem(err);
	for (size_t i = first; i < set->n; i++)
		if (target_alive(&set->v[i]))
			ids[n++] = set->v[i].id;
	return n ? hooks->before_signal(hooks->ctx, sig, ids, n, err) : 0;
}

/* The youngest first; of one clock tick, the one found last. */
static int youngest_first(const void *a, const void *b, void *ctx)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct target *v = ctx;

	if (v[x].id.start != v[y].id.start)
		return v[x].id.start > v[y].id.start ? -1 : 1;
	return (x < y) - (x > y);
}

/* unit: it was killed a moment before, and whoever is gone now had his signal by that. */
static void send_each(const struct act_hooks *hooks, int sig, struct target_set *set, size_t first,
		      bool unit)
{
	size_t n = set->n - first;
	AUTO_FREE size_t *order = calloc(n ? n : 1, sizeof(*order));

	for (size_t i = 0; order && i < n; i++)
		order[i] = first + i;
	if (order && sig == SIGKILL)
		qsort_r(order, n, sizeof(*order), youngest_first, set->v);
	for (size_t i = 0; i < n; i++) {
		struct target *t = &set->v[order ? order[i] : first + i];

		if (t->gone)
			continue;
		signal_target(t, sig);
		if (unit && t->result == TARGET_GONE)
			t->result = TARGET_SENT;
		if (hooks->after_signal)
			hooks->after_signal(hooks->ctx, sig, t);
	}
}

void act_send(const struct act_hooks *hooks, int sig, struct target_set *set, size_t first)
{
	send_each(hooks, sig, set, first, false);
}

void act_send_behind_unit(const struct act_hooks *hooks, struct target_set *set, size_t first)
{
	send_each(hooks, SIGKILL, set, first, true);
}

int act_rescan(const struct act_hooks *hooks, struct target_set *set, size_t *fresh,
	       struct err *err)
{
	struct identity_list now = {0};
	size_t before = set->n;
	int r = 0;

	*fresh = 0;
	if (!hooks->members)
		return 0;
	r = hooks->members(hooks->ctx, &now, err);
	for (size_t i = 0; r == 0 && i < now.n; i++)
		if (!guard_is(set->guard, now.v[i].pid))
			r = target_add(set, now.v[i], NULL, err);
	free(now.v);
	*fresh = set->n - before + now.unsteady;
	return r;
}
