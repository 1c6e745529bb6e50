/* Members that nothing but the mark in their environment tells: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/clock.h"
#include "base/proc_stat.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define HANG_NS 100000000ull /* for which one of them, who may be anybody's, holds up an end */

static bool may_be(const struct warden *w, pid_t pid)
{
	struct proc_stat st;
	struct identity id;

	if (proc_stat_read(pid, &st) < 0 || st.start < w->cmd.id.start || proc_stat_dead(&st))
		return false;
	id = (struct identity){pid, st.start};
	return !identity_same(id, w->self) && !identity_same(id, w->start->front) &&
	       !kin_member(w->kin, id);
}

struct candidates {
	pid_t *v;
	size_t n, cap;
};

static void list_all(const struct warden *w, struct candidates *out)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0])
				    ? (pid_t)strtol(e->d_name, NULL, 10)
				    : 0;

		if (pid && may_be(w, pid))
			VEC_PUSH(out, pid);
	}
	if (d)
		closedir(d);
}

static void list(const struct warden *w, struct candidates *out)
{
	if (!strangers_followed(&w->strangers) || kin_unsure(w->kin)) {
		list_all(w, out); /* nobody told who came */
	} else {
		for (pid_t pid = 0; (pid = strangers_next(&w->strangers, pid));)
			if (may_be(w, pid))
				VEC_PUSH(out, pid);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(pid_t), pid_order);
}

/* It may be of another user, and keep who reads its environment waiting for ever: that is done in a
 * thread. */
static int read_all(struct warden *w, const struct candidates *c, struct table **out)
{
	const struct source_options o = {.details = DETAIL_ENVIRON, .lean = true};
	int r = w->marks ? 0 : reader_open(&o, &w->marks, NULL);

	if (r < 0)
		return r;
	reader_patience(w->marks, HANG_NS);
	reader_prompt(w->marks);
	r = reader_begin(w->marks, c->v, c->n, NULL);
	return r ? r : reader_await(w->marks, out, NULL);
}

static void take(struct warden *w, const struct process *p)
{
	const char *value = process_mark(p, RUN_MARK);
	struct kin_reading r = {.id = p->id,
				.ppid = p->ppid,
				.pgid = p->pgid,
				.sid = p->sid,
				.evidence = EVIDENCE_MARK};

	if (value && strcmp(value, w->start->mark) == 0)
		kin_scan(w->kin, &r, 1, false, clock_boot_ns(), NULL);
}

void warden_find_marked(struct warden *w)
{
	struct candidates c = {0};
	struct table *t = NULL;

	list(w, &c);
	if (c.n && read_all(w, &c, &t) == 0) {
		for (size_t i = 0; i < t->procs.n; i++)
			take(w, &t->procs.v[i]);
		if (t->coverage.skipped)
			warden_say(w,
				   "%u that came meanwhile do not let themselves be read: "
				   "whether they are members is not known",
				   t->coverage.skipped);
	}
	table_free(t);
	free(c.v);
}
