#include "model/suspect.h"

#include "model/lineage.h"
#include "model/origin.h"
#include "model/units.h"

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
	uint64_t first_child; /* start of its oldest living child; UINT64_MAX: none */
	uint32_t unset;       /* bit i: who set its mark i is gone */
	uint32_t of_unit;     /* bit i: ... that was the manager of its unit, which lives */
	uint32_t manager;     /* index of the user manager above it; FAMILY_NONE: none */
	bool below_cron;      /* it or one above it is cron, atd */
	bool below_suspect;   /* it or one above it is a suspect */
};

#define MARKS_MAX 32 /* more than there are known ones: further ones are no reason */

struct judge {
	struct table *t;
	const struct family *f;
	struct note *notes;
	struct units units;
};

static struct process *parent_of(const struct judge *j, size_t i)
{
	uint32_t parent = j->f->parent[i];

	return parent == FAMILY_NONE ? NULL : &j->t->procs.v[parent];
}

static bool has_suffix(const struct bytes *name, const char *suffix)
{
	size_t n = strlen(suffix);

	return name->len >= n && memcmp(name->data + name->len - n, suffix, n) == 0;
}

static bool has_prefix(const struct bytes *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return name->len >= n && memcmp(name->data, prefix, n) == 0;
}

/* What a user manager was asked to start: a service, or a scope as desktops and snapd name
 * an application's, podman its helpers'.  A terminal's tab or a bare scope is none. */
static bool is_app(const struct process *p)
{
	const struct bytes *name = &p->origin_name;

	if (has_suffix(name, ".service"))
		return true;
	return has_suffix(name, ".scope") &&
	       (has_prefix(name, "app-") || has_prefix(name, "snap.") ||
		has_prefix(name, "podman-"));
}

/* Whether p is what its unit was started for. */
static bool is_main(const struct judge *j, size_t i)
{
	const struct process *p = &j->t->procs.v[i];

	switch ((enum origin_kind)p->origin) {
	case ORIGIN_SERVICE:
	case ORIGIN_CONTAINER:
	case ORIGIN_USER_MANAGER:
		return units_is_first(&j->units, i);
	case ORIGIN_USER_UNIT:
		return is_app(p) && units_is_first(&j->units, i);
	default:
		return false;
	}
}

/* cron or atd itself or its fork before the job: by its program, as installed by the
 * system; where that is not readable by its name, if it is root's. */
static bool is_cron(const struct process *p)
{
	static const char *const names[] = {"cron", "crond", "atd"};
	const struct detail *d = p->detail;
	const char *base;

	if (p->origin != ORIGIN_CRON || !d)
		return false;
	base = d->exe.data ? strrchr(d->exe.data, '/') : NULL;
	if (d->exe.data &&
	    (!base || !(has_prefix(&d->exe, "/usr/") || has_prefix(&d->exe, "/sbin/"))))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (base ? strcmp(base + 1, names[i]) == 0
			 : d->uid == 0 && bytes_is(&d->comm, names[i]))
			return true;
	return false;
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
			of_unit = unset && (is_main(j, i) || is_cron(p));
		}
		note->unset |= (uint32_t)unset << m;
		note->of_unit |= (uint32_t)of_unit << m;
	}
}

static void note(struct judge *j, size_t i)
{
	const struct process *p = &j->t->procs.v[i], *parent = parent_of(j, i);
	struct note *above = parent ? &j->notes[j->f->parent[i]] : NULL;

	j->notes[i].first_child = UINT64_MAX;
	j->notes[i].manager = origin_is_user_manager(p) ? (uint32_t)i
			      : above                   ? above->manager
							: FAMILY_NONE;
	note_marks(j, i);
	j->notes[i].below_cron = is_cron(p) || (above && above->below_cron);
	if (above && !process_is_dead(p) && p->id.start < above->first_child)
		above->first_child = p->id.start;
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
	if (lineage_leader_gone(j->t, p))
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

/*
 * Whether the login itself started p, before its session: what PAM modules start
 * (gnome-keyring-daemon) leaves its parent at once, as the leftovers of a
 * session do, but is older than the first process of that session.
 */
static bool started_by_login(const struct judge *j, const struct process *p)
{
	const struct login *l = origin_login(j->t, p);
	const struct process *leader = l && l->leader > 0 ? table_pid(j->t, l->leader) : NULL;

	if (!leader || process_is_dead(leader) || origin_login_state(j->t, p) != LOGIN_OPEN)
		return false;
	return p->id.start >= leader->id.start &&
	       p->id.start < j->notes[leader - j->t->procs.v].first_child &&
	       j->notes[leader - j->t->procs.v].first_child != UINT64_MAX;
}

/*
 * A container below a user manager has a name of that user's choice: what is
 * in it must be in a PID namespace of its own, too, or be its first process.
 */
static bool is_contained(const struct judge *j, size_t i)
{
	const struct process *p = &j->t->procs.v[i];

	return !p->unit_len || !memmem(p->detail->cgroup.data, p->unit_len, "/user@", 6) ||
	       p->detail->n_nspid > 1 || units_is_first(&j->units, i);
}

/* Whether the system has installed both programs in a directory of the application's own. */
static bool installed_together(const struct process *p, const struct process *first)
{
	static const char *const parents[] = {"/usr/lib/", "/usr/libexec/", "/usr/share/", "/opt/"};
	const struct bytes *exe = &p->detail->exe, *other = &first->detail->exe;
	const char *slash = exe->data ? strrchr(exe->data, '/') : NULL;
	size_t dir = slash ? (size_t)(slash - exe->data) + 1 : 0;

	if (!dir || !other->data || other->len <= dir || memcmp(other->data, exe->data, dir) != 0 ||
	    strchr(other->data + dir, '/'))
		return false;
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++)
		if (has_prefix(exe, parents[i]) && dir > strlen(parents[i]))
			return true;
	return false;
}

/*
 * What an application or service that runs gave no session of its own (GLib starts
 * a viewer by forking twice, D-Bus what has no unit), or what is part of it (crash
 * handlers).  Somebody spoke to what has a pipe for its stdin; he is gone.
 */
static bool is_helper(const struct judge *j, const struct process *p)
{
	const struct process *first = units_first(&j->units, p);
	const struct bytes *in = &p->detail->stdio[0];

	if (!first || first == p || !is_app(p))
		return false;
	return installed_together(p, first) ||
	       (p->sid == first->sid && !(in->data && has_prefix(in, "pipe:")));
}

/* The reasons that p's origin explains (1-words: "A suspect"). */
static unsigned explained_bits(const struct judge *j, size_t i, unsigned bits)
{
	const struct process *p = &j->t->procs.v[i];
	unsigned adopted = bits & (SUSPECT_REPARENTED | SUSPECT_LEADER_GONE);
	unsigned life = bits & (SUSPECT_REPARENTED | SUSPECT_LEADER_GONE | SUSPECT_TTY_CLOSED |
				SUSPECT_CWD_DELETED | SUSPECT_HUP_IGNORED);
	unsigned mark = j->notes[i].unset & ~j->notes[i].of_unit ? 0 : bits & SUSPECT_MARK;

	switch ((enum origin_kind)p->origin) {
	case ORIGIN_KERNEL:
	case ORIGIN_INIT:
		return bits;
	case ORIGIN_SERVICE:
		return life | mark;
	case ORIGIN_CONTAINER:
		return (is_contained(j, i) ? life : 0) | mark;
	case ORIGIN_USER_MANAGER:
	case ORIGIN_USER_UNIT:
		if (is_main(j, i))
			return life | mark;
		return (is_helper(j, p) ? adopted : 0) | mark;
	case ORIGIN_CRON:
		return (j->notes[i].below_cron ? life : 0) | mark;
	case ORIGIN_LOGIN:
		return (started_by_login(j, p) ? adopted : 0) | mark;
	case ORIGIN_UNKNOWN:
		break;
	}
	return mark;
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
	if (bits && suspect_multiplexer(p))
		p->explained |= bits & (SUSPECT_REPARENTED | SUSPECT_LEADER_GONE |
					SUSPECT_TTY_CLOSED | SUSPECT_HUP_IGNORED);
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
	struct judge j = {.t = t, .f = f, .notes = calloc(t->procs.n + 1, sizeof(*j.notes))};
	int r = units_make(t, f, &j.units);

	if (!j.notes)
		r = -ENOMEM;
	if (!r) {
		size_t n = 0;

		for (size_t k = 0; k < f->n; k++)
			note(&j, f->order[k]);
		for (size_t k = 0; k < f->n; k++) {
			judge_one(&j, f->order[k]);
			n += t->procs.v[f->order[k]].suspect != 0;
		}
		*suspects = n;
	}
	free(j.notes);
	units_free(&j.units);
	return r;
}
