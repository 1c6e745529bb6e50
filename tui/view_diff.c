/* Before and after an act: who went, who lives, who came, and what is still connected. */
#include "tui/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/facts.h"

/* Cells of the columns; what is left is the command's. */
#define WHAT_CELLS 15
#define PID_CELLS 7
#define BEFORE_CELLS 15
#define AFTER_CELLS 27
#define BLANKS 4
#define COMMAND_MIN 16 /* narrower screens scroll sideways */
#define KNOWN_CELLS 10 /* " sock_diag", where the command has room enough without it */
#define COMMAND_ENOUGH 30

struct columns {
	int command;
	bool known, ascii;
};

struct diff_row {
	const char *what;
	pid_t pid;
	const char *command, *before, *after, *known;
};

static struct columns columns_for(const struct view *v)
{
	struct columns c = {.ascii = v->o.ascii};

	c.command =
		v->screen_cols - 2 - WHAT_CELLS - PID_CELLS - BEFORE_CELLS - AFTER_CELLS - BLANKS;
	c.known = c.command >= COMMAND_ENOUGH;
	if (c.known)
		c.command -= KNOWN_CELLS;
	if (c.command < COMMAND_MIN)
		c.command = COMMAND_MIN;
	return c;
}

static void add_row(struct page *page, const struct columns *c, enum style style,
		    const struct diff_row *r)
{
	char pid[16] = "PID"; /* of the heading */
	struct line l;

	if (r->pid)
		snprintf(pid, sizeof(pid), "%d", r->pid);
	line_start(&l, c->ascii);
	line_add(&l, "%-*s%*s %s%*s %s%*s %s", WHAT_CELLS, r->what, PID_CELLS, pid, r->command,
		 c->command - text_cells(r->command), "", r->before,
		 BEFORE_CELLS - text_cells(r->before), "", r->after);
	if (c->known && text_cells(r->after) <= AFTER_CELLS)
		line_add(&l, "%*s %s", AFTER_CELLS - text_cells(r->after), "", r->known);
	page_add(page, style, "%s", l.text);
}

static void add_times(const struct act_outcome *o, struct page *page)
{
	char before[CLOCK_RFC3339_MAX], after[CLOCK_RFC3339_MAX] = "";

	if (!o->before)
		return;
	clock_rfc3339(o->before->host.wall_ns, before);
	if (o->after)
		clock_rfc3339(o->after->host.wall_ns, after);
	page_add(page, STYLE_DIM, "before %.12s · after %.12s", before + 11,
		 o->after ? after + 11 : "(not yet)");
}

static const struct process *of_item(const struct table *t, const struct act_item *item)
{
	return t ? table_find(t, item->id) : NULL;
}

static void stand(const struct process *p, enum act_result result, struct line *l)
{
	if (p && result == ACT_RESULT_NOT_AIMED)
		line_add(l, "%c group %d", p->state, p->pgid);
	else if (p)
		line_add(l, "%c ppid %d", p->state, p->ppid);
}

/* " after 12 ms", " after 5.04 s" */
static void add_span(struct line *l, uint64_t ns)
{
	if (ns < CLOCK_NS_PER_S)
		line_add(l, " after %" PRIu64 " ms", ns / 1000000);
	else
		line_add(l, " after %.2f s", (double)ns / 1e9);
}

static void say_gone(const struct act_item *item, struct line *after)
{
	char name[8];

	if (item->died_of)
		line_add(after, "died of %s", facts_signal(item->died_of, name));
	else
		line_add(after, "gone");
	if (item->last_signal)
		add_span(after, item->after_ns);
	if (item->last_signal && item->died_of != item->last_signal)
		line_add(after, " of %s", facts_signal(item->last_signal, name));
}

static enum style result_words(const struct act_item *item, const struct process *now, bool late,
			       bool by_cgroup, struct line *what, struct line *after)
{
	switch (item->result) {
	case ACT_RESULT_GONE:
		line_add(what, "- gone");
		say_gone(item, after);
		return STYLE_GOOD;
	case ACT_RESULT_ALIVE:
		line_add(what, "= ALIVE");
		line_add(after, "alive%s%s", item->why ? ": " : "",
			 item->why ? view_why_words(item->why) : "");
		if (item->error)
			line_add(after, " (%s)", err_name(item->error));
		return STYLE_SURVIVOR;
	case ACT_RESULT_FROZEN:
		line_add(what, "= frozen");
		line_add(after, "%s", by_cgroup ? "frozen by its cgroup" : "stopped");
		return STYLE_WARNING;
	case ACT_RESULT_THAWED:
		line_add(what, "= thawed");
		line_add(after, "runs again");
		return STYLE_NORMAL;
	case ACT_RESULT_NOT_AIMED:
		line_add(what, "= not aimed at");
		line_add(after, "lives");
		return STYLE_NORMAL;
	case ACT_RESULT_APPEARED:
		line_add(what, "+ NEW%s%s", late ? ", LATE" : "", item->why ? ", possible" : "");
		stand(now, item->result, after);
		return STYLE_SURVIVOR;
	case ACT_RESULT_PENDING:
		line_add(what, "  waiting");
		line_add(after, "signalled, not gone yet");
		break;
	}
	return STYLE_WARNING;
}

static void add_item(const struct view *v, const struct act_item *item, struct page *page,
		     const struct columns *c)
{
	const struct act_outcome *o = v->outcome;
	bool late = v->has_run && v->run.over_ticks && item->id.start > v->run.over_ticks;
	struct line what, before, after, command;
	enum style style;

	line_start(&what, c->ascii);
	line_start(&before, c->ascii);
	line_start(&after, c->ascii);
	line_start(&command, c->ascii);
	style = result_words(item, of_item(o->after, item), late, o->by_cgroup, &what, &after);
	stand(of_item(o->before, item), item->result, &before);
	line_bytes(&command, &item->command, c->command);
	/* an end that was waited for is the pidfd's word, all else the last scan's */
	add_row(page, c, style,
		&(struct diff_row){what.text, item->id.pid, command.text, before.text, after.text,
				   item->result == ACT_RESULT_GONE ? "pidfd" : "scan"});
}

/* --- who is connected ------------------------------------------------------ */

static const struct act_item *item_of(const struct act_outcome *o, struct identity id)
{
	for (size_t i = 0; i < o->items.n; i++)
		if (identity_same(o->items.v[i].id, id))
			return &o->items.v[i];
	return NULL;
}

static enum style connection_words(const struct act_outcome *o, const struct act_connection *c,
				   struct diff_row *r, struct line *after)
{
	const struct act_item *item = item_of(o, c->contact.id);

	r->before = c->before ? "established" : "";
	if (!o->done) {
		r->what = "  connection";
		return STYLE_AUTHORITY;
	}
	if (c->after) {
		r->what = c->before ? "= connection" : "+ connection";
		line_add(after, "%s", c->before ? "STILL ESTABLISHED" : "established");
		return STYLE_AUTHORITY;
	}
	r->what = "- connection";
	if (item && item->result == ACT_RESULT_GONE)
		line_add(after, "gone with %d", c->contact.id.pid);
	else
		line_add(after, "closed, %d lives", c->contact.id.pid);
	return STYLE_GOOD;
}

static void add_connection(const struct act_outcome *o, const struct act_connection *c,
			   struct page *page, const struct columns *cols)
{
	struct diff_row r = {.pid = c->contact.id.pid, .known = "sock_diag"};
	struct line after, remote;
	enum style style;

	line_start(&after, cols->ascii);
	line_start(&remote, cols->ascii);
	line_add(&remote, "%s %s", cols->ascii ? "<>" : "⇄", c->contact.remote);
	text_cut(remote.text, sizeof(remote.text), cols->command, cols->ascii);
	style = connection_words(o, c, &r, &after);
	r.command = remote.text;
	r.after = after.text;
	add_row(page, cols, style, &r);
}

static void add_connections(const struct act_outcome *o, struct page *page, const struct columns *c)
{
	for (size_t i = 0; i < o->connections.n; i++)
		add_connection(o, &o->connections.v[i], page, c);
	if (o->unasked)
		page_add(page, STYLE_DIM, "not known: the connections of %zu of them (%s)",
			 o->unasked, err_name(o->unasked_error));
}

/* --- the rest of the host -------------------------------------------------- */

/* Neither one of the outcome, nor the kernel's, nor stray. */
static bool is_elsewhere(const struct act_outcome *o, const struct table *t,
			 const struct process *p)
{
	return !process_is_kthread(p) && !process_is_dead(p) &&
	       !identity_same(p->id, t->host.self) && !item_of(o, p->id);
}

/* Those in t that other has not; as rows where shown. */
static size_t add_other(const struct act_outcome *o, const struct table *t,
			const struct table *other, struct page *page, const struct columns *c,
			const char *what)
{
	size_t n = 0;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		const struct process *q = table_find(other, p->id);
		struct line l, is;

		if (!is_elsewhere(o, t, p) || (q && !process_is_dead(q)))
			continue;
		n++;
		if (!page)
			continue;
		line_start(&l, c->ascii);
		line_start(&is, c->ascii);
		facts_command(&l, p, c->command);
		stand(p, ACT_RESULT_PENDING, &is);
		add_row(page, c, STYLE_DIM,
			&(struct diff_row){what, p->id.pid, l.text, *what == '-' ? is.text : "",
					   *what == '-' ? "gone" : is.text, "scan"});
	}
	return n;
}

static void add_elsewhere(const struct view *v, struct page *page, const struct columns *c)
{
	const struct act_outcome *o = v->outcome;

	if (!v->elsewhere || !o->before || !o->after)
		return;
	add_other(o, o->after, o->before, page, c, "+ elsewhere");
	add_other(o, o->before, o->after, page, c, "- elsewhere");
}

static void add_record(const struct act_outcome *o, struct page *page)
{
	struct line l;

	page_gap(page);
	if (!o->dir[0]) {
		page_add(page, STYLE_WARNING, "not recorded");
		return;
	}
	line_start(&l, false);
	line_text(&l, o->dir, 400);
	page_add(page, STYLE_NORMAL, "%s %s", o->done ? "written:" : "being written:", l.text);
	if (o->done)
		page_add(page, STYLE_DIM,
			 "         intent.json before.json after.json diff.json "
			 "journal.jsonl record.md");
}

static void add_sum(const struct view *v, struct page *page, const struct columns *c)
{
	const struct act_outcome *o = v->outcome;
	size_t still = 0;
	struct line l;

	line_start(&l, false);
	view_outcome_words(o, &l);
	if (o->not_aimed)
		line_add(&l, " · %zu not aimed at", o->not_aimed);
	for (size_t i = 0; i < o->connections.n; i++)
		still += o->connections.v[i].after;
	if (still)
		line_add(&l, " · %zu CONNECTED", still);
	if (!o->done)
		line_add(&l, " · under way");
	page_add(page, o->alive || o->appeared || still ? STYLE_SURVIVOR : STYLE_GOOD, "%s",
		 l.text);
	if (o->before && o->after)
		page_add(page, STYLE_DIM, "elsewhere on this host: +%zu -%zu (o %s)",
			 add_other(o, o->after, o->before, NULL, c, "+"),
			 add_other(o, o->before, o->after, NULL, c, "-"),
			 v->elsewhere ? "hides" : "shows");
}

void view_diff_page(struct view *v)
{
	const struct act_outcome *o = v->outcome;
	struct columns c = columns_for(v);
	char title[200];

	if (!o) {
		page_start(&v->page, "Before and after");
		page_add(&v->page, STYLE_NORMAL, "Nothing was sent yet.");
		page_add(
			&v->page, STYLE_DIM,
			"T, K, x, z and F9 take a before and an after state; they are shown here.");
		return;
	}
	snprintf(title, sizeof(title), "Before and after · %s", o->title);
	page_start(&v->page, title);
	add_times(o, &v->page);
	add_sum(v, &v->page, &c);
	add_row(&v->page, &c, STYLE_HEADER,
		&(struct diff_row){"  WHAT", 0, "COMMAND", "BEFORE", "AFTER", "KNOWN BY"});
	for (size_t i = 0; i < o->items.n; i++)
		add_item(v, &o->items.v[i], &v->page, &c);
	add_connections(o, &v->page, &c);
	add_elsewhere(v, &v->page, &c);
	add_record(o, &v->page);
}
