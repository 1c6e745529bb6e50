/* What was heard of a run's members between two looks, into its journal. */
#include "engine/chronicle_parts.h"

#include "record/process_json.h"

#include <string.h>

void chronicle_hear(struct chronicle *c, const struct kin_change *change, struct detail *detail)
{
	struct heard h = {.change = *change};

	if (c->heard.n >= CHRONICLE_HEARD_MAX || !VEC_PUSH(&c->heard, h)) {
		c->not_told++;
		return;
	}
	c->heard.v[c->heard.n - 1].detail = detail ? detail_ref(detail) : NULL;
}

void chronicle_not_heard(struct chronicle *c, uint64_t n)
{
	c->not_told += n;
}

uint64_t chronicle_not_told(const struct chronicle *c)
{
	return c->not_told;
}

static void drop_first(struct chronicle *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		detail_unref(c->heard.v[i].detail);
	c->heard.n -= n;
	if (n && c->heard.n)
		memmove(c->heard.v, c->heard.v + n, c->heard.n * sizeof(*c->heard.v));
}

void chronicle_forget_heard(struct chronicle *c)
{
	drop_first(c, c->heard.n);
}

bool chronicle_heard_later(const struct chronicle *c, struct identity id, const struct tracker *k)
{
	const struct story_member *m = story_member(&c->r->story, id);

	if (m && m->heard_boot_ns > k->now->host.boot_ns)
		return true;
	for (size_t i = 0; i < c->heard.n; i++)
		if (identity_same(c->heard.v[i].change.id, id))
			return true;
	return false;
}

/* A child begins as what its forker was. */
static void born_of(struct process *p, struct detail *d, const struct story_member *forker)
{
	p->pgid = forker->pgid;
	p->sid = forker->sid;
	d->comm = forker->comm;
	d->exe = forker->exe;
	d->cmdline = forker->args;
	p->detail = d;
}

static const struct process *seen(const struct tracker *k, struct identity id)
{
	const struct process *p = table_find(k->now, id);

	return p && p->evidence && !process_is_dead(p) ? p : NULL;
}

/* As the table shows it; the session that it left since is told when that is. */
static int tell_seen(struct chronicle *c, const struct tracker *k, const struct process *now,
		     const struct kin_change *ch, struct err *err)
{
	struct process p = *now;

	for (size_t i = 0; i < c->heard.n; i++) {
		const struct kin_change *later = &c->heard.v[i].change;

		if (later->kind == KIN_SETSID && identity_same(later->id, p.id)) {
			p.sid = later->from ? later->from : -1;
			p.pgid = -1; /* not known */
			break;
		}
	}
	return chronicle_came(c, k, &p, ch->boot_ns, err);
}

static int tell_forked(struct chronicle *c, const struct tracker *k, const struct kin_change *ch,
		       struct err *err)
{
	const struct story_member *forker = story_member(&c->r->story, ch->forker);
	const struct process *now = seen(k, ch->id);
	struct process p = {.id = ch->id,
			    .ppid = identity_known(ch->forker) ? ch->forker.pid : -1,
			    .pgid = -1,
			    .sid = -1,
			    .evidence = EVIDENCE_FORK,
			    .parent_was = ch->forker,
			    .parent_known = identity_known(ch->forker) ? KNOWN_SEEN : KNOWN_NOT};
	struct detail *d;
	int r;

	if (now)
		return tell_seen(c, k, now, ch, err);
	d = forker ? detail_new() : NULL;
	if (forker && !d)
		return err_nomem(err);
	if (forker)
		born_of(&p, d, forker);
	r = chronicle_came(c, k, &p, ch->boot_ns, err);
	if (d) {
		d->comm = d->exe = d->cmdline = (struct bytes){0}; /* the story's */
		detail_unref(d);
	}
	return r;
}

static int tell_execed(struct chronicle *c, const struct heard *h, struct story_member *m,
		       struct err *err)
{
	struct jw *j = recorded_begin(c->r, "execed", KNOWN_SEEN);
	struct process p = {.id = m->id, .ppid = m->ppid, .pgid = m->pgid, .sid = m->sid};
	int r;

	if (j) {
		process_json_identity(j, "process", m->id);
		process_json_execed(j, h->detail);
		process_json_happened(j, h->change.boot_ns);
	}
	r = chronicle_commit(c, err);
	if (r)
		return r;
	p.detail = h->detail;
	return chronicle_remember(m, &p) < 0 ? err_nomem(err) : 0;
}

static int tell_exited(struct chronicle *c, const struct kin_change *ch, struct story_member *m,
		       struct err *err)
{
	struct jw *j = recorded_begin(c->r, "exited", KNOWN_SEEN);
	int r;

	if (j) {
		process_json_identity(j, "process", m->id);
		if (ch->status_known)
			process_json_status(j, ch->status);
		process_json_happened(j, ch->boot_ns);
	}
	r = chronicle_commit(c, err);
	if (!r)
		story_gone(m, ch->boot_ns + (uint64_t)c->wall_less_boot);
	return r;
}

static int tell_setsid(struct chronicle *c, const struct kin_change *ch, struct story_member *m,
		       struct err *err)
{
	struct jw *j = m->sid == ch->to ? NULL : recorded_begin(c->r, "setsid", KNOWN_SEEN);
	int r;

	if (m->sid == ch->to)
		return 0;
	if (j) {
		process_json_identity(j, "process", m->id);
		process_json_pid(j, "from", m->sid ? m->sid : ch->from);
		process_json_pid(j, "to", ch->to);
		process_json_happened(j, ch->boot_ns);
	}
	r = chronicle_commit(c, err);
	if (!r)
		m->sid = m->pgid = ch->to;
	return r;
}

/* Who came and ended since, in its session, left nothing: of those not all are told. */
static bool is_brief(const struct chronicle *c, const struct tracker *k, size_t i)
{
	struct identity id = c->heard.v[i].change.id;

	if (seen(k, id))
		return false;
	for (i++; i < c->heard.n; i++) {
		if (!identity_same(c->heard.v[i].change.id, id))
			continue;
		if (c->heard.v[i].change.kind == KIN_SETSID)
			return false;
		if (c->heard.v[i].change.kind == KIN_EXITED)
			return true;
	}
	return false;
}

static int tell_one(struct chronicle *c, const struct tracker *k, size_t i, struct err *err)
{
	const struct heard *h = &c->heard.v[i];
	const struct kin_change *ch = &h->change;
	struct story_member *m = story_member(&c->r->story, ch->id);
	int r = 0;

	if (!m && ch->kind == KIN_FORKED) {
		if (c->brief >= CHRONICLE_BRIEF_MAX && is_brief(c, k, i)) {
			c->not_told++;
			return 0;
		}
		c->brief += !seen(k, ch->id);
		r = tell_forked(c, k, ch, err);
		m = r ? NULL : story_member(&c->r->story, ch->id);
	} else if (!m || m->gone) {
		c->not_told += !m;
	} else if (ch->kind == KIN_EXECED) {
		r = tell_execed(c, h, m, err);
	} else if (ch->kind == KIN_EXITED) {
		r = tell_exited(c, ch, m, err);
	} else if (ch->kind == KIN_SETSID) {
		r = tell_setsid(c, ch, m, err);
	}
	if (m && m->heard_boot_ns < ch->boot_ns)
		m->heard_boot_ns = ch->boot_ns;
	return r;
}

/* A child that was born while the scan ran, and lives: the next one has seen it. */
static bool waits(const struct chronicle *c, const struct tracker *k, const struct kin_change *ch)
{
	return ch->kind == KIN_FORKED && ch->boot_ns > k->now->host.boot_ns && !seen(k, ch->id) &&
	       !story_member(&c->r->story, ch->id) && tracker_heard_of(k, ch->id);
}

static int tell_lost(struct chronicle *c, const struct tracker *k, struct err *err)
{
	uint64_t lost = k->now->coverage.events_lost;
	struct jw *j;

	if (lost <= c->lost)
		return 0;
	j = recorded_begin(c->r, "events_lost", KNOWN_SEEN);
	if (j) {
		jw_uint(j, "count", lost - c->lost);
		jw_str(j, "source", source_kind_name(SOURCE_NETLINK));
	}
	c->lost = lost;
	return chronicle_commit(c, err);
}

int chronicle_tell_heard(struct chronicle *c, const struct tracker *k, bool all, struct err *err)
{
	int r = tell_lost(c, k, err);
	size_t n = 0;

	while (!r && n < c->heard.n && (all || !waits(c, k, &c->heard.v[n].change))) {
		r = tell_one(c, k, n, err);
		n += !r;
	}
	drop_first(c, n);
	return r;
}
