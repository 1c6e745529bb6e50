#include "tui/frame.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/suspect.h"
#include "tui/facts.h"

#define COMMAND_MIN 16   /* cells that a command keeps beside a note */
#define NOTE_MIN_COLS 64 /* a narrower screen has no notes: the pane has them */

static const struct {
	const char *name;
	int width;  /* 0: as wide as what is in it */
	bool right; /* aligned */
} fields[] = {
	[FIELD_FLAGS] = {"FLAGS", 6, false}, [FIELD_PID] = {"PID", 0, true},
	[FIELD_PPID] = {"PPID", 0, true},    [FIELD_PGID] = {"PGID", 0, true},
	[FIELD_SID] = {"SID", 0, true},      [FIELD_STATE] = {"S", 1, false},
	[FIELD_START] = {"START", 8, true},  [FIELD_AFTER] = {"AFTER", 6, true},
	[FIELD_CPU] = {"CPU%", 5, true},     [FIELD_RSS] = {"RSS", 5, true},
	[FIELD_USER] = {"USER", 0, false},
};

static void choose_fields(struct frame *f)
{
	static const struct {
		int cols;
		enum field fields[FRAME_FIELDS_MAX];
	} host[] =
		{
			{120,
			 {FIELD_PID, FIELD_PPID, FIELD_PGID, FIELD_SID, FIELD_STATE, FIELD_START,
			  FIELD_CPU, FIELD_RSS, FIELD_USER}},
			{100,
			 {FIELD_PID, FIELD_PGID, FIELD_SID, FIELD_START, FIELD_CPU, FIELD_USER}},
			{80, {FIELD_PID, FIELD_STATE, FIELD_START, FIELD_CPU, FIELD_USER}},
			{60, {FIELD_PID, FIELD_START}},
			{0, {FIELD_PID}},
		},
	  run[] = {
		  {120,
		   {FIELD_FLAGS, FIELD_PID, FIELD_PPID, FIELD_STATE, FIELD_START, FIELD_AFTER,
		    FIELD_CPU, FIELD_RSS, FIELD_USER}},
		  {100,
		   {FIELD_FLAGS, FIELD_PID, FIELD_PPID, FIELD_STATE, FIELD_START, FIELD_AFTER}},
		  {80, {FIELD_FLAGS, FIELD_PID, FIELD_PPID, FIELD_STATE, FIELD_AFTER}},
		  {60, {FIELD_FLAGS, FIELD_PID, FIELD_AFTER}},
		  {0, {FIELD_FLAGS, FIELD_PID}},
	  };
	bool is_run = f->v->list == LIST_RUN;
	bool over = f->v->run.over_ticks != 0;
	int n = 0, at = 0;

	while (f->a->cols < (is_run ? run[at].cols : host[at].cols))
		at++;
	for (int i = 0; i < FRAME_FIELDS_MAX; i++) {
		enum field field = is_run ? run[at].fields[i] : host[at].fields[i];

		if (field != FIELD_AFTER || over)
			f->fields[n++] = field;
	}
}

static int width_of(const struct frame *f, enum field field)
{
	if (fields[field].width)
		return fields[field].width;
	return field == FIELD_USER ? f->user_width : f->pid_width;
}

void frame_lay_out(struct frame *f)
{
	pid_t most = f->t->procs.n ? f->t->procs.v[f->t->procs.n - 1].id.pid : 0;
	int x = FRAME_LEFT, rest;

	f->pid_width = 5;
	for (pid_t p = most; p > 99999; p /= 10)
		f->pid_width++;
	f->user_width = 4;
	for (size_t i = 0; i < f->t->procs.n; i++) {
		const struct detail *d = f->t->procs.v[i].detail;

		if (d && (int)d->user.len > f->user_width)
			f->user_width = d->user.len < 8 ? (int)d->user.len : 8;
	}
	choose_fields(f);
	for (int i = 0; f->fields[i] != FIELD_END; i++)
		x += width_of(f, f->fields[i]) + 1;
	f->command_x = x;
	rest = f->a->cols - x;
	f->note_x = f->a->cols >= NOTE_MIN_COLS && rest > 2 * COMMAND_MIN
			    ? x + (rest * 11 / 20 > COMMAND_MIN ? rest * 11 / 20 : COMMAND_MIN)
			    : 0;
}

void frame_draw_names(const struct frame *f)
{
	int x = FRAME_LEFT;

	for (int i = 0; f->fields[i] != FIELD_END; i++) {
		int w = width_of(f, f->fields[i]);
		const char *name = fields[f->fields[i]].name;

		if (fields[f->fields[i]].right)
			draw_right(f->a, 0, x + w, STYLE_HEADER, name);
		else
			draw_text(f->a, 0, x, STYLE_HEADER, name);
		x += w + 1;
	}
	draw_text(f->a, 0, x, STYLE_HEADER, "COMMAND");
}

/* --- one process ----------------------------------------------------------- */

void frame_draw_flags(const struct frame *f, int y, int x, const struct process *p, bool dead)
{
	static const enum style roles[] = {STYLE_SUSPECT,  STYLE_DETACHED, STYLE_DETACHED,
					   STYLE_SURVIVOR, STYLE_SURVIVOR, STYLE_AUTHORITY};
	char flags[7];

	run_flags(f->v->has_run ? &f->v->run : NULL, p, flags);
	for (int i = 0; i < 6; i++) {
		char one[2] = {flags[i], '\0'};
		enum style s = flags[i] == '-' ? STYLE_DIM : dead ? STYLE_ENDED : roles[i];

		draw_text(f->a, y, x + i, s, one);
	}
}

/* The time since the run was over: "+8:01", "+2h05".  Where it was over before, at least so much:
 * ">8:01"; whether what is older began after the end is not known: "?". */
static void after(const struct frame *f, const struct process *p, char out[static 12])
{
	uint64_t hz = (uint64_t)f->t->host.ticks_per_second, s;
	char sign = f->v->run.over_before ? '>' : '+';

	snprintf(out, 12, "%s", f->v->run.over_before ? "?" : "");
	if (!f->v->run.over_ticks || p->id.start <= f->v->run.over_ticks || !hz)
		return;
	s = (p->id.start - f->v->run.over_ticks) / hz;
	if (s < 3600)
		snprintf(out, 12, "%c%" PRIu64 ":%02" PRIu64, sign, s / 60, s % 60);
	else
		snprintf(out, 12, "%c%" PRIu64 "h%02" PRIu64, sign, s / 3600 % 1000000,
			 s % 3600 / 60);
}

static void field_text(const struct frame *f, enum field field, const struct process *p,
		       struct line *l)
{
	char text[16];

	switch (field) {
	case FIELD_PID:
		line_add(l, "%d", p->id.pid);
		break;
	case FIELD_PPID:
		line_add(l, "%d", p->ppid);
		break;
	case FIELD_PGID:
		line_add(l, "%d", p->pgid);
		break;
	case FIELD_SID:
		line_add(l, "%d", p->sid);
		break;
	case FIELD_STATE:
		line_add(l, "%c", p->state == 'X' ? '-' : p->state);
		break;
	case FIELD_START:
		facts_when(&f->t->host, facts_wall_ns(&f->t->host, p->id.start), text);
		line_add(l, "%s", text);
		break;
	case FIELD_AFTER:
		after(f, p, text);
		line_add(l, "%s", text);
		break;
	case FIELD_CPU:
		line_add(l, "%u.%u", p->cpu_permille / 10, p->cpu_permille % 10);
		break;
	case FIELD_RSS:
		facts_size(p->rss_kb, text);
		line_add(l, "%s", text);
		break;
	case FIELD_USER:
		facts_user(l, p);
		break;
	case FIELD_FLAGS:
	case FIELD_END:
		break;
	}
}

static enum style field_style(enum field field, const struct process *p, bool dead)
{
	if (dead)
		return STYLE_ENDED;
	if (field == FIELD_PID)
		return STYLE_NORMAL;
	if (field == FIELD_CPU && p->cpu_permille >= 500)
		return STYLE_SUSPECT;
	if (field == FIELD_STATE && strchr("DTtZ", p->state))
		return STYLE_SURVIVOR;
	return STYLE_DIM;
}

static void draw_fields(const struct frame *f, int y, const struct process *p, bool dead)
{
	int x = FRAME_LEFT;

	for (int i = 0; f->fields[i] != FIELD_END; i++) {
		enum field field = f->fields[i];
		int w = width_of(f, field);
		struct line l;

		line_start(&l, f->v->o.ascii);
		field_text(f, field, p, &l);
		if (field == FIELD_FLAGS)
			frame_draw_flags(f, y, x, p, dead);
		else if (fields[field].right)
			draw_right(f->a, y, x + w, field_style(field, p, dead), l.text);
		else
			draw_cut(f->a, y, x, w, field_style(field, p, dead), l.text);
		x += w + 1;
	}
}

static int draw_branches(const struct frame *f, int y, const struct tree_row *t)
{
	int x = f->command_x - f->v->sideways;
	struct area part = draw_part(f->a, y, f->command_x, 1, f->a->cols - f->command_x);

	x -= f->command_x;
	for (int d = 1; d < t->depth; d++, x += 2)
		draw_text(&part, 0, x, STYLE_DIM, d < 32 && t->bars & 1u << d ? "│ " : "  ");
	if (t->depth > 0)
		x = draw_text(&part, 0, x, STYLE_DIM, t->last ? "└ " : "├ ");
	return x + f->command_x;
}

static enum style command_style(const struct frame *f, const struct process *p)
{
	char flags[7];

	if (p->survived)
		return STYLE_SURVIVOR;
	if (p->connections)
		return STYLE_AUTHORITY;
	if (f->v->list != LIST_RUN)
		return f->v->list == LIST_ALL && p->suspect ? STYLE_SUSPECT : STYLE_NORMAL;
	if (!run_is_member(p))
		return STYLE_NORMAL;
	run_flags(&f->v->run, p, flags);
	return flags[1] != '-' ? STYLE_DETACHED : STYLE_MEMBER;
}

static void note_parent(const struct frame *f, const struct process *p, struct line *l)
{
	const struct ghost *g;
	char when[9];

	if (p->reparented == KNOWN_NOT || !identity_known(p->parent_was) ||
	    table_find(f->t, p->parent_was))
		return;
	line_add(l, "forked by %d", p->parent_was.pid);
	g = tracker_ghost(f->v->k, p->parent_was);
	if (!g)
		return;
	line_add(l, " ");
	facts_name(l, &g->p);
	clock_hms(g->gone_wall_ns, when);
	line_add(l, ", gone %s", when);
}

static void note_evidence(const struct process *p, struct line *l)
{
	line_add(l, "possible: ");
	for (unsigned i = 0, n = 0; i < EVIDENCE_COUNT; i++)
		if (p->evidence & 1u << i)
			line_add(l, "%s%s", n++ ? ", " : "", evidence_name(1u << i));
}

static enum style note_member(const struct frame *f, const struct process *p, struct line *l)
{
	if (p->evidence && !run_is_member(p)) {
		note_evidence(p, l);
		return STYLE_DIM;
	}
	facts_resists(l, p);
	if (l->len)
		return STYLE_SURVIVOR;
	note_parent(f, p, l);
	if (!l->len && p->cpu_permille >= 50 && f->a->cols < 120)
		line_add(l, "cpu %u.%u%%", p->cpu_permille / 10, p->cpu_permille % 10);
	return STYLE_DIM;
}

static void note_death(const struct frame *f, const struct process *p, struct line *l)
{
	const struct ghost *g = tracker_ghost(f->v->k, p->id);
	uint64_t at = g ? g->gone_wall_ns : gone_when(&f->v->gone, identity_tag(p->id));
	char when[9];

	clock_hms(at, when);
	if (at)
		line_add(l, "gone %s", when);
	else
		line_add(l, p->state == 'Z' ? "dead, its parent has not reaped it" : "gone");
}

static enum style make_note(const struct frame *f, const struct row *row, struct line *l)
{
	const struct process *p = row->t.p;
	struct line reasons;

	line_start(l, f->v->o.ascii);
	if (row_is_dead(row)) {
		note_death(f, p, l);
		return STYLE_ENDED;
	}
	if (p->remote.data) {
		line_add(l, "⇄ ");
		line_bytes(l, &p->remote, 40);
		return p->connections ? STYLE_AUTHORITY : STYLE_SUSPECT;
	}
	if (f->v->has_run && p->evidence)
		return note_member(f, p, l);
	if (!p->suspect) {
		const char *mux = suspect_multiplexer(p);

		line_add(l, "%s", mux ? mux : "");
		return STYLE_DIM;
	}
	/* what an act must know comes first; the session's row and the tree say the rest */
	if (p->detail && sigmask_has(p->detail->sig_ignored, SIGTERM))
		line_add(l, "ignores TERM");
	line_start(&reasons, l->ascii);
	facts_reasons(&reasons, p,
		      SUSPECT_LEADER_GONE | SUSPECT_TTY_CLOSED |
			      (row->t.depth > 0 ? SUSPECT_CHILD : 0u));
	if (reasons.len)
		line_comma(l);
	line_add(l, "%s", reasons.text);
	return STYLE_SUSPECT;
}

void frame_draw_process(const struct frame *f, int y, const struct row *row)
{
	const struct process *p = row->t.p;
	bool dead = row_is_dead(row);
	enum style style = dead ? STYLE_ENDED : command_style(f, p), note_style;
	int x, end = f->a->cols;
	struct line note, command;

	note_style = make_note(f, row, &note);
	draw_fields(f, y, p, dead);
	x = draw_branches(f, y, &row->t);
	if (note.len && f->note_x && !f->v->sideways) {
		draw_cut(f->a, y, f->note_x, f->a->cols - f->note_x, note_style, note.text);
		end = f->note_x - 1;
	}
	line_start(&command, f->v->o.ascii);
	facts_command(&command, p, end - x + f->v->sideways);
	if (x >= f->command_x) {
		draw_cut(f->a, y, x, end - x, style, command.text);
	} else {
		struct area part = draw_part(f->a, y, f->command_x, 1, end - f->command_x);

		draw_text(&part, 0, x - f->command_x, style, command.text);
	}
	if (tagset_has(&f->v->tagged, identity_tag(p->id))) {
		draw_text(f->a, y, 1, STYLE_TAGGED, "*");
		draw_restyle(f->a, y, FRAME_LEFT, f->command_x - FRAME_LEFT, STYLE_TAGGED);
	}
}
