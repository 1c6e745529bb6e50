#include "tui/dialog.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/facts.h"
#include "tui/keymap.h"

void dialog_close(struct dialog *d)
{
	plan_clear(&d->plan);
	free(d->ids.v);
	free(d->added.v);
	memset(d, 0, sizeof(*d));
}

bool dialog_asks_count(const struct dialog *d)
{
	return d->members_only || d->plan.confirm;
}

void dialog_title(const struct dialog *d, char *out, size_t size)
{
	static const char *const verbs[] = {
		[ACT_SIGNAL] = NULL,
		[ACT_END] = "END (TERM, grace, KILL) of",
		[ACT_FREEZE] = "FREEZE of",
		[ACT_THAW] = "THAW of",
	};
	char name[8];

	if (verbs[d->act.kind])
		snprintf(out, size, "%s %s", verbs[d->act.kind], d->unit);
	else
		snprintf(out, size, "%s to %s", facts_signal(d->signal, name), d->unit);
}

static void name_unit(struct dialog *d, const struct dialog_host *h)
{
	size_t n = sizeof(d->unit);

	if (d->scope == SCOPE_RUN && h->run)
		text_safe(d->unit, n, h->run->id, strlen(h->run->id), false);
	else if (d->scope == SCOPE_PROCESS && d->tagged)
		snprintf(d->unit, n, "%zu picked processes", d->ids.n);
	else if (d->scope == SCOPE_PROCESS)
		snprintf(d->unit, n, "process %d", d->ids.n ? d->ids.v[0].pid : 0);
	else
		snprintf(d->unit, n, "%s %d", d->scope == SCOPE_SESSION ? "session" : "group",
			 d->plan.number);
}

static bool is_added(const struct dialog *d, struct identity id)
{
	for (size_t i = 0; i < d->added.n; i++)
		if (identity_same(d->added.v[i], id))
			return true;
	return false;
}

static int make(struct dialog *d, const struct dialog_host *h, enum scope scope, struct plan *out,
		struct err *err)
{
	struct aim aim = {
		.scope = scope,
		.signal = d->signal,
		.ids = d->ids.v,
		.n_ids = d->ids.n,
		.added = d->added.v,
		.n_added = d->added.n,
	};

	return plan_make(h->now, h->run, &aim, out, err);
}

/*
 * Where no run says who is a member: nobody is hit but those that were added.
 * whole is the plan of the unit that is refused; what it would hit is offered.
 */
static int plan_added(struct dialog *d, const struct dialog_host *h, struct plan *whole,
		      struct err *err)
{
	struct aim aim = {
		.scope = SCOPE_PROCESS,
		.signal = d->signal,
		.ids = d->added.v,
		.n_ids = d->added.n,
	};
	int r = plan_make(h->now, NULL, &aim, &d->plan, err);

	for (size_t i = 0; !r && i < whole->hit.n; i++)
		if (!is_added(d, whole->hit.v[i].id) &&
		    !VEC_PUSH(&d->plan.strangers, whole->hit.v[i]))
			r = err_nomem(err);
	for (size_t i = 0; !r && i < whole->own.n; i++)
		if (!VEC_PUSH(&d->plan.own, whole->own.v[i]))
			r = err_nomem(err);
	d->plan.number = whole->number;
	return r;
}

/* The unit holds stray or an ancestor of it: its members are offered one by one. */
static int offer_members(struct dialog *d, const struct dialog_host *h, struct err *err)
{
	struct plan whole = d->plan;
	int r;

	d->members_only = true;
	snprintf(d->refused, sizeof(d->refused), "%s", whole.refused);
	memset(&d->plan, 0, sizeof(d->plan));
	r = h->run ? make(d, h, SCOPE_MEMBERS, &d->plan, err) : plan_added(d, h, &whole, err);
	plan_clear(&whole);
	return r;
}

static int plan(struct dialog *d, const struct dialog_host *h, struct err *err)
{
	int r;

	plan_clear(&d->plan);
	d->members_only = false;
	d->refused[0] = '\0';
	r = make(d, h, d->scope, &d->plan, err);
	if (!r && d->scope == SCOPE_GROUP && d->plan.own.n)
		r = offer_members(d, h, err);
	name_unit(d, h);
	d->count.digits_only = true;
	return r;
}

int dialog_open(struct dialog *d, const struct dialog_host *h, const struct dialog_aim *aim,
		struct err *err)
{
	int r = 0;

	dialog_close(d);
	d->act = (struct act_options){.kind = aim->kind, .grace_ns = ACT_GRACE_NS};
	d->signal = aim->signal;
	d->scope = aim->scope;
	d->tagged = aim->tagged;
	for (size_t i = 0; !r && i < aim->n_ids; i++)
		if (!VEC_PUSH(&d->ids, aim->ids[i]))
			r = err_nomem(err);
	if (!r)
		r = plan(d, h, err);
	if (r < 0)
		dialog_close(d);
	else
		d->open = true;
	return r;
}

int dialog_again(struct dialog *d, const struct dialog_host *h, const char *changed,
		 struct err *err)
{
	int r = plan(d, h, err);

	snprintf(d->problem, sizeof(d->problem), "nothing was sent: %s: look again", changed);
	d->blocked = false;
	lineedit_set(&d->count, "");
	d->drawn = false;
	return r;
}

void dialog_block(struct dialog *d, const char *why)
{
	if (!why)
		return;
	d->blocked = true;
	snprintf(d->problem, sizeof(d->problem), "%s: nothing can be recorded, so nothing is sent",
		 why);
}

static bool scope_makes_sense(const struct dialog *d, const struct dialog_host *h, enum scope s)
{
	switch (s) {
	case SCOPE_PROCESS:
		return d->ids.n > 0;
	case SCOPE_GROUP:
	case SCOPE_SESSION:
		return d->ids.n == 1 && !d->tagged;
	case SCOPE_RUN:
		return h->run != NULL;
	case SCOPE_MEMBERS:
		break;
	}
	return false;
}

static int turn_scope(struct dialog *d, const struct dialog_host *h, int by)
{
	int s = (int)d->scope;
	struct err err = {0};

	do
		s = (s + by + SCOPE_MEMBERS) % SCOPE_MEMBERS;
	while (!scope_makes_sense(d, h, (enum scope)s) && s != (int)d->scope);
	d->scope = (enum scope)s;
	d->added.n = 0;
	d->cursor = d->top = 0;
	lineedit_set(&d->count, "");
	if (!d->blocked)
		d->problem[0] = '\0';
	return plan(d, h, &err);
}

/* Space: the stranger under the cursor is hit too, or is spared again. */
static int include(struct dialog *d, const struct dialog_host *h)
{
	struct plan *p = &d->plan;
	struct err err = {0};
	struct identity id;

	if (!d->members_only || d->cursor >= p->hit.n + p->strangers.n)
		return 0;
	id = d->cursor < p->hit.n ? p->hit.v[d->cursor].id
				  : p->strangers.v[d->cursor - p->hit.n].id;
	if (is_added(d, id)) {
		for (size_t i = 0; i < d->added.n; i++)
			if (identity_same(d->added.v[i], id))
				d->added.v[i--] = d->added.v[--d->added.n];
	} else if (d->cursor < p->hit.n) {
		return 0; /* a member: it is what this is about */
	} else if (!VEC_PUSH(&d->added, id)) {
		return -ENOMEM;
	}
	lineedit_set(&d->count, "");
	return plan(d, h, &err);
}

static enum dialog_result confirm(struct dialog *d)
{
	char wanted[24];

	if (d->blocked)
		return DIALOG_STAYS;
	if (d->plan.refused[0] || !d->plan.hit.n) {
		snprintf(d->problem, sizeof(d->problem), "nothing to send: %s",
			 d->members_only ? "nobody would be hit: Space adds one" : d->plan.refused);
		return DIALOG_STAYS;
	}
	snprintf(wanted, sizeof(wanted), "%zu", d->plan.hit.n);
	if (dialog_asks_count(d) && strcmp(d->count.text, wanted) != 0) {
		snprintf(d->problem, sizeof(d->problem),
			 "type %s, the number that will be hit, then Enter", wanted);
		return DIALOG_STAYS;
	}
	return DIALOG_SEND;
}

static void move(struct dialog *d, long by)
{
	long n = (long)(d->plan.hit.n + d->plan.strangers.n), to = (long)d->cursor + by;

	if (to >= n)
		to = n - 1;
	d->cursor = to < 0 ? 0 : (size_t)to;
}

static enum dialog_result action(struct dialog *d, const struct dialog_host *h, enum action a)
{
	switch (a) {
	case ACTION_UP:
		move(d, -1);
		return DIALOG_STAYS;
	case ACTION_DOWN:
		move(d, 1);
		return DIALOG_STAYS;
	case ACTION_PAGE_UP:
		move(d, -8);
		return DIALOG_STAYS;
	case ACTION_PAGE_DOWN:
		move(d, 8);
		return DIALOG_STAYS;
	case ACTION_SCOPE:
	case ACTION_NEXT_CHOICE:
		return turn_scope(d, h, 1) < 0 ? DIALOG_FULL : DIALOG_STAYS;
	case ACTION_SCOPE_BACK:
	case ACTION_PREV_CHOICE:
		return turn_scope(d, h, -1) < 0 ? DIALOG_FULL : DIALOG_STAYS;
	case ACTION_FIRST_FREEZE:
		if (d->act.kind == ACT_SIGNAL || d->act.kind == ACT_END)
			d->act.freeze_first = !d->act.freeze_first;
		return DIALOG_STAYS;
	case ACTION_INCLUDE:
		return include(d, h) < 0 ? DIALOG_FULL : DIALOG_STAYS;
	case ACTION_CONFIRM:
		return confirm(d);
	case ACTION_BACK:
	case ACTION_CANCEL:
		return DIALOG_CANCEL;
	default:
		return DIALOG_STAYS;
	}
}

enum dialog_result dialog_input(struct dialog *d, const struct dialog_host *h,
				const struct input *in)
{
	const struct keymap_entry *e;

	/* a paste is never an answer, and what came before the dialog was seen is none */
	if (!d->drawn || in->kind != INPUT_KEY)
		return DIALOG_STAYS;
	if (dialog_asks_count(d) && ((in->key >= '0' && in->key <= '9') ||
				     in->key == INPUT_BACKSPACE || in->key == INPUT_CTRL('U'))) {
		if (d->count.len || in->key != INPUT_BACKSPACE)
			lineedit_input(&d->count, in);
		if (!d->blocked)
			d->problem[0] = '\0';
		return DIALOG_STAYS;
	}
	e = keymap_find(in->key, KEYMAP_DIALOG);
	return e ? action(d, h, e->action) : DIALOG_STAYS;
}
