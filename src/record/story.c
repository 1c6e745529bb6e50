#include "record/story.h"

#include "base/clock.h"
#include "base/file.h"
#include "record/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void member_clear(struct story_member *m)
{
	bytes_free(&m->comm);
	bytes_free(&m->exe);
	bytes_free(&m->args);
	bytes_free(&m->cgroup);
}

void story_clear(struct story *s)
{
	run_record_clear(&s->record);
	for (size_t i = 0; i < s->members.n; i++)
		member_clear(&s->members.v[i]);
	free(s->members.v);
	free(s->by_identity.v);
	memset(s, 0, sizeof(*s));
}

static bool copy_text(struct bytes *to, const struct bytes *from)
{
	*to = (struct bytes){0};
	return !from->data || bytes_set(to, from->data, from->len);
}

static bool copy_member(struct story_member *to, const struct story_member *from)
{
	*to = *from;
	to->exe = to->args = to->cgroup = (struct bytes){0};
	return copy_text(&to->comm, &from->comm) && copy_text(&to->exe, &from->exe) &&
	       copy_text(&to->args, &from->args) && copy_text(&to->cgroup, &from->cgroup);
}

static bool copy_record(struct run_record *to, const struct run_record *from)
{
	*to = *from;
	to->unit_cannot_hold = to->unit_fallbacks = to->approved_by = NULL;
	to->args = to->exe = to->requester_exe = (struct bytes){0};
	to->secret_names = NULL;
	to->n_secret_names = 0;
	memset(&to->inherited_fds, 0, sizeof(to->inherited_fds));
	memset(&to->requested_by, 0, sizeof(to->requested_by));
	memset(&to->host.logins, 0, sizeof(to->host.logins));
	return run_copy(&to->run, &from->run);
}

int story_copy(struct story *to, const struct story *from)
{
	bool ok;

	*to = *from;
	memset(&to->members, 0, sizeof(to->members));
	memset(&to->by_identity, 0, sizeof(to->by_identity));
	ok = copy_record(&to->record, &from->record) &&
	     VEC_RESERVE(&to->members, from->members.n) &&
	     VEC_RESERVE(&to->by_identity, from->by_identity.n);
	for (size_t i = 0; ok && i < from->members.n; i++) {
		ok = copy_member(&to->members.v[i], &from->members.v[i]);
		to->members.n++;
	}
	for (size_t i = 0; ok && i < from->by_identity.n; i++)
		to->by_identity.v[to->by_identity.n++] = from->by_identity.v[i];
	if (!ok)
		story_clear(to);
	return ok ? 0 : -ENOMEM;
}

/* Where id stands in by_identity, or would. */
static size_t position(const struct story *s, struct identity id)
{
	size_t low = 0, high = s->by_identity.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (identity_order(&s->members.v[s->by_identity.v[mid]].id, &id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct story_member *story_member(const struct story *s, struct identity id)
{
	size_t at = position(s, id);
	struct story_member *m;

	if (at == s->by_identity.n)
		return NULL;
	m = &s->members.v[s->by_identity.v[at]];
	return identity_same(m->id, id) ? m : NULL;
}

struct story_member *story_latest(const struct story *s, pid_t pid)
{
	size_t after = position(s, (struct identity){.pid = pid, .start = UINT64_MAX});
	struct story_member *m = after ? &s->members.v[s->by_identity.v[after - 1]] : NULL;

	return m && m->id.pid == pid ? m : NULL;
}

struct story_member *story_add(struct story *s, struct identity id)
{
	struct story_member *m = story_member(s, id);
	size_t at = position(s, id);

	if (m)
		return m;
	if (!VEC_PUSH(&s->by_identity, 0))
		return NULL;
	if (!VEC_PUSH(&s->members, (struct story_member){.id = id})) {
		s->by_identity.n--;
		return NULL;
	}
	memmove(&s->by_identity.v[at + 1], &s->by_identity.v[at],
		(s->by_identity.n - 1 - at) * sizeof(*s->by_identity.v));
	s->by_identity.v[at] = (uint32_t)(s->members.n - 1);
	return &s->members.v[s->members.n - 1];
}

void story_gone(struct story_member *m, uint64_t wall_ns)
{
	if (!m->gone)
		m->gone_wall_ns = wall_ns;
	m->gone = true;
}

size_t story_alive(const struct story *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->members.n; i++)
		n += !s->members.v[i].gone &&
		     evidence_weight(s->members.v[i].evidence) >= WEIGHT_LIKELY;
	return n;
}

struct identity story_identity(const json_t *event, const char *key)
{
	const json_t *o = json_object_get(event, key);
	struct identity id = {0};
	int64_t pid = 0;

	if (json_get_int(o, "pid", 0, INT32_MAX, &pid, NULL, NULL) == 0 &&
	    json_get_uint(o, "start_ticks", &id.start, NULL, NULL) == 0)
		id.pid = (pid_t)pid;
	return id;
}

static pid_t pid_of(const json_t *event, const char *key, pid_t otherwise)
{
	int64_t n = otherwise;

	json_get_int(event, key, 0, INT32_MAX, &n, NULL, NULL);
	return (pid_t)n;
}

static unsigned evidence_of(const json_t *event)
{
	const json_t *names = json_object_get(event, "evidence"), *v;
	unsigned bits = 0;
	size_t i;

	json_array_foreach(names, i, v) for (unsigned b = 0; b < EVIDENCE_COUNT;
					     b++) if (json_is_string(v) &&
						      strcmp(json_string_value(v),
							     evidence_name(1u << b)) == 0) bits |=
		1u << b;
	return bits;
}

/* Arguments that are none change nothing: the rest of the event still tells. */
static int args_of(const json_t *event, struct bytes *out, struct err *err)
{
	bool known;

	return json_get_args(event, out, &known, NULL) == -ENOMEM ? err_nomem(err) : 0;
}

static int take_facts(struct story_member *m, const json_t *event, struct err *err)
{
	int r = args_of(event, &m->args, err);

	m->ppid = pid_of(event, "ppid", m->ppid);
	m->pgid = pid_of(event, "pgid", m->pgid);
	m->sid = pid_of(event, "sid", m->sid);
	if (!r)
		r = json_get_bytes(event, "comm", &m->comm, err);
	if (!r)
		r = json_get_bytes(event, "exe", &m->exe, err);
	return r ? r : json_get_bytes(event, "cgroup", &m->cgroup, err);
}

/* One that came: `started`, or the child of `forked`. */
static int member_came(struct story *s, const json_t *event, const char *key, struct err *err)
{
	struct identity id = story_identity(event, key);
	struct story_member *m;

	if (!identity_known(id))
		return 0;
	m = story_add(s, id);
	if (!m)
		return err_nomem(err);
	m->evidence |= evidence_of(event);
	return take_facts(m, event, err);
}

static int member_changed(struct story *s, const char *name, const json_t *event, struct err *err)
{
	struct story_member *m = story_member(s, story_identity(event, "process"));

	if (!m)
		return 0;
	if (strcmp(name, "exited") == 0)
		story_gone(m, s->last_wall_ns);
	else if (strcmp(name, "survivor") == 0)
		m->survived = true;
	else if (strcmp(name, "setsid") == 0)
		m->sid = m->pgid = pid_of(event, "to", m->sid); /* setsid(2) makes both */
	else if (strcmp(name, "setpgid") == 0)
		m->pgid = pid_of(event, "to", m->pgid);
	else if (strcmp(name, "reparented") == 0)
		m->ppid = story_identity(event, "to").pid;
	else if (strcmp(name, "left_cgroup") == 0)
		return json_get_bytes(event, "to", &m->cgroup, err);
	else if (strcmp(name, "execed") == 0 || strcmp(name, "leftover") == 0)
		return take_facts(m, event, err);
	return 0;
}

static void take_state(struct story *s, const char *name, const json_t *event, uint64_t wall_ns,
		       uint64_t mono_ns)
{
	const char *closed = NULL;
	enum run_state next;

	json_get_str(event, "state", &closed, NULL);
	next = run_state_next(s->state, name, closed ? run_state_parse(closed) : RUN_UNKNOWN);
	if (next == s->state)
		return;
	s->state = next;
	s->state_wall_ns = wall_ns;
	if (s->over_wall_ns || next == RUN_ACTIVE)
		return;
	s->over_wall_ns = wall_ns;
	s->over_mono_ns = mono_ns;
	/* an event that tells of an earlier moment says which */
	json_get_uint(event, "over_mono_ns", &s->over_mono_ns, NULL, NULL);
	if (json_get_str(event, "over_at", &closed, NULL) == 0 &&
	    json_object_get(event, "over_at") && closed)
		clock_parse_rfc3339(closed, &s->over_wall_ns);
}

int story_event(struct story *s, const json_t *event, struct err *err)
{
	const char *name = NULL, *at = NULL;
	uint64_t wall_ns = 0, mono_ns = 0;
	int r = json_get_str(event, "event", &name, err);

	if (!r)
		r = json_get_str(event, "at", &at, err);
	if (!r)
		r = json_get_uint(event, "mono_ns", &mono_ns, NULL, err);
	if (r || !name)
		return r;
	if (at)
		clock_parse_rfc3339(at, &wall_ns);
	s->last_wall_ns = wall_ns;
	take_state(s, name, event, wall_ns, mono_ns);
	if (strcmp(name, "run_opened") == 0)
		s->unwatched_wall_ns = wall_ns;
	if (strcmp(name, "started") == 0)
		return member_came(s, event, "process", err);
	if (strcmp(name, "forked") == 0)
		return member_came(s, event, "child", err);
	if (strcmp(name, "watch_started") == 0) {
		s->watcher = story_identity(event, "watcher");
		s->unwatched_wall_ns = 0;
	} else if (strcmp(name, "watch_stopped") == 0) {
		s->watcher = (struct identity){0};
		s->unwatched_wall_ns = wall_ns;
	} else if (strcmp(name, "end_requested") == 0)
		s->ender = story_identity(event, "by");
	else if (strcmp(name, "note") == 0)
		s->notes++;
	else if (strcmp(name, "run_opened") == 0 && !s->record_sha256[0])
		return json_get_text(event, "record_sha256", s->record_sha256, CHAIN_HEX, err);
	return member_changed(s, name, event, err);
}

static int take(void *ctx, const json_t *event, struct err *err)
{
	return story_event(ctx, event, err);
}

static int check_record(const struct rundir *d, struct story *s, struct err *err)
{
	char actual[DIGEST_HEX];
	int r = s->record_sha256[0] ? digest_file(d->fd, RUNDIR_RECORD, actual, NULL, err) : 0;

	s->record_changed = !r && s->record_sha256[0] && strcmp(actual, s->record_sha256) != 0;
	return r;
}

/* Its record; *journal: its journal, to be read, the caller's. */
static int open_both(const struct rundir *d, struct story *out, int *journal, struct err *err)
{
	AUTO_FD record = -1;
	int r;

	memset(out, 0, sizeof(*out));
	r = journal_open_read(d->fd, RUNDIR_RECORD, &record, err);
	if (!r)
		r = run_record_read(record, RUNDIR_RECORD, &out->record, err);
	return r ? r : journal_open_read(d->fd, RUNDIR_JOURNAL, journal, err);
}

int story_read(const struct rundir *d, struct story *out, struct err *err)
{
	struct journal_reading reading = {
		.name = RUNDIR_JOURNAL, .schema = JOURNAL_SCHEMA, .fn = take, .ctx = out};
	AUTO_FD journal = -1;
	int r = open_both(d, out, &journal, err);

	if (!r)
		r = journal_read(journal, &reading, &out->verdict, err);
	return r ? r : check_record(d, out, err);
}

/* What else may come after a run was closed says that it is not known by that alone. */
static int take_last(void *ctx, const json_t *event, struct err *err)
{
	static const char *const neutral[] = {"anchored", "watch_stopped", "note"};
	const char *name = NULL, *state = NULL;
	struct story *s = ctx;

	(void)err;
	if (json_get_str(event, "event", &name, NULL) == 0)
		for (size_t i = 0; i < sizeof(neutral) / sizeof(neutral[0]); i++)
			if (strcmp(name, neutral[i]) == 0)
				return 0;
	s->state = RUN_UNKNOWN;
	if (!name)
		return 0;
	if (strcmp(name, "run_closed") == 0 && !json_get_str(event, "state", &state, NULL) && state)
		s->state = run_state_parse(state);
	return 0;
}

int story_glance(const struct rundir *d, struct story *out, struct err *err)
{
	const struct journal_reading reading = {
		.name = RUNDIR_JOURNAL, .fn = take_last, .ctx = out};
	AUTO_FD journal = -1;
	bool holds = false;
	int r = open_both(d, out, &journal, err);

	if (!r)
		r = journal_read_end(journal, &reading, &holds, err);
	if (!holds)
		out->state = RUN_UNKNOWN;
	return r;
}
