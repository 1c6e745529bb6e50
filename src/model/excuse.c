#include "model/excuse.h"

#include "model/lineage.h"
#include "model/origin.h"

#include <errno.h>
#include <string.h>

/* All but the mark: what the way a process lives on can give as a reason. */
#define LIFE                                                                                   \
	(SUSPECT_REPARENTED | SUSPECT_LEADER_GONE | SUSPECT_TTY_CLOSED | SUSPECT_CWD_DELETED | \
	 SUSPECT_HUP_IGNORED)
/* What going into the background by fork, setsid, fork looks like. */
#define DAEMON (SUSPECT_REPARENTED | SUSPECT_LEADER_GONE)

static bool has_suffix(const struct bytes *b, const char *suffix)
{
	size_t n = strlen(suffix);

	return b->len >= n && memcmp(b->data + b->len - n, suffix, n) == 0;
}

static bool has_prefix(const struct bytes *b, const char *prefix)
{
	size_t n = strlen(prefix);

	return b->len >= n && memcmp(b->data, prefix, n) == 0;
}

/* What a user manager was asked to start: a service, or an application's scope (as
 * desktops and snapd name them).  A terminal's tab or a bare scope is none. */
static bool is_app(const struct process *p)
{
	const struct bytes *name = &p->origin_name;

	return p->origin == ORIGIN_USER_UNIT &&
	       (has_suffix(name, ".service") || has_prefix(name, "app-") ||
		(has_prefix(name, "snap.") && has_suffix(name, ".scope")));
}

/*
 * The end of a pipe that p has as stdin, stdout or stderr, as a number; 0: it is none.
 * Node makes its pipes of sockets; but as stdout a socket may be the journal's.
 */
static uint64_t end_at(const struct process *p, int fd, bool sockets)
{
	const struct bytes *link = p->detail ? &p->detail->stdio[fd] : NULL;

	if (!link || !link->data)
		return 0;
	if (has_prefix(link, "pipe:["))
		return strtoull(link->data + strlen("pipe:["), NULL, 10) << 1;
	if (sockets && has_prefix(link, "socket:["))
		return strtoull(link->data + strlen("socket:["), NULL, 10) << 1 | 1;
	return 0;
}

/*
 * GNOME ends a scope's name with the PID of what it started in it; other desktops
 * take a random number.  So if another is first in app-gnome-code-7000.scope,
 * the application has ended.
 */
static bool is_named_after_another(const struct host *h, const struct process *p)
{
	const struct bytes *name = &p->origin_name;
	const char *number;
	char *end;
	long pid;

	if (!h->pid_ns_initial || !has_prefix(name, "app-gnome-") || !has_suffix(name, ".scope"))
		return false;
	number = strrchr(name->data, '-') + 1;
	pid = strtol(number, &end, 10);
	return end != number && pid != p->id.pid;
}

/* An application that starts itself anew, to be updated, stays in the desktop's session,
 * and is not spoken with through a pipe. */
static bool is_successor(const struct table *t, const struct process *p)
{
	return p->sid != p->id.pid && !lineage_leader_gone(t, p) && !end_at(p, 0, true);
}

static bool is_first_of_app(const struct table *t, const struct process *p)
{
	if (!is_app(p))
		return false;
	if (has_prefix(&p->origin_name, "app-") && p->tty_closed)
		return false; /* desktops start applications without a terminal */
	return !is_named_after_another(&t->host, p) || is_successor(t, p);
}

/* Whether p is what its unit was started for. */
static bool is_main(const struct excuses *x, const struct process *p)
{
	if (units_first(&x->units, p) != p)
		return false;
	switch ((enum origin_kind)p->origin) {
	case ORIGIN_SERVICE:
	case ORIGIN_CONTAINER:
	case ORIGIN_USER_MANAGER:
		return true;
	case ORIGIN_USER_UNIT:
		return is_first_of_app(x->t, p);
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

static void note(struct excuses *x, size_t i)
{
	const struct process *p = &x->t->procs.v[i];
	uint32_t parent = x->f->parent[i];
	struct excuse_note *above = parent == FAMILY_NONE ? NULL : &x->notes[parent];

	x->notes[i].first_child = UINT64_MAX;
	x->notes[i].below_cron = is_cron(p) || (above && above->below_cron);
	x->notes[i].adrift =
		!is_main(x, p) && (p->reparented != KNOWN_NOT || (above && above->adrift));
	if (above && !process_is_dead(p) && p->id.start < above->first_child)
		above->first_child = p->id.start;
}

static int compare_ends(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int note_ends(struct excuses *x)
{
	for (size_t i = 0; i < x->t->procs.n; i++) {
		const struct process *p = &x->t->procs.v[i];

		for (int fd = 0; fd < 3 && !x->notes[i].adrift && !process_is_dead(p); fd++) {
			uint64_t end = end_at(p, fd, true);

			if (end && !VEC_PUSH(&x->ends, end))
				return -ENOMEM;
		}
	}
	if (x->ends.n)
		qsort(x->ends.v, x->ends.n, sizeof(*x->ends.v), compare_ends);
	return 0;
}

/* Whether p was made to be spoken with through pipes, and nobody is there. */
static bool is_abandoned(const struct excuses *x, const struct process *p)
{
	for (int fd = 0; fd < 3; fd++) {
		uint64_t end = end_at(p, fd, fd == 0);

		if (end &&
		    !(x->ends.n && bsearch(&end, x->ends.v, x->ends.n, sizeof(end), compare_ends)))
			return true;
	}
	return false;
}

int excuses_make(const struct table *t, const struct family *f, struct excuses *out)
{
	int r;

	*out = (struct excuses){.t = t, .f = f};
	r = units_make(t, f, &out->units);
	if (r < 0)
		return r;
	out->notes = calloc(t->procs.n + 1, sizeof(*out->notes));
	if (!out->notes)
		return -ENOMEM;
	for (size_t k = 0; k < f->n; k++)
		note(out, f->order[k]);
	return note_ends(out);
}

void excuses_free(struct excuses *x)
{
	units_free(&x->units);
	free(x->notes);
	free(x->ends.v);
	*x = (struct excuses){0};
}

/*
 * Whether the login itself started p, before its session: what PAM modules start
 * (gnome-keyring-daemon) leaves its parent at once, as the leftovers of a
 * session do, but is older than the first process of that session.
 */
static bool is_of_login(const struct excuses *x, const struct process *p)
{
	const struct login *l = origin_login(x->t, p);
	const struct process *leader = l && l->leader > 0 ? table_pid(x->t, l->leader) : NULL;
	uint64_t session;

	if (!leader || process_is_dead(leader) || origin_login_state(x->t, p) != LOGIN_OPEN)
		return false;
	session = x->notes[leader - x->t->procs.v].first_child;
	return p->id.start >= leader->id.start && p->id.start < session && session != UINT64_MAX;
}

/*
 * A container below a user manager has a name of that user's choice: what is
 * in it must be in a PID namespace of its own, too, or be its first process.
 */
static bool is_contained(const struct excuses *x, const struct process *p)
{
	const struct process *first = units_first(&x->units, p);

	return !first || first == p || p->detail->n_nspid > 1 ||
	       !memmem(p->detail->cgroup.data, p->unit_len, "/user@", 6);
}

/* Podman's own helpers, which outlive the podman that started them: programs that nobody
 * else runs, or that are in its scopes. */
static bool is_podmans(const struct process *p)
{
	static const char *const programs[] = {
		"/usr/bin/slirp4netns",
		"/usr/bin/pasta",
		"/usr/bin/pasta.avx2",
		"/usr/bin/fuse-overlayfs",
	};
	const struct bytes *exe = p->detail ? &p->detail->exe : NULL;

	if (!exe || !exe->data)
		return false;
	if (has_prefix(exe, "/usr/lib/podman/") || has_prefix(exe, "/usr/libexec/podman/"))
		return true;
	if (p->origin != ORIGIN_CONTAINER || !has_prefix(&p->origin_name, "podman "))
		return false;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (bytes_is(exe, programs[i]))
			return true;
	return false;
}

/* The directory of a program, with its slash, where the system has it for one
 * application alone; 0: it has not. */
static size_t own_directory(const struct bytes *exe)
{
	static const char *const parents[] = {
		"/usr/lib/", "/usr/libexec/", "/usr/share/", "/opt/",
		"/snap/",    "/tmp/.mount_", /* an AppImage's: cannot be written to */
	};
	const char *slash = exe->data ? strrchr(exe->data, '/') : NULL;
	struct bytes dir = {.data = exe->data};

	if (!slash)
		return 0;
	dir.len = (size_t)(slash - exe->data) + 1;
	if (has_suffix(&dir, "/bin/")) /* an interpreter's, a virtual machine's */
		return 0;
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++)
		if (has_prefix(&dir, parents[i]) && dir.len > strlen(parents[i]))
			return dir.len;
	return 0;
}

static bool is_same_application(const struct process *a, const struct process *b)
{
	size_t len = a->detail && b->detail ? own_directory(&a->detail->exe) : 0;

	return len && len == own_directory(&b->detail->exe) &&
	       memcmp(a->detail->exe.data, b->detail->exe.data, len) == 0;
}

/*
 * What the first process of an application or a user's service has started
 * beside itself: a child of a child that ended, in its session (GLib forks
 * twice); or a program of its own, such as a crash handler that forks twice around a
 * setsid.  A server whose part of the application is gone looks the same, but for
 * the pipes that it was spoken with through.
 */
static unsigned explain_beside(const struct excuses *x, const struct process *p)
{
	const struct process *first = units_first(&x->units, p);
	unsigned explained = 0;

	if (!first || first == p || !is_main(x, first) || is_abandoned(x, p))
		return 0;
	if (p->sid == first->sid)
		explained |= SUSPECT_REPARENTED;
	if (is_same_application(p, first))
		explained |= DAEMON;
	return explained;
}

unsigned excuses_explain(const struct excuses *x, size_t i, unsigned reasons)
{
	const struct process *p = &x->t->procs.v[i];
	unsigned explained = is_podmans(p) ? DAEMON : 0;

	switch ((enum origin_kind)p->origin) {
	case ORIGIN_KERNEL:
	case ORIGIN_INIT:
	case ORIGIN_SERVICE:
		explained = LIFE;
		break;
	case ORIGIN_CONTAINER:
		explained |= is_contained(x, p) ? LIFE : 0;
		break;
	case ORIGIN_USER_MANAGER:
		explained |= is_main(x, p) ? LIFE : 0;
		break;
	case ORIGIN_USER_UNIT:
		explained |= is_main(x, p) ? LIFE : explain_beside(x, p);
		break;
	case ORIGIN_CRON:
		explained |= x->notes[i].below_cron ? LIFE : 0;
		break;
	case ORIGIN_LOGIN:
		explained |= is_of_login(x, p) ? DAEMON : 0;
		break;
	case ORIGIN_UNKNOWN:
		break;
	}
	return explained & reasons;
}

/*
 * The environment that a manager gives a unit is in all of it, so the oldest carries
 * the mark, too, if that is what a main process of before has left.  A scope is
 * executed by no manager: its marks are of who launched it.
 */
bool excuses_mark_is_units(const struct excuses *x, size_t i, const struct mark *m)
{
	const struct process *p = &x->t->procs.v[i];
	const struct process *oldest = units_oldest(&x->units, p);
	const char *value;

	if (is_cron(p) || is_podmans(p))
		return true;
	if (!is_main(x, p) ||
	    (p->origin == ORIGIN_USER_UNIT && !has_suffix(&p->origin_name, ".service")))
		return false;
	value = process_mark(oldest, m->name);
	return oldest == p || (value && strcmp(value, m->value) == 0);
}
