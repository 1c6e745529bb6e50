#include "model/suspect.h"

#include "model/excuse.h"
#include "model/lineage.h"
#include "model/origin.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const struct {
	const char *words, *name;
	unsigned weight;
} reasons[SUSPECT_COUNT] = {
	{"parent gone", "reparented", 30},
	{"session leader gone", "leader_gone", 20},
	{"terminal closed", "tty_closed", 25},
	{"working directory deleted", "cwd_deleted", 15},
	{"marked by work that is gone", "mark", 35},
	{"ignores HUP, login closed", "hup_ignored", 25},
	{"child of a suspect", "child", 5},
};

/* More than all reasons together: what is connected can act. */
#define WEIGHT_CONNECTED 200

static unsigned bit_index(unsigned bit)
{
	return (unsigned)__builtin_ctz(bit);
}

const char *suspect_reason(unsigned bit)
{
	return reasons[bit_index(bit)].words;
}

const char *suspect_name(unsigned bit)
{
	return reasons[bit_index(bit)].name;
}

unsigned suspect_weight(const struct process *p)
{
	unsigned w = 0;

	for (unsigned i = 0; i < SUSPECT_COUNT; i++)
		if (p->suspect & 1u << i)
			w += reasons[i].weight;
	return p->connections ? w + WEIGHT_CONNECTED : w;
}

const char *suspect_multiplexer(const struct process *p)
{
	static const char *const paths[] = {
		"/usr/bin/tmux",  "/usr/bin/screen", "/usr/bin/zellij",
		"/usr/bin/dtach", "/usr/bin/abduco",
	};

	/* Only as installed by the system: a name of its own choice proves nothing. */
	for (size_t i = 0; p->detail && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (bytes_is(&p->detail->exe, paths[i]))
			return paths[i] + strlen("/usr/bin/");
	return NULL;
}

const char *suspect_mark(const struct process *p)
{
	return p->detail && p->detail->n_marks ? p->detail->marks[0].name : NULL;
}

/* What the judge notes of each process on its way down the family. */
struct note {
	uint32_t unset;     /* bit i: who set its mark i is gone */
	uint32_t of_unit;   /* bit i: ... that was the manager of its unit, which lives */
	uint32_t manager;   /* index of the user manager above it; FAMILY_NONE: none */
	bool below_suspect; /* it or one above it is a suspect */
};

#define MARKS_MAX 32 /* more than there are known ones: further ones are no reason */

struct judge {
	struct table *t;
	const struct family *f;
	struct excuses excuses;
	struct note *notes;
};

static struct process *parent_of(const struct judge *j, size_t i)
{
	uint32_t parent = j->f->parent[i];

	return parent == FAMILY_NONE ? NULL : &j->t->procs.v[parent];
}

static size_t mark_index(const struct process *p, const struct mark *m)
{
	size_t n = p->detail ? p->detail->n_marks : 0;

	for (size_t i = 0; i < n && i < MARKS_MAX; i++)
		if (strcmp(p->detail->marks[i].name, m->name) == 0 &&
		    strcmp(p->detail->marks[i].value, m->value) == 0)
			return i;
	return MARKS_MAX;
}

/*
 * A mark is set by a parent for its children, so the topmost carrier's parent
 * set it, and need not carry it itself: the work is gone only where that parent
 * is gone, that is, where the topmost carrier hangs below a reaper.
 */
static bool setter_gone(const struct table *t, const struct process *top,
			const struct process *parent)
{
	if (lineage_parent_outside(t, top))
		return false;
	if (!parent)
		return table_shows_all(t);
	return lineage_is_reaper(parent) || top->reparented != KNOWN_NOT;
}

/* Each mark is its parent's, if that carries it; else p is the topmost carrier. */
static void note_marks(struct judge *j, size_t i)
{
	const struct process *p = &j->t->procs.v[i], *parent = parent_of(j, i);
	size_t n = p->detail ? p->detail->n_marks : 0;
	struct note *note = &j->notes[i];

	for (size_t m = 0; m < n && m < MARKS_MAX; m++) {
		size_t above = parent ? mark_index(parent, &p->detail->marks[m]) : MARKS_MAX;
		bool unset, of_unit;

		if (above < MARKS_MAX) {
			unset = j->notes[j->f->parent[i]].unset >> above & 1;
			of_unit = j->notes[j->f->parent[i]].of_unit >> above & 1;
		} else {
			unset = setter_gone(j->t, p, parent);
			of_unit = unset &&
				  excuses_mark_is_units(&j->excuses, i, &p->detail->marks[m]);
		}
		note->unset |= (uint32_t)unset << m;
		note->of_unit |= (uint32_t)of_unit << m;
	}
}

static void note(struct judge *j, size_t i)
{
	uint32_t above = j->f->parent[i];

	if (origin_is_user_manager(&j->t->procs.v[i]))
		j->notes[i].manager = (uint32_t)i;
	else
		j->notes[i].manager = above == FAMILY_NONE ? above : j->notes[above].manager;
	note_marks(j, i);
}

static enum login_state login_state(const struct judge *j, size_t i)
{
	uint32_t manager = j->notes[i].manager;

	return origin_login_state_below(j->t, &j->t->procs.v[i],
					manager == FAMILY_NONE ? NULL : &j->t->procs.v[manager]);
}

static unsigned own_reasons(const struct judge *j, size_t i)
{
	const struct process *p = &j->t->procs.v[i];
	const struct detail *d = p->detail;
	unsigned bits = 0;

	if (p->reparented != KNOWN_NOT)
		bits |= SUSPECT_REPARENTED;
	if (lineage_leader_gone_at(j->t, j->f, i))
		bits |= SUSPECT_LEADER_GONE;
	if (p->tty_closed)
		bits |= SUSPECT_TTY_CLOSED;
	if (d && d->cwd_deleted)
		bits |= SUSPECT_CWD_DELETED;
	if (j->notes[i].unset)
		bits |= SUSPECT_MARK;
	if (d && sigmask_has(d->sig_ignored, SIGHUP) && login_state(j, i) == LOGIN_CLOSED)
		bits |= SUSPECT_HUP_IGNORED;
	return bits;
}

/* The reasons that p's origin explains (doc/ARCHITECTURE.md). */
static unsigned explained_bits(const struct judge *j, size_t i, unsigned bits)
{
	const struct process *p = &j->t->procs.v[i];
	bool own_marks = !(j->notes[i].unset & ~j->notes[i].of_unit);
	unsigned explained = excuses_explain(&j->excuses, i, bits);

	if (own_marks || p->origin == ORIGIN_KERNEL || p->origin == ORIGIN_INIT)
		explained |= bits & SUSPECT_MARK;
	if (suspect_multiplexer(p))
		explained |= bits & (SUSPECT_REPARENTED | SUSPECT_LEADER_GONE | SUSPECT_TTY_CLOSED |
				     SUSPECT_HUP_IGNORED);
	return explained;
}

static bool begins_origin(const struct process *p, const struct process *parent)
{
	if (p->origin != ORIGIN_SERVICE && p->origin != ORIGIN_CONTAINER)
		return false;
	return p->origin != parent->origin || !bytes_same(&p->origin_name, &parent->origin_name);
}

static bool cannot_be(const struct process *p)
{
	return process_is_kthread(p) || process_is_dead(p) || p->id.pid == 1;
}

static void judge_one(struct judge *j, size_t i)
{
	struct process *p = &j->t->procs.v[i];
	const struct process *parent = parent_of(j, i);
	unsigned bits = cannot_be(p) ? 0 : own_reasons(j, i);

	p->explained = bits ? (uint16_t)explained_bits(j, i, bits) : 0;
	p->suspect = (uint16_t)(bits & ~p->explained);
	if (parent && j->notes[j->f->parent[i]].below_suspect && !begins_origin(p, parent)) {
		j->notes[i].below_suspect = true;
		if (!cannot_be(p))
			p->suspect |= SUSPECT_CHILD;
	}
	j->notes[i].below_suspect |= p->suspect != 0;
}

int suspect_judge(struct table *t, const struct family *f, size_t *suspects)
{
	struct judge j = {.t = t, .f = f};
	int r = excuses_make(t, f, &j.excuses);
	size_t n = 0;

	j.notes = calloc(t->procs.n + 1, sizeof(*j.notes));
	if (!r && !j.notes)
		r = -ENOMEM;
	for (size_t k = 0; !r && k < f->n; k++)
		note(&j, f->order[k]);
	for (size_t k = 0; !r && k < f->n; k++) {
		judge_one(&j, f->order[k]);
		n += t->procs.v[f->order[k]].suspect != 0;
	}
	if (!r)
		*suspects = n;
	free(j.notes);
	excuses_free(&j.excuses);
	return r;
}
