/* Who comes to the warden's door: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "base/proc_stat.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_NS 200000000ull /* the record may hold up an answer by that, and so the loop */

void warden_come_in(struct warden *w)
{
	pid_t pid = 0;
	int fd = door_let_in(w->door, &pid);

	if (fd < 0)
		return;
	for (int i = 0; i < WARDEN_GUESTS; i++)
		if (w->guests[i] < 0) {
			w->guests[i] = fd;
			w->guest_pids[i] = pid;
			warden_hear_guest(w, i); /* as a rule it has said it already */
			return;
		}
	close(fd);
}

static enum run_state state_of(const struct warden *w)
{
	if (w->phase < PHASE_YIELDED)
		return RUN_ACTIVE;
	return w->cause == CAUSE_DEADLINE ? RUN_EXPIRED : RUN_ENDING;
}

/* The answer is in the journal before it is given. */
static void answer_check(struct warden *w, int fd, const struct door_word *asked)
{
	struct door_word answer = {.kind = DOOR_STATE};
	struct jw *j;
	int r;

	if (w->deadline_ns && clock_boot_ns() >= w->deadline_ns)
		warden_end(w, CAUSE_DEADLINE, 0);
	answer.state = state_of(w);
	j = runlog_begin(w->log,
			 run_state_may_act(answer.state) ? "action_accepted" : "action_refused",
			 KNOWN_SEEN);
	if (j) {
		jw_str(j, "action", asked->has_action ? asked->action : NULL);
		jw_str(j, "state", run_state_name(answer.state));
		operator_json(j, "operator", &asked->operator);
	}
	r = runlog_sync(w->log, RUN_UNKNOWN, clock_boot_ns() + ANSWER_NS, NULL);
	answer.error = r < 0 ? -r : 0;
	door_say(fd, &answer);
}

/* A member could so keep the run from its end. */
static bool is_member(struct warden *w, pid_t pid)
{
	if (w->net)
		warden_drain_all(w);
	else
		warden_read(w, READ_UNIT);
	return kin_pid(w->kin, pid) != NULL;
}

void warden_hear_guest(struct warden *w, int i)
{
	const struct door_word yes = {.kind = DOOR_YES};
	struct door_word word;
	int fd = w->guests[i], r = door_hear(fd, &word);

	if (r == 0)
		return;
	w->guests[i] = -1;
	if (r > 0 && word.kind == DOOR_END && w->phase < PHASE_YIELDED &&
	    !is_member(w, w->guest_pids[i]) && door_say(fd, &yes) == 0) {
		warden_yield(w, fd, w->guest_pids[i]);
		return;
	}
	if (r > 0 && word.kind == DOOR_CHECK)
		answer_check(w, fd, &word);
	close(fd);
}

/* Stopped (Ctrl-Z) it may never come to an end, and the run outlive its deadline. */
void warden_look_at_visitor(struct warden *w)
{
	struct proc_stat st;

	if (w->phase == PHASE_YIELDED && proc_stat_read(w->visitor_pid, &st) == 0 &&
	    (st.state == 'T' || st.state == 't'))
		warden_yielded(w, RUN_UNKNOWN);
}

void warden_hear_visitor(struct warden *w)
{
	struct door_word word;
	int r = door_hear(w->visitor, &word);

	if (r != 0)
		warden_yielded(w, r > 0 && word.kind == DOOR_DONE ? word.state : RUN_UNKNOWN);
}
