/* What the front is told of a run that is over: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "base/text.h"
#include "engine/survivor.h"
#include "record/host_json.h"
#include "record/phrase.h"
#include "record/process_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_MAX 10 /* processes named on the terminal; the record has all */

/* --- as JSON --- */

static void write_processes(struct warden *w, struct jw *j, const char *key)
{
	struct process_json_options options = {
		.host = &w->host, .run = &w->run, .run_id = w->run.id};

	jw_array(j, key);
	for (size_t i = 0; w->left && i < w->left->procs.n; i++)
		process_json(j, NULL, &w->left->procs.v[i], &options, NULL);
	jw_array_end(j);
}

static void write_survivors(struct warden *w, struct jw *j)
{
	size_t n = 0;
	const struct ladder_outcome *o = w->ladder ? ladder_outcomes(w->ladder, &n) : NULL;

	jw_array(j, "survivors");
	for (size_t i = 0; i < n; i++) {
		if (o[i].gone)
			continue;
		jw_object(j, NULL);
		jw_int(j, "pid", o[i].id.pid);
		jw_uint(j, "start_ticks", o[i].id.start);
		jw_str(j, "why",
		       survivor_why(w->left ? table_find(w->left, o[i].id) : NULL, &o[i]));
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_signals(struct warden *w, struct jw *j)
{
	jw_array(j, "signals");
	for (size_t i = 0; i < w->batches.n; i++) {
		const struct sent_batch *b = &w->batches.v[i];

		jw_object(j, NULL);
		jw_str(j, "name", sigabbrev_np(b->signal));
		jw_array(j, "to");
		for (size_t k = 0; k < b->n; k++)
			process_json_identity(j, NULL, b->to[k]);
		jw_array_end(j);
		time_json(j, "at", b->wall_ns);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static bool is_alive(const struct warden *w, struct identity id)
{
	const struct kin_member *m = kin_member(w->kin, id);

	return m && m->alive;
}

static void write_escapes(struct warden *w, struct jw *j)
{
	jw_array(j, "detached");
	for (size_t i = 0; i < w->leavers.n; i++) {
		const struct leaver *l = &w->leavers.v[i];

		jw_object(j, NULL);
		jw_int(j, "pid", l->id.pid);
		jw_uint(j, "start_ticks", l->id.start);
		jw_str(j, "comm", l->comm);
		jw_int(j, "sid", l->sid);
		jw_bool(j, "alive", is_alive(w, l->id));
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_array(j, "detach_denied");
	for (size_t i = 0; i < w->denied.n; i++) {
		jw_object(j, NULL);
		jw_int(j, "pid", w->denied.v[i].id.pid);
		jw_uint(j, "start_ticks", w->denied.v[i].id.start);
		jw_str(j, "comm", w->denied.v[i].comm);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_array(j, "handed_off");
	for (size_t i = 0; i < w->handoffs.n; i++) {
		const struct handoff *h = &w->handoffs.v[i];

		jw_object(j, NULL);
		jw_int(j, "pid", h->id.pid);
		jw_uint(j, "start_ticks", h->id.start);
		jw_str(j, "comm", h->comm);
		process_json_args(j, "args", "args_b64", &h->args);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_counts(struct warden *w, struct jw *j)
{
	struct kin_counts c = kin_counts(w->kin);

	jw_object(j, "counts");
	jw_uint(j, "forked", c.forked);
	jw_uint(j, "execed", c.execed);
	jw_uint(j, "exited", c.exited);
	jw_uint(j, "more_detached", w->more_leavers);
	jw_uint(j, "more_handed_off", w->more_handoffs);
	jw_uint(j, "detach_denied", w->tries);
	jw_uint(j, "kept_by_rule", w->kept);
	jw_uint(j, "events_counted", runlog_counted(w->log));
	jw_uint(j, "events_unwritten", runlog_unwritten(w->log));
	jw_object_end(j);
	jw_object(j, "coverage");
	jw_array(j, "sources");
	if (w->net)
		jw_str(j, NULL, "netlink");
	jw_str(j, NULL, "proc");
	jw_array_end(j);
	jw_uint(j, "events_lost", c.lost);
	jw_str(j, "no_events", w->net ? NULL : w->net_why.text);
	jw_str(j, "unread", w->unread.code ? w->unread.text : NULL);
	jw_object_end(j);
}

static void write_result(struct warden *w, const struct err *lost)
{
	FILE *out = fdopen(dup(w->start->result_fd), "w");
	struct jw *j = out ? jw_open(out, false) : NULL;

	if (j) {
		jw_object(j, NULL);
		jw_str(j, "containment", unit_kind_name(w->unit->kind));
		jw_str(j, "cannot_hold", unit_cannot_hold(w->unit));
		write_processes(w, j, "added_processes");
		write_survivors(w, j);
		write_signals(w, j);
		write_escapes(w, j);
		write_counts(w, j);
		jw_str(j, "record_lost", lost->code ? lost->text : NULL);
		jw_object_end(j);
		jw_close(j);
	}
	if (out)
		fclose(out);
}

/* --- in words --- */

static void command_words(const struct process *p, char *out, size_t size)
{
	struct bytes line = {0};

	snprintf(out, size, "?");
	if (process_command(p, &line) == 0 && line.data)
		text_safe(out, size, line.data, line.len, true);
	bytes_free(&line);
}

static void say_process(struct warden *w, const struct process *p)
{
	char command[160], flags[7];

	command_words(p, command, sizeof(command));
	run_flags(&w->run, p, flags);
	warden_say(w, "  %7d  %s  %s%s", (int)p->id.pid, flags, command,
		   warden_keeps_open(w, p->id.pid));
}

static void say_left(struct warden *w)
{
	size_t n = 0;

	for (size_t i = 0; w->left && i < w->left->procs.n; i++) {
		const struct process *p = &w->left->procs.v[i];

		if (warden_keeps(w, p))
			continue;
		if (n++ < SAID_MAX)
			say_process(w, p);
	}
	if (n > SAID_MAX)
		warden_say(w, "  and %zu more", n - SAID_MAX);
}

static void say_survivors(struct warden *w)
{
	size_t n = 0, said = 0;
	const struct ladder_outcome *o = w->ladder ? ladder_outcomes(w->ladder, &n) : NULL;

	for (size_t i = 0; i < n && said < SAID_MAX; i++) {
		const struct process *p;
		const char *why;
		char command[120];

		if (o[i].gone)
			continue;
		p = w->left ? table_find(w->left, o[i].id) : NULL;
		why = survivor_why(p, &o[i]);
		command[0] = '\0';
		if (p)
			command_words(p, command, sizeof(command));
		warden_say(w, "still alive: %d %s: %s%s", (int)o[i].id.pid, command,
			   why ? phrase_why_alive(why) : "why is not known",
			   warden_keeps_open(w, o[i].id.pid));
		said++;
	}
}

static bool was_aimed_at(const struct ladder_outcome *o, size_t n, struct identity id)
{
	for (size_t i = 0; i < n; i++)
		if (identity_same(o[i].id, id))
			return true;
	return false;
}

/* Whom nothing was sent to, as it could not be known whether a rule keeps it. */
static void say_unjudged(struct warden *w)
{
	size_t n = 0, said = 0;
	const struct ladder_outcome *o = w->ladder ? ladder_outcomes(w->ladder, &n) : NULL;
	bool rules = w->cause == CAUSE_LEFTOVER && w->o->n_keep;

	for (size_t i = 0; rules && w->left && i < w->left->procs.n && said < SAID_MAX; i++) {
		const struct process *p = &w->left->procs.v[i];
		char command[120];

		if (warden_keeps(w, p) || was_aimed_at(o, n, p->id))
			continue;
		command_words(p, command, sizeof(command));
		warden_say(w, "not ended: %d %s: whether a rule keeps it could not be read%s",
			   (int)p->id.pid, command, warden_keeps_open(w, p->id.pid));
		said++;
	}
}

static void say_escapes(struct warden *w)
{
	for (size_t i = 0; i < w->leavers.n && i < SAID_MAX; i++) {
		const struct leaver *l = &w->leavers.v[i];
		char comm[64];

		text_safe(comm, sizeof(comm), l->comm, strlen(l->comm), true);
		warden_say(w, "detached by setsid: %d %s (%s)", (int)l->id.pid, comm,
			   is_alive(w, l->id) ? "alive" : "ended since");
	}
	if (w->leavers.n + w->more_leavers > SAID_MAX)
		warden_say(w, "detached by setsid: %zu more",
			   w->leavers.n + w->more_leavers - SAID_MAX);
	for (size_t i = 0; i < w->denied.n && i < SAID_MAX; i++) {
		char comm[64];

		text_safe(comm, sizeof(comm), w->denied.v[i].comm, strlen(w->denied.v[i].comm),
			  true);
		warden_say(w, "not let go: %d %s tried to detach", (int)w->denied.v[i].id.pid,
			   comm);
	}
	for (size_t i = 0; i < w->handoffs.n && i < SAID_MAX; i++) {
		const struct handoff *h = &w->handoffs.v[i];
		char comm[64];

		text_safe(comm, sizeof(comm), h->comm, strlen(h->comm), true);
		warden_say(
			w,
			"handed off by %d %s: what that asked for is no member, and was not ended",
			(int)h->id.pid, comm);
	}
}

static const char *ended_for(const struct warden *w)
{
	static const char *const words[] = {
		[CAUSE_DEADLINE] = "the deadline passed",        [CAUSE_ASKED] = "asked to end",
		[CAUSE_PARENT] = "who started it died",          [CAUSE_VISITOR] = "asked to end",
		[CAUSE_LEFTOVER] = "leftovers were to be ended",
	};

	return words[w->cause] ? words[w->cause] : "ended";
}

static void say_ended(struct warden *w, size_t alive)
{
	size_t n = 0, gone = 0;
	bool unread = w->unread.code;
	const struct ladder_outcome *o = w->ladder ? ladder_outcomes(w->ladder, &n) : NULL;
	double s = (double)(clock_boot_ns() - w->began_ns) / 1e9;

	for (size_t i = 0; i < n; i++)
		gone += o[i].gone;
	if (!w->ladder && !unread) {
		warden_say(w, "ended by process %d: %zu ALIVE, %.1f s after it began",
			   (int)w->visitor_pid, alive, s);
		return;
	}
	if (unread)
		warden_say(w,
			   "%s: %zu of %zu gone, %.1f s after it began; WHO ELSE IS ALIVE COULD "
			   "NOT BE READ: %s",
			   ended_for(w), gone, n, s, w->unread.text);
	else if (alive)
		warden_say(w, "%s: %zu of %zu gone, %zu ALIVE, %.1f s after it began", ended_for(w),
			   gone, n, alive, s);
	else
		warden_say(w, "%s: all %zu gone, %.1f s after it began", ended_for(w), gone, s);
	if (w->ladder && ladder_note(w->ladder)->code)
		warden_say(w, "on the way: %s", ladder_note(w->ladder)->text);
	say_survivors(w);
	say_unjudged(w);
}

static void say_over(struct warden *w, enum run_state state, const struct err *lost)
{
	size_t alive = w->left ? w->left->procs.n : 0;

	if (w->cause != CAUSE_NONE)
		say_ended(w, alive);
	else if (w->unread.code)
		warden_say(w, "the command ended, and WHO%s IT LEFT COULD NOT BE READ: %s",
			   alive ? " ELSE" : "", w->unread.text);
	if (w->cause == CAUSE_NONE && state == RUN_LEFTOVER && w->o->leftover != LEFTOVER_KEEP &&
	    alive > w->kept) {
		warden_say(w, "the command ended and left %zu alive%s%s%s:", alive - w->kept,
			   w->log ? " (stray end run:" : "", w->log ? w->start->id : "",
			   w->log ? " ends what it left)" : "");
		say_left(w);
	}
	if (w->kept)
		warden_say(w, "%zu kept by rule", w->kept);
	say_escapes(w);
	if (lost->code)
		warden_say(w, "THE RECORD IS NOT WHOLE: %s", lost->text);
}

/* --- */

static int command_status(const struct warden *w)
{
	if (!w->cmd_over)
		return 0;
	return WIFEXITED(w->cmd_status) ? WEXITSTATUS(w->cmd_status)
					: 128 + WTERMSIG(w->cmd_status);
}

bool warden_left_any(const struct warden *w)
{
	return !w->left || w->unread.code || w->left->procs.n > w->kept;
}

/* status: of the cause, 0: the command's own decides. */
static int final_status(const struct warden *w, enum run_state state, int status, bool lost)
{
	int own = command_status(w);

	if (w->o->preserve_status && (status == 123 || status == 124))
		status = own;
	else if (!status)
		status = own;
	if (!status && state == RUN_LEFTOVER && w->o->leftover == LEFTOVER_REPORT &&
	    warden_left_any(w) && !w->o->preserve_status)
		status = 123;
	if (lost && (status == 0 || status == 123))
		status = 122;
	return status;
}

#define OTHERS_MAX 4096 /* with more, to look at all is as good */

/* Who else came and went.  False: that is not known, or too long. */
static bool tell_others(struct warden *w)
{
	pid_t pids[OTHERS_MAX];
	size_t n = SIZE_MAX;

	if (warden_drain_others(w))
		n = strangers_list(&w->strangers, pids, OTHERS_MAX);
	for (size_t i = 0; n != SIZE_MAX && i < n;) {
		struct talk t = {.kind = TALK_OTHERS};

		for (; t.n < TALK_OTHERS_MAX && i < n; i++)
			t.others[t.n++] = pids[i];
		talk_send(w->start->talk_fd, &t);
	}
	return n != SIZE_MAX;
}

void warden_finish(struct warden *w, enum run_state state, int status)
{
	struct err lost;
	struct talk t = {
		.kind = TALK_OVER,
		.state = state,
		.exited = w->cmd_over,
		.wait_status = w->cmd_status,
		.elapsed_ns = (w->over_ns ? w->over_ns : clock_boot_ns()) - w->began_ns,
		.id = w->cmd.id,
	};

	warden_tell_watch(w, "over");
	lost = runlog_lost(w->log);
	if (!lost.code && w->close_late)
		err_set(&lost, ETIMEDOUT,
			"its end is not on the disk: that hangs, or another "
			"writer holds the journal's lock");
	t.status = final_status(w, state, status, lost.code != 0);
	if (w->cause == CAUSE_NONE && w->cmd_over && WIFSIGNALED(w->cmd_status) &&
	    w->start->terminal)
		t.signal = WTERMSIG(w->cmd_status);
	waitpid(w->cmd.id.pid, NULL, WNOHANG); /* its numbers need no holding any more */
	say_over(w, state, &lost);
	write_result(w, &lost);
	t.others_known = tell_others(w);
	talk_send(w->start->talk_fd, &t);
}
