#include "model/kin_parts.h"

/* At most: came, session, group, parent, ended. */
#define CHANGES_A_READING 5

/* A session is entered by birth and left by setsid(2) alone: its leader stays one. */
static void read_session(struct kin *k, struct node *n, const struct kin_reading *r)
{
	struct kin_change *c;

	if (!r->sid || r->sid == n->m.sid)
		return;
	if (n->m.sid || r->sid == r->id.pid) {
		c = kin_say(k, KIN_SETSID, KNOWN_SCANNED, 0, n);
		c->from = n->m.sid;
		c->to = r->sid;
	}
	n->m.sid = r->sid;
}

/* setsid(2) makes a group, too: that is no second change. */
static void read_group(struct kin *k, struct node *n, const struct kin_reading *r, bool session)
{
	struct kin_change *c;

	if (!r->pgid || r->pgid == n->m.pgid)
		return;
	if (!session && (n->m.pgid || r->pgid == r->id.pid)) {
		c = kin_say(k, KIN_SETPGID, KNOWN_SCANNED, 0, n);
		c->from = n->m.pgid;
		c->to = r->pgid;
	}
	n->m.pgid = r->pgid;
}

static void read_parent(struct kin *k, struct node *n, const struct kin_reading *r,
			uint64_t boot_ns)
{
	pid_t from = n->parent_presumed ? n->m.forker.pid : n->m.ppid;
	bool told = n->m.ppid == r->ppid;
	struct kin_change *c;

	if (!r->ppid)
		return;
	if (!told && from) {
		c = kin_say(k, KIN_REPARENTED, KNOWN_SCANNED, 0, n);
		c->from = from;
		c->to = r->ppid;
		n->moved = true;
	}
	kin_set_parent(k, n, r->ppid, boot_ns);
	n->parent_presumed = false;
}

static void read_member(struct kin *k, struct node *n, const struct kin_reading *r,
			uint64_t boot_ns)
{
	pid_t sid = n->m.sid;

	n->m.id = r->id; /* where the start time followed from an event */
	n->start_read = true;
	n->why |= r->evidence;
	if (boot_ns >= n->group_ns) {
		read_session(k, n, r);
		read_group(k, n, r, n->m.sid != sid && n->m.sid == r->id.pid);
		n->group_ns = boot_ns;
	}
	if (boot_ns >= n->parent_ns)
		read_parent(k, n, r, boot_ns);
	kin_settle(k, n);
}

static unsigned standing(const struct kin *k, const struct kin_reading *r)
{
	unsigned evidence = r->evidence;

	if (k->o.owns_pgid && r->pgid == k->o.pgid)
		evidence |= EVIDENCE_GROUP;
	if (k->o.owns_sid && r->sid == k->o.sid)
		evidence |= EVIDENCE_SESSION;
	return evidence;
}

/* Of a child born when the number was another's the parent is not who has it now. */
static const struct node *parent_of(const struct kin *k, const struct kin_reading *r)
{
	const struct node *p = kin_living(k, r->ppid);

	return p && !p->never && p->m.id.start <= r->id.start ? p : NULL;
}

/* What it left before it was found is told, too, where only it can have done so. */
static void tell_found(struct kin *k, struct node *n)
{
	struct kin_change *c;
	bool session = n->m.sid == n->m.id.pid;

	kin_say(k, KIN_FORKED, KNOWN_SCANNED, 0, n);
	if (!(n->m.detached && session) && !(n->m.regrouped && n->m.pgid == n->m.id.pid))
		return;
	c = kin_say(k, session ? KIN_SETSID : KIN_SETPGID, KNOWN_SCANNED, 0, n);
	c->from = session ? k->o.sid : k->o.pgid;
	c->to = session ? n->m.sid : n->m.pgid;
}

/* 1: it came; 0: it is none, as far as known; -ENOMEM. */
static int find_member(struct kin *k, const struct kin_reading *r, uint64_t boot_ns)
{
	const struct node *p = parent_of(k, r);
	unsigned evidence = standing(k, r);
	enum ghost ghost;
	struct node *n;

	if (r->dead || r->id.pid == k->o.reaper.pid || (!evidence && !p))
		return 0;
	ghost = kin_ghost(k, r->id, boot_ns);
	if (ghost == GHOST_UNSURE)
		k->unsure_ns = boot_ns + 1; /* a later scan will tell */
	if (ghost != GHOST_NONE)
		return 0;
	if (!kin_room(k, CHANGES_A_READING, boot_ns))
		return -ENOMEM;
	n = kin_add(k, r->id, false);
	if (!n)
		return -ENOMEM;
	n->start_read = true;
	n->came_ns = n->group_ns = boot_ns;
	n->scan = k->scans;
	n->m.pgid = r->pgid;
	n->m.sid = r->sid;
	n->why = evidence | (p ? EVIDENCE_PARENT : 0);
	if (p) {
		n->m.forker = p->m.id;
		n->m.forker_known = KNOWN_SCANNED;
	}
	kin_set_parent(k, n, r->ppid, boot_ns);
	kin_settle(k, n);
	tell_found(k, n);
	return 1;
}

static int known_pid(struct kin *k, struct node *n, const struct kin_reading *r, uint64_t boot_ns)
{
	bool same = kin_same_start(n->m.id.start, r->id.start, n->start_read);

	if (n->never) {
		if (!n->m.id.start)
			n->m.id.start = r->id.start;
		else if (!same && r->id.start > n->m.id.start)
			kin_remove(k, n);
		return 0;
	}
	if (!same && r->id.start < n->m.id.start)
		return 0; /* the reading is older */
	if (!kin_room(k, CHANGES_A_READING + n->n_children, boot_ns))
		return -ENOMEM;
	if (same)
		n->scan = k->scans;
	if (same && !r->dead)
		read_member(k, n, r, boot_ns);
	else
		kin_end(k, n, KNOWN_SCANNED, 0, boot_ns, NULL);
	return 0;
}

static int read_known(struct kin *k, const struct kin_reading *v, size_t n, uint64_t boot_ns)
{
	for (size_t i = 0; i < n; i++) {
		struct node *m = kin_living(k, v[i].id.pid);

		if (m && known_pid(k, m, &v[i], boot_ns) < 0)
			return -ENOMEM;
		kin_number_taken(k, v[i].id);
	}
	return 0;
}

/* Children stand behind their parents, but where PIDs came round: mostly one pass. */
static int read_others(struct kin *k, const struct kin_reading *v, size_t n, uint64_t boot_ns)
{
	bool came = true;

	while (came) {
		came = false;
		for (size_t i = 0; i < n; i++) {
			int r = kin_living(k, v[i].id.pid) ? 0 : find_member(k, &v[i], boot_ns);

			if (r < 0)
				return r;
			came |= r;
		}
	}
	return 0;
}

static int end_missed(struct kin *k, uint64_t boot_ns)
{
	struct node *next;

	for (struct node *n = k->first; n; n = next) {
		next = n->next;
		if (!n->m.alive || n->scan == k->scans || n->came_ns > boot_ns)
			continue;
		if (!kin_room(k, 1 + n->n_children, boot_ns))
			return -ENOMEM;
		kin_end(k, n, KNOWN_SCANNED, 0, boot_ns, NULL);
	}
	return 0;
}

int kin_scan(struct kin *k, const struct kin_reading *v, size_t n, bool all, uint64_t boot_ns,
	     struct err *err)
{
	uint64_t unsure_ns = k->unsure_ns;

	k->scans++;
	if (all)
		k->unsure_ns = 0;
	if (read_known(k, v, n, boot_ns) < 0 || read_others(k, v, n, boot_ns) < 0 ||
	    (all && end_missed(k, boot_ns) < 0)) {
		k->unsure_ns = boot_ns + 1;
		return err_nomem(err);
	}
	if (unsure_ns > boot_ns)
		k->unsure_ns = unsure_ns;
	kin_trim(k);
	return 0;
}
