#include "contain/act.h"

#include "base/file.h"

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

void act_send(const struct act_hooks *hooks, int sig, struct target_set *set, size_t first)
{
	for (size_t i = first; i < set->n; i++) {
		if (set->v[i].gone)
			continue;
		signal_target(&set->v[i], sig);
		if (hooks->after_signal)
			hooks->after_signal(hooks->ctx, sig, &set->v[i]);
	}
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
		r = target_add(set, now.v[i], NULL, err);
	free(now.v);
	*fresh = set->n - before;
	return r;
}
