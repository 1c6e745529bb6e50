/* Who of the warden's children has ended: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAP_MAX_NS 3000000ull   /* at a time: in a storm more die meanwhile */
#define REAP_RUSH_NS 50000000ull /* where who is alive is looked for among them */

static void note_command_over(struct warden *w, int status)
{
	if (w->cmd_over)
		return;
	w->cmd_over = true;
	w->cmd_status = status;
	w->over_ns = clock_boot_ns();
	warden_drain(w);
	kin_reaped(w->kin, w->cmd.id, status, w->over_ns);
	/* a zombie from now on: else it is read each time */
	unit_exclude(w->unit, w->cmd.id, NULL);
	if (w->phase != PHASE_RUNNING)
		return;
	w->phase = PHASE_SETTLING;
	w->due_ns = w->over_ns + w->o->settle_ns;
}

static int wait_status(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

/* Reaps one orphan that came to us. */
static void reap_one(struct warden *w, pid_t pid)
{
	const struct kin_member *m = kin_pid(w->kin, pid);
	struct reaped r = {.id = m ? m->id : (struct identity){0}};

	if (waitpid(pid, &r.status, WNOHANG) == pid && identity_known(r.id))
		VEC_PUSH(&w->reaped, r);
}

/* Not before what they forked is known: who does not know the parent takes the child for another's.
 * Where more waits to be taken, their deaths are told there, too. */
static void tell_reaped(struct warden *w)
{
	if (!w->rush)
		warden_drain(w);
	for (size_t i = 0; i < w->reaped.n && (!w->net || (!w->behind && !w->rush)); i++)
		kin_reaped(w->kin, w->reaped.v[i].id, w->reaped.v[i].status, clock_boot_ns());
	w->reaped.n = 0;
}

/* The command stays a zombie while the run lasts, and pins its numbers: so others that have died
 * are asked for one by one. */
static void reap_others(struct warden *w)
{
	char path[64], *at;
	AUTO_FREE char *text = NULL;
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (file_read_all_at(AT_FDCWD, path, 1u << 20, &text) < 0)
		return;
	at = text;
	while ((pid = proc_next_pid(&at)))
		if (pid != w->cmd.id.pid && pid != w->helper.id.pid)
			reap_one(w, pid);
}

void warden_reap_command(struct warden *w)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)w->cmd.id.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid)
		note_command_over(w, wait_status(&info));
}

static void reap(struct warden *w)
{
	uint64_t until_ns = clock_boot_ns() + (w->rush ? REAP_RUSH_NS : REAP_MAX_NS);
	siginfo_t info = {0};

	warden_reap_command(w);
	while (!w->cmd_over) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid ||
		    info.si_pid == w->helper.id.pid)
			break;
		if (info.si_pid == w->cmd.id.pid)
			note_command_over(w, wait_status(&info));
		else
			reap_one(w, info.si_pid);
		if (clock_boot_ns() >= until_ns)
			return;
	}
	if (w->cmd_over)
		reap_others(w);
	w->orphans = false;
}

void warden_reap(struct warden *w)
{
	reap(w);
	tell_reaped(w);
}
