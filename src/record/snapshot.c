#include "record/snapshot.h"

#include "record/host_json.h"

#include <errno.h>

struct snapshot {
	struct jw *j;
	struct process_json_options process;
	pid_t last;
	unsigned unreadable[DETAIL_COUNT];
};

struct snapshot *snapshot_begin(FILE *out, const struct host *host,
				const struct snapshot_options *options, struct err *err)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (s)
		s->j = jw_open(out, options && options->pretty);
	if (!s || !s->j) {
		free(s);
		err_nomem(err);
		return NULL;
	}
	if (options)
		s->process = options->process;
	s->process.host = host;
	jw_object(s->j, NULL);
	jw_str(s->j, "schema", SNAPSHOT_SCHEMA);
	host_json(s->j, host);
	host_json_logins(s->j, host);
	jw_array(s->j, "processes");
	return s;
}

int snapshot_add(struct snapshot *s, const struct process *p, struct err *err)
{
	if (p->id.pid <= s->last)
		return err_set(err, EINVAL, "pid %d comes after pid %d: a snapshot is sorted",
			       (int)p->id.pid, (int)s->last);
	s->last = p->id.pid;
	for (unsigned i = 0; p->detail && i < DETAIL_COUNT; i++)
		s->unreadable[i] += p->detail->unread[i] != 0;
	return process_json(s->j, NULL, p, &s->process, err);
}

int snapshot_end(struct snapshot *s, const struct coverage *coverage, struct err *err)
{
	struct coverage c = *coverage;
	int r;

	memcpy(c.unreadable, s->unreadable, sizeof(c.unreadable));
	jw_array_end(s->j);
	coverage_json(s->j, &c);
	jw_object_end(s->j);
	r = jw_close(s->j);
	free(s);
	return r < 0 ? err_errno(err, -r, "the snapshot cannot be written") : 0;
}

void snapshot_discard(struct snapshot *s)
{
	if (!s)
		return;
	jw_discard(s->j);
	free(s);
}

static int add_all(struct snapshot *s, const struct table *t, const struct identity *sorted,
		   size_t n, struct err *err)
{
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		int r;

		if (sorted && !bsearch(&p->id, sorted, n, sizeof(*sorted), identity_order))
			continue;
		r = snapshot_add(s, p, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int snapshot_write(FILE *out, const struct table *t, const struct identity *members,
		   size_t n_members, const struct snapshot_options *options, struct err *err)
{
	struct coverage coverage = t->coverage;
	struct identity *sorted = NULL;
	struct snapshot *s;
	int r;

	if (members) {
		sorted = malloc((n_members + 1) * sizeof(*sorted));
		if (!sorted)
			return err_nomem(err);
		memcpy(sorted, members, n_members * sizeof(*sorted));
		qsort(sorted, n_members, sizeof(*sorted), identity_order);
		coverage.partial = true;
	}
	s = snapshot_begin(out, &t->host, options, err);
	r = s ? add_all(s, t, sorted, n_members, err) : -ENOMEM;
	free(sorted);
	if (!r)
		return snapshot_end(s, &coverage, err);
	snapshot_discard(s);
	return r;
}
