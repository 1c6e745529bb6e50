/* The helper of --on-expire, which revokes what the run could do: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "contain/signal.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPIRE_NS 2000000000ull /* it gets this long, then the TERM goes */
#define HELPER_DEATH_NS 100000000ull

/* Outside the unit, so that it is not ended with what it is to revoke. */
void warden_start_helper(struct warden *w)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)w->o->on_expire, NULL};
	char mark[RUN_ID_MAX + 32];
	struct spawn_plan plan = {
		.caller = w->start->caller,
		.argv = argv,
		.marks = {mark},
		.cgroup = -1,
		.null_stdio = true,
	};
	struct err why = {0};

	/* which run it is about; that mark is the run's members' alone */
	snprintf(mark, sizeof(mark), "STRAY_EXPIRED_RUN=%s", w->start->id);
	if (spawn_held(&plan, &w->helper, &why) == 0) {
		kin_never(w->kin, w->helper.id.pid, NULL);
		unit_exclude(w->unit, w->helper.id, NULL);
		if (spawn_go(&w->helper, &why) == 0) {
			w->due_ns = clock_boot_ns() + EXPIRE_NS;
			return;
		}
	}
	warden_say(w, "--on-expire: %s", why.text);
	w->due_ns = 0;
}

/* What the helper left in its session was adopted here: that ends with it, and is no member. */
static void end_helpers(struct warden *w, pid_t sid)
{
	struct identity_list ids = {0};
	struct target_set set = {0};

	unit_members(w->unit, &ids, NULL);
	for (size_t i = 0; i < ids.n; i++) {
		if (getsid(ids.v[i].pid) != sid)
			continue;
		kin_never(w->kin, ids.v[i].pid, NULL);
		unit_exclude(w->unit, ids.v[i], NULL);
		target_add(&set, ids.v[i], NULL, NULL);
	}
	signal_each(&set, SIGKILL);
	target_set_clear(&set);
	free(ids.v);
}

/* Where an outer filter refused it a session it leads no group either: whom it made is told by
 * their parents alone. */
static void add_descendants(struct identity helper, struct target_set *set)
{
	const struct unit below = {.kind = UNIT_SUBREAPER, .reaper = helper};
	struct identity_list ids = {0};

	if (getsid(helper.pid) != helper.pid)
		unit_members(&below, &ids, NULL);
	for (size_t i = 0; i < ids.n; i++)
		target_add(set, ids.v[i], NULL, NULL);
	free(ids.v);
}

static void kill_helper(struct warden *w)
{
	struct target_set set = {0};

	if (target_add(&set, w->helper.id, NULL, NULL) == 0) {
		add_descendants(w->helper.id, &set);
		signal_group(w->helper.id.pid, &set, SIGKILL, NULL);
		signal_each(&set, SIGKILL);
		/* what it leaves comes to us with its death only, and is told from members here */
		target_set_wait(&set, clock_boot_ns() + HELPER_DEATH_NS, NULL);
	}
	target_set_clear(&set);
	if (w->hurry)
		warden_say(w, "--on-expire: it was killed, as the end was wanted at once");
	else
		warden_say(w, "--on-expire: not done in %d s: it was killed, and the run is ended",
			   (int)(EXPIRE_NS / CLOCK_NS_PER_S));
}

bool warden_helper_is_done(struct warden *w)
{
	pid_t pid = w->helper.id.pid;
	int status = 0;

	if (!identity_known(w->helper.id))
		return true;
	if (waitpid(pid, &status, WNOHANG) != pid) {
		if (clock_boot_ns() < w->due_ns)
			return false;
		kill_helper(w);
	} else if (status) {
		warden_say(w, "--on-expire: it ended with %s %d: what it revokes may still be good",
			   WIFEXITED(status) ? "status" : "signal",
			   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
	w->helper.id = (struct identity){0};
	end_helpers(w, pid);
	return true;
}
