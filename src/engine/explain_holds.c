/* What a process lets through, and what it holds and reaches. */
#include "engine/explain_parts.h"

#include "engine/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

static void say_signals(struct explain_writer *w)
{
	const struct detail *d = w->p->detail;
	const char *useless = plan_useless(w->p, SIGTERM);
	char ignored[400], blocked[400], pending[400];
	int e = process_unread(w->p, DETAIL_STATUS);

	if (!d || !(d->have & DETAIL_STATUS) || e) {
		explain_add(w, "not readable (%s)", e ? err_name(e) : "not asked for");
		explain_end(w, "signals");
		return;
	}
	explain_signals(d->sig_ignored, ignored, sizeof(ignored));
	explain_signals(d->sig_blocked, blocked, sizeof(blocked));
	explain_signals(d->sig_pending, pending, sizeof(pending));
	explain_add(w, "ignored %s%sblocked %s%spending %s", ignored, explain_dot(w), blocked,
		    explain_dot(w), pending);
	explain_end(w, "signals");
	if (useless) {
		explain_add(w, "TERM would not end it: %s", useless);
		explain_end(w, "");
	}
}

static void say_files(struct explain_writer *w)
{
	const struct detail *d = w->p->detail;
	static const char *const fd_label[] = {"stdio", "", ""};

	if (!d)
		return;
	explain_unread_or(w, DETAIL_EXE, &d->exe);
	if (d->exe_deleted)
		explain_add(w, " (deleted)");
	explain_end(w, "exe");
	explain_unread_or(w, DETAIL_CWD, &d->cwd);
	if (d->cwd_deleted)
		explain_add(w, " (deleted)");
	explain_end(w, "cwd");
	if (!(d->have & DETAIL_STDIO))
		return;
	if (process_unread(w->p, DETAIL_STDIO)) {
		explain_add(w, "not readable (%s)", err_name(process_unread(w->p, DETAIL_STDIO)));
		explain_end(w, "stdio");
		return;
	}
	for (int i = 0; i < 3; i++) {
		explain_add(w, "%d ", i);
		if (d->stdio[i].data)
			explain_bytes(w, &d->stdio[i]);
		else
			explain_add(w, "closed");
		explain_end(w, fd_label[i]);
	}
}

static void say_namespaces(struct explain_writer *w)
{
	const struct detail *d = w->p->detail;
	const struct process *self = table_find(w->k->now, w->k->now->host.self);
	const struct detail *own = self ? self->detail : NULL;
	const char *sep = "";

	if (!d || !(d->have & DETAIL_NS))
		return;
	if (process_unread(w->p, DETAIL_NS)) {
		explain_add(w, "not readable (%s)", err_name(process_unread(w->p, DETAIL_NS)));
		explain_end(w, "namespaces");
		return;
	}
	for (int i = 0; i < NS_COUNT; i++) {
		if (!d->ns[i])
			continue;
		explain_add(w, "%s%s %" PRIu64, sep, ns_name(i), d->ns[i]);
		if (own && own->ns[i] && own->ns[i] != d->ns[i])
			explain_add(w, " (another than stray's)");
		sep = explain_dot(w);
	}
	for (int i = 0; i < d->n_nspid && d->n_nspid > 1; i++)
		explain_add(w, "%s%d", i ? " / " : "; PIDs, outermost first: ", d->nspid[i]);
	explain_end(w, "namespaces");
}

static void say_reach(struct explain_writer *w)
{
	const struct detail *d = w->p->detail;
	int e = process_unread(w->p, DETAIL_ENVIRON);
	const char *arrow = w->ascii ? "<->" : "⇄";

	if (!w->p->reach_known)
		explain_add(w, "connections not asked for");
	else if (w->p->reach_error)
		explain_add(w, "connections not known (%s)",
			    w->p->reach_error == EXDEV ? "another network namespace"
						       : err_name(w->p->reach_error));
	else if (!w->p->remote.data)
		explain_add(w, "no established TCP connection");
	else
		explain_add(w, "TCP %s ", arrow);
	if (w->p->remote.data)
		explain_bytes(w, &w->p->remote);
	if (w->p->remote.data && !w->p->connections)
		explain_add(w, " (within this host)");
	if (w->p->connections > 1)
		explain_add(w, " and %u more to other hosts", w->p->connections - 1u);
	explain_end(w, "reaches");
	if (!d)
		return;
	if (e) {
		explain_add(w, "environment not readable (%s)", err_name(e));
	} else {
		explain_add(w, "names at exec that tell of credentials: ");
		for (size_t i = 0; i < d->n_secret_names; i++) {
			explain_add(w, "%s", i ? " " : "");
			w->used +=
				text_safe(w->line + w->used, sizeof(w->line) - w->used,
					  d->secret_names[i], strlen(d->secret_names[i]), w->ascii);
		}
		explain_add(w, "%s", d->n_secret_names ? " (values never read out)" : "none");
	}
	explain_end(w, "holds");
	for (size_t i = 0; i < d->n_marks; i++) {
		w->used += text_safe(w->line + w->used, sizeof(w->line) - w->used, d->marks[i].name,
				     strlen(d->marks[i].name), w->ascii);
		explain_end(w, i ? "" : "marks");
	}
}

void explain_holds(struct explain_writer *w)
{
	say_signals(w);
	say_files(w);
	say_namespaces(w);
	say_reach(w);
}
