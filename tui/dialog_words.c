#include "tui/dialog_words.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tui/facts.h"

static void put(struct body *b, enum style style, const char *text)
{
	if (b->n == BODY_MAX)
		return;
	snprintf(b->line[b->n].text, sizeof(b->line[0].text), "%.*s",
		 (int)sizeof(b->line[0].text) - 1, text);
	b->line[b->n++].style = style;
}

/* Text over as many lines as it needs, broken at blanks. */
static void put_wrapped(struct body *b, enum style style, const char *text, int cols)
{
	char line[400];

	while (*text) {
		size_t take = strlen(text);

		if (take >= sizeof(line))
			take = sizeof(line) - 1;
		snprintf(line, take + 1, "%s", text);
		while (text_cells(line) > cols && line[1]) {
			char *blank = strrchr(line, ' ');

			if (!blank || blank == line) {
				text_cut(line, sizeof(line), cols, false);
				put(b, style, line);
				return;
			}
			*blank = '\0';
		}
		put(b, style, line);
		text += strlen(line);
		while (*text == ' ')
			text++;
	}
}

static const struct process *find(const struct dialog_host *h, struct identity id)
{
	return table_find(h->now, id);
}

static void add_name(struct line *l, const struct dialog_host *h, struct identity id)
{
	const struct process *p = find(h, id);

	line_add(l, "%d ", id.pid);
	if (p)
		facts_name(l, p);
}

static size_t count_members(const struct dialog *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->plan.hit.n; i++)
		n += d->plan.hit.v[i].member;
	return n;
}

static void say_whom(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols)
{
	size_t n = d->plan.hit.n, members = count_members(d);
	const struct process *first = n ? find(h, d->plan.hit.v[0].id) : NULL;
	struct line l;

	line_start(&l, h->now == NULL);
	if (!n) {
		put_wrapped(b, STYLE_WARNING, d->plan.refused, cols);
		return;
	}
	line_add(&l, "%zu %s", n, n == 1 ? "process" : "processes");
	if (h->run && members == n)
		line_add(&l, ", %s of ", n == 1 ? "a member" : "all members");
	else if (h->run)
		line_add(&l, ", %zu of them no members of ", n - members);
	if (h->run)
		line_text(&l, h->run->id, 40);
	else if (first) {
		line_add(&l, " of user ");
		facts_user(&l, first);
	}
	line_add(&l, ", none yours");
	put(b, STYLE_NORMAL, l.text);
	if (d->plan.refused[0])
		put_wrapped(b, STYLE_WARNING, d->plan.refused, cols);
}

/* "25017 bash is an ancestor of stray, on pts/2" */
static void say_whose(const struct dialog_host *h, struct identity id, struct line *l)
{
	const struct process *p = find(h, id);
	char tty[32];

	add_name(l, h, id);
	line_add(l, identity_same(id, h->now->host.self) ? " is this stray itself"
							 : " is an ancestor of this stray");
	if (p && tty_name(p->tty_nr, tty))
		line_add(l, ", on %s", tty);
}

static void say_refused(const struct dialog *d, const struct dialog_host *h, struct body *b,
			int cols)
{
	size_t all = d->plan.hit.n + d->plan.strangers.n + d->plan.own.n;
	struct line l;

	line_start(&l, false);
	if (d->plan.own.n)
		say_whose(h, d->plan.own.v[0].id, &l);
	else
		line_add(&l, "%s", d->refused);
	put_wrapped(b, STYLE_WARNING, l.text, cols);
	put(b, STYLE_NORMAL, "");
	line_start(&l, false);
	line_add(&l, "Offered instead: %s, %zu of the %zu in this group",
		 h->run ? "members only" : "those you add", d->plan.hit.n, all);
	put(b, STYLE_NORMAL, l.text);
}

static void say_own(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols)
{
	struct line l;

	if (!d->members_only || !d->plan.own.n)
		return;
	line_start(&l, false);
	line_add(&l, "spared  ");
	for (size_t i = 0; i < d->plan.own.n; i++) {
		if (i)
			line_add(&l, ", ");
		add_name(&l, h, d->plan.own.v[i].id);
	}
	line_add(&l, "    yours: cannot be added");
	put_wrapped(b, STYLE_DIM, l.text, cols);
}

static bool is_hit(const struct dialog *d, struct identity id)
{
	for (size_t i = 0; i < d->plan.hit.n; i++)
		if (identity_same(d->plan.hit.v[i].id, id))
			return true;
	return false;
}

/* Without a run: suspects of the same session or login that are not hit. */
static void say_missed(const struct dialog *d, const struct dialog_host *h, struct body *b,
		       int cols)
{
	const struct process *first = d->ids.n ? find(h, d->ids.v[0]) : NULL;
	size_t n = 0;
	struct line l;

	line_start(&l, false);
	for (size_t i = 0; !h->run && first && i < h->now->procs.n; i++) {
		const struct process *p = &h->now->procs.v[i];

		if (!p->suspect || is_hit(d, p->id) || !facts_related(first, p))
			continue;
		if (n++ < 5)
			line_add(&l, "%s%d (group %d)", n == 1 ? "NOT hit: " : " · ", p->id.pid,
				 p->pgid);
	}
	if (n > 5)
		line_add(&l, " and %zu more", n - 5);
	if (n)
		put_wrapped(b, STYLE_NORMAL, l.text, cols);
}

/* Members that stay out, and why that is. */
static void say_not_hit(const struct dialog *d, const struct dialog_host *h, struct body *b,
			int cols)
{
	size_t shown = d->plan.not_hit.n < 5 ? d->plan.not_hit.n : 5;
	struct line l;

	if (!d->plan.not_hit.n) {
		say_missed(d, h, b, cols);
		return;
	}
	line_start(&l, false);
	line_add(&l, "NOT hit: ");
	for (size_t i = 0; i < shown; i++) {
		const struct process *p = find(h, d->plan.not_hit.v[i].id);

		line_add(&l, "%s%d", i ? " · " : "", d->plan.not_hit.v[i].id.pid);
		if (p)
			line_add(&l, " (group %d%s%s)", p->pgid,
				 d->plan.not_hit.v[i].useless ? ", " : "",
				 d->plan.not_hit.v[i].useless ? d->plan.not_hit.v[i].useless : "");
	}
	if (shown < d->plan.not_hit.n)
		line_add(&l, " and %zu more", d->plan.not_hit.n - shown);
	put_wrapped(b, STYLE_NORMAL, l.text, cols);
}

static void say_useless(const struct dialog *d, struct body *b, int cols)
{
	size_t n = 0;
	const char *why = NULL;
	pid_t pid = 0;
	struct line l;

	for (size_t i = 0; i < d->plan.hit.n; i++) {
		if (!d->plan.hit.v[i].useless)
			continue;
		if (!n++) {
			why = d->plan.hit.v[i].useless;
			pid = d->plan.hit.v[i].id.pid;
		}
	}
	if (!n || d->act.kind == ACT_FREEZE || d->act.kind == ACT_THAW)
		return;
	line_start(&l, false);
	line_add(&l, "Useless for %zu of %zu: %d %s%s", n, d->plan.hit.n, pid, why,
		 n > 1 ? " …" : "");
	if (d->act.kind == ACT_END)
		line_add(&l, " (KILL follows)");
	else if (d->signal != SIGKILL)
		line_add(&l, ". K or x ends it");
	put_wrapped(b, STYLE_SURVIVOR, l.text, cols);
}

/* How it will be done; a stopped group that becomes orphaned is woken: setpgid(2). */
static void say_freeze(const struct dialog *d, const struct dialog_host *h, struct body *b,
		       int cols)
{
	const char *cgroup =
		d->act.kind == ACT_FREEZE ? act_freezer(h->now, h->run, &d->plan) : NULL;
	struct line l;

	if (d->act.kind != ACT_FREEZE && !d->act.freeze_first)
		return;
	line_start(&l, false);
	if (cgroup && h->freezer_works) {
		line_add(&l, "By cgroup.freeze: the kernel stops all of ");
		line_text(&l, cgroup, 200);
		line_add(&l, " at once, newcomers too.");
		put_wrapped(b, STYLE_NORMAL, l.text, cols);
		return;
	}
	if (cgroup)
		line_add(&l, "Its cgroup cannot be frozen from here. ");
	line_add(&l, "By SIGSTOP until none is new. A group that becomes orphaned while it is "
		     "stopped is woken by the kernel (HUP, CONT).");
	put_wrapped(b, STYLE_WARNING, l.text, cols);
}

static void say_members(const struct dialog *d, struct body *b, int cols)
{
	if (d->members_only)
		put_wrapped(b, STYLE_DIM,
			    "Not one act of the kernel: each is signalled by pidfd, one by one.",
			    cols);
}

static void say_question(const struct dialog *d, struct body *b, int cols)
{
	static const char *const verbs[] = {
		[ACT_SIGNAL] = NULL,
		[ACT_END] = "ends",
		[ACT_FREEZE] = "freezes",
		[ACT_THAW] = "thaws",
	};
	struct line l;
	char name[8];

	put(b, STYLE_NORMAL, "");
	if (d->problem[0])
		put_wrapped(b, STYLE_WARNING, d->problem, cols);
	if (d->blocked || ((d->plan.refused[0] || !d->plan.hit.n) && !d->members_only)) {
		put(b, STYLE_KEY, "Esc goes back: nothing is sent");
		return;
	}
	if (d->plan.confirm_why[0]) {
		line_start(&l, false);
		line_add(&l, "Asked because %s.", d->plan.confirm_why);
		put_wrapped(b, STYLE_DIM, l.text, cols);
	}
	if (dialog_asks_count(d)) {
		put(b, STYLE_KEY, "Type how many will be hit, then Enter:       Esc sends nothing");
		return;
	}
	line_start(&l, false);
	if (verbs[d->act.kind])
		line_add(&l, "Enter %s %zu", verbs[d->act.kind], d->plan.hit.n);
	else
		line_add(&l, "Enter sends %s to %zu", facts_signal(d->signal, name), d->plan.hit.n);
	line_add(&l, "%*sEsc sends nothing",
		 cols - text_cells(l.text) - 18 > 2 ? cols - text_cells(l.text) - 18 : 2, "");
	put(b, STYLE_KEY, l.text);
}

void dialog_head(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols)
{
	b->n = 0;
	if (d->members_only)
		say_refused(d, h, b, cols);
	else
		say_whom(d, h, b, cols);
}

/* What is to be known before the question. */
void dialog_notes(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols)
{
	b->n = 0;
	say_own(d, h, b, cols);
	say_not_hit(d, h, b, cols);
	say_useless(d, b, cols);
	say_freeze(d, h, b, cols);
	say_members(d, b, cols);
}

void dialog_question(const struct dialog *d, struct body *b, int cols)
{
	b->n = 0;
	say_question(d, b, cols);
}
