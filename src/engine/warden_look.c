/* Reading the members of a run: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "contain/cgroup.h"
#include "record/process_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void take_event(void *ctx, const struct event *e)
{
	struct warden *w = ctx;
	struct event full = *e;

	w->heard++;
	if (!kin_wants(w->kin, e)) {
		strangers_note(&w->strangers, e);
		return;
	}
	netlink_complete(&full, kin_unsure(w->kin));
	kin_event(w->kin, &full, NULL);
	warden_tell_changes(w);
}

static void drain(struct warden *w, size_t max)
{
	uint64_t before = w->heard;
	int r;

	if (!w->net)
		return;
	r = netlink_drain(w->net, max, take_event, w, NULL);
	w->behind = r > 0;
	if (r > 0)
		w->drain_ns = clock_boot_ns();
	else if (r < 0 || w->heard != before)
		w->drain_ns = clock_boot_ns() + WARDEN_DRAIN_NS;
	else
		w->drain_ns = 0;
}

void warden_drain(struct warden *w)
{
	drain(w, NETLINK_DRAIN_SOME);
}

void warden_drain_all(struct warden *w)
{
	drain(w, NETLINK_DRAIN_ALL);
}

static void take_others(void *ctx, const struct event *e)
{
	struct warden *w = ctx;

	if (!kin_wants(w->kin, e))
		strangers_note(&w->strangers, e);
}

bool warden_drain_others(struct warden *w)
{
	return w->net && netlink_drain(w->net, NETLINK_DRAIN_ALL, take_others, w, NULL) == 0 &&
	       !netlink_lost(w->net);
}

enum found { GONE, HIDDEN, FOUND };

/* Whether it is there; -errno: that could not be asked. */
static int read_one(struct identity id, struct kin_reading *out)
{
	struct proc_stat st;
	int r = proc_stat_read_same(id.pid, id.start, &st);

	*out = (struct kin_reading){.id = id};
	if (file_exhausted(r))
		return r;
	if (r < 0) {
		out->dead = proc_has_ended(id.pid, id.start);
		return out->dead ? GONE : HIDDEN;
	}
	out->ppid = st.ppid;
	out->pgid = st.pgid;
	out->sid = st.sid;
	out->dead = proc_stat_dead(&st);
	return FOUND;
}

/* Those that kin knows of, and those in the unit that it does not.  known: how many are first. */
static int list_all(struct warden *w, enum reading what, struct identity_list *out, size_t *known)
{
	size_t n;
	const struct kin_member *m = kin_members(w->kin, &n);

	for (size_t i = 0; i < n; i++) {
		if (!m[i].alive || (what == READ_GROUPS && getpgid(m[i].id.pid) == m[i].pgid))
			continue; /* that call takes a fiftieth of a reading's time */
		if (!VEC_PUSH(out, m[i].id))
			return -ENOMEM;
	}
	*known = out->n;
	return what == READ_UNIT ? unit_members(w->unit, out, NULL) : 0;
}

void warden_read(struct warden *w, enum reading what)
{
	struct identity_list ids = {0};
	VEC(struct kin_reading) readings = {0};
	uint64_t now = clock_boot_ns();
	bool all = what == READ_UNIT;
	size_t known;

	if (list_all(w, what, &ids, &known) < 0)
		goto out;
	for (size_t i = 0; i < ids.n; i++) {
		struct kin_reading r;
		bool found = i >= known;
		int there = read_one(ids.v[i], &r);

		if (there < 0 || there == HIDDEN)
			all = false; /* whom it misses may be alive */
		if (there < 0 || there == HIDDEN || (there == GONE && found))
			continue;
		if (found)
			r.evidence =
				w->unit->kind == UNIT_CGROUP ? EVIDENCE_CGROUP : EVIDENCE_ADOPTED;
		if (!VEC_PUSH(&readings, r))
			goto out;
	}
	if (w->net) /* first what waits: a death is told with its status */
		warden_drain(w);
	if (w->behind && what != READ_UNIT) /* and not before whom the dead had forked */
		goto out;
	kin_scan(w->kin, readings.v, readings.n, all, now, NULL);
out:
	free(ids.v);
	free(readings.v);
}

static void find_moved(struct warden *w, struct identity id)
{
	char path[PATH_MAX];
	struct proc_stat st;

	if (cgroup_path_of(id.pid, NULL, path, sizeof(path), NULL) < 0 ||
	    unit_has_path(w->unit, path) || proc_stat_read_same(id.pid, id.start, &st) < 0)
		return;
	kin_left_cgroup(w->kin, id);
	warden_tell_moved(w, id, path);
}

void warden_find_moved(struct warden *w)
{
	size_t n, looked = 0;
	const struct kin_member *m = kin_members(w->kin, &n);

	for (size_t i = 0; i < n && looked < WARDEN_MOVED_MAX; i++, w->moved_next++) {
		if (w->moved_next >= n)
			w->moved_next = 0;
		if (!m[w->moved_next].alive || m[w->moved_next].left_cgroup)
			continue;
		looked++;
		find_moved(w, m[w->moved_next].id);
	}
}

static void add_kin_facts(const struct warden *w, struct process *p)
{
	const struct kin_member *m = kin_member(w->kin, p->id);

	if (!m) {
		p->evidence = w->unit->kind == UNIT_CGROUP ? EVIDENCE_CGROUP : EVIDENCE_ADOPTED;
		return;
	}
	p->evidence = (uint16_t)m->evidence;
	p->parent_was = m->forker;
	p->parent_known = m->forker_known;
	if (m->reparented)
		p->reparented = m->forker_known == KNOWN_SEEN ? KNOWN_SEEN : KNOWN_SCANNED;
}

static struct identity holder(void *ctx, pid_t pid)
{
	const struct warden *w = ctx;
	const struct kin_member *m = kin_pid(w->kin, pid);

	return m ? m->id : (struct identity){0};
}

int warden_members(struct warden *w, struct identity_list *out, struct err *err)
{
	size_t first = out->n, in_unit, n;
	const struct kin_member *m;
	int r;

	warden_drain(w);
	/* who moved out of a halted one untold is found after the KILL: an orphan by then */
	r = w->halted ? unit_held(w->unit, holder, w, out, err) : unit_members(w->unit, out, err);
	m = kin_members(w->kin, &n);
	in_unit = out->n - first;
	if (in_unit)
		qsort(out->v + first, in_unit, sizeof(*out->v), identity_order);
	for (size_t i = 0; !r && i < n; i++) {
		bool there = !m[i].alive || (in_unit && bsearch(&m[i].id, out->v + first, in_unit,
								sizeof(*out->v), identity_order));
		struct kin_reading now;
		/* what has become of it may not have been taken yet */
		int found = there ? GONE : read_one(m[i].id, &now);

		if (found < 0)
			r = err_errno(err, -found, "/proc/%d/stat", (int)m[i].id.pid);
		else if (found == HIDDEN)
			out->hidden++;
		else if (found == FOUND && !now.dead && !VEC_PUSH(out, m[i].id))
			r = err_nomem(err);
	}
	return r;
}

/* Whether its number is another member's by now, which the kernel's events have not told yet. */
static bool take_successor(const struct warden *w, struct identity *id)
{
	char path[PATH_MAX];
	struct proc_stat st;

	if (proc_stat_read(id->pid, &st) < 0 || st.start == id->start ||
	    cgroup_path_of(id->pid, NULL, path, sizeof(path), NULL) < 0 ||
	    !unit_has_path(w->unit, path))
		return false;
	id->start = st.start;
	return true;
}

/* Reads p, of which only the identity is set, and opens a handle on it where all are halted (-1:
 * none was had): between two moments at which it was there. */
static int read_member(struct warden *w, unsigned bits, struct process *p, int *handle,
		       struct err *err)
{
	bool room = true, again;
	int r;

	do {
		file_close_fd(handle);
		*handle = w->halted && room ? target_handle_of(p->id.pid) : -1;
		r = source_process(w->source, bits, p, err);
		room = !file_exhausted(r); /* else the handle took it */
		again = r == -ESRCH ? w->halted && take_successor(w, &p->id)
				    : !room && *handle >= 0;
	} while (again);
	return r;
}

/* Reads one into t, if it is alive.  0 or -errno: that could not be asked. */
static int look_at(struct warden *w, struct table *t, struct identity id, unsigned bits,
		   struct err *err)
{
	struct process p = {.id = id};
	struct err why = {0};
	int handle = -1, r = 0, got = read_member(w, bits, &p, &handle, &why);

	if (got < 0 || process_is_dead(&p)) {
		file_close_fd(&handle);
		process_clear(&p);
		return file_exhausted(got) ? err_set(err, -got, "%s", why.text) : 0;
	}
	add_kin_facts(w, &p);
	if (w->run.cgroup.data && selector_in_cgroup(&p, w->run.cgroup.data))
		p.evidence |= EVIDENCE_CGROUP;
	if (handle >= 0)
		r = target_take(&w->held, p.id, handle, err);
	return table_add(t, &p) ? r : err_nomem(err);
}

/* Fills t with the members.  0 or -errno: who they are could not be read. */
static int look(struct warden *w, struct table *t, unsigned details, uint64_t within_ns,
		struct err *err)
{
	struct identity_list ids = {0};
	int r = warden_members(w, &ids, err);
	uint64_t until_ns;

	if (!r) {
		t->host = w->host;
		t->host.wall_ns = clock_wall_ns();
		t->host.boot_ns = clock_boot_ns();
		t->coverage.sources = (1u << SOURCE_PROC) | (w->net ? 1u << SOURCE_NETLINK : 0);
		t->coverage.events_lost = kin_counts(w->kin).lost;
		t->coverage.first_scan_wall_ns = w->host.wall_ns;
		t->coverage.partial = true;
	}
	until_ns = clock_boot_ns() + within_ns;
	for (size_t i = 0; !r && i < ids.n; i++)
		r = look_at(w, t, ids.v[i], clock_boot_ns() < until_ns ? details : 0, err);
	if (!r && ids.hidden)
		err_set(err, EACCES, "more is alive in its %s than can be read (hidepid?)",
			unit_kind_name(w->unit->kind));
	free(ids.v);
	return r;
}

void warden_look(struct warden *w, unsigned details, uint64_t within_ns)
{
	struct table *t = table_new();
	int r;

	table_free(w->left);
	w->left = NULL;
	w->unread = (struct err){0};
	r = t ? look(w, t, details, within_ns, &w->unread) : err_nomem(&w->unread);
	if (r < 0) {
		table_free(t);
		target_set_clear(&w->held); /* some are not all */
		return;
	}
	table_sort(t);
	table_count_coverage(t);
	w->left = t;
}

/* Moves what is in t to left, in place of what was there of the same processes. */
static int merge(struct warden *w, struct table *t, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *was = table_find(w->left, t->procs.v[i].id);

		if (was) {
			process_clear(was);
			*was = t->procs.v[i];
			t->procs.v[i] = (struct process){0};
		}
	}
	for (size_t i = 0; !r && i < t->procs.n; i++)
		if (t->procs.v[i].id.pid && !table_add(w->left, &t->procs.v[i]))
			r = err_nomem(err);
	table_sort(w->left);
	return r;
}

int warden_look_also(struct warden *w, const struct identity_list *ids, unsigned details,
		     struct err *err)
{
	struct table *t = table_new();
	int r = t ? 0 : err_nomem(err);

	if (!w->left)
		w->left = table_new();
	if (!w->left)
		r = err_nomem(err);
	for (size_t i = 0; !r && i < ids->n; i++)
		r = look_at(w, t, ids->v[i], details, err);
	if (!r)
		r = merge(w, t, err);
	table_free(t);
	return r;
}
