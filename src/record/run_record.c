#include "record/run_record.h"

#include "record/host_json.h"
#include "record/process_json.h"

#include <fcntl.h>
#include <string.h>

static void identity_or_null(struct jw *j, const char *key, struct identity id)
{
	if (identity_known(id))
		process_json_identity(j, key, id);
	else
		jw_null(j, key);
}

static void number_or_null(struct jw *j, const char *key, uint64_t n)
{
	if (n)
		jw_uint(j, key, n);
	else
		jw_null(j, key);
}

static void write_target(struct jw *j, const struct run_record *r)
{
	jw_str(j, "target", r->target[0] ? r->target : NULL);
	identity_or_null(j, "root", r->run.root);
}

/* What the root had as stdin, stdout and stderr: who holds the same later is a likely member. */
static void write_pipes(struct jw *j, const struct run *run)
{
	static const char *const access[] = {"read", "write", "both"};

	if (!run->ends_asked || run->ends_error || !run->ends_judged) {
		jw_null(j, "pipes");
		return;
	}
	jw_array(j, "pipes");
	for (unsigned fd = 0; fd < RUN_ENDS; fd++) {
		if (!run->ends[fd].inode)
			continue;
		jw_object(j, NULL);
		jw_uint(j, "fd", fd);
		jw_uint(j, "inode", run->ends[fd].inode);
		jw_str(j, "access", access[run->ends[fd].access % 3]);
		jw_bool(j, "own", run->ends_own & 1u << fd);
		jw_bool(j, "unsure", run->ends_unsure & 1u << fd);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_containment(struct jw *j, const struct run_record *r)
{
	bool unit = r->unit_cannot_hold;

	jw_object(j, "containment");
	jw_str(j, "kind", unit ? r->unit_kind : "none");
	if (unit && r->run.cgroup.data)
		jw_bytes(j, "path", &r->run.cgroup);
	else
		jw_null(j, "path");
	jw_str(j, "cannot_hold",
	       unit ? r->unit_cannot_hold
		    : "adopted: it was no unit before it began, so what left it earlier is not "
		      "known");
	if (unit)
		jw_str(j, "fallbacks", r->unit_fallbacks);
	jw_object_end(j);
}

static void write_unit(struct jw *j, const struct run_record *r)
{
	const struct run *run = &r->run;

	number_or_null(j, "pgid", (uint64_t)run->pgid);
	number_or_null(j, "sid", (uint64_t)run->sid);
	jw_array(j, "owns");
	if (run->owns_pgid)
		jw_str(j, NULL, "pgid");
	if (run->owns_sid)
		jw_str(j, NULL, "sid");
	jw_array_end(j);
	identity_or_null(j, "pgid_holder", run->pgid_holder);
	identity_or_null(j, "sid_holder", run->sid_holder);
	number_or_null(j, "since_ticks", run->since_ticks);
	process_json_uid(j, "uid", run->uid);
	jw_bytes(j, "cgroup", &run->cgroup);
	write_pipes(j, run);
	write_containment(j, r);
	if (r->launched) {
		jw_str(j, "mark", r->mark);
		identity_or_null(j, "front", r->front);
		identity_or_null(j, "warden", r->warden);
		jw_uint(j, "grace_ns", r->grace_ns);
	}
}

static void write_requesters(struct jw *j, const struct run_record *r)
{
	static const struct requester unknown;
	const struct requester *first = r->requested_by.n ? &r->requested_by.v[0] : &unknown;

	jw_object(j, "requested_by");
	identity_or_null(j, "process", first->id);
	jw_bytes(j, "exe", &r->requester_exe);
	jw_str(j, "exe_sha256", r->requester_sha256[0] ? r->requester_sha256 : NULL);
	operator_json(j, "operator", &r->operator);
	jw_array(j, "ancestors");
	for (size_t i = 1; i < r->requested_by.n; i++) {
		jw_object(j, NULL);
		jw_int(j, "pid", r->requested_by.v[i].id.pid);
		jw_uint(j, "start_ticks", r->requested_by.v[i].id.start);
		jw_bytes(j, "comm", &r->requested_by.v[i].comm);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_object_end(j);
}

static void write_descriptors(struct jw *j, const struct run_record *r)
{
	jw_array(j, "descriptors");
	for (size_t i = 0; i < r->inherited_fds.n; i++) {
		jw_object(j, NULL);
		jw_int(j, "fd", r->inherited_fds.v[i].fd);
		jw_bytes(j, "what", &r->inherited_fds.v[i].what);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_inherited(struct jw *j, const struct run_record *r)
{
	jw_object(j, "inherited");
	jw_array(j, "environment_names");
	for (size_t i = 0; i < r->n_secret_names; i++)
		jw_str(j, NULL, r->secret_names[i]);
	jw_array_end(j);
	if (r->launched)
		write_descriptors(j, r);
	jw_object_end(j);
}

static void write_host(struct jw *j, const struct host *h)
{
	jw_str(j, "host", h->hostname);
	jw_str(j, "boot_id", *h->boot_id ? h->boot_id : NULL);
	jw_str(j, "kernel", *h->kernel ? h->kernel : NULL);
	number_or_null(j, "pid_namespace", h->pid_ns);
	jw_int(j, "ticks_per_second", h->ticks_per_second);
}

void run_record_json(struct jw *j, const char *key, const struct run_record *r)
{
	jw_object(j, key);
	jw_str(j, "schema", RECORD_SCHEMA);
	jw_str(j, "run_id", r->run.id);
	jw_str(j, "how", r->launched ? "launched" : "adopted");
	write_target(j, r);
	jw_bool(j, "root_gone", r->root_gone);
	process_json_args(j, "args", "args_b64", &r->args);
	jw_bytes(j, "exe", &r->exe);
	jw_bytes(j, "cwd", &r->run.cwd);
	write_unit(j, r);
	time_json(j, "started_at", r->started_wall_ns);
	jw_str(j, "started_known", r->started_wall_ns ? known_name(r->started_known) : NULL);
	time_json(j, "recorded_at", r->host.wall_ns);
	jw_uint(j, "boottime_ns", r->host.boot_ns);
	time_json(j, "deadline_at", r->deadline_wall_ns);
	jw_str(j, "approved_by", r->approved_by);
	write_requesters(j, r);
	jw_str(j, "parent_run", *r->parent_run ? r->parent_run : NULL);
	write_inherited(j, r);
	write_host(j, &r->host);
	coverage_json(j, &r->coverage);
	jw_str(j, "stray", r->version);
	jw_str(j, "stray_sha256", r->stray_sha256[0] ? r->stray_sha256 : NULL);
	jw_object_end(j);
}

uint64_t run_record_began(const struct run_record *r)
{
	return r->started_wall_ns ? r->started_wall_ns : r->host.wall_ns;
}

int run_record_write(FILE *out, const struct run_record *r, struct err *err)
{
	struct jw *j = jw_open(out, true);
	int rc;

	if (!j)
		return err_nomem(err);
	run_record_json(j, NULL, r);
	rc = jw_close(j);
	return rc < 0 ? err_errno(err, -rc, "the run record cannot be written") : 0;
}
