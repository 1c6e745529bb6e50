#include "contain/stop.h"

#include "base/clock.h"
#include "base/proc_stat.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define PASSES_MAX 1000
#define LOOK_NS 20000000ULL
#define QUIET_PASSES 2 /* one reading of /proc can miss a process that forks and ends meanwhile */

void stop_begin(struct stop *s, struct target_set *set, const struct act_hooks *hooks,
		uint64_t deadline_ns)
{
	*s = (struct stop){.set = set, .hooks = hooks, .deadline_ns = deadline_ns};
}

/*
 * Whether all that took the STOP have halted.  Who has not gets it again: the kernel lets those go
 * on whose parent's exit orphans their group (HUP and CONT, setpgid(2)).
 */
static bool all_halted(struct target_set *set)
{
	bool all = true;

	for (size_t i = 0; i < set->n; i++) {
		struct target *t = &set->v[i];

		if (t->result != TARGET_SENT || !target_alive(t) || proc_stat_halted(t->id.pid))
			continue;
		signal_target(t, SIGSTOP);
		all = false;
	}
	return all;
}

static int stop_new(struct stop *s, struct err *err)
{
	int r = act_announce(s->hooks, SIGSTOP, s->set, s->seen, err);

	if (r < 0) {
		s->refused = true;
		return r;
	}
	act_send(s->hooks, SIGSTOP, s->set, s->seen);
	s->seen = s->set->n;
	return 0;
}

int stop_step(struct stop *s, uint64_t now_ns, struct err *err)
{
	bool halted = s->seen == s->set->n && all_halted(s->set);
	size_t fresh;
	int r;

	/* while some wait for a CPU to halt on others fork: but they get it only if we rest */
	if (halted || (s->seen == s->set->n && now_ns >= s->look_ns)) {
		r = act_rescan(s->hooks, s->set, &fresh, err);
		if (r < 0)
			return r;
		s->passes++;
		s->look_ns = clock_boot_ns() + LOOK_NS;
		s->quiet = fresh || !halted ? 0 : s->quiet + 1;
		if (s->quiet >= QUIET_PASSES)
			return 1;
	}
	r = stop_new(s, err);
	if (r < 0)
		return r;
	if (now_ns >= s->deadline_ns || s->passes >= PASSES_MAX)
		return err_set(err, ETIME, "new processes kept appearing in %u passes", s->passes);
	return 0;
}

static int step_until_done(struct target_set *set, const struct act_hooks *hooks,
			   uint64_t deadline_ns, struct err *err)
{
	const struct timespec pause = {.tv_nsec = STOP_RETRY_NS};
	struct stop s;
	int r;

	stop_begin(&s, set, hooks, deadline_ns);
	while ((r = stop_step(&s, clock_boot_ns(), err)) == 0)
		nanosleep(&pause, NULL);
	return r;
}

int stop_all(struct target_set *set, const struct act_hooks *hooks, uint64_t deadline_ns,
	     struct err *err)
{
	int r = step_until_done(set, hooks, deadline_ns, err);

	if (r < 0 && r != -ETIME)
		signal_undo_stop(set);
	return r < 0 ? r : 0;
}

int stop_then_kill(struct target_set *set, const struct act_hooks *hooks, uint64_t deadline_ns,
		   bool *stable, struct err *err)
{
	struct err unstable = {0};
	int r = stop_all(set, hooks, deadline_ns, &unstable);

	if (stable)
		*stable = r == 0;
	if (r < 0 && r != -ETIME)
		return err_set(err, -r, "%s", unstable.text);
	r = act_announce(hooks, SIGKILL, set, 0, err);
	if (r < 0) {
		signal_undo_stop(set);
		return r;
	}
	act_send(hooks, SIGKILL, set, 0);
	return 0;
}
