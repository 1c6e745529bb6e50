/* Reading a run record back: run_record.h. */
#include "record/run_record.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void free_names(struct run_record *r)
{
	for (size_t i = 0; i < r->n_secret_names; i++)
		free(r->secret_names[i]);
	free(r->secret_names);
}

void run_record_clear(struct run_record *r)
{
	run_clear(&r->run);
	bytes_free(&r->args);
	bytes_free(&r->exe);
	bytes_free(&r->requester_exe);
	free_names(r);
	free(r->approved_by);
	free(r->unit_cannot_hold);
	free(r->unit_fallbacks);
	for (size_t i = 0; i < r->inherited_fds.n; i++)
		bytes_free(&r->inherited_fds.v[i].what);
	free(r->inherited_fds.v);
	for (size_t i = 0; i < r->requested_by.n; i++)
		bytes_free(&r->requested_by.v[i].comm);
	free(r->requested_by.v);
	free(r->host.logins.v);
	memset(r, 0, sizeof(*r));
}

static int get_pid(const json_t *o, const char *key, pid_t *out, struct err *err)
{
	int64_t n = 0;
	int r = json_get_int(o, key, 0, INT32_MAX, &n, NULL, err);

	*out = (pid_t)n;
	return r;
}

static int get_identity(const json_t *o, const char *key, struct identity *out, struct err *err)
{
	const json_t *v = key ? json_object_get(o, key) : o;
	int r;

	if (!v || json_is_null(v))
		return 0;
	r = get_pid(v, "pid", &out->pid, err);
	return r ? r : json_get_uint(v, "start_ticks", &out->start, NULL, err);
}

static int get_time(const json_t *o, const char *key, uint64_t *out, struct err *err)
{
	const char *text = NULL;
	int r = json_get_str(o, key, &text, err);

	if (!r && text && clock_parse_rfc3339(text, out) < 0)
		r = err_set(err, EINVAL, "%s: not a time", key);
	return r;
}

/* The mark of a launched run is no secret: it opens nothing. */
static int read_mark(struct run_record *r, struct err *err)
{
	struct selector *chosen = &r->run.chosen;

	selector_free(chosen);
	*chosen = (struct selector){
		.kind = SELECT_ENV, .name = strdup(RUN_MARK), .value = strdup(r->mark)};
	return chosen->name && chosen->value ? 0 : err_nomem(err);
}

static int read_descriptors(const json_t *o, struct run_record *r, struct err *err)
{
	const json_t *v;
	size_t i;
	int rc = 0;

	json_array_foreach(json_object_get(json_object_get(o, "inherited"), "descriptors"), i, v)
	{
		struct inherited_fd d = {0};
		int64_t fd = 0;

		if (rc)
			break;
		rc = json_get_int(v, "fd", 0, INT32_MAX, &fd, NULL, err);
		d.fd = (int)fd;
		if (!rc)
			rc = json_get_bytes(v, "what", &d.what, err);
		if (!rc && !VEC_PUSH(&r->inherited_fds, d))
			rc = err_nomem(err);
		if (rc)
			bytes_free(&d.what);
	}
	return rc;
}

/* What only a launched run has. */
static int read_launched(const json_t *o, struct run_record *r, struct err *err)
{
	const json_t *unit = json_object_get(o, "containment");
	const char *cannot_hold = NULL, *fallbacks = NULL;
	int rc = json_get_text(o, "mark", r->mark, sizeof(r->mark), err);

	if (!rc)
		rc = read_mark(r, err);
	if (!rc)
		rc = get_identity(o, "front", &r->front, err);
	if (!rc)
		rc = get_identity(o, "warden", &r->warden, err);
	if (!rc)
		rc = json_get_uint(o, "grace_ns", &r->grace_ns, NULL, err);
	if (!rc)
		rc = json_get_text(o, "parent_run", r->parent_run, sizeof(r->parent_run), err);
	if (!rc)
		rc = json_get_text(unit, "kind", r->unit_kind, sizeof(r->unit_kind), err);
	if (!rc)
		rc = json_get_str(unit, "cannot_hold", &cannot_hold, err);
	if (!rc && cannot_hold) {
		r->unit_cannot_hold = strdup(cannot_hold);
		rc = r->unit_cannot_hold ? 0 : err_nomem(err);
	}
	if (!rc)
		rc = json_get_str(unit, "fallbacks", &fallbacks, err);
	if (!rc && fallbacks) {
		r->unit_fallbacks = strdup(fallbacks);
		rc = r->unit_fallbacks ? 0 : err_nomem(err);
	}
	return rc ? rc : read_descriptors(o, r, err);
}

/* The target is what members are found by, but for a value of the environment, which is
 * not kept: then those who were found are told by identity. */
static int read_target(const json_t *o, struct run_record *r, struct err *err)
{
	struct selector *chosen = &r->run.chosen;
	int rc = json_get_text(o, "target", r->target, sizeof(r->target), err);

	if (!rc && r->target[0])
		rc = selector_parse(r->target, chosen, err);
	if (!rc && chosen->kind == SELECT_ENV && chosen->value)
		selector_free(chosen);
	return rc ? rc : get_identity(o, "root", &r->run.root, err);
}

static bool has_word(const json_t *array, const char *word)
{
	size_t i;
	json_t *v;

	json_array_foreach(array, i, v) if (json_is_string(v) &&
					    strcmp(json_string_value(v), word) == 0) return true;
	return false;
}

static int read_pipe(const json_t *v, struct run *run, struct err *err)
{
	int64_t fd = 0;
	const char *access = NULL;
	bool own = false, unsure = false;
	struct pipe_end end = {0};
	int r = json_get_int(v, "fd", 0, RUN_ENDS - 1, &fd, NULL, err);

	if (!r)
		r = json_get_uint(v, "inode", &end.inode, NULL, err);
	if (!r)
		r = json_get_str(v, "access", &access, err);
	if (!r)
		r = json_get_bool(v, "own", &own, NULL, err);
	if (!r)
		r = json_get_bool(v, "unsure", &unsure, NULL, err);
	if (r)
		return r;
	end.access = !access || strcmp(access, "read") == 0 ? O_RDONLY
		     : strcmp(access, "write") == 0         ? O_WRONLY
							    : O_RDWR;
	run->ends[fd] = end;
	run->ends_own |= (uint8_t)(own << fd);
	run->ends_unsure |= (uint8_t)(unsure << fd);
	return 0;
}

static int read_pipes(const json_t *o, struct run *run, struct err *err)
{
	const json_t *pipes = json_object_get(o, "pipes"), *v;
	size_t i;
	int r = 0;

	run->ends_asked = run->ends_judged = json_is_array(pipes);
	json_array_foreach(pipes, i, v) if (!r) r = read_pipe(v, run, err);
	return r;
}

static int read_unit(const json_t *o, struct run *run, struct err *err)
{
	int64_t uid = -1;
	int r = get_pid(o, "pgid", &run->pgid, err);

	if (!r)
		r = get_pid(o, "sid", &run->sid, err);
	run->owns_pgid = has_word(json_object_get(o, "owns"), "pgid");
	run->owns_sid = has_word(json_object_get(o, "owns"), "sid");
	if (!r)
		r = get_identity(o, "pgid_holder", &run->pgid_holder, err);
	if (!r)
		r = get_identity(o, "sid_holder", &run->sid_holder, err);
	if (!r)
		r = json_get_uint(o, "since_ticks", &run->since_ticks, NULL, err);
	if (!r)
		r = json_get_int(o, "uid", 0, UINT32_MAX, &uid, NULL, err);
	run->uid = (uid_t)uid;
	if (!r)
		r = read_pipes(o, run, err);
	if (!r)
		r = json_get_bytes(o, "cgroup", &run->cgroup, err);
	if (!r && run->chosen.kind == SELECT_CGROUP && run->cgroup.data) {
		free(run->chosen.name); /* the text was cut, perhaps */
		run->chosen.name = strdup(run->cgroup.data);
		r = run->chosen.name ? 0 : err_nomem(err);
	}
	return r ? r : json_get_bytes(o, "cwd", &run->cwd, err);
}

static int add_requester(struct run_record *r, const json_t *v, struct err *err)
{
	struct requester q = {0};
	int rc = get_identity(v, NULL, &q.id, err);

	if (!rc)
		rc = json_get_bytes(v, "comm", &q.comm, err);
	if (!rc && !VEC_PUSH(&r->requested_by, q))
		rc = err_nomem(err);
	if (rc)
		bytes_free(&q.comm);
	return rc;
}

static int read_requesters(const json_t *o, struct run_record *r, struct err *err)
{
	const json_t *by = json_object_get(o, "requested_by"), *first, *v;
	size_t i;
	int rc = json_get_bytes(by, "exe", &r->requester_exe, err);

	if (!rc)
		rc = json_get_text(by, "exe_sha256", r->requester_sha256, CHAIN_HEX, err);
	first = json_object_get(by, "process");
	if (!rc && json_is_object(first))
		rc = add_requester(r, first, err);
	json_array_foreach(json_object_get(by, "ancestors"), i, v) if (!rc) rc =
		add_requester(r, v, err);
	return rc ? rc : operator_read(json_object_get(by, "operator"), &r->operator, err);
}

static int read_names(const json_t *o, struct run_record *r, struct err *err)
{
	const json_t *names = json_object_get(json_object_get(o, "inherited"), "environment_names");
	size_t i, n = json_array_size(names);

	r->secret_names = calloc(n + 1, sizeof(*r->secret_names));
	if (!r->secret_names)
		return err_nomem(err);
	for (i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(names, i));

		r->secret_names[r->n_secret_names] = strdup(name ? name : "");
		if (!r->secret_names[r->n_secret_names])
			return err_nomem(err);
		r->n_secret_names++;
	}
	return 0;
}

static int read_host(const json_t *o, struct host *h, struct err *err)
{
	int64_t ticks = 100;
	int r = json_get_text(o, "host", h->hostname, sizeof(h->hostname), err);

	if (!r)
		r = json_get_text(o, "boot_id", h->boot_id, sizeof(h->boot_id), err);
	if (!r)
		r = json_get_text(o, "kernel", h->kernel, sizeof(h->kernel), err);
	if (!r)
		r = json_get_uint(o, "pid_namespace", &h->pid_ns, NULL, err);
	if (!r)
		r = json_get_int(o, "ticks_per_second", 1, 1000000, &ticks, NULL, err);
	h->ticks_per_second = (long)ticks;
	if (!r)
		r = get_time(o, "recorded_at", &h->wall_ns, err);
	return r ? r : json_get_uint(o, "boottime_ns", &h->boot_ns, NULL, err);
}

static int read_times(const json_t *o, struct run_record *r, struct err *err)
{
	const char *known = NULL, *by = NULL;
	int rc = get_time(o, "started_at", &r->started_wall_ns, err);

	if (!rc)
		rc = json_get_str(o, "started_known", &known, err);
	r->started_known = known && strcmp(known, known_name(KNOWN_STATED)) == 0 ? KNOWN_STATED
										 : KNOWN_SCANNED;
	if (!rc)
		rc = get_time(o, "deadline_at", &r->deadline_wall_ns, err);
	if (!rc)
		rc = json_get_str(o, "approved_by", &by, err);
	if (!rc && by) {
		r->approved_by = strdup(by);
		rc = r->approved_by ? 0 : err_nomem(err);
	}
	return rc;
}

static int read_coverage(const json_t *o, struct coverage *c, struct err *err)
{
	const json_t *v = json_object_get(o, "coverage"),
		     *unread = json_object_get(v, "unreadable");
	uint64_t vanished = 0, skipped = 0;
	int r = json_get_bool(v, "hidepid", &c->hidepid, NULL, err);

	for (int i = 0; i < SOURCE_COUNT; i++)
		if (has_word(json_object_get(v, "sources"), source_kind_name(i)))
			c->sources |= 1u << i;
	if (!r)
		r = json_get_bool(v, "partial", &c->partial, NULL, err);
	if (!r)
		r = json_get_uint(v, "events_lost", &c->events_lost, NULL, err);
	if (!r)
		r = json_get_uint(v, "vanished", &vanished, NULL, err);
	if (!r)
		r = json_get_uint(v, "skipped", &skipped, NULL, err);
	c->vanished = (unsigned)vanished;
	c->skipped = (unsigned)skipped;
	for (unsigned i = 0; !r && i < DETAIL_COUNT; i++) {
		uint64_t n = 0;

		r = json_get_uint(unread, detail_name(1u << i), &n, NULL, err);
		c->unreadable[i] = (unsigned)n;
	}
	return r ? r : get_time(v, "first_scan_at", &c->first_scan_wall_ns, err);
}

static int read_object(const json_t *o, struct run_record *r, struct err *err)
{
	bool known;
	const char *schema = NULL, *how = NULL;
	int rc = json_get_str(o, "schema", &schema, err);

	if (!rc && (!schema || strcmp(schema, RECORD_SCHEMA) != 0))
		rc = err_set(err, EINVAL, "of schema '%.40s', and this stray reads %s",
			     schema ? schema : "", RECORD_SCHEMA);
	if (!rc)
		rc = json_get_text(o, "run_id", r->run.id, sizeof(r->run.id), err);
	if (!rc)
		rc = json_get_str(o, "how", &how, err);
	r->launched = how && strcmp(how, "launched") == 0;
	if (!rc)
		rc = json_get_bool(o, "root_gone", &r->root_gone, NULL, err);
	if (!rc)
		rc = read_target(o, r, err);
	if (!rc)
		rc = read_unit(o, &r->run, err);
	if (!rc && r->launched)
		rc = read_launched(o, r, err);
	if (!rc)
		rc = json_get_args(o, &r->args, &known, err);
	if (!rc)
		rc = json_get_bytes(o, "exe", &r->exe, err);
	if (!rc)
		rc = read_times(o, r, err);
	if (!rc)
		rc = read_requesters(o, r, err);
	if (!rc)
		rc = read_names(o, r, err);
	if (!rc)
		rc = read_host(o, &r->host, err);
	if (!rc)
		rc = read_coverage(o, &r->coverage, err);
	if (!rc)
		rc = json_get_text(o, "stray", r->version, sizeof(r->version), err);
	return rc ? rc : json_get_text(o, "stray_sha256", r->stray_sha256, CHAIN_HEX, err);
}

int run_record_read(int fd, const char *name, struct run_record *out, struct err *err)
{
	AUTO_FREE char *text = NULL;
	struct err why = {0};
	json_t *o = NULL;
	ssize_t n;
	int r = 0;

	memset(out, 0, sizeof(*out));
	n = file_read_all_fd(fd, RUN_RECORD_MAX, &text);
	if (n < 0)
		return err_errno(err, (int)-n, "%.150s", name);
	r = json_read_line(text, (size_t)n, &o, &why);
	if (!r)
		r = read_object(o, out, &why);
	json_decref(o);
	return r < 0 ? err_set(err, -r, "%.120s: %s", name, why.text) : 0;
}
