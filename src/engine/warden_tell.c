/* The journal of a launched run, and what is said of it: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mask.h"
#include "base/proc_stat.h"
#include "engine/survivor.h"
#include "record/host_json.h"
#include "record/operator.h"
#include "record/process_json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DENIED_AT_ONCE 64

void warden_say(struct warden *w, const char *fmt, ...)
{
	struct talk t = {.kind = TALK_SAY};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t.text, sizeof(t.text), fmt, ap);
	va_end(ap);
	talk_send(w->start->talk_fd, &t);
}

/* As it was typed: it may quote a command line. */
static void write_rule(struct jw *j, const struct keep_rule *rule)
{
	struct bytes safe = {0};

	if (mask_text(rule->text, strlen(rule->text), &safe, NULL) == 0)
		jw_strf(j, "rule", "%s=%.*s", rule->what == KEEP_EXE ? "exe" : "args",
			(int)safe.len, safe.data);
	bytes_free(&safe);
}

/* --- what members did --- */

static void tell_came(struct warden *w, const struct kin_change *c)
{
	const struct kin_member *m = kin_member(w->kin, c->id);
	bool forked = identity_known(c->forker);
	struct process p = {.id = c->id, .evidence = (uint16_t)(m ? m->evidence : EVIDENCE_FORK)};
	struct jw *j = runlog_begin(w->log, forked ? "forked" : "started", c->known);

	if (m) {
		p.ppid = m->ppid;
		p.pgid = m->pgid;
		p.sid = m->sid;
		p.parent_was = m->forker;
		p.parent_known = m->forker_known;
	}
	if (j) {
		process_json_identity(j, "process", forked ? c->forker : c->id);
		if (forked)
			process_json_identity(j, "child", c->id);
		process_json_facts(j, &p, &w->host, &w->run);
		process_json_happened(j, c->boot_ns);
	}
	runlog_add(w->log, RUNLOG_PROCESS);
}

/* Programs that pass work on: what they asked for is no descendant of theirs. */
static void note_handoff(struct warden *w, struct identity id, const struct detail *d)
{
	struct handoff h = {.id = id};
	struct jw *j = runlog_begin(w->log, "handed_off", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "process", id);
		jw_bytes(j, "comm", &d->comm);
		process_json_args(j, "args", "args_b64", &d->cmdline);
	}
	runlog_add(w->log, RUNLOG_ESCAPE);
	snprintf(h.comm, sizeof(h.comm), "%.*s", (int)d->comm.len, d->comm.data);
	if (d->cmdline.data)
		bytes_set(&h.args, d->cmdline.data, d->cmdline.len);
	if (w->handoffs.n >= WARDEN_LEAVERS_MAX || !VEC_PUSH(&w->handoffs, h)) {
		w->more_handoffs++;
		bytes_free(&h.args);
	}
}

static void tell_exec(struct warden *w, const struct kin_change *c)
{
	struct process p = {.id = c->id};
	struct detail *d = NULL;
	struct jw *j;

	/* once, and at once: after a program that exits there is nothing left to read */
	source_exec(w->source, c->id, &d, NULL);
	j = runlog_begin(w->log, "execed", c->known);
	if (j) {
		process_json_identity(j, "process", c->id);
		process_json_execed(j, d);
		process_json_happened(j, c->boot_ns);
	}
	runlog_add(w->log, RUNLOG_PROCESS);
	p.detail = d;
	if (d && run_hands_off(&p))
		note_handoff(w, c->id, d);
	detail_unref(d);
}

static void tell_exit(struct warden *w, const struct kin_change *c)
{
	struct jw *j = runlog_begin(w->log, "exited", c->known);

	if (j) {
		process_json_identity(j, "process", c->id);
		if (c->status_known)
			process_json_status(j, c->status);
		process_json_happened(j, c->boot_ns);
	}
	runlog_add(w->log, RUNLOG_PROCESS);
}

static void tell_number(struct warden *w, const struct kin_change *c, const char *event)
{
	struct jw *j = runlog_begin(w->log, event, c->known);

	if (j) {
		process_json_identity(j, "process", c->id);
		process_json_pid(j, "from", c->from);
		process_json_pid(j, "to", c->to);
		process_json_happened(j, c->boot_ns);
	}
	runlog_add(w->log, RUNLOG_ESCAPE);
}

static void write_who(struct warden *w, struct jw *j, const char *key, pid_t pid,
		      struct identity hint)
{
	const struct kin_member *m = kin_pid(w->kin, pid);

	if (hint.pid == pid)
		process_json_identity(j, key, hint);
	else if (m)
		process_json_identity(j, key, m->id);
	else if (pid == w->self.pid)
		process_json_identity(j, key, w->self);
	else
		jw_null(j, key);
}

static void tell_reparented(struct warden *w, const struct kin_change *c)
{
	struct jw *j = runlog_begin(w->log, "reparented", c->known);

	if (j) {
		process_json_identity(j, "process", c->id);
		write_who(w, j, "from", c->from, c->forker);
		write_who(w, j, "to", c->to, (struct identity){0});
		process_json_happened(j, c->boot_ns);
	}
	runlog_add(w->log, RUNLOG_PROCESS);
}

static void read_comm(struct identity id, char *out, size_t size)
{
	char path[32];
	char comm[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)id.pid);
	n = file_read_at(AT_FDCWD, path, comm, sizeof(comm));
	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	if (n > 0 || !*out)
		snprintf(out, size, "%s", n > 0 ? comm : "?");
}

/* What it has become since. */
static void name_leaver(struct warden *w, struct identity id)
{
	for (size_t i = 0; i < w->leavers.n; i++)
		if (identity_same(w->leavers.v[i].id, id))
			read_comm(id, w->leavers.v[i].comm, sizeof(w->leavers.v[i].comm));
}

static void note_leaver(struct warden *w, const struct kin_change *c)
{
	struct leaver l = {.id = c->id, .sid = c->to};

	if (c->to == w->sid)
		return;
	for (size_t i = 0; i < w->leavers.n; i++)
		if (identity_same(w->leavers.v[i].id, c->id))
			return;
	read_comm(c->id, l.comm, sizeof(l.comm));
	if (w->leavers.n >= WARDEN_LEAVERS_MAX || !VEC_PUSH(&w->leavers, l))
		w->more_leavers++;
}

static void tell_denied(struct warden *w, const struct denied *d, struct identity id)
{
	struct jw *j = runlog_begin(w->log, "detach_denied", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "process", id);
		jw_str(j, "call", d->setsid ? "setsid" : "setpgid");
		if (!d->setsid) {
			jw_int(j, "pid", d->args[0]);
			jw_int(j, "pgid", d->args[1]);
		}
	}
	runlog_add(w->log, RUNLOG_ESCAPE);
}

static void note_denied(struct warden *w, struct identity id)
{
	struct leaver l = {.id = id};

	w->tries++;
	for (size_t i = 0; i < w->denied.n; i++)
		if (identity_same(w->denied.v[i].id, id))
			return;
	read_comm(id, l.comm, sizeof(l.comm));
	if (w->denied.n < WARDEN_LEAVERS_MAX)
		VEC_PUSH(&w->denied, l);
}

void warden_deny(struct warden *w)
{
	struct denied d;
	int r = 0;

	/* who tries again at once is there again each time: other things are due, too */
	for (int i = 0; i < DENIED_AT_ONCE && (r = deny_next(&w->deny, &d)) > 0; i++) {
		struct proc_stat st;

		if (proc_stat_read(d.pid, &st) < 0)
			continue;
		tell_denied(w, &d, (struct identity){d.pid, st.start});
		note_denied(w, (struct identity){d.pid, st.start});
	}
	if (r < 0) /* nobody is left that the filter holds */
		deny_close(&w->deny);
}

static void tell_lost(struct warden *w)
{
	uint64_t lost = kin_counts(w->kin).lost;
	struct jw *j;

	if (lost <= w->lost_told)
		return;
	j = runlog_begin(w->log, "events_lost", KNOWN_SEEN);
	if (j) {
		jw_uint(j, "count", lost - w->lost_told);
		jw_str(j, "source", source_kind_name(SOURCE_NETLINK));
	}
	runlog_add(w->log, RUNLOG_FACT);
	w->lost_told = lost;
}

void warden_tell_changes(struct warden *w)
{
	size_t n;
	const struct kin_change *c = kin_changes(w->kin, &n);

	for (size_t i = 0; i < n; i++) {
		switch (c[i].kind) {
		case KIN_FORKED:
			tell_came(w, &c[i]);
			break;
		case KIN_EXECED:
			tell_exec(w, &c[i]);
			name_leaver(w, c[i].id);
			break;
		case KIN_EXITED:
			tell_exit(w, &c[i]);
			break;
		case KIN_SETSID:
			tell_number(w, &c[i], "setsid");
			note_leaver(w, &c[i]);
			break;
		case KIN_SETPGID:
			tell_number(w, &c[i], "setpgid");
			break;
		case KIN_REPARENTED:
			tell_reparented(w, &c[i]);
			break;
		}
	}
	if (n)
		kin_taken(w->kin);
	tell_lost(w);
}

/* --- what was done --- */

void warden_tell_moved(struct warden *w, struct identity id, const char *to)
{
	struct jw *j = runlog_begin(w->log, "left_cgroup", KNOWN_SCANNED);

	if (j) {
		process_json_identity(j, "process", id);
		jw_str(j, "from", w->unit->path);
		jw_str(j, "to", to);
	}
	runlog_add(w->log, RUNLOG_ESCAPE);
}

void warden_tell_watch(struct warden *w, const char *reason)
{
	struct operator o = operator_current();
	struct coverage c = {
		.sources = (1u << SOURCE_PROC) | (w->net ? 1u << SOURCE_NETLINK : 0),
		.events_lost = kin_counts(w->kin).lost,
		.first_scan_wall_ns = w->host.wall_ns,
		.partial = true,
	};
	struct jw *j = runlog_begin(w->log, reason ? "watch_stopped" : "watch_started", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "watcher", w->self);
		if (reason) {
			jw_str(j, "reason", reason);
		} else {
			operator_json(j, "operator", &o);
			jw_uint(j, "interval_ms", WARDEN_TICK_NS / 1000000);
			coverage_json(j, &c);
		}
	}
	runlog_add(w->log, RUNLOG_FACT);
}

void warden_tell_started(struct warden *w)
{
	struct process p = {
		.id = w->cmd.id,
		.ppid = w->self.pid,
		.pgid = w->pgid,
		.sid = w->sid,
		.evidence = EVIDENCE_ROOT | (w->unit->kind == UNIT_CGROUP ? EVIDENCE_CGROUP : 0),
		.parent_was = w->self,
		.parent_known = KNOWN_SEEN,
	};
	struct jw *j = runlog_begin(w->log, "started", KNOWN_SEEN);

	if (j) {
		process_json_identity(j, "process", p.id);
		process_json_facts(j, &p, &w->host, &w->run);
	}
	runlog_add(w->log, RUNLOG_FACT);
}

void warden_tell_leftovers(struct warden *w, const struct table *t)
{
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		const struct keep_rule *rule = warden_keeps(w, p);
		struct jw *j = runlog_begin(w->log, rule ? "kept" : "leftover", KNOWN_SCANNED);

		if (j) {
			process_json_identity(j, "process", p->id);
			process_json_facts(j, p, &w->host, &w->run);
			if (rule)
				write_rule(j, rule);
		}
		runlog_add(w->log, RUNLOG_FACT);
	}
}

void warden_tell_look(struct warden *w, const char *what, const struct table *t)
{
	/* of the run itself, where nobody ended it */
	runlog_snapshot(w->log, w->cause == CAUSE_NONE ? NULL : WARDEN_ACT, what, t, &w->run);
}

static void write_grace(struct warden *w, struct jw *j)
{
	struct kin_counts now = kin_counts(w->kin);

	jw_object(j, "in_grace");
	jw_uint(j, "forked", now.forked - w->at_term.forked);
	jw_uint(j, "execed", now.execed - w->at_term.execed);
	jw_uint(j, "exited", now.exited - w->at_term.exited);
	jw_object_end(j);
}

void warden_tell_intent(struct warden *w, int sig, const struct identity *to, size_t n)
{
	const struct intent intent = {
		.unit = "run", .grace_ns = w->o->grace_ns, .operator= operator_current()};
	struct jw *j = runlog_begin(w->log, "signal_intent", KNOWN_SEEN);

	if (j) {
		jw_str(j, "act", WARDEN_ACT);
		sent_json_intent(j, &intent, sig, to, n);
		if (sig == SIGKILL)
			write_grace(w, j);
	}
	runlog_sync(w->log, RUN_UNKNOWN, w->budget_ns, NULL);
}

void warden_tell_sent(struct warden *w)
{
	struct jw *j;

	if (!w->sent.n)
		return;
	j = runlog_begin(w->log, "signal_sent", KNOWN_SEEN);
	if (j) {
		jw_str(j, "act", WARDEN_ACT);
		sent_json_sent(j, w->sent_signal, &w->sent);
	}
	runlog_add(w->log, RUNLOG_FACT);
	w->sent.n = 0;
}

void warden_tell_survivors(struct warden *w, const struct table *t)
{
	size_t n = 0;
	const struct ladder_outcome *o = w->ladder ? ladder_outcomes(w->ladder, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		struct jw *j;

		if (o[i].gone)
			continue;
		j = runlog_begin(w->log, "survivor", KNOWN_SCANNED);
		if (j) {
			jw_str(j, "act", WARDEN_ACT);
			sent_json_survivor(
				j, o[i].id, o[i].last_signal ? o[i].last_signal : SIGTERM,
				survivor_why(t ? table_find(t, o[i].id) : NULL, &o[i]), o[i].error);
		}
		runlog_add(w->log, RUNLOG_FACT);
	}
}
