#include "engine/recorded.h"

#include "record/process_json.h"

#include <unistd.h>

typedef int write_fn(const struct rundir *d, const struct table *t, const struct identity *members,
		     size_t n_members, const struct process_json_options *options,
		     struct rundir_file *out, struct err *err);

/* Owned; NULL when out of memory. */
static struct identity *members_of(const struct table *t, size_t *n)
{
	struct identity *ids = calloc(t->procs.n + 1, sizeof(*ids));

	*n = 0;
	for (size_t i = 0; ids && i < t->procs.n; i++)
		if (t->procs.v[i].evidence)
			ids[(*n)++] = t->procs.v[i].id;
	return ids;
}

static int write_file(const struct recorded *r, const struct tracker *k, write_fn *write,
		      struct rundir_file *out, struct err *err)
{
	const struct process_json_options o = {
		.run = k->run, .run_id = r->dir.id, .suspects = true};
	size_t n;
	struct identity *ids = members_of(k->now, &n);
	int rc = ids ? write(&r->dir, k->now, ids, n, &o, out, err) : err_nomem(err);

	free(ids);
	return rc;
}

/* The file is on the disk before the event that names it. */
static int tell(struct recorded *r, const char *what, const struct rundir_file *f, struct err *err)
{
	struct jw *j = recorded_begin(r, "snapshot", KNOWN_SEEN);

	if (j) {
		jw_str(j, "what", what);
		jw_strf(j, "file", "runs/%s/%s", r->dir.id, f->name);
		jw_str(j, "sha256", f->sha256);
	}
	return recorded_commit(r, false, err);
}

/* What no event names proves nothing, and would come again with the next try. */
static int write_told(struct recorded *r, const struct tracker *k, write_fn *write,
		      const char *what, struct rundir_file *f, struct err *err)
{
	int rc = write_file(r, k, write, f, err);

	if (rc < 0)
		return rc;
	rc = tell(r, what, f, err);
	if (rc < 0)
		unlinkat(r->dir.fd, f->name, 0);
	return rc;
}

int recorded_before(struct recorded *r, const struct tracker *k, struct err *err)
{
	struct rundir_file f;

	return write_told(r, k, rundir_before, "before", &f, err);
}

int recorded_over(struct recorded *r, const struct tracker *k, enum run_state to, const char *act,
		  struct err *err)
{
	struct jw *j;
	int rc, unsaid = 0;

	if (!r->after.name[0])
		unsaid = write_told(r, k, rundir_after, "after", &r->after, err);
	j = recorded_begin(r, "run_closed", KNOWN_SCANNED);
	if (j) {
		if (act)
			jw_str(j, "act", act);
		jw_str(j, "state", run_state_name(to));
		jw_uint(j, "alive", story_alive(&r->story));
	}
	rc = recorded_change(r, "run_closed", to, unsaid ? NULL : err);
	if (!rc || unsaid)
		r->after.name[0] = '\0';
	return unsaid ? unsaid : rc;
}
