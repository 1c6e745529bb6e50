#include "engine/chronicle_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "record/host_json.h"
#include "record/process_json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define CLOCK_STEP_NS 1000000000ll /* below it is what NTP slews */

int chronicle_commit(struct chronicle *c, struct err *err)
{
	int r = recorded_commit(c->r, false, err);

	c->events += !r;
	return r;
}

/* What the story must know to tell the next change. */
int chronicle_remember(struct story_member *m, const struct process *p)
{
	const struct detail *d = p->detail;

	m->evidence |= p->evidence;
	m->ppid = p->ppid;
	m->pgid = p->pgid;
	m->sid = p->sid;
	if (!d)
		return 0;
	if ((d->comm.data && !bytes_set(&m->comm, d->comm.data, d->comm.len)) ||
	    (d->exe.data && !bytes_set(&m->exe, d->exe.data, d->exe.len)) ||
	    (d->cmdline.data && !bytes_set(&m->args, d->cmdline.data, d->cmdline.len)) ||
	    (d->cgroup.data && !bytes_set(&m->cgroup, d->cgroup.data, d->cgroup.len)))
		return -ENOMEM;
	return 0;
}

int chronicle_came(struct chronicle *c, const struct tracker *k, const struct process *p,
		   uint64_t boot_ns, struct err *err)
{
	bool parent = p->parent_known != KNOWN_NOT && identity_known(p->parent_was);
	struct jw *j = recorded_begin(c->r, parent ? "forked" : "started",
				      parent ? p->parent_known : KNOWN_SCANNED);
	struct story_member *m;
	int r;

	if (j) {
		process_json_identity(j, "process", parent ? p->parent_was : p->id);
		if (parent)
			process_json_identity(j, "child", p->id);
		process_json_facts(j, p, &k->now->host, k->run);
		process_json_happened(j, boot_ns);
	}
	r = chronicle_commit(c, err);
	if (r < 0)
		return r;
	m = story_add(&c->r->story, p->id);
	return m && chronicle_remember(m, p) == 0 ? 0 : err_nomem(err);
}

static int tell_number(struct chronicle *c, const char *event, const struct process *p, pid_t from,
		       pid_t to, struct err *err)
{
	struct jw *j = recorded_begin(c->r, event, KNOWN_SCANNED);

	if (j) {
		process_json_identity(j, "process", p->id);
		process_json_pid(j, "from", from);
		process_json_pid(j, "to", to);
	}
	return chronicle_commit(c, err);
}

/* Who it was: the parent that the journal last told of, if that is a member, else the
 * one that forked it. */
static struct identity old_parent(const struct chronicle *c, const struct process *p, pid_t ppid)
{
	const struct story_member *m = story_latest(&c->r->story, ppid);

	if (m)
		return m->id;
	return p->parent_known != KNOWN_NOT && p->parent_was.pid == ppid ? p->parent_was
									 : (struct identity){0};
}

static int tell_reparented(struct chronicle *c, const struct tracker *k, const struct process *p,
			   pid_t ppid, struct err *err)
{
	struct identity from = old_parent(c, p, ppid);
	const struct process *to = table_pid(k->now, p->ppid);
	struct jw *j = recorded_begin(c->r, "reparented", KNOWN_SCANNED);

	if (j) {
		process_json_identity(j, "process", p->id);
		if (identity_known(from))
			process_json_identity(j, "from", from);
		else
			jw_null(j, "from");
		if (to)
			process_json_identity(j, "to", to->id);
		else
			jw_null(j, "to");
	}
	return chronicle_commit(c, err);
}

static int tell_cgroup(struct chronicle *c, const struct process *p, const struct bytes *from,
		       struct err *err)
{
	struct jw *j = recorded_begin(c->r, "left_cgroup", KNOWN_SCANNED);

	if (j) {
		process_json_identity(j, "process", p->id);
		jw_bytes(j, "from", from);
		jw_bytes(j, "to", &p->detail->cgroup);
	}
	return chronicle_commit(c, err);
}

static int tell_exec(struct chronicle *c, const struct process *p, struct err *err)
{
	struct jw *j = recorded_begin(c->r, "execed", KNOWN_SCANNED);

	if (j) {
		process_json_identity(j, "process", p->id);
		jw_bytes(j, "comm", &p->detail->comm);
		jw_bytes(j, "exe", &p->detail->exe);
		process_json_args(j, "args", "args_b64", &p->detail->cmdline);
		jw_str(j, "args_from", "proc");
	}
	return chronicle_commit(c, err);
}

/* Both known, and not the same: a reading that failed is no change. */
static bool differs(const struct bytes *was, const struct bytes *now)
{
	return was->data && now->data && !bytes_same(was, now);
}

static int tell_changes(struct chronicle *c, const struct tracker *k, const struct process *p,
			struct story_member *m, struct err *err)
{
	const struct detail *d = p->detail;
	int r = 0;

	if (p->sid != m->sid)
		r = tell_number(c, "setsid", p, m->sid, p->sid, err);
	else if (p->pgid != m->pgid)
		r = tell_number(c, "setpgid", p, m->pgid, p->pgid, err);
	if (!r && p->ppid != m->ppid)
		r = tell_reparented(c, k, p, m->ppid, err);
	if (!r && d && differs(&m->cgroup, &d->cgroup))
		r = tell_cgroup(c, p, &m->cgroup, err);
	/* a program may rewrite its own arguments: only another file is surely an exec */
	if (!r && d && (differs(&m->exe, &d->exe) || differs(&m->comm, &d->comm)))
		r = tell_exec(c, p, err);
	if (!r && chronicle_remember(m, p) < 0)
		r = err_nomem(err);
	return r;
}

static int tell_gone(struct chronicle *c, struct story_member *m, struct err *err)
{
	struct jw *j = recorded_begin(c->r, "exited", KNOWN_SCANNED);
	int r;

	if (j)
		process_json_identity(j, "process", m->id);
	r = chronicle_commit(c, err);
	if (!r)
		story_gone(m, clock_wall_ns());
	return r;
}

static int tell_members(struct chronicle *c, const struct tracker *k, struct err *err)
{
	struct story *s = &c->r->story;
	int r = 0;

	for (size_t i = 0; !r && i < k->now->procs.n; i++) {
		const struct process *p = &k->now->procs.v[i];
		struct story_member *m;

		if (!p->evidence || process_is_dead(p) || chronicle_heard_later(c, p->id, k))
			continue;
		m = story_member(s, p->id);
		r = m ? tell_changes(c, k, p, m, err) : chronicle_came(c, k, p, 0, err);
	}
	for (size_t i = 0; !r && i < s->members.n; i++) {
		struct story_member *m = &s->members.v[i];
		const struct process *p = m->gone ? NULL : table_find(k->now, m->id);

		if (!m->gone && (!p || process_is_dead(p)) && !chronicle_heard_later(c, m->id, k))
			r = tell_gone(c, m, err);
	}
	return r;
}

static int tell_leftovers(struct chronicle *c, const struct tracker *k, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < k->now->procs.n; i++) {
		const struct process *p = &k->now->procs.v[i];
		struct jw *j;

		if (!p->evidence || process_is_dead(p))
			continue;
		j = recorded_begin(c->r, "leftover", KNOWN_SCANNED);
		if (j) {
			process_json_identity(j, "process", p->id);
			process_json_facts(j, p, &k->now->host, k->run);
		}
		r = chronicle_commit(c, err);
	}
	return r;
}

static int tell_expired(struct chronicle *c, struct err *err)
{
	uint64_t deadline = c->r->story.record.deadline_wall_ns;
	struct jw *j = recorded_begin(c->r, "deadline_expired", KNOWN_STATED);

	if (j) {
		time_json(j, "deadline_at", deadline);
		time_json(j, "over_at", deadline);
		/* the same moment on the clock that orders events, as far as they agree */
		jw_uint(j, "over_mono_ns",
			(uint64_t)((int64_t)deadline - c->wall_less_boot > 0
					   ? (int64_t)deadline - c->wall_less_boot
					   : 0));
	}
	return recorded_change(c->r, "deadline_expired", RUN_EXPIRED, err);
}

/* The steps from what the journal says to what is. */
static int tell_state(struct chronicle *c, const struct tracker *k, struct err *err)
{
	enum run_state is = recorded_state(c->r, k->now), says = c->r->story.state;
	uint64_t deadline = c->r->story.record.deadline_wall_ns;
	int r = 0;

	if (is == says)
		return 0;
	r = chronicle_tell_heard(c, k, true, err);
	if (r)
		return r;
	if (says == RUN_ACTIVE && deadline && k->now->host.wall_ns >= deadline) {
		r = tell_expired(c, err);
		if (r || is == RUN_EXPIRED)
			return r;
		is = recorded_state(c->r, k->now);
	}
	if (is == RUN_LEFTOVER)
		r = tell_leftovers(c, k, err);
	return r || is == c->r->story.state ? r : recorded_over(c->r, k, is, NULL, err);
}

static int tell_clock(struct chronicle *c, const struct host *h, struct err *err)
{
	int64_t now = (int64_t)h->wall_ns - (int64_t)h->boot_ns, by = now - c->wall_less_boot;
	struct jw *j;

	c->wall_less_boot = now;
	if (by < CLOCK_STEP_NS && by > -CLOCK_STEP_NS)
		return 0;
	j = recorded_begin(c->r, "clock_stepped", KNOWN_SCANNED);
	if (j)
		jw_int(j, "by_ns", by);
	return chronicle_commit(c, err);
}

static int tell_started(struct chronicle *c, const struct table *now, uint64_t interval_ms,
			struct err *err)
{
	struct operator o = operator_current();
	struct jw *j = recorded_begin(c->r, "watch_started", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "watcher", c->self);
		operator_json(j, "operator", &o);
		jw_uint(j, "interval_ms", interval_ms);
		coverage_json(j, &now->coverage);
	}
	return recorded_commit(c->r, true, err);
}

/* A watcher that died said nothing: its last word is where the gap begins. */
static int tell_lost_watcher(struct chronicle *c, struct err *err)
{
	struct identity was = c->r->story.watcher;
	struct jw *j;

	if (!identity_known(was))
		return 0;
	j = recorded_begin(c->r, "watch_stopped", KNOWN_PRESUMED);
	if (j) {
		process_json_identity(j, "watcher", was);
		jw_str(j, "reason", "lost");
		time_json(j, "last_event_at", c->r->story.last_wall_ns);
	}
	return recorded_commit(c->r, false, err);
}

static void init(struct chronicle *c, struct recorded *r, const struct tracker *k)
{
	const struct host *h = &k->now->host;

	*c = (struct chronicle){
		.r = r,
		.self = h->self,
		.wall_less_boot = (int64_t)h->wall_ns - (int64_t)h->boot_ns,
		.lost = k->now->coverage.events_lost,
	};
}

int chronicle_settle(struct recorded *r, const struct tracker *k, struct err *err)
{
	struct chronicle c;
	int rc = rundir_watch(&r->dir, err);

	if (rc < 0)
		return rc;
	if (rc == 0) { /* who watches writes it: at its next look */
		r->story.state = recorded_state(r, k->now);
		return 0;
	}
	init(&c, r, k);
	rc = recorded_refresh(r, err);
	if (rc >= 0)
		rc = tell_members(&c, k, err);
	if (!rc)
		rc = tell_state(&c, k, err);
	rundir_unwatch(&r->dir);
	return rc;
}

int chronicle_tell(struct recorded *r, const struct tracker *k, struct err *err)
{
	struct chronicle c;
	int rc;

	init(&c, r, k);
	rc = recorded_refresh(r, err);
	return rc < 0 ? rc : tell_members(&c, k, err);
}

int chronicle_open(struct recorded *r, const struct tracker *now, uint64_t interval_ms,
		   struct chronicle **out, struct err *err)
{
	struct chronicle *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return err_nomem(err);
	init(c, r, now);
	rc = rundir_watch(&r->dir, err);
	if (rc == 0)
		rc = err_set(err, EBUSY, "run %s: another stray watches it already", r->dir.id);
	if (rc > 0)
		rc = tell_lost_watcher(c, err);
	if (!rc)
		rc = tell_started(c, now->now, interval_ms, err);
	if (!rc)
		rc = chronicle_fold(c, now, err);
	if (rc < 0) {
		rundir_unwatch(&r->dir);
		chronicle_forget_heard(c);
		free(c->heard.v);
		free(c);
	} else {
		*out = c;
	}
	return rc;
}

int chronicle_fold(struct chronicle *c, const struct tracker *k, struct err *err)
{
	int r = recorded_refresh(c->r, err);

	if (r >= 0)
		r = tell_clock(c, &k->now->host, err);
	if (!r)
		r = chronicle_tell_heard(c, k, false, err);
	if (!r)
		r = tell_members(c, k, err);
	return r ? r : tell_state(c, k, err);
}

void chronicle_close(struct chronicle *c, const char *reason)
{
	struct jw *j;

	if (!c)
		return;
	j = recorded_begin(c->r, "watch_stopped", KNOWN_SEEN);
	if (j) {
		process_json_identity(j, "watcher", c->self);
		jw_str(j, "reason", reason);
		if (c->not_told)
			jw_uint(j, "not_told", c->not_told);
	}
	recorded_commit(c->r, true, NULL);
	rundir_unwatch(&c->r->dir);
	chronicle_forget_heard(c);
	free(c->heard.v);
	free(c);
}

uint64_t chronicle_events(const struct chronicle *c)
{
	return c->events;
}
