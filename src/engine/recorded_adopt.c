#include "engine/recorded.h"

#include "base/file.h"
#include "base/mask.h"
#include "engine/recorded_parts.h"
#include "record/digest.h"
#include "record/host_json.h"
#include "record/process_json.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define ANCESTORS_MAX 32

static int copy_names(struct run_record *r, const struct detail *d)
{
	r->secret_names = calloc(d->n_secret_names + 1, sizeof(*r->secret_names));
	if (!r->secret_names)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_secret_names; i++) {
		r->secret_names[i] = strdup(d->secret_names[i]);
		if (!r->secret_names[i])
			return -ENOMEM;
		r->n_secret_names++;
	}
	return 0;
}

static int describe_root(struct run_record *r, const struct table *t, const struct process *root)
{
	const struct detail *d = root ? root->detail : NULL;

	r->root_gone = !root || process_is_dead(root);
	if (root && !r->started_wall_ns &&
	    host_started_wall_ns(&t->host, root->id.start, &r->started_wall_ns))
		r->started_known = KNOWN_SCANNED;
	if (!d)
		return 0;
	if ((d->cmdline.data && !bytes_set(&r->args, d->cmdline.data, d->cmdline.len)) ||
	    (d->exe.data && !bytes_set(&r->exe, d->exe.data, d->exe.len)))
		return -ENOMEM;
	return copy_names(r, d);
}

/* Who ran stray, and whose child that is: never members of what they asked for. */
static int describe_requesters(struct run_record *r, const struct table *t)
{
	const struct process *p = table_find(t, t->host.self);
	AUTO_FD proc = -1;
	char path[32];

	for (int n = 0; p && n < ANCESTORS_MAX; n++) {
		struct requester q = {0};

		p = table_pid(t, p->ppid);
		if (!p || p->id.pid == 1)
			break;
		q.id = p->id;
		if (p->detail && p->detail->comm.data &&
		    !bytes_set(&q.comm, p->detail->comm.data, p->detail->comm.len))
			return -ENOMEM;
		if (!VEC_PUSH(&r->requested_by, q)) {
			bytes_free(&q.comm);
			return -ENOMEM;
		}
		if (n == 0 && p->detail && p->detail->exe.data &&
		    !bytes_set(&r->requester_exe, p->detail->exe.data, p->detail->exe.len))
			return -ENOMEM;
	}
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	digest_link(proc, "self/exe", r->stray_sha256, NULL);
	if (r->requested_by.n) {
		snprintf(path, sizeof(path), "%d/exe", r->requested_by.v[0].id.pid);
		digest_link(proc, path, r->requester_sha256, NULL);
	}
	return 0;
}

int recorded_copy_masked(const char *text, char **out)
{
	struct bytes masked = {0};
	int r = mask_text(text, strlen(text), &masked, NULL);

	*out = r < 0 ? NULL : strndup(masked.data, masked.len);
	bytes_free(&masked);
	return *out ? 0 : -ENOMEM;
}

static int describe(struct run_record *r, const struct adoption *how, const struct tracker *k,
		    struct err *err)
{
	const struct run *run = k->run;
	const struct table *t = k->now;

	if (!run_copy(&r->run, run))
		return err_nomem(err);
	r->run.kept.n = r->run.never.n = 0;
	snprintf(r->version, sizeof(r->version), "%s", PACKAGE_VERSION);
	r->host = t->host;
	memset(&r->host.logins, 0, sizeof(r->host.logins));
	r->coverage = t->coverage;
	r->operator= operator_current();
	r->started_wall_ns = how->started_wall_ns;
	r->started_known = KNOWN_STATED;
	r->deadline_wall_ns = how->expired_wall_ns;
	selector_text(&run->chosen, r->target, sizeof(r->target));
	if ((how->approved_by && recorded_copy_masked(how->approved_by, &r->approved_by) < 0) ||
	    describe_root(r, t, table_find(t, run->root)) < 0 || describe_requesters(r, t) < 0)
		return err_nomem(err);
	if (!how->id)
		return rundir_new_id(r->run.id, err);
	if (strlen(how->id) > RUN_ID_MAX)
		return err_set(err, EINVAL, "--id: at most %d letters", RUN_ID_MAX);
	snprintf(r->run.id, sizeof(r->run.id), "%s", how->id);
	return 0;
}

static size_t count_members(const struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->procs.n; i++)
		n += t->procs.v[i].evidence && !process_is_dead(&t->procs.v[i]);
	return n;
}

static int write_adopted(struct recorded *r, const struct adoption *how, const struct tracker *k,
			 struct err *err)
{
	struct jw *j = recorded_begin(r, "adopted", KNOWN_STATED);
	int rc = 0;

	if (j) {
		operator_json(j, "operator", &r->story.record.operator);
		jw_str(j, "target", r->story.record.target);
		jw_uint(j, "members", count_members(k->now));
		time_json(j, "started_at", how->started_wall_ns);
		time_json(j, "expired_at", how->expired_wall_ns);
	}
	rc = recorded_commit(r, false, err);
	for (size_t i = 0; !rc && i < k->now->procs.n; i++) {
		const struct process *p = &k->now->procs.v[i];

		if (!p->evidence || process_is_dead(p))
			continue;
		j = recorded_begin(r, "started", KNOWN_SCANNED);
		if (j) {
			process_json_identity(j, "process", p->id);
			process_json_facts(j, p, &k->now->host, k->run);
		}
		rc = recorded_commit(r, false, err);
	}
	return rc;
}

int recorded_adopt(const struct adoption *how, const struct tracker *k, struct recorded *out,
		   struct err *err)
{
	struct run_record record = {0};
	int r = 0;

	memset(out, 0, sizeof(*out));
	if (!count_members(k->now))
		return err_set(err, EINVAL, "nothing alive to be adopted");
	r = describe(&record, how, k, err);
	if (!r)
		r = recorded_state_dir(how->state_dir, STATEDIR_WRITE, &out->state, err);
	if (!r)
		r = statedir_probe_writable(out->state, err);
	if (!r)
		r = rundir_create(out->state, &record, &out->dir, err);
	run_record_clear(&record);
	if (r < 0) {
		statedir_close(out->state);
		out->state = NULL;
		return r;
	}
	r = recorded_settle(out, err);
	if (!r)
		r = write_adopted(out, how, k, err);
	if (!r)
		r = recorded_before(out, k, err);
	if (!r && journal_sync(out->dir.journal) < 0)
		r = err_errno(err, errno, "%.150s", out->dir.path);
	if (!r)
		r = recorded_settle(out, err);
	if (!r)
		recorded_make_known(out, "adopted");
	return r;
}
