/* How the dialog looks: who is hit and who is not, what can be chosen, what sends. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/dialog_words.h"
#include "tui/facts.h"

#define WIDTH_MAX 76
#define FRAME_ROWS 2
static const struct process *find(const struct dialog_host *h, struct identity id)
{
	return table_find(h->now, id);
}

static bool is_hit_pid(const struct dialog *d, pid_t pid)
{
	for (size_t i = 0; i < d->plan.hit.n; i++)
		if (d->plan.hit.v[i].id.pid == pid)
			return true;
	return false;
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
	if (p->remote.data) {
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
	if (is_hit_pid(d, p->ppid))
		x = draw_text(row, 0, x, STYLE_DIM, "└ ");
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

/* How the rows of a box are dealt out: the question always, then who is hit, then the notes. */
struct layout {
	int head, list, notes, scopes, question;
};

static int sum(const struct layout *l)
{
	return l->head + l->list + l->notes + l->scopes + l->question;
}

static void squeeze(int *part, int least, int *too_many)
{
	int take = *part - least < *too_many ? *part - least : *too_many;

	if (take <= 0)
		return;
	*part -= take;
	*too_many -= take;
}

static void fit(struct layout *l, int rows)
{
	int too_many = sum(l) - rows;

	squeeze(&l->list, 3, &too_many);
	squeeze(&l->scopes, 0, &too_many);
	squeeze(&l->list, 1, &too_many);
	squeeze(&l->notes, 0, &too_many);
	squeeze(&l->head, 0, &too_many);
	squeeze(&l->list, 0, &too_many);
	squeeze(&l->question, 1, &too_many);
}

static void draw_parts(struct dialog *d, const struct dialog_host *h, const struct area *in,
		       const struct layout *l, struct body *head, struct body *notes,
		       struct body *question)
{
	int y = 0, skip = question->n - l->question;
	struct area part;

	head->n = l->head;
	draw_body(head, in, y);
	y += l->head;
	part = draw_part(in, y, 0, l->list, in->cols);
	draw_rows(d, h, &part);
	y += l->list;
	notes->n = l->notes;
	draw_body(notes, in, y);
	y += l->notes;
	if (l->scopes)
		draw_scopes(d, h, in, y + 1);
	/* the last lines of the question are what it asks */
	for (int i = skip; i < question->n; i++)
		draw_cut(in, in->rows - question->n + i, 0, in->cols, question->line[i].style,
			 question->line[i].text);
	draw_question_cursor(d, in, in->rows - 1);
}

void dialog_draw(struct dialog *d, const struct dialog_host *h, const struct area *screen)
{
	int cols = screen->cols - 2 < WIDTH_MAX ? screen->cols - 2 : WIDTH_MAX, rows;
	bool refused = d->members_only || d->plan.refused[0];
	struct body head, notes, question;
	struct layout l;
	struct area box;
	char title[256];

	dialog_head(d, h, &head, cols - 4);
	dialog_notes(d, h, &notes, cols - 4);
	dialog_question(d, &question, cols - 4);
	l = (struct layout){head.n, (int)(d->plan.hit.n + d->plan.strangers.n), notes.n,
			    scope_rows(d) + 1, question.n};
	fit(&l, screen->rows - FRAME_ROWS);
	rows = sum(&l) + FRAME_ROWS;
	box = draw_part(screen, (screen->rows - rows) / 2, (screen->cols - cols) / 2, rows, cols);
	draw_fill(&box, 0, 0, rows, cols, STYLE_NORMAL, ' ');
	dialog_title(d, title, sizeof(title) - 64);
	if (refused)
		snprintf(title + strlen(title), 64, ": REFUSED%s",
			 d->members_only ? ", it holds your own" : "");
	draw_box(&box, refused ? STYLE_WARNING : STYLE_HEADER,
		 d->signal == SIGKILL ? STYLE_WARNING : STYLE_KEY, title);
	box = draw_part(&box, 1, 2, rows - FRAME_ROWS, cols - 4);
	draw_parts(d, h, &box, &l, &head, &notes, &question);
}
