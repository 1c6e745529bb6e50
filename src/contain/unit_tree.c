/* The unit that is the tree below a child subreaper: unit.h. */
#include "base/file.h"
#include "base/proc_stat.h"
#include "contain/unit_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHILDREN_MAX (4u << 20)
#define LOOKS_MAX 16 /* at the reaper's children, while others come to it */

/* A process whose children are still to be found. */
struct parent {
	struct identity id;
	bool one_thread;
};

struct walk {
	const struct unit *u;
	struct identity_list *out;
	size_t first; /* of out: what was in it before */
	VEC(struct parent) todo;
	struct pid_list seen, fresh; /* children of the reaper: in looks before, in this one */
};

static bool is_excluded(const struct unit *u, struct identity id)
{
	for (size_t i = 0; i < u->n_not_in; i++)
		if (identity_same(u->not_in[i], id))
			return true;
	return false;
}

static bool is_in(const struct walk *w, struct identity id)
{
	for (size_t i = w->first; i < w->out->n; i++)
		if (identity_same(w->out->v[i], id))
			return true;
	return false;
}

/* Takes pid as a child of parent, if it is one: its own stat says so. */
static int take_child(struct walk *w, pid_t pid, pid_t parent, struct err *err)
{
	struct proc_stat st;
	struct parent p;
	int r;

	if (parent == w->u->reaper.pid && pid_listed(&w->seen, pid))
		return 0;
	r = proc_stat_read(pid, &st);
	if (file_exhausted(r))
		return err_errno(err, -r, "/proc/%d/stat", (int)pid);
	p.id = (struct identity){pid, r < 0 ? 0 : st.start};
	if (is_excluded(w->u, p.id))
		return 0;
	if (parent == w->u->reaper.pid && !VEC_PUSH(&w->fresh, pid))
		return err_nomem(err);
	if (r < 0 || st.ppid != parent) {
		/* hidepid hides who is there */
		if (!r || proc_is_gone(pid))
			w->out->unsteady = true;
		return 0;
	}
	p.one_thread = st.threads == 1;
	if (proc_stat_dead(&st)) /* nor has it children: they were adopted */
		return 0;
	if (w->seen.n && is_in(w, p.id)) /* it was another's child in the look before */
		return 0;
	return identity_list_add(w->out, p.id) && VEC_PUSH(&w->todo, p) ? 0 : err_nomem(err);
}

/* It was there all the time since its start was read. */
static bool is_still_there(struct identity id)
{
	struct proc_stat st;

	return proc_stat_read_same(id.pid, id.start, &st) == 0;
}

static int children_of_thread(struct walk *w, const struct parent *p, const char *tid,
			      struct err *err)
{
	AUTO_FREE char *text = NULL;
	char path[80], *at;
	pid_t pid;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)p->id.pid, tid);
	r = (int)file_read_all_at(AT_FDCWD, path, CHILDREN_MAX, &text);
	if (file_exhausted(r))
		return err_errno(err, -r, "%s", path);
	if (r <= 0)
		return 0;
	if (!is_still_there(p->id)) { /* whose children were these? */
		w->out->unsteady = true;
		return 0;
	}
	r = 0;
	at = text;
	while (!r && (pid = proc_next_pid(&at)))
		r = take_child(w, pid, p->id.pid, err);
	return r;
}

/* Each thread has children of its own. */
static int children_of(struct walk *w, const struct parent *p, struct err *err)
{
	const struct dirent *e;
	char path[32];
	DIR *d;
	int r = 0;

	if (p->one_thread) {
		snprintf(path, sizeof(path), "%d", (int)p->id.pid);
		return children_of_thread(w, p, path, err);
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->id.pid);
	d = opendir(path);
	if (!d)
		return file_exhausted(-errno) ? err_errno(err, errno, "%s", path) : 0;
	while (!r && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = children_of_thread(w, p, e->d_name, err);
	closedir(d);
	return r;
}

static int walk_down(struct walk *w, struct err *err)
{
	int r = 0;

	while (!r && w->todo.n) {
		struct parent p = w->todo.v[--w->todo.n];

		r = children_of(w, &p, err);
	}
	return r;
}

/* What the reaper had no child of in the looks before has been seen now.  1: there was some. */
static int take_fresh(struct walk *w, struct err *err)
{
	int some = w->fresh.n > 0;

	for (size_t i = 0; i < w->fresh.n; i++)
		if (!VEC_PUSH(&w->seen, w->fresh.v[i]))
			return err_nomem(err);
	w->fresh.n = 0;
	if (some)
		qsort(w->seen.v, w->seen.n, sizeof(pid_t), pid_order);
	return some;
}

/*
 * One that has been listed may be dead when it is read, and whom it forked the reaper's child by
 * then: so the reaper is asked again until it has no child that was not seen.  That nobody is alive
 * holds then of the moment of the last question.
 */
static int walk(struct walk *w, struct err *err)
{
	struct parent top = {.id = w->u->reaper};
	int r = 1;

	for (unsigned i = 0; r > 0 && i < LOOKS_MAX; i++) {
		r = VEC_PUSH(&w->todo, top) ? walk_down(w, err) : err_nomem(err);
		if (!r)
			r = take_fresh(w, err);
	}
	w->out->unsteady |= r > 0;
	free(w->todo.v);
	free(w->seen.v);
	free(w->fresh.v);
	return r < 0 ? r : 0;
}

/* Without children files: each process of the host, and who its parent is. */
struct line {
	struct identity id;
	pid_t ppid;
	bool dead, in;
};

static int read_lines(struct line **v, size_t *n, struct err *err)
{
	VEC(struct line) all = {0};
	DIR *d = opendir("/proc");
	const struct dirent *e;

	if (!d)
		return err_errno(err, errno, "/proc");
	while ((e = readdir(d))) {
		long pid = strtol(e->d_name, NULL, 10);
		struct proc_stat st;
		struct line l;
		int r = pid > 0 ? proc_stat_read((pid_t)pid, &st) : -ESRCH;

		if (r < 0 && !file_exhausted(r))
			continue;
		if (r < 0) {
			closedir(d);
			free(all.v);
			return err_errno(err, -r, "/proc/%ld/stat", pid);
		}
		l = (struct line){
			.id = {st.pid, st.start}, .ppid = st.ppid, .dead = proc_stat_dead(&st)};
		if (!VEC_PUSH(&all, l)) {
			closedir(d);
			free(all.v);
			return err_nomem(err);
		}
	}
	closedir(d);
	*v = all.v;
	*n = all.n;
	return 0;
}

static bool is_child_of_in(const struct line *v, size_t n, const struct line *l,
			   const struct unit *u)
{
	if (l->ppid == u->reaper.pid)
		return !is_excluded(u, l->id);
	for (size_t i = 0; i < n; i++)
		if (v[i].in && v[i].id.pid == l->ppid)
			return true;
	return false;
}

static int members_by_scan(const struct unit *u, struct identity_list *out, struct err *err)
{
	AUTO_FREE struct line *v = NULL;
	size_t n = 0;
	bool more = true;
	int r = read_lines(&v, &n, err);

	while (!r && more) {
		more = false;
		for (size_t i = 0; i < n; i++)
			if (!v[i].in && is_child_of_in(v, n, &v[i], u))
				v[i].in = more = true;
	}
	for (size_t i = 0; !r && i < n; i++)
		if (v[i].in && !v[i].dead && !identity_list_add(out, v[i].id))
			r = err_nomem(err);
	return r;
}

int unit_tree_members(const struct unit *u, struct identity_list *out, struct err *err)
{
	struct walk w = {.u = u, .out = out, .first = out->n};
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/task/%d/children", (int)u->reaper.pid,
		 (int)u->reaper.pid);
	if (access(name, R_OK) < 0)
		return members_by_scan(u, out, err);
	return walk(&w, err);
}
