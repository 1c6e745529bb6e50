/* Why: what a process is, and how that is known. */
#include "tui/view.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/errand.h"
#include "model/lineage.h"
#include "model/origin.h"
#include "model/pipes.h"
#include "model/suspect.h"
#include "tui/facts.h"

#define LINEAGE_MAX 24

static const struct detail *detail_of(const struct view *v, const struct process *p)
{
	return v->why_detail ? v->why_detail : p->detail;
}

static void add_bytes(struct page *page, const char *label, const struct bytes *b, int unread,
		      const char *after, bool ascii)
{
	struct line l;

	line_start(&l, ascii);
	if (b->data)
		line_bytes(&l, b, 400);
	else if (unread)
		line_add(&l, "not readable (%s)", err_name(unread));
	else
		line_add(&l, "not known");
	page_fact(page, label, b->data ? STYLE_NORMAL : STYLE_DIM, "%s%s", l.text,
		  b->data ? after : "");
}

static int unread(const struct detail *d, unsigned bit)
{
	return d ? d->unread[__builtin_ctz(bit)] : 0;
}

static void what(const struct view *v, const struct process *p, struct page *page)
{
	static const struct detail none;
	const struct detail *d = detail_of(v, p);
	const struct host *h = &v->k->now->host;
	char when[9], age[16];
	struct line l;

	d = d ? d : &none;
	line_start(&l, v->o.ascii);
	facts_command(&l, p, 400);
	page_fact(page, "command", STYLE_KEY, "%s", l.text);
	facts_when(h, facts_wall_ns(h, p->id.start), when);
	clock_age(facts_age(h, p), age);
	line_start(&l, v->o.ascii);
	facts_user(&l, p);
	page_fact(page, "identity", STYLE_NORMAL,
		  "%d@%" PRIu64 " · state %c · started %s, %s ago · user %s", p->id.pid,
		  p->id.start, p->state, when, age, l.text);
	line_start(&l, v->o.ascii);
	facts_tty(&l, p);
	page_fact(page, "stands in", STYLE_NORMAL, "session %d · group %d · %s%s", p->sid, p->pgid,
		  l.text, lineage_leader_gone(v->k->now, p) ? " · session leader gone" : "");
	add_bytes(page, "program", &d->exe, unread(d, DETAIL_EXE),
		  d->exe_deleted ? " (deleted)" : "", v->o.ascii);
	add_bytes(page, "directory", &d->cwd, unread(d, DETAIL_CWD),
		  d->cwd_deleted ? " (deleted)" : "", v->o.ascii);
	add_bytes(page, "cgroup", &d->cgroup, unread(d, DETAIL_CGROUP), "", v->o.ascii);
	line_start(&l, v->o.ascii);
	facts_origin(&l, v->k->now, p);
	page_fact(page, "origin", STYLE_NORMAL, "%s · %s", origin_kind_name(p->origin),
		  l.len ? l.text : "nothing says where it came from");
	if (d->audit_session >= 0)
		page_fact(page, "audit", STYLE_NORMAL, "session %" PRId64 " · login uid %" PRId64,
			  d->audit_session, d->login_uid);
	else
		page_fact(page, "audit", STYLE_DIM, "%s",
			  d->audit_session == -1 ? "unset" : "not known");
}

static void add_bits(const struct view *v, const struct process *p, struct page *page)
{
	const char *mark = suspect_mark(p), *mux = suspect_multiplexer(p);
	char peer[PIPES_WORDS_MAX];

	for (unsigned i = 0; i < SUSPECT_COUNT; i++) {
		struct line l;

		line_start(&l, v->o.ascii);
		if (1u << i == SUSPECT_MARK && mark) {
			line_add(&l, ": ");
			line_text(&l, mark, 60);
		}
		if (p->suspect & 1u << i)
			page_fact(page, "suspect", STYLE_SUSPECT, "%s%s", suspect_reason(1u << i),
				  l.text);
		if (p->explained & 1u << i)
			page_fact(page, "explained", STYLE_DIM, "%s: its origin accounts for that",
				  suspect_reason(1u << i));
	}
	if (mux)
		page_fact(page, "keeps on", STYLE_DIM, "%s keeps work running on purpose", mux);
	if (!p->suspect)
		page_fact(page, "suspect", STYLE_DIM, "no");
	if (!v->has_run)
		return;
	pipes_words(pipes_peer(&v->run, v->k->now, p), peer);
	if (peer[0])
		page_fact(page, "peer", STYLE_AUTHORITY, "it holds the other end of the root's %s",
			  peer);
	if (!p->evidence)
		page_fact(page, "member", STYLE_DIM, "no: nothing ties it to the run");
	for (unsigned i = 0; i < EVIDENCE_COUNT; i++)
		if (p->evidence & 1u << i)
			page_fact(page, run_is_member(p) ? "member by" : "possible by",
				  STYLE_MEMBER, "%s", evidence_name(1u << i));
	if ((p->evidence & EVIDENCE_PEER) && identity_known(p->parent_was))
		page_fact(page, "asked", STYLE_MEMBER,
			  "%d forked it while a member spoke with that", p->parent_was.pid);
}

static void reparented(const struct view *v, const struct process *p, struct page *page)
{
	const struct ghost *g;
	char when[9] = "";
	struct line l;

	line_start(&l, v->o.ascii);
	if (p->reparented == KNOWN_NOT) {
		if (p->reparent_possible)
			page_fact(page, "adopted", STYLE_DIM,
				  "possibly: its parent is one that adopts orphans");
		return;
	}
	line_add(&l, "its parent is not the process that forked it (%s)",
		 known_name(p->reparented));
	if (identity_known(p->parent_was)) {
		line_add(&l, ": that was %d", p->parent_was.pid);
		g = tracker_ghost(v->k, p->parent_was);
		if (g) {
			line_add(&l, " ");
			facts_name(&l, &g->p);
			clock_hms(g->gone_wall_ns, when);
			line_add(&l, ", gone %s", when);
		}
	}
	page_fact(page, "reparented", STYLE_SUSPECT, "%s", l.text);
}

static void lineage(const struct view *v, const struct process *p, struct page *page)
{
	const struct table *t = v->k->now;
	const char *label = "lineage";

	for (int depth = 0; p && depth < LINEAGE_MAX; depth++) {
		struct line l;

		line_start(&l, v->o.ascii);
		facts_command(&l, p, 100);
		page_fact(page, label, depth ? STYLE_NORMAL : STYLE_KEY, "%*s%d %s%s", depth * 2,
			  "", p->id.pid, l.text,
			  identity_same(p->id, t->host.self) ? " (this stray)"
			  : run_is_own(t, p)                 ? " (yours)"
							     : "");
		label = "";
		if (p->ppid == 0)
			return;
		p = table_pid(t, p->ppid);
	}
}

static void add_signals(struct page *page, const char *label, uint64_t mask, int from)
{
	char name[8];
	struct line l;

	line_start(&l, true);
	for (int sig = from; sig <= 64; sig++)
		if (sigmask_has(mask, sig))
			line_add(&l, "%s%s", l.len ? " " : "", facts_signal(sig, name));
	page_fact(page, label,
		  sigmask_has(mask, SIGTERM) && label[0] != 'c' ? STYLE_SURVIVOR : STYLE_NORMAL,
		  "%s", l.len ? l.text : "none");
}

static void signals(const struct view *v, const struct process *p, struct page *page)
{
	const struct detail *d = detail_of(v, p);
	const char *useless = plan_useless(p, SIGTERM);

	if (!d || !(d->have & DETAIL_STATUS)) {
		page_fact(page, "signals", STYLE_DIM, "not known");
		return;
	}
	add_signals(page, "ignores", d->sig_ignored, 1);
	add_signals(page, "blocks", d->sig_blocked, 1);
	add_signals(page, "catches", d->sig_caught, 1);
	add_signals(page, "pending", d->sig_pending, 1);
	if (useless)
		page_fact(page, "TERM", STYLE_SURVIVOR, "%s", useless);
	if (d->tracer > 0)
		page_fact(page, "traced by", STYLE_WARNING, "%d", d->tracer);
	if (d->wchan.len)
		add_bytes(page, "waits in", &d->wchan, 0, "", v->o.ascii);
}

static void names(const struct view *v, const struct process *p, struct page *page)
{
	const struct detail *d = detail_of(v, p);
	const char *label = "marks";
	int why = unread(d, DETAIL_ENVIRON);
	struct line l;

	if (why) {
		page_fact(page, "environ", STYLE_DIM,
			  "not readable (%s): marks and names not known", err_name(why));
		return;
	}
	for (size_t i = 0; d && i < d->n_marks; i++, label = "") {
		struct bytes name = {d->marks[i].name, strlen(d->marks[i].name)};

		line_start(&l, v->o.ascii);
		line_bytes(&l, &name, 60);
		page_fact(page, label, STYLE_SUSPECT, "%s", l.text);
	}
	line_start(&l, v->o.ascii);
	for (size_t i = 0; d && i < d->n_secret_names; i++) {
		struct bytes name = {d->secret_names[i], strlen(d->secret_names[i])};

		line_add(&l, i ? " " : "");
		line_bytes(&l, &name, 60);
	}
	if (l.len)
		page_fact(page, "credentials", STYLE_AUTHORITY,
			  "names at exec: %s (values never read out)", l.text);
}

static void namespaces(const struct view *v, const struct process *p, struct page *page)
{
	const struct detail *d = detail_of(v, p);
	struct line l;

	line_start(&l, true);
	for (int i = 0; d && i < NS_COUNT; i++)
		if (d->ns[i])
			line_add(&l, "%s%s:%" PRIu64, l.len ? " " : "", ns_name(i), d->ns[i]);
	if (l.len)
		page_fact(page, "namespaces", STYLE_DIM, "%s", l.text);
	line_start(&l, true);
	for (int i = 0; d && d->n_nspid > 1 && i < d->n_nspid; i++)
		line_add(&l, "%s%d", i ? " > " : "", d->nspid[i]);
	if (l.len)
		page_fact(page, "PIDs", STYLE_NORMAL, "%s (outermost namespace first)", l.text);
	for (int i = 0; d && i < 3; i++) {
		static const char *const labels[] = {"stdin", "stdout", "stderr"};

		if (d->stdio[i].data)
			add_bytes(page, labels[i], &d->stdio[i], 0, "", v->o.ascii);
	}
}

/* Signals, namespaces and what else is read of this process alone. */
static void reading(const struct view *v, struct page *page)
{
	if (v->why_reading == READING_UNDER_WAY && !v->why_detail)
		page_fact(page, "details", STYLE_DIM, "%s", v->o.ascii ? "reading..." : "reading…");
	else if (v->why_reading == READING_LATE)
		page_fact(page, "details", STYLE_WARNING,
			  "not answered in %d s: its files in /proc hang; above is what scans know",
			  (int)(ERRAND_HANG_NS / CLOCK_NS_PER_S));
	else if (v->why_reading == READING_FAILED)
		page_fact(page, "details", STYLE_DIM, "not readable any more");
}

static void reaches(const struct view *v, const struct process *p, struct page *page)
{
	struct line l;

	line_start(&l, v->o.ascii);
	if (!p->reach_known)
		line_add(&l, "connections not asked for");
	else if (p->reach_error == ETIMEDOUT)
		line_add(&l, "connections not known: its descriptors hang");
	else if (p->reach_error)
		line_add(&l, "connections not known (%s)", err_name(p->reach_error));
	else if (!p->remote.data)
		line_add(&l, "no established TCP connection");
	else {
		line_add(&l, "TCP %s ", v->o.ascii ? "<>" : "⇄");
		line_bytes(&l, &p->remote, 60);
	}
	if (p->remote.data && !p->connections)
		line_add(&l, " (within this host)");
	if (p->connections > 1)
		line_add(&l, " and %u more to other hosts", p->connections - 1u);
	page_fact(page, "reaches", p->remote.data ? STYLE_AUTHORITY : STYLE_DIM, "%s", l.text);
}

void view_why_page(struct view *v)
{
	const struct process *p = table_find(v->k->now, v->why_of);
	const struct ghost *g = p ? NULL : tracker_ghost(v->k, v->why_of);
	char title[80], when[9];

	snprintf(title, sizeof(title), "Why %d", v->why_of.pid);
	page_start(&v->page, title);
	v->page.cols = v->screen_cols - 2;
	if (g) {
		clock_hms(g->gone_wall_ns, when);
		page_add(&v->page, STYLE_WARNING, "It has ended: a scan at %s missed it.", when);
		p = &g->p;
	}
	if (!p) {
		page_add(&v->page, STYLE_WARNING,
			 v->vigil ? "%d has ended, and nothing more is kept of it here: E shows "
				    "its events."
				  : "%d has ended, and nothing is kept of it.",
			 v->why_of.pid);
		return;
	}
	what(v, p, &v->page);
	page_gap(&v->page);
	add_bits(v, p, &v->page);
	reparented(v, p, &v->page);
	page_gap(&v->page);
	lineage(v, p, &v->page);
	page_gap(&v->page);
	signals(v, p, &v->page);
	reaches(v, p, &v->page);
	names(v, p, &v->page);
	namespaces(v, p, &v->page);
	reading(v, &v->page);
}
