#include "engine/plan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *scope_name(enum scope s)
{
	static const char *const names[] = {"process", "group", "session", "run", "members"};

	return names[s];
}

void plan_clear(struct plan *p)
{
	free(p->hit.v);
	free(p->not_hit.v);
	free(p->own.v);
	free(p->strangers.v);
	free(p->dead.v);
	memset(p, 0, sizeof(*p));
}

static bool is_pidns_init(const struct process *p)
{
	const struct detail *d = p->detail;

	return d && d->n_nspid > 1 && d->nspid[d->n_nspid - 1] == 1;
}

const char *plan_useless(const struct process *p, int sig)
{
	const struct detail *d = p->detail;

	if (process_is_dead(p))
		return "already dead: its parent must reap it";
	if (sig == SIGKILL)
		return p->state == 'D' ? "in uninterruptible sleep: KILL waits" : NULL;
	if (d && sigmask_has(d->sig_ignored, sig))
		return sig == SIGTERM ? "ignores TERM" : "ignores this signal";
	if (p->state == 'T')
		return "stopped: the signal waits for CONT";
	if (p->state == 't')
		return "traced: its tracer decides";
	if (p->state == 'D')
		return "in uninterruptible sleep: the signal waits";
	if (d && sigmask_has(d->sig_blocked, sig))
		return sig == SIGTERM ? "blocks TERM" : "blocks this signal";
	/* pid_namespaces(7): an init gets only the signals it has a handler for */
	if (is_pidns_init(p) && !sigmask_has(d->sig_caught, sig))
		return "init of a PID namespace, without a handler for it";
	return NULL;
}

struct planner {
	const struct table *t;
	const struct run *run;
	const struct aim *aim;
	struct plan *out;
};

static bool listed(const struct identity *ids, size_t n, struct identity id)
{
	for (size_t i = 0; i < n; i++)
		if (identity_same(ids[i], id))
			return true;
	return false;
}

static bool member(const struct planner *pl, const struct process *p)
{
	return pl->run ? run_is_member(p) || (pl->aim->possible && p->evidence) : true;
}

/* What the operator named to make the run of, whether it may be a member or not. */
static bool named(const struct planner *pl, const struct process *p)
{
	return pl->run && selector_matches(&pl->run->chosen, p);
}

/* Whether p is in the unit that is aimed at. */
static bool in_unit(const struct planner *pl, const struct process *p)
{
	switch (pl->aim->scope) {
	case SCOPE_PROCESS:
		return listed(pl->aim->ids, pl->aim->n_ids, p->id);
	case SCOPE_GROUP:
		return p->pgid == pl->out->number;
	case SCOPE_MEMBERS:
		if (pl->out->number)
			return p->pgid == pl->out->number;
		return pl->run && (member(pl, p) || named(pl, p));
	case SCOPE_SESSION:
		return p->sid == pl->out->number;
	case SCOPE_RUN:
		return pl->run && (member(pl, p) || named(pl, p));
	}
	return false;
}

#define ADD(list, item) (VEC_PUSH(&(list), item) ? 0 : -ENOMEM)

static int place(struct planner *pl, const struct process *p)
{
	struct plan *out = pl->out;
	struct plan_item item = {p->id, member(pl, p), plan_useless(p, pl->aim->signal)};

	if (!in_unit(pl, p)) {
		if (pl->run && run_is_member(p) && !process_is_dead(p))
			return ADD(out->not_hit, item);
		return 0;
	}
	if (run_is_own(pl->t, p))
		return ADD(out->own, item);
	if (process_is_dead(p))
		return ADD(out->dead, item);
	if (pl->aim->scope == SCOPE_MEMBERS && !item.member &&
	    !listed(pl->aim->added, pl->aim->n_added, p->id))
		return ADD(out->strangers, item);
	return ADD(out->hit, item);
}

static void refuse(struct plan *out, pid_t pid, const char *why)
{
	if (!out->refused[0])
		snprintf(out->refused, sizeof(out->refused), "%d %s", pid, why);
}

static bool chosen_is_system(const struct selector *s)
{
	return (s->kind == SELECT_GROUP || s->kind == SELECT_SESSION) && s->number <= 1;
}

static void check_refusals(struct planner *pl)
{
	struct plan *out = pl->out;
	bool unit = out->scope == SCOPE_GROUP || out->scope == SCOPE_SESSION ||
		    out->scope == SCOPE_MEMBERS;

	if (unit && out->number <= 1 && !(out->scope == SCOPE_MEMBERS && pl->run))
		snprintf(out->refused, sizeof(out->refused), "%s %d is the system's own",
			 out->scope == SCOPE_SESSION ? "session" : "group", out->number);
	if (pl->run && out->number == 0 && chosen_is_system(&pl->run->chosen))
		snprintf(out->refused, sizeof(out->refused), "%s is the system's own", pl->run->id);
	for (size_t i = 0; i < out->hit.n; i++) {
		const struct process *p = table_find(pl->t, out->hit.v[i].id);

		if (p->id.pid == 1)
			refuse(out, 1, "is init");
		else if (process_is_kthread(p))
			refuse(out, p->id.pid, "is a kernel thread");
	}
	if (out->own.n && out->scope != SCOPE_MEMBERS) {
		struct identity own = out->own.v[0].id;
		bool self = identity_same(own, pl->t->host.self);

		refuse(out, own.pid, self ? "is stray itself" : "is an ancestor of stray: yours");
	}
	if (!out->hit.n && !out->refused[0])
		snprintf(out->refused, sizeof(out->refused), "%s",
			 out->dead.n ? "only dead processes are left: their parents must reap them"
				     : "nothing alive is there to signal");
}

static bool is_service(const struct process *p)
{
	return p->origin == ORIGIN_SERVICE || p->origin == ORIGIN_CONTAINER ||
	       p->origin == ORIGIN_INIT || p->origin == ORIGIN_USER_MANAGER;
}

/* Enter alone suffices where all are members; without a run where they are one
 * user's and no service's. */
static void check_confirmation(struct planner *pl)
{
	struct plan *out = pl->out;
	const struct process *first = out->hit.n ? table_find(pl->t, out->hit.v[0].id) : NULL;

	for (size_t i = 0; i < out->hit.n && !out->confirm; i++) {
		const struct process *p = table_find(pl->t, out->hit.v[i].id);

		if (!out->hit.v[i].member) {
			out->confirm = true;
			snprintf(out->confirm_why, sizeof(out->confirm_why),
				 "%d is no member of %s", p->id.pid, pl->run->id);
		} else if (!pl->run && is_service(p)) {
			out->confirm = true;
			snprintf(out->confirm_why, sizeof(out->confirm_why),
				 "%d belongs to a service or container", p->id.pid);
		} else if (!pl->run && p->owner != first->owner) {
			out->confirm = true;
			snprintf(out->confirm_why, sizeof(out->confirm_why),
				 "they belong to more than one user");
		}
	}
	if (out->scope == SCOPE_MEMBERS && out->number && out->hit.n)
		out->confirm = true;
}

int plan_make(const struct table *t, const struct run *run, const struct aim *aim, struct plan *out,
	      struct err *err)
{
	struct planner pl = {t, run, aim, out};
	const struct process *first = aim->n_ids ? table_find(t, aim->ids[0]) : NULL;

	memset(out, 0, sizeof(*out));
	out->scope = aim->scope;
	out->signal = aim->signal;
	out->possible = aim->possible;
	out->number = aim->number;
	if (!first && !aim->number && !run && aim->scope != SCOPE_PROCESS) {
		snprintf(out->refused, sizeof(out->refused), "it has ended: nothing to signal");
		return 0;
	}
	if (!out->number && first && (aim->scope == SCOPE_GROUP || aim->scope == SCOPE_MEMBERS))
		out->number = first->pgid;
	else if (!out->number && first && aim->scope == SCOPE_SESSION)
		out->number = first->sid;
	else if (first && aim->scope == SCOPE_PROCESS && aim->n_ids == 1)
		out->number = first->id.pid;
	for (size_t i = 0; i < t->procs.n; i++)
		if (place(&pl, &t->procs.v[i]) < 0) {
			plan_clear(out);
			return err_nomem(err);
		}
	check_refusals(&pl);
	check_confirmation(&pl);
	return 0;
}
