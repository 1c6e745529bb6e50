/* A recorded run in view: its state, what its journal covers, and what is wrong with that. */
#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tui/facts.h"
#include "tui/runwords.h"

#define BAR_CELLS 12

bool view_may_record(const struct view *v)
{
	return !v->o.readonly && !(v->k->now->coverage.sources & 1u << SOURCE_REPLAY);
}

void view_recorded(struct view *v)
{
	const struct vigil *g = v->vigil;
	const struct err *why = &g->trouble;

	if (g->recorded.run.over_ticks) {
		v->run.over_ticks = g->recorded.run.over_ticks;
		v->run.over_before = false;
	}
	if (why->code && !v->told_unwritten) {
		v->bell = true;
		view_say(v, STYLE_WARNING, "not written to the journal: %s", why->text);
	}
	v->told_unwritten = why->code != 0;
}

/* Since when it is what it is; 0: not known, as nothing is written of it yet. */
static uint64_t state_since(const struct vigil *g)
{
	const struct story *s = &g->recorded.story;

	if (g->state == RUN_EXPIRED && s->record.deadline_wall_ns)
		return s->record.deadline_wall_ns;
	return g->state == s->state ? s->state_wall_ns : 0;
}

int view_draw_state(const struct view *v, const struct area *a, int y, int x)
{
	const struct vigil *g = v->vigil;
	const struct story *s = &g->recorded.story;
	uint64_t now = v->k->now->host.wall_ns, deadline = s->record.deadline_wall_ns;
	struct line l;

	x = draw_text(a, y, x, runwords_style(g->state), runwords_state(g->state));
	line_start(&l, v->o.ascii);
	if (g->state == RUN_ACTIVE && deadline) {
		char left[16] = "0s";

		if (deadline > now)
			clock_age((deadline - now) / CLOCK_NS_PER_S, left);
		runwords_bar(&l, run_record_began(&s->record), deadline, now, BAR_CELLS);
		line_add(&l, " %s left", left);
	} else if (g->state != RUN_ACTIVE) {
		runwords_ago(&l, g->state == RUN_ENDING ? "asked " : "", state_since(g), now);
	}
	if (l.len)
		x = draw_text(a, y, x + 1, STYLE_NORMAL, l.text);
	return draw_text(a, y, x, STYLE_DIM, " · ");
}

void view_add_gap(const struct view *v, struct line *l)
{
	const struct vigil *g = v->vigil;
	char from[9], to[9];

	if (!g || !g->gap_to_ns)
		return;
	clock_hms(g->gap_from_ns, from);
	clock_hms(g->gap_to_ns, to);
	line_add(l, "nobody watched from %s to %s", from, to);
	if (g->gap_lost)
		line_add(l, " (who watched before died)");
}

static void add_watch(const struct view *v, struct line *l)
{
	const struct vigil *g = v->vigil;

	const struct run_record *r = &g->recorded.story.record;

	if (g->other && r->launched)
		line_add(l, "held by its warden %d", (int)r->warden.pid);
	else if (g->other)
		line_add(l, "watched by another stray");
	else if (!g->writes)
		line_add(l, "not watched: nothing is written from here");
	else
		line_add(l, "watched");
}

/* Members that are alive and moved out of the run's cgroup. */
static size_t count_left(const struct view *v)
{
	const struct table *t = v->k->now;
	size_t n = 0;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		n += p->evidence && !process_is_dead(p) && run_left_cgroup(&v->run, p);
	}
	return n;
}

/* What holds a launched run; nothing for an adopted one, which nothing holds. */
static int draw_unit(const struct view *v, const struct area *a, int y, int x)
{
	const struct run_record *r = &v->vigil->recorded.story.record;
	size_t left;
	struct line l;

	if (!r->launched)
		return x;
	left = count_left(v);
	line_start(&l, v->o.ascii);
	line_add(&l, "%s", r->unit_kind);
	if (r->run.cgroup.data && left)
		line_add(&l, ", %zu LEFT IT", left);
	else if (r->run.cgroup.data)
		line_add(&l, ", none left it");
	x = draw_text(a, y, x, STYLE_HEADER, "unit: ");
	x = draw_text(a, y, x, left ? STYLE_WARNING : STYLE_DIM, l.text);
	return draw_text(a, y, x, STYLE_DIM, " · ");
}

void view_draw_journal(const struct view *v, const struct area *a, int y)
{
	const struct vigil *g = v->vigil;
	const struct err *why = g->damage.code ? &g->damage : &g->trouble;
	char safe[320];
	struct line l;
	bool heard;
	int x;

	if (why->code) {
		text_safe(safe, sizeof(safe), why->text, strlen(why->text), v->o.ascii);
		x = draw_text(a, y, 1, STYLE_WARNING,
			      g->damage.code ? "journal: " : "not written: ");
		draw_cut(a, y, x, a->cols - x - 1, STYLE_WARNING, safe);
		return;
	}
	line_start(&l, v->o.ascii);
	heard = facts_seen(v->k->now, &l);
	line_add(&l, " · ");
	add_watch(v, &l);
	if (g->gap_to_ns)
		line_add(&l, " · ");
	view_add_gap(v, &l);
	if (!heard)
		line_add(&l, " · not what lived between two");
	x = draw_unit(v, a, y, 1);
	x = draw_text(a, y, x, STYLE_HEADER, "seen: ");
	draw_cut(a, y, x, a->cols - x - 1, STYLE_DIM, l.text);
}
