/* The command, made and held in its unit, and how well that holds here: warden_parts.h. */
#include "engine/warden_parts.h"

#include "contain/pidfd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int begin(struct warden *w, struct err *err)
{
	char id[sizeof(RUN_ID_NAME) + RUN_ID_MAX + 2], mark[sizeof(RUN_MARK) + RUN_MARK_SIZE];
	struct spawn_plan plan = {
		.path = w->start->exe,
		.caller = w->start->caller,
		.argv = w->o->argv,
		.marks = {id, mark},
		.cgroup = w->unit->dir,
		.pgid = w->start->terminal ? getpgid(w->start->front.pid) : 0,
	};

	snprintf(id, sizeof(id), RUN_ID_NAME "=%s", w->start->id);
	snprintf(mark, sizeof(mark), RUN_MARK "=%s", w->start->mark);
	if (w->o->deny_detach) {
		plan.prepare = deny_install;
		plan.ctx = &w->deny;
	}
	return spawn_begin(&plan, &w->cmd, err);
}

/* One could be made, and nobody put into it: only half delegated, or threaded. */
static int begin_outside(struct warden *w, struct err *why)
{
	unit_fall_back(w->unit, why);
	err_clear(why);
	return begin(w, why);
}

int warden_begin_hold(struct warden *w, struct err *err)
{
	struct err why = {0};
	int r = w->o->deny_detach ? deny_open(&w->deny, err) : 0;

	if (r < 0)
		return r;
	r = begin(w, &why);
	if (r < 0 && w->unit->kind == UNIT_CGROUP)
		r = begin_outside(w, &why);
	return r < 0 ? err_set(err, -r, "%s", why.text) : 0;
}

int warden_hold(struct warden *w, struct err *err)
{
	struct err why = {0};
	int r = spawn_await(&w->cmd, &why);

	if (r < 0 && w->unit->kind == UNIT_CGROUP) {
		r = begin_outside(w, &why);
		if (!r)
			r = spawn_await(&w->cmd, &why);
	}
	if (!r && w->o->deny_detach) {
		r = deny_take(&w->deny, &why);
		if (r < 0)
			spawn_cancel(&w->cmd);
	}
	if (r < 0)
		return err_set(err, -r, "%s", why.text);
	w->pgid = getpgid(w->cmd.id.pid);
	w->sid = getsid(w->cmd.id.pid);
	warden_note_streams(w);
	w->owns = w->sid == w->cmd.id.pid;
	return 0;
}

static void __attribute__((format(printf, 3, 4))) add(char *out, size_t size, const char *fmt, ...)
{
	size_t len = strlen(out);
	va_list ap;

	if (len && len + 2 < size)
		len += (size_t)snprintf(out + len, size - len, "; ");
	va_start(ap, fmt);
	vsnprintf(out + len, size - len, fmt, ap);
	va_end(ap);
}

void warden_fallbacks(const struct warden *w, char *out, size_t size)
{
	struct err no_pidfd = {0};
	int fd = -1;

	*out = '\0';
	if (w->unit->kind != UNIT_CGROUP)
		add(out, size, "no cgroup: %s", w->unit->why_not.text);
	if (w->cmd.by_fork.code)
		add(out, size, "made by fork: %s", w->cmd.by_fork.text);
	if (pidfd_open_identity(w->cmd.id, &fd, NULL, &no_pidfd) == 0)
		close(fd);
	else
		add(out, size, "signals go to numbers, checked just before: %s", no_pidfd.text);
	if (!w->net && !w->o->no_events)
		add(out, size, "no events: %s", w->net_why.text);
}

static void say_duration(char *out, size_t size, uint64_t ns)
{
	if (ns)
		snprintf(out, size, "%.12g s", (double)ns / 1e9);
	else
		snprintf(out, size, "none");
}

static void say_deny(struct warden *w)
{
	if (!w->o->deny_detach)
		return;
	warden_say(w, "setsid and setpgid are refused in it%s%s",
		   w->deny.listener < 0 ? "; the tries are not told, an outer filter has them" : "",
		   geteuid() ? "; so is what sudo and other set-user-ID programs would gain" : "");
}

void warden_say_held(struct warden *w, const char *path)
{
	char deadline[40], grace[40];

	if (!w->o->verbose)
		return;
	say_duration(deadline, sizeof(deadline), w->o->deadline_ns);
	say_duration(grace, sizeof(grace), w->o->grace_ns);
	warden_say(w, "%s: %s%s", w->start->id, path ? "recorded in " : "not recorded",
		   path ? path : "");
	if (w->unit->kind == UNIT_CGROUP)
		warden_say(w, "held by a cgroup, %s", w->unit->path);
	else
		warden_say(w, "held by a subreaper, the tree below %d", (int)w->self.pid);
	warden_say(w, "what that cannot hold: %s", unit_cannot_hold(w->unit));
	say_deny(w);
	if (w->net)
		warden_say(w, "events: told by the kernel (netlink)");
	else
		warden_say(w, "no events, it is looked ten times a second%s",
			   w->o->no_events ? ": --capture=none" : "");
	warden_say(w, "deadline: %s; grace: %s", deadline, grace);
}

void warden_say_fallbacks(struct warden *w)
{
	char fallbacks[WARDEN_FALLBACKS_MAX];

	if (!w->o->verbose)
		return;
	warden_fallbacks(w, fallbacks, sizeof(fallbacks));
	if (*fallbacks)
		warden_say(w, "done another way here: %s", fallbacks);
}
