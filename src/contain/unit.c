#include "contain/unit.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "contain/cgroup.h"
#include "contain/freeze.h"
#include "contain/unit_parts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

bool identity_list_add(struct identity_list *l, struct identity id)
{
	return VEC_PUSH(l, id);
}

static void be_tree(struct unit *u)
{
	u->kind = UNIT_SUBREAPER;
	file_close_fd(&u->dir);
	file_close_fd(&u->events);
	file_close_fd(&u->freeze);
	file_close_fd(&u->kill);
	u->path[0] = '\0';
}

void unit_make(struct unit *u, const char *id, struct identity owner)
{
	*u = (struct unit){
		.kind = UNIT_SUBREAPER, .dir = -1, .events = -1, .freeze = -1, .kill = -1};
	if (!id)
		err_set(&u->why_not, ECANCELED, "not asked for");
	else if (unit_cgroup_make(u, id, owner, &u->why_not) == 0)
		u->kind = UNIT_CGROUP;
	else
		be_tree(u);
}

void unit_fall_back(struct unit *u, const struct err *why)
{
	unit_remove(u);
	be_tree(u);
	u->why_not = *why;
}

int unit_exclude(struct unit *u, struct identity id, struct err *err)
{
	struct identity *grown = realloc(u->not_in, (u->n_not_in + 1) * sizeof(*grown));

	if (!grown)
		return err_nomem(err);
	u->not_in = grown;
	u->not_in[u->n_not_in++] = id;
	return 0;
}

int unit_reap_here(struct unit *u, struct err *err)
{
	struct identity_list had = {0};
	struct proc_stat st;
	int r = proc_stat_read(getpid(), &st);

	if (r < 0)
		return err_errno(err, -r, "/proc/self/stat");
	u->reaper = (struct identity){st.pid, st.start};
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_errno(err, errno, "no child subreaper");
	r = unit_tree_members(u, &had, err);
	for (size_t i = 0; !r && i < had.n; i++)
		r = unit_exclude(u, had.v[i], err);
	free(had.v);
	return r;
}

/* Adds from `first` on only those that are not there before. */
static void drop_doubles(struct identity_list *l, size_t first)
{
	size_t n = first;

	qsort(l->v, first, sizeof(*l->v), identity_order);
	for (size_t i = first; i < l->n; i++)
		if (!bsearch(&l->v[i], l->v, first, sizeof(*l->v), identity_order))
			l->v[n++] = l->v[i];
	l->n = n;
}

int unit_held(const struct unit *u, unit_holder_fn *holder, void *ctx, struct identity_list *out,
	      struct err *err)
{
	return u->kind == UNIT_CGROUP ? unit_cgroup_members(u, holder, ctx, out, err)
				      : unit_members(u, out, err);
}

int unit_members(const struct unit *u, struct identity_list *out, struct err *err)
{
	struct identity_list in = {0};
	int r = u->kind == UNIT_CGROUP ? unit_cgroup_members(u, NULL, NULL, &in, err) : 0;
	size_t first = in.n;

	/* who moved to another cgroup is still a descendant */
	if (!r && identity_known(u->reaper))
		r = unit_tree_members(u, &in, err);
	if (!r && first && in.n > first)
		drop_doubles(&in, first);
	for (size_t i = 0; !r && i < in.n; i++)
		if (!identity_list_add(out, in.v[i]))
			r = err_nomem(err);
	out->unsteady |= in.unsteady;
	out->hidden += in.hidden;
	free(in.v);
	return r;
}

int unit_is_empty(const struct unit *u, struct err *err)
{
	struct identity_list l = {0};
	int r = u->kind == UNIT_CGROUP ? unit_cgroup_is_empty(u, err) : 1;

	if (r <= 0 || !identity_known(u->reaper))
		return r;
	r = unit_tree_members(u, &l, err);
	free(l.v);
	return r < 0 ? r : l.n == 0 && !l.unsteady;
}

int unit_await_empty(const struct unit *u, uint64_t until_ns, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int r;

	while ((r = unit_is_empty(u, err)) == 0 && clock_boot_ns() < until_ns)
		nanosleep(&pause, NULL);
	return r;
}

static int put(int fd, const char *text, const char *file, struct err *err)
{
	return write(fd, text, strlen(text)) < 0 ? err_errno(err, errno, "%s", file) : 0;
}

int unit_halt(const struct unit *u, uint64_t until_ns, struct err *err)
{
	int r;

	if (u->kind != UNIT_CGROUP)
		return err_set(err, EOPNOTSUPP, "a tree of processes is not halted in one act");
	r = put(u->freeze, "1", "cgroup.freeze", err);
	if (!r)
		r = cgroup_wait_event(u->path, "frozen", true, until_ns, err);
	if (r < 0)
		unit_go_on(u);
	return r;
}

void unit_go_on(const struct unit *u)
{
	if (u->kind == UNIT_CGROUP)
		put(u->freeze, "0", "cgroup.freeze", NULL);
}

int unit_kill(const struct unit *u, struct err *err)
{
	if (u->kind != UNIT_CGROUP)
		return err_set(err, EOPNOTSUPP, "a tree of processes has no kill of its own");
	return put(u->kill, "1", "cgroup.kill", err);
}

bool unit_group_lives(pid_t pgid)
{
	return pgid > 1 && (kill(-pgid, 0) == 0 || errno != ESRCH);
}

const char *unit_cannot_hold(const struct unit *u)
{
	return u->kind == UNIT_CGROUP
		       ? "who may write to other cgroups can leave it; what is asked of a service, "
			 "an "
			 "engine or another host was never in it"
		       : "what enters another PID namespace can leave it; it is not killed in one "
			 "act; "
			 "what is asked of a service, an engine or another host was never in it";
}

const char *unit_kind_name(enum unit_kind kind)
{
	return kind == UNIT_CGROUP ? "cgroup" : "subreaper";
}

void unit_remove(struct unit *u)
{
	if (u->kind == UNIT_CGROUP)
		unit_cgroup_remove(u);
}

void unit_close(struct unit *u)
{
	file_close_fd(&u->dir);
	file_close_fd(&u->events);
	file_close_fd(&u->freeze);
	file_close_fd(&u->kill);
	free(u->not_in);
	*u = (struct unit){.dir = -1, .events = -1, .freeze = -1, .kill = -1};
}
