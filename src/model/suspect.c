#include "model/suspect.h"

#include "model/lineage.h"
#include "model/origin.h"

#include <signal.h>
#include <string.h>

static const struct {
	const char *words, *name;
	unsigned weight;
} reasons[SUSPECT_COUNT] = {
	{"parent gone", "reparented", 30},
	{"session leader gone", "leader_gone", 20},
	{"terminal closed", "tty_closed", 25},
	{"working directory deleted", "cwd_deleted", 15},
	{"marked by work that is gone", "mark", 35},
	{"ignores HUP, login closed", "hup_ignored", 25},
	{"child of a suspect", "child", 5},
};

/* More than all reasons together: what is connected can act. */
#define WEIGHT_CONNECTED 200

static unsigned bit_index(unsigned bit)
{
	return (unsigned)__builtin_ctz(bit);
}

const char *suspect_reason(unsigned bit)
{
	return reasons[bit_index(bit)].words;
}

const char *suspect_name(unsigned bit)
{
	return reasons[bit_index(bit)].name;
}

unsigned suspect_weight(const struct process *p)
{
	unsigned w = 0;

	for (unsigned i = 0; i < SUSPECT_COUNT; i++)
		if (p->suspect & 1u << i)
			w += reasons[i].weight;
	return p->connections ? w + WEIGHT_CONNECTED : w;
}

const char *suspect_multiplexer(const struct process *p)
{
	static const char *const paths[] = {
		"/usr/bin/tmux",  "/usr/bin/screen", "/usr/bin/zellij",
		"/usr/bin/dtach", "/usr/bin/abduco",
	};

	/* Only as installed by the system: a name of its own choice proves nothing. */
	for (size_t i = 0; p->detail && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (bytes_is(&p->detail->exe, paths[i]))
			return paths[i] + strlen("/usr/bin/");
	return NULL;
}

const char *suspect_mark(const struct process *p)
{
	return p->detail && p->detail->n_marks ? p->detail->marks[0].name : NULL;
}

static bool carries(const struct process *p, const char *name, const char *value)
{
	const char *v = process_mark(p, name);

	return v && strcmp(v, value) == 0;
}

/*
 * Whether the work that set one of p's marks is gone.  A mark is set by a
 * parent for its children, so the topmost carrier's parent set it, and need not
 * carry it itself: the work is gone only where that parent is gone, that is,
 * where the topmost carrier hangs below a reaper.
 */
static bool mark_without_work(const struct table *t, const struct process *p, const char *name,
			      const char *value)
{
	const struct process *top = p;

	for (int depth = 0; depth < 1000; depth++) {
		const struct process *parent = table_pid(t, top->ppid);

		if (lineage_parent_outside(t, top))
			return false;
		if (!parent)
			return !t->coverage.hidepid;
		if (!carries(parent, name, value))
			return lineage_is_reaper(t, parent) || top->reparented != KNOWN_NOT;
		top = parent;
	}
	return false;
}

/* A unit's first process: the oldest that lives in its cgroup. */
static bool first_in_unit(const struct table *t, const struct process *p)
{
	if (!p->detail || !p->detail->cgroup.data)
		return false;
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *q = &t->procs.v[i];

		if (q == p || !q->detail || process_is_dead(q) ||
		    !bytes_same(&q->detail->cgroup, &p->detail->cgroup))
			continue;
		if (q->id.start < p->id.start ||
		    (q->id.start == p->id.start && q->id.pid < p->id.pid))
			return false;
	}
	return true;
}

static bool has_cron_above(const struct table *t, const struct process *p)
{
	for (int depth = 0; p && depth < 1000; depth++) {
		const struct bytes *comm = p->detail ? &p->detail->comm : NULL;

		if (comm && (bytes_is(comm, "cron") || bytes_is(comm, "crond") ||
			     bytes_is(comm, "atd") || bytes_is(comm, "anacron")))
			return true;
		p = table_pid(t, p->ppid);
	}
	return false;
}

static unsigned own_reasons(const struct table *t, const struct process *p)
{
	const struct detail *d = p->detail;
	unsigned bits = 0;

	if (p->reparented != KNOWN_NOT)
		bits |= SUSPECT_REPARENTED;
	if (lineage_leader_gone(t, p))
		bits |= SUSPECT_LEADER_GONE;
	if (p->tty_closed)
		bits |= SUSPECT_TTY_CLOSED;
	if (!d)
		return bits;
	if (d->cwd_deleted)
		bits |= SUSPECT_CWD_DELETED;
	for (size_t i = 0; i < d->n_marks; i++)
		if (mark_without_work(t, p, d->marks[i].name, d->marks[i].value))
			bits |= SUSPECT_MARK;
	if (origin_login_state(t, p) == LOGIN_CLOSED && sigmask_has(d->sig_ignored, SIGHUP))
		bits |= SUSPECT_HUP_IGNORED;
	return bits;
}

/* The reasons that p's origin explains (1-words: "A suspect"). */
static unsigned explained_bits(const struct table *t, const struct process *p, unsigned bits)
{
	unsigned life = SUSPECT_REPARENTED | SUSPECT_LEADER_GONE | SUSPECT_TTY_CLOSED |
			SUSPECT_CWD_DELETED | SUSPECT_HUP_IGNORED;

	switch ((enum origin_kind)p->origin) {
	case ORIGIN_KERNEL:
	case ORIGIN_INIT:
	case ORIGIN_USER_MANAGER:
		return bits;
	case ORIGIN_SERVICE:
	case ORIGIN_CONTAINER:
		if ((bits & SUSPECT_MARK) && first_in_unit(t, p))
			return bits;
		return bits & life;
	case ORIGIN_USER_UNIT:
		if (!p->origin_name.data)
			return 0;
		if (strncmp(p->origin_name.data, "app-", 4) != 0 &&
		    !strstr(p->origin_name.data, ".service"))
			return 0;
		return first_in_unit(t, p) ? bits : 0;
	case ORIGIN_CRON:
		return has_cron_above(t, p) ? bits & life : 0;
	case ORIGIN_LOGIN:
	case ORIGIN_UNKNOWN:
		break;
	}
	return 0;
}

static bool begins_origin(const struct process *p, const struct process *parent)
{
	if (p->origin != ORIGIN_SERVICE && p->origin != ORIGIN_CONTAINER)
		return false;
	return p->origin != parent->origin || !bytes_same(&p->origin_name, &parent->origin_name);
}

static void judge_one(const struct table *t, struct process *p)
{
	unsigned bits;

	p->suspect = p->explained = 0;
	if (process_is_kthread(p) || process_is_dead(p) || p->id.pid == 1)
		return;
	bits = own_reasons(t, p);
	if (!bits)
		return;
	p->explained = (uint16_t)explained_bits(t, p, bits);
	if (suspect_multiplexer(p))
		p->explained |= bits & (SUSPECT_REPARENTED | SUSPECT_LEADER_GONE |
					SUSPECT_TTY_CLOSED | SUSPECT_HUP_IGNORED);
	p->suspect = (uint16_t)(bits & ~p->explained);
}

/* Whether a living ancestor is a suspect, up to where an origin begins. */
static bool below_suspect(const struct table *t, const struct process *p)
{
	for (int depth = 0; depth < 1000; depth++) {
		const struct process *parent = table_pid(t, p->ppid);

		if (!parent || parent == p || begins_origin(p, parent))
			return false;
		if (parent->suspect)
			return true;
		p = parent;
	}
	return false;
}

size_t suspect_judge(struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->procs.n; i++)
		judge_one(t, &t->procs.v[i]);
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];

		if (!process_is_kthread(p) && !process_is_dead(p) && below_suspect(t, p))
			p->suspect |= SUSPECT_CHILD;
		n += p->suspect != 0;
	}
	return n;
}
