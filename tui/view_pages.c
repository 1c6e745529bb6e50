/* Pages of text: the help, and before and after an act. */
#include "tui/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/diff.h"
#include "tui/facts.h"

/* --- help ------------------------------------------------------------------ */

static void add_coverage(void *ctx, const char *safe)
{
	page_add(ctx, STYLE_NORMAL, "  %s", safe);
}

#define HELP_CELLS 47 /* a column of keys: two of them from 96 cells on */

struct help {
	struct line lines[128];
	enum style styles[128];
	int n;
};

static void help_line(struct help *h, enum style style, const char *keys, const char *what,
		      const char *later)
{
	struct line *l;

	if (h->n == (int)(sizeof(h->lines) / sizeof(h->lines[0])))
		return;
	h->styles[h->n] = style;
	l = &h->lines[h->n++];
	line_start(l, false);
	if (keys)
		line_add(l, "  %-14s ", keys);
	line_add(l, "%s%s%s", what, later ? "; " : "", later ? later : "");
}

static void collect_keys(struct help *h, bool readonly)
{
	for (int g = 0; g < KEYMAP_GROUPS; g++) {
		const struct keymap_entry *e;

		help_line(h, STYLE_HEADER, NULL, keymap_group_name((enum keymap_group)g),
			  g == KEYMAP_ACT && readonly ? "absent: read only" : NULL);
		for (size_t i = 0; (e = keymap_entry(i)); i++) {
			char names[40];

			if ((int)e->group != g)
				continue;
			keymap_keys(e, names, sizeof(names));
			help_line(h, e->later ? STYLE_DIM : STYLE_NORMAL, names, e->help, e->later);
		}
	}
}

/* Where the second column begins: with the group that is nearest the middle. */
static int middle(const struct help *h)
{
	int i = h->n / 2;

	while (i < h->n && h->styles[i] != STYLE_HEADER)
		i++;
	return i;
}

static void help_keys(struct page *page, bool readonly, int cols)
{
	static const struct line none;
	struct help *h = calloc(1, sizeof(*h));
	int half, rows;

	if (!h)
		return;
	collect_keys(h, readonly);
	half = cols >= 2 * HELP_CELLS + 2 ? middle(h) : h->n;
	rows = half > h->n - half ? half : h->n - half;
	for (int i = 0; i < rows; i++) {
		const struct line *left = i < half ? &h->lines[i] : &none;
		const struct line *right = half + i < h->n ? &h->lines[half + i] : &none;
		char cut[LINE_MAX_BYTES];

		snprintf(cut, sizeof(cut), "%s", left->text);
		if (right->len)
			text_cut(cut, sizeof(cut), HELP_CELLS - 1, false);
		page_add(page, i < half ? h->styles[i] : STYLE_NORMAL, "%s%*s%s", cut,
			 right->len ? HELP_CELLS - text_cells(cut) : 0, "", right->text);
	}
	free(h);
}

static void help_flags(struct page *page)
{
	static const char *const lines[] = {
		"1  R r   reparented: observed, presumed",
		"2  S G C left: the session (setsid), the group (setpgid), the cgroup",
		"3  H     hands work off: ssh, docker, systemd-run, tmux, ...",
		"4  L     started late: after the run was over",
		"5  X     survived a signal of ours; Z D T t: dead, stuck, stopped, traced",
		"6  A a ? holds authority now; had credential names; is a possible member",
	};

	page_add(page, STYLE_HEADER, "Flags of a member, six slots");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		page_add(page, STYLE_NORMAL, "  %s", lines[i]);
}

void view_help_page(struct view *v)
{
	struct page *page = &v->page;

	page_start(page, "Help: keys, flags, coverage in force");
	if (v->k->now) {
		page_add(page, STYLE_HEADER, "Not known");
		facts_not_known(v->k->now, add_coverage, page);
		page_add(page, STYLE_NORMAL,
			 "  what lived and ended between two scans of /proc, and PGID and SID "
			 "changes in between");
		page_add(page, STYLE_NORMAL,
			 "  what a name that is absent from an environment would prove: nothing");
		page_gap(page);
	}
	help_keys(page, v->o.readonly, v->screen_cols);
	page_gap(page);
	help_flags(page);
}

/* --- before and after ------------------------------------------------------ */

struct columns {
	int command;
	bool ascii;
};

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

static enum style result_words(const struct act_item *item, struct line *what, struct line *after)
{
	char name[8];

	switch (item->result) {
	case ACT_RESULT_GONE:
		line_add(what, "- gone");
		if (item->died_of)
			line_add(after, "died of %s", facts_signal(item->died_of, name));
		else
			line_add(after, "gone");
		if (item->last_signal)
			add_span(after, item->after_ns);
		if (item->last_signal && item->died_of != item->last_signal)
			line_add(after, " of %s", facts_signal(item->last_signal, name));
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
		line_add(after, "stopped");
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
		line_add(what, "+ NEW");
		line_add(after, "appeared since");
		return STYLE_SURVIVOR;
	case ACT_RESULT_PENDING:
		line_add(what, "  waiting");
		line_add(after, "signalled, not gone yet");
		break;
	}
	return STYLE_WARNING;
}

static void add_item(const struct act_outcome *o, const struct act_item *item, struct page *page,
		     const struct columns *c)
{
	struct line what, before, after, command;
	enum style style;

	line_start(&what, c->ascii);
	line_start(&before, c->ascii);
	line_start(&after, c->ascii);
	line_start(&command, c->ascii);
	style = result_words(item, &what, &after);
	stand(of_item(o->before, item), item->result, &before);
	line_bytes(&command, &item->command, c->command);
	page_add(page, style, "%-15s%7d %s%*s %-15s %s", what.text, item->id.pid, command.text,
		 c->command - text_cells(command.text), "", before.text, after.text);
}

static void add_process(struct page *page, const struct columns *c, const char *what,
			const struct process *p)
{
	struct line l;

	line_start(&l, c->ascii);
	facts_command(&l, p, 60);
	page_add(page, STYLE_DIM, "%-15s%7d %s", what, p->id.pid, l.text);
}

static bool is_item(const struct act_outcome *o, struct identity id)
{
	for (size_t i = 0; i < o->items.n; i++)
		if (identity_same(o->items.v[i].id, id))
			return true;
	return false;
}

static void add_elsewhere(const struct view *v, struct page *page, const struct columns *c)
{
	const struct act_outcome *o = v->outcome;
	size_t added = 0, removed = 0;

	if (!o->diff)
		return;
	for (size_t i = 0; i < o->diff->added.n; i++) {
		const struct process *p = o->diff->added.v[i];

		if (is_item(o, p->id))
			continue;
		added++;
		if (v->elsewhere)
			add_process(page, c, "+ elsewhere", p);
	}
	for (size_t i = 0; i < o->diff->removed.n; i++) {
		const struct process *p = o->diff->removed.v[i];

		if (is_item(o, p->id))
			continue;
		removed++;
		if (v->elsewhere)
			add_process(page, c, "- elsewhere", p);
	}
	added += o->diff->elsewhere_added;
	removed += o->diff->elsewhere_removed;
	page_add(page, STYLE_DIM, "elsewhere on this host: +%zu -%zu%s", added, removed,
		 v->elsewhere ? "" : " (o shows)");
}

static void add_record(const struct act_outcome *o, struct page *page)
{
	page_gap(page);
	if (!o->dir[0]) {
		page_add(page, STYLE_WARNING, "not recorded");
		return;
	}
	page_add(page, STYLE_NORMAL, "%s %s", o->done ? "written:" : "being written:", o->dir);
	if (o->done)
		page_add(page, STYLE_DIM,
			 "         intent.json before.json after.json diff.json record.md");
}

static void add_sum(const struct act_outcome *o, struct page *page)
{
	struct line l;

	line_start(&l, false);
	view_outcome_words(o, &l);
	if (o->not_aimed)
		line_add(&l, " · %zu not aimed at", o->not_aimed);
	if (!o->done)
		line_add(&l, " · under way");
	page_add(page, o->alive || o->appeared ? STYLE_SURVIVOR : STYLE_GOOD, "%s", l.text);
}

void view_diff_page(struct view *v)
{
	const struct act_outcome *o = v->outcome;
	struct columns c = {.command = v->screen_cols - 68, .ascii = v->o.ascii};
	char title[200];

	if (c.command < 16)
		c.command = 16; /* narrower screens scroll sideways */
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
	add_sum(o, &v->page);
	page_add(&v->page, STYLE_HEADER, "%-15s%7s %-*s %-15s %s", "  WHAT", "PID", c.command,
		 "COMMAND", "BEFORE", "AFTER");
	for (size_t i = 0; i < o->items.n; i++)
		add_item(o, &o->items.v[i], &v->page, &c);
	add_elsewhere(v, &v->page, &c);
	add_record(o, &v->page);
}
