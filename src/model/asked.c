#include "model/asked.h"

bool asked_evidence(const struct run *run, const struct table *t, const struct process *p)
{
	const struct process *forker =
		identity_known(p->parent_was) ? table_find(t, p->parent_was) : NULL;

	if (!forker || !forker->spoke_until || run_is_member(forker))
		return false;
	if (p->id.start < run->since_ticks || (run->over_ticks && p->id.start > run->over_ticks))
		return false;
	return p->id.start >= forker->spoke_from && p->id.start <= forker->spoke_until;
}

void asked_carry_over(struct process *p, const struct process *was)
{
	if (!was->spoke_until)
		return;
	if (!p->spoke_until || was->spoke_from < p->spoke_from)
		p->spoke_from = was->spoke_from;
	if (was->spoke_until > p->spoke_until)
		p->spoke_until = was->spoke_until;
}
