#include "model/kin_parts.h"

static uint64_t began_at_the_earliest(const struct kin *k, const struct node *n)
{
	return n->m.began_ns ? n->m.began_ns : n->m.id.start * k->tick_ns;
}

/* The living one with that PID, where the event is not of who had the PID before. */
static struct node *meant(const struct kin *k, pid_t pid, const struct event *e)
{
	struct node *n = kin_living(k, pid);

	return n && e->boot_ns >= began_at_the_earliest(k, n) ? n : NULL;
}

/* Who forked, or NULL: no member.  Where the PID is another's by now the member has ended. */
static int forker(struct kin *k, const struct event *e, struct node **out)
{
	struct node *n = meant(k, e->pid, e);

	*out = n;
	if (!n || n->never || !e->pid_start ||
	    kin_same_start(e->pid_start, n->m.id.start, n->start_read))
		return 0;
	*out = NULL;
	if (e->pid_start < n->m.id.start)
		return 0;
	if (!kin_room(k, 1 + n->n_children, e->boot_ns))
		return -ENOMEM;
	kin_end(k, n, KNOWN_SCANNED, 0, e->boot_ns, NULL);
	return 0;
}

static void note_fork(struct kin *k, struct node *n, const struct node *parent,
		      const struct event *e)
{
	n->of_reaper = !parent && !identity_same(n->m.id, k->o.root);
	if (parent) {
		n->m.forker = parent->m.id;
		n->m.forker_known = KNOWN_SEEN;
	} else if (!n->of_reaper) {
		n->m.forker = k->o.reaper;
		n->m.forker_known = KNOWN_SEEN;
	}
	n->why |= EVIDENCE_FORK;
	n->m.began_ns = e->boot_ns;
	if (e->start_read) {
		n->m.id.start = e->child_start;
		n->start_read = true;
	}
	if (n->parent_ns < e->boot_ns) {
		kin_set_parent(k, n, e->pid, e->boot_ns);
		n->parent_presumed = false;
	}
	kin_settle(k, n);
}

static int born(struct kin *k, struct identity id, const struct node *parent, const struct event *e)
{
	struct node *n;

	if (!kin_room(k, 1, e->boot_ns))
		return -ENOMEM;
	n = kin_add(k, id, parent && parent->never);
	if (!n) {
		k->unsure_ns = e->boot_ns;
		return -ENOMEM;
	}
	n->start_read = e->start_read;
	n->came_ns = n->group_ns = n->m.began_ns = e->boot_ns;
	n->fork_seen = true;
	if (n->never)
		return 0;
	if (parent) {
		n->m.pgid = parent->m.pgid;
		n->m.sid = parent->m.sid;
	}
	note_fork(k, n, parent, e);
	kin_say(k, KIN_FORKED, KNOWN_SEEN, e->boot_ns, n);
	return 0;
}

/*
 * Somebody with the PID of the child is there already.  1: the fork is told by that; 0: it has
 * ended, and the fork is another's.
 */
static int known_child(struct kin *k, struct node *n, struct identity id, const struct node *parent,
		       const struct event *e)
{
	bool by_member = parent && !parent->never;

	if (n->never) {
		if (!n->fork_seen && !by_member) {
			n->fork_seen = true;
			n->m.id = id;
			return 1;
		}
		kin_remove(k, n);
		return 0;
	}
	if (kin_same_start(id.start, n->m.id.start, n->start_read && e->start_read)) {
		if (by_member || (k->o.reaper.pid && e->pid == k->o.reaper.pid))
			note_fork(k, n, parent, e);
		return 1;
	}
	if (id.start < n->m.id.start)
		return 1;
	if (!kin_room(k, 1 + n->n_children, e->boot_ns))
		return -ENOMEM;
	kin_end(k, n, KNOWN_PRESUMED, 0, e->boot_ns, NULL);
	return 0;
}

static int forked(struct kin *k, const struct event *e)
{
	struct identity id = {.pid = e->child, .start = e->child_start};
	struct node *parent, *child = kin_living(k, e->child);
	int r;

	if (!id.start)
		id.start = e->boot_ns / k->tick_ns;
	r = forker(k, e, &parent);
	if (r < 0)
		return r;
	if (child) {
		r = known_child(k, child, id, parent, e);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (kin_ghost(k, id, e->boot_ns) == GHOST_DEAD)
		return 0;
	kin_number_taken(k, id);
	if (parent && parent->never && !parent->fork_seen)
		return 0;
	if (parent || (k->o.reaper.pid && e->pid == k->o.reaper.pid))
		return born(k, id, parent, e);
	return 0;
}

static int execed(struct kin *k, const struct event *e)
{
	struct node *n = meant(k, e->pid, e);

	if (!n || n->never)
		return 0;
	if (!kin_room(k, 1, e->boot_ns))
		return -ENOMEM;
	n->m.execed = true;
	n->main_ended = false; /* the thread that called execve(2) is the main one now */
	kin_say(k, KIN_EXECED, KNOWN_SEEN, e->boot_ns, n);
	return 0;
}

static int session_made(struct kin *k, const struct event *e)
{
	struct node *n = meant(k, e->pid, e);
	struct kin_change *c;

	if (!n || n->never)
		return 0;
	if (!kin_room(k, 1, e->boot_ns))
		return -ENOMEM;
	if (n->m.sid != e->pid) {
		c = kin_say(k, KIN_SETSID, KNOWN_SEEN, e->boot_ns, n);
		c->from = n->m.sid;
		c->to = e->pid;
	}
	n->m.sid = n->m.pgid = e->pid;
	if (n->group_ns < e->boot_ns)
		n->group_ns = e->boot_ns;
	kin_settle(k, n);
	return 0;
}

static int exited(struct kin *k, const struct event *e)
{
	struct node *n = meant(k, e->pid, e);
	bool known = true;

	if (!n || (e->kind == EVENT_THREAD && !n->main_ended))
		return 0;
	if (e->alive_start &&
	    (n->never || kin_same_start(e->alive_start, n->m.id.start, n->start_read))) {
		if (e->kind == EVENT_EXIT) {
			n->main_ended = true;
			n->main_status = e->status;
		}
		return 0;
	}
	if (n->never) {
		kin_remove(k, n);
		return 0;
	}
	/* The status is the group's, where exit_group(2) or a signal ended it, else the main
	 * thread's: which one is not told. */
	if (n->main_ended)
		known = n->main_status == e->status;
	if (!kin_room(k, 1 + n->n_children, e->boot_ns))
		return -ENOMEM;
	kin_end(k, n, KNOWN_SEEN, e->boot_ns, e->boot_ns, known ? &e->status : NULL);
	return 0;
}

bool kin_wants(const struct kin *k, const struct event *e)
{
	const struct node *n = kin_living(k, e->pid);

	switch (e->kind) {
	case EVENT_FORK:
		return (n && (!n->never || n->fork_seen)) ||
		       (k->o.reaper.pid && e->pid == k->o.reaper.pid) || kin_living(k, e->child) ||
		       e->child == k->o.pgid || e->child == k->o.sid;
	case EVENT_EXEC:
	case EVENT_SID:
		return n && !n->never;
	case EVENT_EXIT:
		return n;
	case EVENT_THREAD:
		return n && n->main_ended;
	case EVENT_LOST:
		break;
	}
	return true;
}

int kin_event(struct kin *k, const struct event *e, struct err *err)
{
	int r = 0;

	switch (e->kind) {
	case EVENT_FORK:
		r = forked(k, e);
		break;
	case EVENT_EXEC:
		r = execed(k, e);
		break;
	case EVENT_EXIT:
	case EVENT_THREAD:
		r = exited(k, e);
		break;
	case EVENT_SID:
		r = session_made(k, e);
		break;
	case EVENT_LOST:
		k->counts.lost += e->lost ? e->lost : 1;
		k->unsure_ns = e->boot_ns;
		break;
	}
	kin_trim(k);
	return r < 0 ? err_nomem(err) : 0;
}
