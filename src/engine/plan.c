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
	if (p->state == 't')
		return "traced: its tracer decides";
	if (sig == SIGCONT) /* continues whether or not it is ignored or blocked: signal(7) */
		return NULL;
	if (sig == SIGSTOP)
		return p->state == 'T'   ? "stopped already"
		       : p->state == 'D' ? "in uninterruptible sleep: STOP waits"
					 : NULL;
	if (d && sigmask_has(d->sig_ignored, sig))
		return sig == SIGTERM ? "ignores TERM" : "ignores this signal";
	if (p->state == 'T')
		return "stopped: the signal waits for CONT";
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
	bool *own; /* by index: stray and its ancestors */
};

static bool listed(const struct identity *ids, size_t n, struct identity id)
{
	for (size_t i = 0; i < n; i++)
		if (identity_same(ids[i], id))
			return true;
	return false;
}

static bool is_own(const struct planner *pl, const struct process *p)
{
	return pl->own[p - pl->t->procs.v];
}

/* Whether p is meant where members are. */
static bool meant(const struct planner *pl, const struct process *p)
{
	return pl->run ? run_is_member(p) || (pl->aim->possible && p->evidence) : true;
}

/* What the operator named to make the run of, and what may never be a member: a reason
 * to refuse.  Anything else that he named is a member, or has the number of one. */
static bool named_in_vain(const struct planner *pl, const struct process *p)
{
	return selector_matches(&pl->run->chosen, p) &&
	       (is_own(pl, p) || p->id.pid == 1 || process_is_kthread(p));
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
		return pl->run && (meant(pl, p) || named_in_vain(pl, p));
	case SCOPE_SESSION:
		return p->sid == pl->out->number;
	case SCOPE_RUN:
		return pl->run && (meant(pl, p) || named_in_vain(pl, p));
	}
	return false;
}

#define ADD(list, item) (VEC_PUSH(&(list), item) ? 0 : -ENOMEM)

static int place(struct planner *pl, const struct process *p)
{
	struct plan *out = pl->out;
	struct plan_item item = {p->id, !pl->run || run_is_member(p),
				 plan_useless(p, pl->aim->signal)};

	if (!in_unit(pl, p)) {
		if (pl->run && run_is_member(p) && !process_is_dead(p))
			return ADD(out->not_hit, item);
		return 0;
	}
	if (is_own(pl, p))
		return ADD(out->own, item);
	if (process_is_dead(p))
		return ADD(out->dead, item);
	if (pl->aim->scope == SCOPE_MEMBERS && !meant(pl, p) &&
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

		refuse(out, own.pid,
		       own.pid == 1                           ? "is init"
		       : identity_same(own, pl->t->host.self) ? "is stray itself"
							      : "is an ancestor of stray: yours");
	}
	if (!out->hit.n && !out->refused[0])
		snprintf(out->refused, sizeof(out->refused), "%s",
			 out->dead.n ? "only dead processes are left: their parents must reap them"
				     : "nothing alive is there to signal");
}

static bool is_service(const struct process *p)
{
	static const char suffix[] = ".service";
	const struct bytes *name = &p->origin_name;
	size_t n = strlen(suffix);

	switch ((enum origin_kind)p->origin) {
	case ORIGIN_SERVICE:
	case ORIGIN_CONTAINER:
	case ORIGIN_INIT:
	case ORIGIN_USER_MANAGER:
		return true;
	case ORIGIN_CRON:
	case ORIGIN_USER_UNIT:
		return name->len >= n && memcmp(name->data + name->len - n, suffix, n) == 0;
	default:
		return false;
	}
}

/* The effective uid.  /proc/PID belongs to root where a process is not dumpable: proc(5). */
static uid_t user_of(const struct process *p)
{
	return p->detail && p->detail->euid != (uid_t)-1 ? p->detail->euid : p->owner;
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
			snprintf(out->confirm_why, sizeof(out->confirm_why), "%d is %s of %s",
				 p->id.pid, p->evidence ? "a possible member only" : "no member",
				 pl->run->id);
		} else if (!pl->run && is_service(p)) {
			out->confirm = true;
			snprintf(out->confirm_why, sizeof(out->confirm_why),
				 "%d belongs to a service or container", p->id.pid);
		} else if (!pl->run && user_of(p) != user_of(first)) {
			out->confirm = true;
			snprintf(out->confirm_why, sizeof(out->confirm_why),
				 "they belong to more than one user");
		}
	}
	if (out->scope == SCOPE_MEMBERS && out->number && out->hit.n)
		out->confirm = true;
}

/* Who has the number of the unit as PID; pid 0: nobody. */
static struct identity holder(const struct planner *pl)
{
	const struct process *p = pl->out->number > 0 ? table_pid(pl->t, pl->out->number) : NULL;

	return p ? p->id : (struct identity){0};
}

static void find_number(struct planner *pl, const struct process *first)
{
	struct plan *out = pl->out;

	out->number = pl->aim->number;
	if (out->number || !first)
		return;
	if (out->scope == SCOPE_GROUP || out->scope == SCOPE_MEMBERS)
		out->number = first->pgid;
	else if (out->scope == SCOPE_SESSION)
		out->number = first->sid;
	else if (out->scope == SCOPE_PROCESS && pl->aim->n_ids == 1)
		out->number = first->id.pid;
}

/* Says why not before anything is placed. */
static bool is_over(struct planner *pl, const struct process *first)
{
	const struct aim *aim = pl->aim;
	const char *why = NULL;

	/* The kernel gives nobody the number of a living group as PID. */
	if (aim->number && aim->holder_known && !identity_same(pl->out->holder, aim->holder) &&
	    identity_known(pl->out->holder))
		why = "it has ended, its number is another's now";
	else if (!first && !aim->number && !pl->run && aim->scope != SCOPE_PROCESS)
		why = "it has ended: nothing to signal";
	if (why)
		snprintf(pl->out->refused, sizeof(pl->out->refused), "%s", why);
	return why != NULL;
}

int plan_make(const struct table *t, const struct run *run, const struct aim *aim, struct plan *out,
	      struct err *err)
{
	struct planner pl = {t, run, aim, out, run_own(t)};
	const struct process *first = aim->n_ids ? table_find(t, aim->ids[0]) : NULL;
	int r = pl.own ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	out->scope = aim->scope;
	out->signal = aim->signal;
	out->possible = aim->possible;
	find_number(&pl, first);
	out->holder = holder(&pl);
	if (!r && !is_over(&pl, first)) {
		for (size_t i = 0; !r && i < t->procs.n; i++)
			r = place(&pl, &t->procs.v[i]);
		check_refusals(&pl);
		check_confirmation(&pl);
	}
	free(pl.own);
	if (r < 0)
		plan_clear(out);
	return r < 0 ? err_nomem(err) : 0;
}
