#include "engine/explain_parts.h"

#include "base/clock.h"
#include "base/vec.h"
#include "model/lineage.h"
#include "model/origin.h"
#include "model/pipes.h"
#include "model/suspect.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

void explain_add(struct explain_writer *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->line + w->used, sizeof(w->line) - w->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		w->used += (size_t)n < sizeof(w->line) - w->used ? (size_t)n
								 : sizeof(w->line) - w->used - 1;
}

void explain_bytes(struct explain_writer *w, const struct bytes *b)
{
	if (!b->data)
		explain_add(w, "not known");
	else
		w->used += text_safe(w->line + w->used, sizeof(w->line) - w->used, b->data, b->len,
				     w->ascii);
}

const char *explain_dot(const struct explain_writer *w)
{
	return w->ascii ? " - " : " · ";
}

/* Ends the line under way. */
void explain_end(struct explain_writer *w, const char *label)
{
	struct explain_line line = {label, strdup(w->line)};

	if (!line.text || !VEC_PUSH(w->out, line)) {
		free(line.text);
		w->failed = true;
	}
	w->used = 0;
	w->line[0] = '\0';
}

void explanation_clear(struct explanation *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->v[i].text);
	free(e->v);
	memset(e, 0, sizeof(*e));
}

void explain_signals(uint64_t mask, char *out, size_t size)
{
	size_t used = 0;

	snprintf(out, size, "none");
	for (int sig = 1; sig <= 64; sig++) {
		const char *name = sigabbrev_np(sig);
		char number[16];
		int n;

		if (!sigmask_has(mask, sig))
			continue;
		if (!name) {
			snprintf(number, sizeof(number), sig >= 34 ? "RTMIN+%d" : "%d",
				 sig >= 34 ? sig - 34 : sig);
			name = number;
		}
		n = snprintf(out + used, size - used, "%s%s", used ? " " : "", name);
		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}

size_t explain_lineage(const struct tracker *k, const struct process *p,
		       struct explain_ancestor out[static EXPLAIN_LINEAGE_MAX])
{
	size_t n = 0;
	pid_t up = p->ppid;

	if (identity_known(p->parent_was) && p->parent_known != KNOWN_NOT &&
	    p->parent_was.pid != p->ppid)
		out[n++] =
			(struct explain_ancestor){p->parent_was, table_find(k->now, p->parent_was),
						  tracker_ghost(k, p->parent_was), p->parent_known};
	while (up > 0 && n < EXPLAIN_LINEAGE_MAX) {
		const struct process *q = table_pid(k->now, up);

		out[n++] = (struct explain_ancestor){q ? q->id : (struct identity){up, 0}, q, NULL,
						     q ? KNOWN_SCANNED : KNOWN_NOT};
		if (!q || up == 1)
			break;
		up = q->ppid;
	}
	return n;
}

const struct process *explain_known(const struct tracker *k, struct identity id)
{
	const struct process *p = table_find(k->now, id);
	const struct ghost *g = p ? NULL : tracker_ghost(k, id);

	return g ? &g->p : p;
}

void explain_unread_or(struct explain_writer *w, unsigned bit, const struct bytes *b)
{
	int e = process_unread(w->p, bit);

	if (e)
		explain_add(w, "not readable (%s)", err_name(e));
	else
		explain_bytes(w, b);
}

static void say_identity(struct explain_writer *w)
{
	struct bytes command = {0};

	explain_add(w, "%d@%" PRIu64 " ", w->p->id.pid, w->p->id.start);
	if (process_command(w->p, &command) < 0)
		w->failed = true;
	else
		explain_bytes(w, &command);
	bytes_free(&command);
	if (w->p->detail && w->p->detail->cmdline_total > w->p->detail->cmdline.len + 16)
		explain_add(w, " (of %zu bytes)", w->p->detail->cmdline_total);
	explain_end(w, "process");
}

static const char *state_word(char state)
{
	static const struct {
		char c;
		const char *word;
	} words[] = {
		{'R', "running"},
		{'S', "sleeping"},
		{'D', "uninterruptible sleep"},
		{'Z', "zombie: dead, unreaped"},
		{'T', "stopped"},
		{'t', "stopped by its tracer"},
		{'I', "idle"},
		{'X', "dead"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].c == state)
			return words[i].word;
	return "unknown state";
}

static void say_state(struct explain_writer *w)
{
	const struct host *h = &w->k->now->host;
	const struct detail *d = w->p->detail;
	uint64_t tick_ns =
		CLOCK_NS_PER_S / (uint64_t)(h->ticks_per_second > 0 ? h->ticks_per_second : 100);
	uint64_t started = w->p->id.start * tick_ns;
	char hms[9], age[16];

	clock_hms(h->wall_ns - h->boot_ns + started, hms);
	clock_age(h->boot_ns > started ? (h->boot_ns - started) / CLOCK_NS_PER_S : 0, age);
	explain_add(w, "started %s UTC, %s ago%suser ", hms, age, explain_dot(w));
	if (d)
		explain_bytes(w, &d->user);
	explain_add(w, "%s%c %s", explain_dot(w), w->p->state, state_word(w->p->state));
	if (d && d->wchan.len) {
		explain_add(w, " in ");
		explain_bytes(w, &d->wchan);
	}
	if (d && d->tracer > 0)
		explain_add(w, "%straced by %d", explain_dot(w), d->tracer);
	if (w->p->survived)
		explain_add(w, "%sSURVIVED a signal that should have ended it", explain_dot(w));
	explain_end(w, "state");
}

static void say_place(struct explain_writer *w)
{
	const struct process *p = w->p;
	const struct detail *d = p->detail;
	char tty[32];

	explain_add(w, "group %d%s, session %d%s%stty %s", p->pgid,
		    p->pgid == p->id.pid ? " (leads it)" : "", p->sid,
		    p->sid == p->id.pid                 ? " (leads it)"
		    : lineage_leader_gone(w->k->now, p) ? " (leader gone)"
							: "",
		    explain_dot(w), tty_name(p->tty_nr, tty) ? tty : "none");
	if (p->tty_closed)
		explain_add(w, " (its terminal is closed)");
	explain_end(w, "place");
	if (!d)
		return;
	explain_unread_or(w, DETAIL_CGROUP, &d->cgroup);
	explain_end(w, "cgroup");
}

static void say_origin(struct explain_writer *w)
{
	const struct process *p = w->p;
	const struct detail *d = p->detail;
	struct bytes scope;
	static const char *const login_words[] = {"", ", login open", ", login closed",
						  ", whether the login is open is not known"};

	explain_add(w, "%s", origin_kind_name((enum origin_kind)p->origin));
	if (p->origin_name.len) {
		explain_add(w, " ");
		explain_bytes(w, &p->origin_name);
	} else if (origin_scope(p, &scope)) {
		explain_add(w, ", in ");
		explain_bytes(w, &scope);
	}
	explain_add(w, "%s", login_words[origin_login_state(w->k->now, p)]);
	if (detail_knows(d, DETAIL_LOGIN)) {
		if (d->audit_session >= 0)
			explain_add(w, "%saudit session %" PRId64, explain_dot(w),
				    d->audit_session);
		else if (d->audit_session == -1)
			explain_add(w, "%sno audit session set", explain_dot(w));
		if (d->login_uid >= 0)
			explain_add(w, ", login uid %" PRId64, d->login_uid);
	}
	explain_end(w, "origin");
}

static void add_short(struct explain_writer *w, const struct process *p)
{
	if (p && p->detail && p->detail->comm.data) {
		explain_add(w, " ");
		explain_bytes(w, &p->detail->comm);
	}
}

static void say_lineage(struct explain_writer *w)
{
	struct explain_ancestor up[EXPLAIN_LINEAGE_MAX];
	size_t n = explain_lineage(w->k, w->p, up);
	const char *arrow = w->ascii ? " < " : " ← ";

	explain_add(w, "%d", w->p->id.pid);
	add_short(w, w->p);
	for (size_t i = 0; i < n; i++) {
		explain_add(w, "%s%d", arrow, up[i].id.pid);
		add_short(w, up[i].p ? up[i].p : up[i].ghost ? &up[i].ghost->p : NULL);
		if (i == 0 && identity_same(up[i].id, w->p->parent_was) &&
		    w->p->parent_was.pid != w->p->ppid)
			explain_add(w, " (forked it, gone: %s); now", known_name(up[i].known));
		else if (!up[i].p)
			explain_add(w, " (not visible)");
	}
	if (w->p->ppid == 0)
		explain_add(w, "%sparent outside this PID namespace", arrow);
	explain_end(w, "lineage");
	if (w->p->reparented != KNOWN_NOT)
		explain_add(w, "reparented, %s",
			    w->p->reparented >= KNOWN_SCANNED
				    ? "observed"
				    : "presumed: its parent is not of its session or scope");
	else if (w->p->reparent_possible)
		explain_add(w, "reparented: possible, nothing shows it");
	else
		return;
	explain_end(w, "");
}

static void say_suspicion(struct explain_writer *w)
{
	const struct process *p = w->p;
	const char *mux = suspect_multiplexer(p);
	const char *sep = "";
	struct bytes scope;

	for (unsigned i = 0; i < SUSPECT_COUNT; i++)
		if (p->suspect & 1u << i) {
			explain_add(w, "%s%s", sep, suspect_reason(1u << i));
			sep = ", ";
		}
	if (!*sep)
		explain_add(w, "no");
	explain_end(w, "suspect");
	for (unsigned i = 0; i < SUSPECT_COUNT; i++)
		if (p->explained & 1u << i) {
			explain_add(w, "explained: %s, by ", suspect_reason(1u << i));
			if (mux)
				explain_add(w, "%s", mux);
			else if (p->origin_name.len)
				explain_bytes(w, &p->origin_name);
			else if (origin_scope(p, &scope))
				explain_bytes(w, &scope);
			else
				explain_add(w, "what it is");
			explain_end(w, "");
		}
}

static void say_evidence(struct explain_writer *w)
{
	const struct run *run = w->k->run;
	const char *sep = "";
	char flags[7], peer[PIPES_WORDS_MAX], unknown[160];

	if (!run)
		return;
	for (unsigned i = 0; i < EVIDENCE_COUNT; i++)
		if (w->p->evidence & 1u << i) {
			explain_add(w, "%s%s", sep, evidence_name(1u << i));
			sep = explain_dot(w);
		}
	if (!*sep)
		explain_add(w, "no member");
	explain_add(w, "%sof ", explain_dot(w));
	w->used += text_safe(w->line + w->used, sizeof(w->line) - w->used, run->id, strlen(run->id),
			     w->ascii);
	run_flags(run, w->p, flags);
	explain_add(w, "%sflags %s", explain_dot(w), flags);
	explain_end(w, "evidence");
	if ((w->p->evidence & EVIDENCE_PEER) && identity_known(w->p->parent_was)) {
		explain_add(w, "asked: forked by %d", w->p->parent_was.pid);
		add_short(w, explain_known(w->k, w->p->parent_was));
		explain_add(w, " while a member spoke with that");
		explain_end(w, "");
	}
	pipes_words(pipes_peer(run, w->k->now, w->p), peer);
	if (peer[0]) {
		explain_add(w, "peer: holds the other end of its root's %s", peer);
		explain_end(w, "");
	}
	if (pipes_unknown(run, unknown, sizeof(unknown))) {
		explain_add(w, "not known: %s", unknown);
		explain_end(w, "");
	}
}

int explain_process(const struct tracker *k, const struct process *p, bool ascii,
		    struct explanation *out, struct err *err)
{
	struct explain_writer *w = calloc(1, sizeof(*w));

	memset(out, 0, sizeof(*out));
	if (!w)
		return err_nomem(err);
	*w = (struct explain_writer){.out = out, .k = k, .p = p, .ascii = ascii};
	say_identity(w);
	say_state(w);
	say_place(w);
	say_origin(w);
	say_lineage(w);
	say_suspicion(w);
	say_evidence(w);
	explain_holds(w);
	if (w->failed) {
		free(w);
		return err_nomem(err);
	}
	free(w);
	return 0;
}
