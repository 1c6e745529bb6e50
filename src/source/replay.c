#include "source/replay.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

#define SCHEMA "stray.snapshot/"
#define SCHEMA_MAJOR 1
#define PROCESSES_MAX 4194304 /* PID_MAX_LIMIT, include/linux/threads.h: no more can live */
#define PIDNS_INIT_INO 0xEFFFFFFCu
#define LOGINS_MAX 100000

struct reader {
	const char *name;
	struct table *t;
	json_t *head; /* owned: the members beside the processes that are read */
	pid_t last;
	bool unsorted;
};

static int check_schema(const json_t *value, struct err *err)
{
	const char *text = json_string_value(value);
	unsigned long major;
	char safe[48];
	char *end;

	if (!text)
		return err_set(err, EINVAL, "schema: not a string");
	text_safe(safe, sizeof(safe), text, strlen(text), true);
	if (strncmp(text, SCHEMA, strlen(SCHEMA)) != 0)
		return err_set(err, EINVAL, "is a %s, not a snapshot", safe);
	text += strlen(SCHEMA);
	errno = 0;
	major = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || (*end && *end != '.') || errno)
		return err_set(err, EINVAL, "schema: no version in %s", safe);
	if (major != SCHEMA_MAJOR)
		return err_set(err, EPROTONOSUPPORT,
			       "is a " SCHEMA "%lu: this stray reads " SCHEMA "%d only", major,
			       SCHEMA_MAJOR);
	return 0;
}

static int add_process(struct reader *r, size_t index, const json_t *value, struct err *err)
{
	struct process p = {0};
	struct err why = {0};
	int ret;

	if (index >= PROCESSES_MAX)
		return err_set(err, EFBIG, "%.100s: more than %d processes", r->name,
			       PROCESSES_MAX);
	ret = replay_process(value, &p, &why);
	if (ret < 0) {
		process_clear(&p);
		return err_set(err, -ret, "%.100s: processes[%zu]: %s", r->name, index, why.text);
	}
	if (p.id.pid <= r->last)
		r->unsorted = true;
	r->last = p.id.pid;
	if (table_add(r->t, &p))
		return 0;
	process_clear(&p);
	return err_nomem(err);
}

static bool is_head(const char *key)
{
	static const char *const keys[] = {
		"schema",           "host",          "boot_id",
		"kernel",           "taken_at",      "boottime_ns",
		"ticks_per_second", "pid_namespace", "pid_namespace_initial",
		"net_namespace",    "uid",           "taker",
		"systemd",          "logins",        "coverage",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static int read_member(void *ctx, const char *key, size_t index, const json_t *value,
		       struct err *err)
{
	struct reader *r = ctx;
	struct err why = {0};

	if (strcmp(key, "processes") == 0)
		return add_process(r, index, value, err);
	if (!is_head(key))
		return 0;
	if (strcmp(key, "schema") == 0) {
		int ret = check_schema(value, &why);

		if (ret < 0)
			return err_set(err, -ret, "%.100s: %s", r->name, why.text);
	}
	if (json_object_set_new(r->head, key, json_deep_copy(value)) < 0)
		return err_nomem(err);
	return 0;
}

/* Text into a field of fixed size; null leaves it empty. */
static int get_name(const json_t *o, const char *key, char *out, size_t size, struct err *err)
{
	const char *text = NULL;
	int r = json_get_str(o, key, &text, err);

	if (r < 0 || !text)
		return r;
	if (strlen(text) >= size)
		return err_set(err, EINVAL, "%s: longer than %zu bytes", key, size - 1);
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

static int get_time(const json_t *o, const char *key, uint64_t *wall_ns, bool *known,
		    struct err *err)
{
	const char *text = NULL;
	int r = json_get_str(o, key, &text, err);

	*known = r == 0 && text;
	if (r < 0 || !text)
		return r;
	if (clock_parse_rfc3339(text, wall_ns) < 0)
		return err_set(err, EINVAL, "%s: not a time in UTC (RFC 3339)", key);
	return 0;
}

static int get_uid(const json_t *o, const char *key, uid_t *uid, struct err *err)
{
	int64_t n;
	bool known = false;
	int r = json_get_int(o, key, 0, UINT32_MAX - 1, &n, &known, err);

	if (r == 0 && known)
		*uid = (uid_t)n;
	return r;
}

static int read_taker(const json_t *head, struct host *h, struct err *err)
{
	const json_t *taker = json_object_get(head, "taker");
	int64_t pid = 0;
	int r;

	if (!taker || json_is_null(taker))
		return 0;
	if (!json_is_object(taker))
		return err_set(err, EINVAL, "taker: not an object");
	r = json_get_int(taker, "pid", 1, PROCESSES_MAX, &pid, NULL, err);
	if (!r)
		r = json_get_uint(taker, "start_ticks", &h->self.start, NULL, err);
	h->self.pid = (pid_t)pid;
	return r;
}

static int read_login(const json_t *o, struct login *l, struct err *err)
{
	int64_t leader = 0;
	int r;

	*l = (struct login){.uid = (uid_t)-1, .audit = -1};
	if (!json_is_object(o))
		return err_set(err, EINVAL, "logins: not a list of objects");
	r = get_name(o, "id", l->id, sizeof(l->id), err);
	if (!r)
		r = json_get_int(o, "leader", 0, PROCESSES_MAX, &leader, NULL, err);
	l->leader = (pid_t)leader;
	if (!r)
		r = get_uid(o, "uid", &l->uid, err);
	if (!r)
		r = get_name(o, "scope", l->scope, sizeof(l->scope), err);
	if (!r)
		r = get_name(o, "state", l->state, sizeof(l->state), err);
	if (!r)
		r = get_name(o, "service", l->service, sizeof(l->service), err);
	if (!r)
		r = get_name(o, "tty", l->tty, sizeof(l->tty), err);
	if (!r)
		r = json_get_int(o, "audit_session", 0, UINT32_MAX, &l->audit, NULL, err);
	return r;
}

static int read_logins(const json_t *head, struct host *h, struct err *err)
{
	const json_t *logins = json_object_get(head, "logins");

	if (!logins || json_is_null(logins))
		return 0;
	if (!json_is_array(logins) || json_array_size(logins) > LOGINS_MAX)
		return err_set(err, EINVAL, "logins: not a list of logins");
	h->logins_known = true;
	for (size_t i = 0; i < json_array_size(logins); i++) {
		struct login l;
		int r = read_login(json_array_get(logins, i), &l, err);

		if (r < 0)
			return r;
		if (!VEC_PUSH(&h->logins, l))
			return err_nomem(err);
	}
	return 0;
}

/* What no snapshot can do without: by it the others are understood. */
static int read_clocks(const json_t *head, struct host *h, struct err *err)
{
	bool wall = false, boot = false, ticks = false;
	int64_t per_second = 0;
	int r = get_time(head, "taken_at", &h->wall_ns, &wall, err);

	if (!r)
		r = json_get_uint(head, "boottime_ns", &h->boot_ns, &boot, err);
	if (!r)
		r = json_get_int(head, "ticks_per_second", 1, 1000000, &per_second, &ticks, err);
	h->ticks_per_second = (long)per_second;
	if (!r && !(wall && boot && ticks))
		r = err_set(err, EINVAL, "%s is missing",
			    !wall  ? "taken_at"
			    : boot ? "ticks_per_second"
				   : "boottime_ns");
	return r;
}

static int read_host(const json_t *head, struct host *h, struct err *err)
{
	bool initial_known = false;
	int r = get_name(head, "host", h->hostname, sizeof(h->hostname), err);

	h->uid = (uid_t)-1;
	if (!r)
		r = get_name(head, "boot_id", h->boot_id, sizeof(h->boot_id), err);
	if (!r)
		r = get_name(head, "kernel", h->kernel, sizeof(h->kernel), err);
	if (!r)
		r = read_clocks(head, h, err);
	if (!r)
		r = json_get_uint(head, "pid_namespace", &h->pid_ns, NULL, err);
	if (!r)
		r = json_get_bool(head, "pid_namespace_initial", &h->pid_ns_initial, &initial_known,
				  err);
	if (!initial_known)
		h->pid_ns_initial = h->pid_ns == PIDNS_INIT_INO;
	if (!r)
		r = json_get_uint(head, "net_namespace", &h->net_ns, NULL, err);
	if (!r)
		r = get_uid(head, "uid", &h->uid, err);
	if (!r)
		r = json_get_bool(head, "systemd", &h->systemd, NULL, err);
	if (!r)
		r = read_taker(head, h, err);
	return r ? r : read_logins(head, h, err);
}

static int read_sources(const json_t *o, struct coverage *c, struct err *err)
{
	const json_t *sources = json_object_get(o, "sources");

	if (sources && !json_is_array(sources))
		return err_set(err, EINVAL, "sources: not a list");
	for (size_t i = 0; i < json_array_size(sources); i++) {
		const char *name = json_string_value(json_array_get(sources, i));

		if (!name)
			return err_set(err, EINVAL, "sources: not a list of names");
		for (int kind = 0; kind < SOURCE_COUNT; kind++)
			if (strcmp(name, source_kind_name(kind)) == 0)
				c->sources |= 1u << kind;
	}
	c->sources |= 1u << SOURCE_REPLAY;
	return 0;
}

static int get_count(const json_t *o, const char *key, unsigned *out, struct err *err)
{
	int64_t n = 0;
	int r = json_get_int(o, key, 0, INT32_MAX, &n, NULL, err);

	*out = (unsigned)n;
	return r;
}

static int read_unreadable(const json_t *o, struct coverage *c, struct err *err)
{
	const json_t *counts = json_object_get(o, "unreadable");
	int r = 0;

	if (!counts || json_is_null(counts))
		return 0;
	if (!json_is_object(counts))
		return err_set(err, EINVAL, "unreadable: not an object");
	for (unsigned i = 0; i < DETAIL_COUNT && !r; i++)
		r = get_count(counts, detail_name(1u << i), &c->unreadable[i], err);
	return r;
}

static int read_coverage(const json_t *o, struct coverage *c, struct err *err)
{
	bool known;
	int r;

	if (!json_is_object(o))
		return err_set(err, EINVAL, o ? "not an object" : "missing");
	r = read_sources(o, c, err);
	if (!r)
		r = json_get_bool(o, "partial", &c->partial, NULL, err);
	if (!r)
		r = json_get_uint(o, "events_lost", &c->events_lost, NULL, err);
	if (!r)
		r = json_get_bool(o, "hidepid", &c->hidepid, NULL, err);
	if (!r)
		r = get_count(o, "vanished", &c->vanished, err);
	if (!r)
		r = get_count(o, "skipped", &c->skipped, err);
	if (!r)
		r = read_unreadable(o, c, err);
	return r ? r : get_time(o, "first_scan_at", &c->first_scan_wall_ns, &known, err);
}

/* The members beside the processes, once the file is read to its end. */
static int read_head(struct reader *r, struct err *err)
{
	struct err why = {0};
	int ret;

	if (!json_object_get(r->head, "schema"))
		return err_set(err, EINVAL, "%.100s: not a snapshot: schema is missing", r->name);
	ret = read_host(r->head, &r->t->host, &why);
	if (ret < 0)
		return err_set(err, -ret, "%.100s: %s", r->name, why.text);
	ret = read_coverage(json_object_get(r->head, "coverage"), &r->t->coverage, &why);
	if (ret < 0)
		return err_set(err, -ret, "%.100s: coverage: %s", r->name, why.text);
	return 0;
}

static int check_processes(struct reader *r, struct err *err)
{
	size_t n = r->t->procs.n;

	if (!n && !r->t->coverage.partial)
		return err_set(err, ENODATA, "%.100s: holds no process at all", r->name);
	if (!r->unsorted)
		return 0;
	table_sort(r->t); /* drops what stands twice */
	if (r->t->procs.n != n)
		return err_set(err, EINVAL, "%.100s: processes: a PID stands in it twice", r->name);
	return 0;
}

int replay_read(FILE *in, const char *name, struct table **out, struct err *err)
{
	struct reader r = {.name = name, .t = table_new(), .head = json_object()};
	int ret = r.t && r.head ? 0 : err_nomem(err);

	if (!ret)
		ret = json_read_stream(in, name, "processes", read_member, &r, err);
	if (!ret)
		ret = read_head(&r, err);
	if (!ret)
		ret = check_processes(&r, err);
	json_decref(r.head);
	if (ret < 0) {
		table_free(r.t);
		return ret;
	}
	*out = r.t;
	return 0;
}
