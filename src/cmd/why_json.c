#include "cmd/why_json.h"

#include "base/json_write.h"
#include "engine/explain.h"
#include "record/process_json.h"

#include <signal.h>

static void signals(struct jw *j, const char *key, uint64_t mask, bool known)
{
	if (!known) {
		jw_null(j, key);
		return;
	}
	jw_array(j, key);
	for (int sig = 1; sig <= 64; sig++) {
		const char *name = sigabbrev_np(sig);

		if (!sigmask_has(mask, sig))
			continue;
		if (name)
			jw_str(j, NULL, name);
		else
			jw_strf(j, NULL, sig >= 34 ? "RTMIN+%d" : "%d", sig >= 34 ? sig - 34 : sig);
	}
	jw_array_end(j);
}

static void lineage(struct jw *j, const struct tracker *k, const struct process *p)
{
	struct explain_ancestor up[EXPLAIN_LINEAGE_MAX];
	size_t n = explain_lineage(k, p, up);

	jw_array(j, "lineage");
	for (size_t i = 0; i < n; i++) {
		const struct process *q = explain_known(k, up[i].id);

		jw_object(j, NULL);
		jw_int(j, "pid", up[i].id.pid);
		if (up[i].id.start)
			jw_uint(j, "start_ticks", up[i].id.start);
		else
			jw_null(j, "start_ticks");
		if (q && q->detail)
			jw_bytes(j, "comm", &q->detail->comm);
		else
			jw_null(j, "comm");
		jw_bool(j, "alive", up[i].p != NULL);
		jw_str(j, "known", known_name(up[i].known));
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void evidence(struct jw *j, const struct tracker *k, const struct process *p)
{
	unsigned classes = k->run && p->evidence ? run_classes(k->run, p) : 0;

	jw_array(j, "evidence");
	for (unsigned i = 0; i < EVIDENCE_COUNT; i++)
		if (p->evidence & 1u << i)
			jw_str(j, NULL, evidence_name(1u << i));
	jw_array_end(j);
	jw_array(j, "classes");
	for (unsigned i = 0; i < CLASS_COUNT; i++)
		if (classes & 1u << i)
			jw_str(j, NULL, class_name(1u << i));
	jw_array_end(j);
}

/* Of a possible member: the service that forked it while a member spoke with that. */
static void asked(struct jw *j, const struct tracker *k, const struct process *p)
{
	const struct process *q;

	if (!(p->evidence & EVIDENCE_PEER) || !identity_known(p->parent_was)) {
		jw_null(j, "asked");
		return;
	}
	q = explain_known(k, p->parent_was);
	jw_object(j, "asked");
	jw_int(j, "pid", p->parent_was.pid);
	jw_uint(j, "start_ticks", p->parent_was.start);
	if (q && q->detail)
		jw_bytes(j, "comm", &q->detail->comm);
	else
		jw_null(j, "comm");
	jw_object_end(j);
}

static void reach(struct jw *j, const struct process *p)
{
	const struct detail *d = p->detail;

	jw_object(j, "reach");
	if (!p->reach_known || p->reach_error) {
		jw_null(j, "tcp");
		jw_str(j, "tcp_unreadable", p->reach_known ? err_name(p->reach_error) : NULL);
	} else {
		jw_object(j, "tcp");
		jw_uint(j, "outside", p->connections);
		jw_bytes(j, "first", &p->remote);
		jw_object_end(j);
	}
	if (d && detail_knows(d, DETAIL_ENVIRON)) {
		jw_array(j, "env_credentials");
		for (size_t i = 0; i < d->n_secret_names; i++)
			jw_str(j, NULL, d->secret_names[i]);
		jw_array_end(j);
	} else {
		jw_null(j, "env_credentials");
	}
	jw_object_end(j);
}

int why_json_item(struct jw *j, const struct tracker *k, const struct process *p, struct err *err)
{
	const struct process_json_options o = {
		.host = &k->now->host, .run = k->run, .suspects = true};
	const struct detail *d = p->detail;
	bool status = detail_knows(d, DETAIL_STATUS);
	int r;

	jw_object(j, NULL);
	r = process_json(j, "process", p, &o, err);
	if (r < 0)
		return r;
	lineage(j, k, p);
	evidence(j, k, p);
	asked(j, k, p);
	jw_object(j, "signals");
	signals(j, "ignored", d ? d->sig_ignored : 0, status);
	signals(j, "blocked", d ? d->sig_blocked : 0, status);
	signals(j, "pending", d ? d->sig_pending : 0, status);
	jw_object_end(j);
	if (d)
		jw_bytes(j, "wchan", &d->wchan);
	else
		jw_null(j, "wchan");
	if (d && d->tracer >= 0)
		jw_int(j, "tracer", d->tracer);
	else
		jw_null(j, "tracer");
	reach(j, p);
	jw_object_end(j);
	return 0;
}
