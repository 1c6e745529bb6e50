/* Below the list: the row under the cursor, and what an act there would hit. */
#include "tui/view.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/pipes.h"
#include "model/suspect.h"
#include "tui/facts.h"

static void add_parent(const struct view *v, const struct process *p, struct line *l)
{
	const struct process *parent = table_pid(v->k->now, p->ppid);

	if (!p->ppid) {
		line_add(l, " · parent outside this PID namespace");
		return;
	}
	if (p->state == 'X') { /* long ago: the number may be another's by now */
		line_add(l, " · parent was %d", p->ppid);
		return;
	}
	line_add(l, " · parent %d ", p->ppid);
	if (parent)
		facts_name(l, parent);
	else
		line_add(l, "(not visible)");
	if (p->reparented != KNOWN_NOT && identity_known(p->parent_was) &&
	    p->parent_was.pid != p->ppid)
		line_add(l, ", was %d", p->parent_was.pid);
	else if (p->reparented != KNOWN_NOT)
		line_add(l, ", adopted it");
}

/* The comm, where the command does not begin with it. */
static void add_name(const struct process *p, struct line *l)
{
	const struct detail *d = p->detail;
	const char *name = d ? d->cmdline.data : NULL, *slash;
	size_t len = name ? strnlen(name, d->cmdline.len) : 0;

	if (!len || !d->comm.data)
		return; /* then the comm is all there is, in brackets */
	slash = memrchr(name, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	if (len > 1 && *name == '-') { /* a login shell: login(1) */
		name++;
		len--;
	}
	if (len >= d->comm.len && memcmp(name, d->comm.data, d->comm.len) == 0)
		return;
	line_add(l, " (");
	facts_name(l, p);
	line_add(l, ")");
}

static void who(const struct view *v, const struct process *p, struct line *l)
{
	const struct detail *d = p->detail;

	line_add(l, "%d ", p->id.pid);
	facts_command(l, p, v->screen_cols / 3);
	add_name(p, l);
	add_parent(v, p, l);
	if (d && d->audit_session >= 0)
		line_add(l, " · audit session %lld", (long long)d->audit_session);
	if (d && d->cwd_deleted)
		line_add(l, " · cwd deleted");
	if (d && d->exe_deleted)
		line_add(l, " · program deleted");
	if (p->origin_name.len) {
		line_dot(l);
		facts_origin(l, v->k->now, p);
	}
}

static void add_evidence(const struct process *p, struct line *l)
{
	line_add(l, run_is_member(p) ? "member by: " : "possible member by: ");
	for (unsigned i = 0, n = 0; i < EVIDENCE_COUNT; i++)
		if (p->evidence & 1u << i)
			line_add(l, "%s%s", n++ ? " · " : "", evidence_name(1u << i));
}

/* How it got away, as its flag says. */
static void add_away(const struct run *run, const struct process *p, struct line *l)
{
	char flags[7];

	run_flags(run, p, flags);
	if (flags[1] == 'S' && p->sid == p->id.pid)
		line_add(l, " · DETACHED: own session by setsid");
	else if (flags[1] == 'S')
		line_add(l, " · DETACHED: in session %d, not the run's %d", p->sid, run->sid);
	else if (flags[1] == 'G' && p->pgid == p->id.pid)
		line_add(l, " · REGROUPED: own group by setpgid");
	else if (flags[1] == 'G')
		line_add(l, " · REGROUPED: in group %d, not the run's %d", p->pgid, run->pgid);
	else if (flags[1] == 'C')
		line_add(l, " · DETACHED: left the run's cgroup");
}

static enum style standing(const struct view *v, const struct process *p, struct line *l)
{
	const char *mux = suspect_multiplexer(p);
	char peer[PIPES_WORDS_MAX] = "";

	if (v->has_run && p->evidence) {
		add_evidence(p, l);
		add_away(&v->run, p, l);
		return STYLE_MEMBER;
	}
	if (v->has_run)
		pipes_words(pipes_peer(&v->run, v->k->now, p), peer);
	if (peer[0]) {
		line_add(l, "peer of ");
		line_text(l, v->run.id, 40);
		line_add(l, ", no member: holds the other end of its root's %s", peer);
		return STYLE_AUTHORITY;
	}
	if (p->suspect) {
		line_add(l, "suspect: ");
		facts_reasons(l, p, 0);
		if (mux)
			line_add(l, " (%s)", mux);
		return STYLE_SUSPECT;
	}
	line_add(l, v->has_run ? "no member of " : "no suspect");
	if (v->has_run)
		line_text(l, v->run.id, 40);
	if (p->explained)
		line_add(l, ": its origin explains what could look so");
	else if (mux)
		line_add(l, ": %s keeps work running on purpose", mux);
	return STYLE_DIM;
}

static enum style reach(const struct process *p, struct line *l)
{
	const struct detail *d = p->detail;
	int unread = process_unread(p, DETAIL_ENVIRON);

	line_add(l, "holds: ");
	if (p->connections) {
		line_add(l, "%u connected, ⇄ ", p->connections);
		line_bytes(l, &p->remote, 40);
		line_add(l, " · ");
	} else if (p->remote.data) {
		line_add(l, "⇄ ");
		line_bytes(l, &p->remote, 40);
		line_add(l, ", within this host · ");
	} else if (p->reach_error == ETIMEDOUT) {
		line_add(l, "connections not known: its descriptors hang · ");
	} else if (p->reach_error) {
		line_add(l, "connections not readable (%s) · ", err_name(p->reach_error));
	} else {
		line_add(l,
			 p->reach_known ? "no TCP connection · " : "connections not asked for · ");
	}
	if (unread)
		line_add(l, "environment not readable (%s)", err_name(unread));
	else if (!d || !(d->have & DETAIL_ENVIRON))
		line_add(l, "environment not read");
	else if (!d->n_secret_names)
		line_add(l, "no name of a credential at exec");
	else
		line_add(l, "names at exec: ");
	for (size_t i = 0; d && i < d->n_secret_names && i < 6; i++) {
		struct bytes name = {d->secret_names[i], strlen(d->secret_names[i])};

		line_add(l, i ? ", " : "");
		line_bytes(l, &name, 30);
	}
	if (d && d->n_secret_names)
		line_add(l, " (values never read out)");
	return p->connections || (d && d->n_secret_names) ? STYLE_AUTHORITY : STYLE_DIM;
}

/* What T and K would hit here, planned once a row and scan. */
void view_plan_here(struct view *v)
{
	struct dialog_host h = view_host(v);
	const struct row *row = view_row(v);
	struct aim aim = {.scope = SCOPE_GROUP, .signal = SIGTERM};
	struct identity *ids;
	struct err err = {0};
	bool picked;

	if (v->here_known || !v->k->now)
		return;
	plan_clear(&v->here);
	v->here_known = true;
	if (view_targets(v, &ids, &aim.n_ids, &picked) < 0)
		return;
	aim.ids = ids;
	if (picked)
		aim.scope = SCOPE_PROCESS;
	else if (row && row->kind == ROW_SESSION && !row->t.one_group)
		aim.scope = SCOPE_SESSION;
	if (aim.n_ids)
		plan_make(h.now, h.run, &aim, &v->here, &err);
	else
		snprintf(v->here.refused, sizeof(v->here.refused),
			 "nothing alive stands in this row");
	free(ids);
}

static bool is_hit(const struct plan *plan, struct identity id)
{
	for (size_t i = 0; i < plan->hit.n; i++)
		if (identity_same(plan->hit.v[i].id, id))
			return true;
	return false;
}

/* Others of the same login or session that would not be hit. */
static void add_missed(const struct view *v, const struct process *p, struct line *l)
{
	const struct table *t = v->k->now;
	unsigned n = 0;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *q = &t->procs.v[i];

		if (!q->suspect || is_hit(&v->here, q->id) || !facts_related(p, q))
			continue;
		if (n++ < 4)
			line_add(l, "%s%d", n == 1 ? ".  NOT " : " ", q->id.pid);
	}
	if (n > 4)
		line_add(l, " and %u more", n - 4);
	if (n)
		line_add(l, " (same session or login): r, then x");
}

static void add_not_hit(const struct plan *plan, struct line *l)
{
	for (size_t i = 0; i < plan->not_hit.n && i < 4; i++)
		line_add(l, "%s%d", i ? " " : ".  NOT ", plan->not_hit.v[i].id.pid);
	if (plan->not_hit.n > 4)
		line_add(l, " and %zu more", plan->not_hit.n - 4);
}

static enum style aim_words(const struct view *v, const struct process *p, struct line *l)
{
	const struct plan *plan = &v->here;
	size_t useless = 0;

	if (v->o.readonly) {
		line_add(l, "acts are absent (--readonly)");
		return STYLE_DIM;
	}
	if (plan->refused[0]) {
		line_add(l, "T/K here is refused: %s", plan->refused);
		return STYLE_WARNING;
	}
	for (size_t i = 0; i < plan->hit.n; i++)
		useless += plan->hit.v[i].useless != NULL;
	line_add(l, "T/K here hits %s", v->tagged.n ? "the tagged" : scope_name(plan->scope));
	if (plan->number)
		line_add(l, " %d", plan->number);
	line_add(l, ": %zu", plan->hit.n);
	if (useless)
		line_add(l, ", TERM useless for %zu", useless);
	if (v->has_run)
		add_not_hit(plan, l);
	else if (p)
		add_missed(v, p, l);
	if (v->has_run && v->list == LIST_RUN)
		line_add(l, ".  x ends the run");
	return STYLE_NORMAL;
}

static enum style last_words(const struct view *v, struct line *l)
{
	const struct act_outcome *o = v->outcome;
	char when[9];

	if (v->act_begins) {
		line_text(l, v->act_title, 60);
		line_add(l, ": the intent is being written, nothing is sent yet");
		return STYLE_WARNING;
	}
	if (!o) {
		view_add_gap(v, l);
		line_dot(l);
		line_add(l, "nothing sent");
		if (v->held_wall_ns) {
			clock_hms(v->held_wall_ns, when);
			line_add(l, " · before-state of %s held; s writes it", when);
		}
		return STYLE_DIM;
	}
	clock_hms(o->sent_wall_ns, when);
	line_add(l, "last: ");
	line_text(l, o->title, 60);
	line_add(l, " %s: ", when);
	if (!o->done) {
		line_add(l, "under way, %zu to go", o->hit - o->gone);
		return STYLE_WARNING;
	}
	view_outcome_words(o, l);
	line_add(l, " · d shows it");
	return o->alive || o->appeared ? STYLE_SURVIVOR : STYLE_GOOD;
}

static void heading_words(const struct view *v, const struct row *row, struct line *l)
{
	static const char *const about[BUCKET_COUNT] = {
		[BUCKET_SERVICES] = "system units explain what their own main process started",
		[BUCKET_CONTAINERS] = "containers explain what runs inside of them",
		[BUCKET_LOGINS] =
			"of a login that is open, and nothing about them looks left behind",
		[BUCKET_KERNEL] = "the kernel's own threads: no signal reaches them",
		[BUCKET_APPS] = "services and applications of a user's manager",
		[BUCKET_CRON] = "jobs of cron and at that cron still waits for",
		[BUCKET_MULTIPLEXERS] =
			"keep work running on purpose; what runs in them is judged by itself",
		[BUCKET_YOU] = "stray and its ancestors: never signalled",
		[BUCKET_DEAD] = "zombies: not alive, only their parent can take them away",
		[BUCKET_OTHER] = "no unit and no login known, and no reason to suspect them",
	};

	if (row->kind == ROW_BUCKET)
		line_add(l, "%s: %s", bucket_name(row->bucket), about[row->bucket]);
	else if (row->kind == ROW_NEW)
		line_add(l, "what came since the list was put in order; Enter or S sorts it in");
	else if (row->kind == ROW_POSSIBLE)
		line_add(l, "could belong to the run; ended only if named");
	else if (row->kind == ROW_ENDED)
		line_add(l, v->vigil ? "members that have ended, as the journal and this view know"
				     : "members that have ended since the run was chosen");
	else
		line_add(l, "what is no member of the run");
}

static int draw_line(const struct area *a, int y, enum style style, const struct line *l)
{
	if (y < a->rows && l->len)
		draw_cut(a, y++, 1, a->cols - 2, style, l->text);
	return y;
}

void view_draw_pane(const struct view *v, const struct area *a)
{
	const struct process *p = view_process(v);
	const struct row *row = view_row(v);
	int y = a->rows > 1 ? 1 : 0;
	enum style style;
	struct line l;

	if (a->rows > 1)
		draw_hline(a, 0, 1, a->cols - 2, STYLE_DIM);
	if (!row)
		return;
	line_start(&l, v->o.ascii);
	if (!p) {
		heading_words(v, row, &l);
		draw_line(a, y, STYLE_NORMAL, &l);
		line_start(&l, v->o.ascii);
		style = last_words(v, &l);
		if (a->rows > 2)
			draw_line(a, a->rows - 1, style, &l);
		return;
	}
	if (a->rows >= 4) {
		who(v, p, &l);
		y = draw_line(a, y, STYLE_NORMAL, &l);
	}
	if (a->rows != 1) {
		line_start(&l, v->o.ascii);
		style = standing(v, p, &l);
		y = draw_line(a, y, style, &l);
	}
	if (a->rows >= 6) {
		line_start(&l, v->o.ascii);
		style = reach(p, &l);
		y = draw_line(a, y, style, &l);
	}
	line_start(&l, v->o.ascii);
	style = a->rows == 1 && v->outcome ? last_words(v, &l) : aim_words(v, p, &l);
	y = draw_line(a, y, style, &l);
	line_start(&l, v->o.ascii);
	style = last_words(v, &l);
	draw_line(a, y, style, &l);
}
