/* The popups: which run, which user, which order, which signal. */
#include "tui/view.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/facts.h"

static unsigned count(const struct table *t, const char *target)
{
	struct selector s;
	struct err err = {0};
	unsigned n = 0;

	if (selector_parse(target, &s, &err) == 0)
		for (size_t i = 0; i < t->procs.n; i++)
			n += selector_matches(&s, &t->procs.v[i]) &&
			     !process_is_dead(&t->procs.v[i]);
	selector_free(&s);
	return n;
}

static void add_run(struct view *v, const char *text, const char *target)
{
	unsigned n = count(v->k->now, target);
	char right[32];

	snprintf(right, sizeof(right), "%u alive", n);
	if (n)
		menu_add(&v->menu, text, right, target, 0);
}

static void add_process_run(struct view *v, const struct process *p)
{
	struct line l;
	char target[64];

	line_start(&l, v->o.ascii);
	line_add(&l, "process %d ", p->id.pid);
	facts_name(&l, p);
	line_add(&l, ", and what it forks");
	snprintf(target, sizeof(target), "%d@%llu", p->id.pid, (unsigned long long)p->id.start);
	menu_add(&v->menu, l.text, "", target, 0);
}

/* The unit that started it: its whole cgroup. */
static void add_origin_run(struct view *v, const struct process *p)
{
	const struct detail *d = p->detail;
	char *target = NULL;
	struct line l;

	if (!d || d->cgroup.len < 2 || p->origin == ORIGIN_UNKNOWN || p->origin == ORIGIN_INIT)
		return;
	line_start(&l, v->o.ascii);
	line_add(&l, "origin: ");
	line_bytes(&l, &p->origin_name, 48);
	if (asprintf(&target, "cgroup:%s", d->cgroup.data) < 0)
		return;
	add_run(v, l.text, target);
	free(target);
}

/* All that carry its mark: what left the session too, but that an environment can be changed. */
static void add_mark_run(struct view *v, const struct process *p)
{
	const struct mark *m = p->detail && p->detail->n_marks ? &p->detail->marks[0] : NULL;
	struct bytes name = {m ? m->name : NULL, m ? strlen(m->name) : 0};
	char *target = NULL;
	struct line l;

	if (!m || asprintf(&target, "env:%s=%s", m->name, m->value) < 0)
		return;
	line_start(&l, v->o.ascii);
	line_add(&l, "mark: what carries this ");
	line_bytes(&l, &name, 40);
	add_run(v, l.text, target);
	free(target);
}

void view_open_run_menu(struct view *v)
{
	const struct process *p = view_process(v);
	char text[64], target[64];

	if (!p && !v->has_run) {
		view_say(v, STYLE_DIM, "no process stands in this row: a run is chosen by one");
		return;
	}
	menu_open(&v->menu, "Which run?",
		  view_may_record(v)
			  ? "Enter adopts it: recorded, and watched from now on · Esc none"
			  : "kept in memory only: nothing is recorded here · Esc none");
	v->popup = POPUP_RUN;
	if (v->has_run)
		menu_add(&v->menu, "no run: back to what looks left behind", "", NULL, 0);
	if (!p)
		return;
	add_process_run(v, p);
	snprintf(text, sizeof(text), "group %d", p->pgid);
	snprintf(target, sizeof(target), "pgid:%d", p->pgid);
	if (p->pgid > 1)
		add_run(v, text, target);
	snprintf(text, sizeof(text), "session %d", p->sid);
	snprintf(target, sizeof(target), "sid:%d", p->sid);
	if (p->sid > 1) {
		add_run(v, text, target);
		if (!v->has_run)
			v->menu.cursor = v->menu.items.n - 1;
	}
	add_origin_run(v, p);
	add_mark_run(v, p);
	if (p->detail && p->detail->audit_session >= 0) {
		snprintf(text, sizeof(text), "audit session %lld",
			 (long long)p->detail->audit_session);
		snprintf(target, sizeof(target), "audit:%lld", (long long)p->detail->audit_session);
		add_run(v, text, target);
	}
}

static void run_chosen(struct view *v, const struct menu_item *item)
{
	struct selector s = {0};
	struct err err = {0};
	int r = 0;

	if (item->value)
		r = selector_parse(item->value, &s, &err);
	if (!r)
		r = view_choose(v, item->value ? &s : NULL, &err);
	if (r < 0)
		view_say(v, STYLE_WARNING, "%s", err.text);
	else if (item->value && !view_may_record(v))
		view_say(v, STYLE_NORMAL, "%s is the run now, in memory only; r takes it back",
			 v->run.id);
	selector_free(&s);
}

void view_open_user_menu(struct view *v)
{
	const struct table *t = v->k->now;
	struct line l;

	menu_open(&v->menu, "Whose processes?", "Enter chooses · Esc leaves it");
	v->popup = POPUP_USER;
	menu_add(&v->menu, "everybody's", "", "", 0);
	for (size_t i = 0; t && i < t->procs.n; i++) {
		struct menu_item *found = NULL;

		line_start(&l, v->o.ascii);
		facts_user(&l, &t->procs.v[i]);
		for (size_t j = 1; !found && j < v->menu.items.n; j++)
			if (strcmp(v->menu.items.v[j].text, l.text) == 0)
				found = &v->menu.items.v[j];
		if (!found && menu_add(&v->menu, l.text, "", l.text, 0))
			found = &v->menu.items.v[v->menu.items.n - 1];
		if (!found)
			return;
		found->number++;
		snprintf(found->right, sizeof(found->right), "%d", found->number);
	}
}

void view_open_sort_menu(struct view *v)
{
	menu_open(&v->menu, "In which order?",
		  "made now, and kept: newcomers wait at the end until S is pressed again");
	v->popup = POPUP_SORT;
	for (int s = 0; s < SORT_COUNT; s++)
		menu_add(&v->menu, sort_name((enum sort)s), "", NULL, s);
	v->menu.cursor = v->sort;
}

static void settle(struct view *v)
{
	uint64_t tag = v->cursor_tag;
	bool lost = v->cursor_lost;

	view_rebuild(v, true);
	if (rows_find(&v->rows, tag) >= 0)
		v->cursor_lost = lost;
}

enum request view_menu_chosen(struct view *v)
{
	enum popup popup = v->popup;
	struct menu menu = v->menu;
	const struct menu_item *item = &menu.items.v[menu.cursor];
	enum request request = REQUEST_NONE;

	memset(&v->menu, 0, sizeof(v->menu));
	v->popup = POPUP_NONE;
	switch (popup) {
	case POPUP_RUN:
		run_chosen(v, item);
		request = REQUEST_RUN; /* also a scan: the members' connections are not known yet */
		break;
	case POPUP_USER:
		snprintf(v->user, sizeof(v->user), "%s", item->value ? item->value : "");
		settle(v);
		v->cursor_lost = false;
		break;
	case POPUP_SORT:
		v->sort = (enum sort)item->number;
		settle(v);
		break;
	case POPUP_SIGNAL:
		request = view_open_dialog(v, ACT_SIGNAL, item->number, SCOPE_GROUP);
		break;
	case POPUP_NONE:
		break;
	}
	menu_close(&menu);
	return request;
}
