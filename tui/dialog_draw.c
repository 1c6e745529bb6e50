/* How the dialog looks: 4-tui.md, "The signal dialog". */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/dialog.h"
#include "tui/facts.h"

#define WIDTH_MAX 76
#define FRAME_ROWS 2
#define BODY_MAX 40

/* What stands above, and what below the rows of processes. */
struct body {
	struct {
		char text[400];
		enum style style;
	} line[BODY_MAX];
	int n;
};

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
		size_t take = strlen(text), cut;

		if (take >= sizeof(line))
			take = sizeof(line) - 1;
		snprintf(line, take + 1, "%s", text);
		while (text_cells(line) > cols && (cut = strlen(line)) > 1) {
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
		line_add(&l, ", %s of %s", n == 1 ? "a member" : "all members", h->run->id);
	else if (h->run)
		line_add(&l, ", %zu of them no members of %s", n - members, h->run->id);
	else if (first) {
		line_add(&l, " of user ");
		facts_user(&l, first);
	}
	line_add(&l, ", none yours");
	put(b, STYLE_NORMAL, l.text);
	if (d->plan.refused[0])
		put_wrapped(b, STYLE_WARNING, d->plan.refused, cols);
}

static void say_refused(const struct dialog *d, const struct dialog_host *h, struct body *b,
			int cols)
{
	size_t all = d->plan.hit.n + d->plan.strangers.n + d->plan.own.n;
	struct line l;

	line_start(&l, false);
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

/* Members that stay out, and why that is. */
static void say_not_hit(const struct dialog *d, const struct dialog_host *h, struct body *b,
			int cols)
{
	size_t shown = d->plan.not_hit.n < 5 ? d->plan.not_hit.n : 5;
	struct line l;

	if (!d->plan.not_hit.n)
		return;
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

/* A stopped group that is or becomes orphaned is woken by the kernel: setpgid(2). */
static void say_freeze(const struct dialog *d, struct body *b, int cols)
{
	if (d->act.kind != ACT_FREEZE && !d->act.freeze_first)
		return;
	put_wrapped(b, STYLE_WARNING,
		    "By SIGSTOP until none is new. A group that becomes orphaned while it is "
		    "stopped is woken by the kernel (HUP, CONT).",
		    cols);
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
	struct line l;
	char title[128];

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
	dialog_title(d, title, sizeof(title));
	line_start(&l, false);
	line_add(&l, "Enter sends %.*s to %zu", (int)strcspn(title, " "), title, d->plan.hit.n);
	line_add(&l, "%*sEsc sends nothing",
		 cols - text_cells(l.text) - 18 > 2 ? cols - text_cells(l.text) - 18 : 2, "");
	put(b, STYLE_KEY, l.text);
}

static void make_head(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols)
{
	b->n = 0;
	if (d->members_only)
		say_refused(d, h, b, cols);
	else
		say_whom(d, h, b, cols);
}

static void make_foot(const struct dialog *d, const struct dialog_host *h, struct body *b, int cols)
{
	b->n = 0;
	say_own(d, h, b, cols);
	say_not_hit(d, h, b, cols);
	say_useless(d, b, cols);
	say_freeze(d, b, cols);
	say_members(d, b, cols);
	say_question(d, b, cols);
}

static void draw_process(const struct dialog *d, const struct dialog_host *h,
			 const struct area *row, size_t i)
{
	bool stranger = i >= d->plan.hit.n;
	const struct plan_item *item =
		stranger ? &d->plan.strangers.v[i - d->plan.hit.n] : &d->plan.hit.v[i];
	const struct process *p = find(h, item->id);
	enum style style = stranger ? STYLE_DIM : item->useless ? STYLE_SURVIVOR : STYLE_NORMAL;
	struct line l;
	char age[16] = "gone";
	int x = 0, note;

	if (p)
		clock_age(facts_age(&h->now->host, p), age);
	if (d->members_only)
		x = draw_format(row, 0, x, style, "%-7s ", stranger ? "spared" : "hit");
	x = draw_format(row, 0, x, style, "%7d %6s  ", item->id.pid, age);
	if (!p)
		return;
	line_start(&l, row->grid->ascii);
	facts_user(&l, p);
	x = draw_cut(row, 0, x, 8, style, l.text) + 2;
	line_start(&l, row->grid->ascii);
	if (p->connections) {
		line_add(&l, "⇄ ");
		line_bytes(&l, &p->remote, 24);
	} else if (stranger) {
		line_add(&l, "no member: Space adds it");
	} else {
		line_add(&l, "%s", item->useless ? item->useless : "");
	}
	note = l.len ? text_cells(l.text) + 2 : 0;
	if (note > row->cols - x - 10)
		note = row->cols - x - 10 > 0 ? row->cols - x - 10 : 0;
	if (note)
		draw_cut(row, 0, row->cols - note + 2, note - 2,
			 p->connections ? STYLE_AUTHORITY : style, l.text);
	line_start(&l, row->grid->ascii);
	facts_command(&l, p, row->cols - x - note);
	draw_text(row, 0, x, style, l.text);
	if (d->members_only && i == d->cursor)
		draw_select(row, 0);
}

static void draw_choice(const struct area *a, int y, int *x, bool on, const char *text)
{
	*x = draw_format(a, y, *x, on ? STYLE_SELECTED : STYLE_NORMAL, on ? "[%s]" : " %s ", text);
	(*x)++;
}

static void draw_scopes(const struct dialog *d, const struct dialog_host *h, const struct area *a,
			int y)
{
	int x = draw_text(a, y, 0, STYLE_HEADER, a->cols < 50 ? "Tab " : "scope  Tab   ");

	for (int s = 0; s < SCOPE_MEMBERS; s++) {
		bool picked =
			(d->tagged || d->ids.n != 1) && (s == SCOPE_GROUP || s == SCOPE_SESSION);

		if (picked || (s == SCOPE_RUN && !h->run) || (s == SCOPE_PROCESS && !d->ids.n))
			continue;
		draw_choice(a, y, &x, s == (int)d->scope, scope_name((enum scope)s));
	}
	if (d->act.kind != ACT_SIGNAL && d->act.kind != ACT_END)
		return;
	x = draw_text(a, y + 1, 0, STYLE_HEADER, a->cols < 50 ? "F   " : "first  F     ");
	draw_choice(a, y + 1, &x, !d->act.freeze_first, "nothing");
	draw_choice(a, y + 1, &x, d->act.freeze_first, "freeze");
}

static int scope_rows(const struct dialog *d)
{
	return d->act.kind == ACT_SIGNAL || d->act.kind == ACT_END ? 2 : 1;
}

static void draw_body(const struct body *b, const struct area *a, int y)
{
	for (int i = 0; i < b->n; i++)
		draw_cut(a, y + i, 0, a->cols, b->line[i].style, b->line[i].text);
}

static void draw_rows(struct dialog *d, const struct dialog_host *h, const struct area *a)
{
	size_t n = d->plan.hit.n + d->plan.strangers.n;
	int rows = a->rows;

	if ((size_t)rows < n) /* the last line says how many more there are */
		rows--;
	if (d->cursor < d->top)
		d->top = d->cursor;
	if (rows > 0 && d->cursor >= d->top + (size_t)rows)
		d->top = d->cursor - (size_t)rows + 1;
	for (int y = 0; y < rows && d->top + (size_t)y < n; y++) {
		struct area row = draw_part(a, y, 0, 1, a->cols);

		draw_process(d, h, &row, d->top + (size_t)y);
	}
	if (rows < a->rows)
		draw_format(a, rows, 8, STYLE_DIM, "and %zu more (Up, Down)", n - (size_t)rows);
}

static void draw_question_cursor(const struct dialog *d, const struct area *a, int y)
{
	if (!dialog_asks_count(d) || d->blocked)
		return;
	draw_text(a, y, 38, STYLE_NORMAL, "      ");
	lineedit_draw(&d->count, a, y, 39, 5);
}

void dialog_draw(struct dialog *d, const struct dialog_host *h, const struct area *screen)
{
	int cols = screen->cols - 2 < WIDTH_MAX ? screen->cols - 2 : WIDTH_MAX;
	size_t n = d->plan.hit.n + d->plan.strangers.n;
	struct body head, foot;
	struct area box, in;
	char title[256];
	int rows, list, y;

	make_head(d, h, &head, cols - 4);
	make_foot(d, h, &foot, cols - 4);
	list = (int)n;
	rows = FRAME_ROWS + head.n + list + foot.n + scope_rows(d) + 1;
	if (rows > screen->rows) {
		list -= rows - screen->rows;
		if (list < 1)
			list = n ? 1 : 0;
		rows = screen->rows;
	}
	box = draw_part(screen, (screen->rows - rows) / 2, (screen->cols - cols) / 2, rows, cols);
	draw_fill(&box, 0, 0, rows, cols, STYLE_NORMAL, ' ');
	dialog_title(d, title, sizeof(title) - 64);
	if (d->members_only || d->plan.refused[0])
		snprintf(title + strlen(title), 64, ": REFUSED%s",
			 d->members_only ? ", it holds your own" : "");
	draw_box(&box, d->members_only || d->plan.refused[0] ? STYLE_WARNING : STYLE_HEADER,
		 d->signal == SIGKILL ? STYLE_WARNING : STYLE_KEY, title);
	in = draw_part(&box, 1, 2, rows - FRAME_ROWS, cols - 4);
	draw_body(&head, &in, 0);
	y = head.n;
	d->rows_shown = list;
	box = draw_part(&in, y, 0, list, in.cols);
	draw_rows(d, h, &box);
	y += list;
	if (y + scope_rows(d) + 1 + foot.n <= in.rows)
		draw_scopes(d, h, &in, y + 1);
	/* the question is at the foot whatever had to be left off above it */
	y = in.rows - foot.n;
	draw_fill(&in, y, 0, foot.n, in.cols, STYLE_NORMAL, ' ');
	draw_body(&foot, &in, y);
	draw_question_cursor(d, &in, in.rows - 1);
}
