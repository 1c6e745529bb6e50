#include "engine/explain.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/vec.h"
#include "engine/plan.h"
#include "model/lineage.h"
#include "model/origin.h"
#include "model/pipes.h"
#include "model/suspect.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 8192 /* of safe text; a longer command line is cut in the middle */

struct writer {
	struct explanation *out;
	const struct tracker *k;
	const struct process *p;
	bool ascii, failed;
	char line[LINE_MAX_BYTES]; /* under way */
	size_t used;
};

static void add(struct writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct writer *w, const char *fmt, ...)
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

static void add_bytes(struct writer *w, const struct bytes *b)
{
	if (!b->data)
		add(w, "not known");
	else
		w->used += text_safe(w->line + w->used, sizeof(w->line) - w->used, b->data, b->len,
				     w->ascii);
}

static const char *dot(const struct writer *w)
{
	return w->ascii ? " - " : " · ";
}

/* Ends the line under way. */
static void end(struct writer *w, const char *label)
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

static void unread_or(struct writer *w, unsigned bit, const struct bytes *b)
{
	int e = process_unread(w->p, bit);

	if (e)
		add(w, "not readable (%s)", err_name(e));
	else
		add_bytes(w, b);
}

static void say_identity(struct writer *w)
{
	struct bytes command = {0};

	add(w, "%d@%" PRIu64 " ", w->p->id.pid, w->p->id.start);
	if (process_command(w->p, &command) < 0)
		w->failed = true;
	else
		add_bytes(w, &command);
	bytes_free(&command);
	if (w->p->detail && w->p->detail->cmdline_total > w->p->detail->cmdline.len + 16)
		add(w, " (of %zu bytes)", w->p->detail->cmdline_total);
	end(w, "process");
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

static void say_state(struct writer *w)
{
	const struct host *h = &w->k->now->host;
	const struct detail *d = w->p->detail;
	uint64_t tick_ns =
		CLOCK_NS_PER_S / (uint64_t)(h->ticks_per_second > 0 ? h->ticks_per_second : 100);
	uint64_t started = w->p->id.start * tick_ns;
	char hms[9], age[16];

	clock_hms(h->wall_ns - h->boot_ns + started, hms);
	clock_age(h->boot_ns > started ? (h->boot_ns - started) / CLOCK_NS_PER_S : 0, age);
	add(w, "started %s UTC, %s ago%suser ", hms, age, dot(w));
	if (d)
		add_bytes(w, &d->user);
	add(w, "%s%c %s", dot(w), w->p->state, state_word(w->p->state));
	if (d && d->wchan.len) {
		add(w, " in ");
		add_bytes(w, &d->wchan);
	}
	if (d && d->tracer > 0)
		add(w, "%straced by %d", dot(w), d->tracer);
	if (w->p->survived)
		add(w, "%sSURVIVED a signal that should have ended it", dot(w));
	end(w, "state");
}

static void say_place(struct writer *w)
{
	const struct process *p = w->p;
	const struct detail *d = p->detail;
	char tty[32];

	add(w, "group %d%s, session %d%s%stty %s", p->pgid,
	    p->pgid == p->id.pid ? " (leads it)" : "", p->sid,
	    p->sid == p->id.pid                 ? " (leads it)"
	    : lineage_leader_gone(w->k->now, p) ? " (leader gone)"
						: "",
	    dot(w), tty_name(p->tty_nr, tty) ? tty : "none");
	if (p->tty_closed)
		add(w, " (its terminal is closed)");
	end(w, "place");
	if (!d)
		return;
	unread_or(w, DETAIL_CGROUP, &d->cgroup);
	end(w, "cgroup");
}

static void say_origin(struct writer *w)
{
	const struct process *p = w->p;
	const struct detail *d = p->detail;
	struct bytes scope;
	static const char *const login_words[] = {"", ", login open", ", login closed",
						  ", whether the login is open is not known"};

	add(w, "%s", origin_kind_name((enum origin_kind)p->origin));
	if (p->origin_name.len) {
		add(w, " ");
		add_bytes(w, &p->origin_name);
	} else if (origin_scope(p, &scope)) {
		add(w, ", in ");
		add_bytes(w, &scope);
	}
	add(w, "%s", login_words[origin_login_state(w->k->now, p)]);
	if (detail_knows(d, DETAIL_LOGIN)) {
		if (d->audit_session >= 0)
			add(w, "%saudit session %" PRId64, dot(w), d->audit_session);
		else if (d->audit_session == -1)
			add(w, "%sno audit session set", dot(w));
		if (d->login_uid >= 0)
			add(w, ", login uid %" PRId64, d->login_uid);
	}
	end(w, "origin");
}

static void add_short(struct writer *w, const struct process *p)
{
	if (p && p->detail && p->detail->comm.data) {
		add(w, " ");
		add_bytes(w, &p->detail->comm);
	}
}

static void say_lineage(struct writer *w)
{
	struct explain_ancestor up[EXPLAIN_LINEAGE_MAX];
	size_t n = explain_lineage(w->k, w->p, up);
	const char *arrow = w->ascii ? " < " : " ← ";

	add(w, "%d", w->p->id.pid);
	add_short(w, w->p);
	for (size_t i = 0; i < n; i++) {
		add(w, "%s%d", arrow, up[i].id.pid);
		add_short(w, up[i].p ? up[i].p : up[i].ghost ? &up[i].ghost->p : NULL);
		if (i == 0 && identity_same(up[i].id, w->p->parent_was) &&
		    w->p->parent_was.pid != w->p->ppid)
			add(w, " (forked it, gone: %s); now", known_name(up[i].known));
		else if (!up[i].p)
			add(w, " (not visible)");
	}
	if (w->p->ppid == 0)
		add(w, "%sparent outside this PID namespace", arrow);
	end(w, "lineage");
	if (w->p->reparented != KNOWN_NOT)
		add(w, "reparented, %s",
		    w->p->reparented >= KNOWN_SCANNED
			    ? "observed"
			    : "presumed: its parent is not of its session or scope");
	else if (w->p->reparent_possible)
		add(w, "reparented: possible, nothing shows it");
	else
		return;
	end(w, "");
}

static void say_suspicion(struct writer *w)
{
	const struct process *p = w->p;
	const char *mux = suspect_multiplexer(p);
	const char *sep = "";
	struct bytes scope;

	for (unsigned i = 0; i < SUSPECT_COUNT; i++)
		if (p->suspect & 1u << i) {
			add(w, "%s%s", sep, suspect_reason(1u << i));
			sep = ", ";
		}
	if (!*sep)
		add(w, "no");
	end(w, "suspect");
	for (unsigned i = 0; i < SUSPECT_COUNT; i++)
		if (p->explained & 1u << i) {
			add(w, "explained: %s, by ", suspect_reason(1u << i));
			if (mux)
				add(w, "%s", mux);
			else if (p->origin_name.len)
				add_bytes(w, &p->origin_name);
			else if (origin_scope(p, &scope))
				add_bytes(w, &scope);
			else
				add(w, "what it is");
			end(w, "");
		}
}

static void say_evidence(struct writer *w)
{
	const struct run *run = w->k->run;
	const char *sep = "";
	char flags[7], peer[PIPES_WORDS_MAX], unknown[160];

	if (!run)
		return;
	for (unsigned i = 0; i < EVIDENCE_COUNT; i++)
		if (w->p->evidence & 1u << i) {
			add(w, "%s%s", sep, evidence_name(1u << i));
			sep = dot(w);
		}
	if (!*sep)
		add(w, "no member");
	add(w, "%sof ", dot(w));
	w->used += text_safe(w->line + w->used, sizeof(w->line) - w->used, run->id, strlen(run->id),
			     w->ascii);
	run_flags(run, w->p, flags);
	add(w, "%sflags %s", dot(w), flags);
	end(w, "evidence");
	if ((w->p->evidence & EVIDENCE_PEER) && identity_known(w->p->parent_was)) {
		add(w, "asked: forked by %d", w->p->parent_was.pid);
		add_short(w, explain_known(w->k, w->p->parent_was));
		add(w, " while a member spoke with that");
		end(w, "");
	}
	pipes_words(pipes_peer(run, w->k->now, w->p), peer);
	if (peer[0]) {
		add(w, "peer: holds the other end of its root's %s", peer);
		end(w, "");
	}
	if (pipes_unknown(run, unknown, sizeof(unknown))) {
		add(w, "not known: %s", unknown);
		end(w, "");
	}
}

static void say_signals(struct writer *w)
{
	const struct detail *d = w->p->detail;
	const char *useless = plan_useless(w->p, SIGTERM);
	char ignored[400], blocked[400], pending[400];
	int e = process_unread(w->p, DETAIL_STATUS);

	if (!d || !(d->have & DETAIL_STATUS) || e) {
		add(w, "not readable (%s)", e ? err_name(e) : "not asked for");
		end(w, "signals");
		return;
	}
	explain_signals(d->sig_ignored, ignored, sizeof(ignored));
	explain_signals(d->sig_blocked, blocked, sizeof(blocked));
	explain_signals(d->sig_pending, pending, sizeof(pending));
	add(w, "ignored %s%sblocked %s%spending %s", ignored, dot(w), blocked, dot(w), pending);
	end(w, "signals");
	if (useless) {
		add(w, "TERM would not end it: %s", useless);
		end(w, "");
	}
}

static void say_files(struct writer *w)
{
	const struct detail *d = w->p->detail;
	static const char *const fd_label[] = {"stdio", "", ""};

	if (!d)
		return;
	unread_or(w, DETAIL_EXE, &d->exe);
	if (d->exe_deleted)
		add(w, " (deleted)");
	end(w, "exe");
	unread_or(w, DETAIL_CWD, &d->cwd);
	if (d->cwd_deleted)
		add(w, " (deleted)");
	end(w, "cwd");
	if (!(d->have & DETAIL_STDIO))
		return;
	if (process_unread(w->p, DETAIL_STDIO)) {
		add(w, "not readable (%s)", err_name(process_unread(w->p, DETAIL_STDIO)));
		end(w, "stdio");
		return;
	}
	for (int i = 0; i < 3; i++) {
		add(w, "%d ", i);
		if (d->stdio[i].data)
			add_bytes(w, &d->stdio[i]);
		else
			add(w, "closed");
		end(w, fd_label[i]);
	}
}

static void say_namespaces(struct writer *w)
{
	const struct detail *d = w->p->detail;
	const struct process *self = table_find(w->k->now, w->k->now->host.self);
	const struct detail *own = self ? self->detail : NULL;
	const char *sep = "";

	if (!d || !(d->have & DETAIL_NS))
		return;
	if (process_unread(w->p, DETAIL_NS)) {
		add(w, "not readable (%s)", err_name(process_unread(w->p, DETAIL_NS)));
		end(w, "namespaces");
		return;
	}
	for (int i = 0; i < NS_COUNT; i++) {
		if (!d->ns[i])
			continue;
		add(w, "%s%s %" PRIu64, sep, ns_name(i), d->ns[i]);
		if (own && own->ns[i] && own->ns[i] != d->ns[i])
			add(w, " (another than stray's)");
		sep = dot(w);
	}
	for (int i = 0; i < d->n_nspid && d->n_nspid > 1; i++)
		add(w, "%s%d", i ? " / " : "; PIDs, outermost first: ", d->nspid[i]);
	end(w, "namespaces");
}

static void say_reach(struct writer *w)
{
	const struct detail *d = w->p->detail;
	int e = process_unread(w->p, DETAIL_ENVIRON);
	const char *arrow = w->ascii ? "<->" : "⇄";

	if (!w->p->reach_known)
		add(w, "connections not asked for");
	else if (w->p->reach_error)
		add(w, "connections not known (%s)",
		    w->p->reach_error == EXDEV ? "another network namespace"
					       : err_name(w->p->reach_error));
	else if (!w->p->remote.data)
		add(w, "no established TCP connection");
	else
		add(w, "TCP %s ", arrow);
	if (w->p->remote.data)
		add_bytes(w, &w->p->remote);
	if (w->p->remote.data && !w->p->connections)
		add(w, " (within this host)");
	if (w->p->connections > 1)
		add(w, " and %u more to other hosts", w->p->connections - 1u);
	end(w, "reaches");
	if (!d)
		return;
	if (e) {
		add(w, "environment not readable (%s)", err_name(e));
	} else {
		add(w, "names at exec that tell of credentials: ");
		for (size_t i = 0; i < d->n_secret_names; i++) {
			add(w, "%s", i ? " " : "");
			w->used +=
				text_safe(w->line + w->used, sizeof(w->line) - w->used,
					  d->secret_names[i], strlen(d->secret_names[i]), w->ascii);
		}
		add(w, "%s", d->n_secret_names ? " (values never read out)" : "none");
	}
	end(w, "holds");
	for (size_t i = 0; i < d->n_marks; i++) {
		w->used += text_safe(w->line + w->used, sizeof(w->line) - w->used, d->marks[i].name,
				     strlen(d->marks[i].name), w->ascii);
		end(w, i ? "" : "marks");
	}
}

int explain_process(const struct tracker *k, const struct process *p, bool ascii,
		    struct explanation *out, struct err *err)
{
	struct writer *w = calloc(1, sizeof(*w));

	memset(out, 0, sizeof(*out));
	if (!w)
		return err_nomem(err);
	*w = (struct writer){.out = out, .k = k, .p = p, .ascii = ascii};
	say_identity(w);
	say_state(w);
	say_place(w);
	say_origin(w);
	say_lineage(w);
	say_suspicion(w);
	say_evidence(w);
	say_signals(w);
	say_files(w);
	say_namespaces(w);
	say_reach(w);
	if (w->failed) {
		free(w);
		return err_nomem(err);
	}
	free(w);
	return 0;
}
