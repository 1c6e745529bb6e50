#include "record/host_json.h"

#include "base/clock.h"
#include "record/process_json.h"

void time_json(struct jw *j, const char *key, uint64_t wall_ns)
{
	char text[CLOCK_RFC3339_MAX];

	if (!wall_ns) {
		jw_null(j, key);
		return;
	}
	clock_rfc3339(wall_ns, text);
	jw_str(j, key, text);
}

static void name_json(struct jw *j, const char *key, const char *name)
{
	jw_str(j, key, *name ? name : NULL);
}

static void inode_json(struct jw *j, const char *key, uint64_t inode)
{
	if (inode)
		jw_uint(j, key, inode);
	else
		jw_null(j, key);
}

void host_json(struct jw *j, const struct host *h)
{
	name_json(j, "host", h->hostname);
	name_json(j, "boot_id", h->boot_id);
	name_json(j, "kernel", h->kernel);
	time_json(j, "taken_at", h->wall_ns);
	jw_uint(j, "boottime_ns", h->boot_ns);
	jw_int(j, "ticks_per_second", h->ticks_per_second);
	inode_json(j, "pid_namespace", h->pid_ns);
	if (h->pid_ns)
		jw_bool(j, "pid_namespace_initial", h->pid_ns_initial);
	else
		jw_null(j, "pid_namespace_initial");
	inode_json(j, "net_namespace", h->net_ns);
	process_json_uid(j, "uid", h->uid);
	if (identity_known(h->self))
		process_json_identity(j, "taker", h->self);
	else
		jw_null(j, "taker");
}

static void login_json(struct jw *j, const struct login *l)
{
	jw_object(j, NULL);
	name_json(j, "id", l->id);
	if (l->leader)
		jw_int(j, "leader", l->leader);
	else
		jw_null(j, "leader");
	process_json_uid(j, "uid", l->uid);
	name_json(j, "scope", l->scope);
	name_json(j, "state", l->state);
	name_json(j, "service", l->service);
	name_json(j, "tty", l->tty);
	if (l->audit >= 0)
		jw_int(j, "audit_session", l->audit);
	else
		jw_null(j, "audit_session");
	jw_object_end(j);
}

void host_json_logins(struct jw *j, const struct host *h)
{
	jw_bool(j, "systemd", h->systemd);
	if (!h->logins_known) {
		jw_null(j, "logins");
		return;
	}
	jw_array(j, "logins");
	for (size_t i = 0; i < h->logins.n; i++)
		login_json(j, &h->logins.v[i]);
	jw_array_end(j);
}

void coverage_json(struct jw *j, const struct coverage *c)
{
	jw_object(j, "coverage");
	jw_array(j, "sources");
	for (int i = 0; i < SOURCE_COUNT; i++)
		if (c->sources & 1u << i)
			jw_str(j, NULL, source_kind_name(i));
	jw_array_end(j);
	jw_bool(j, "partial", c->partial);
	jw_uint(j, "events_lost", c->events_lost);
	jw_bool(j, "hidepid", c->hidepid);
	jw_uint(j, "vanished", c->vanished);
	jw_uint(j, "skipped", c->skipped);
	jw_object(j, "unreadable");
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		if (c->unreadable[i])
			jw_uint(j, detail_name(1u << i), c->unreadable[i]);
	jw_object_end(j);
	time_json(j, "first_scan_at", c->first_scan_wall_ns);
	jw_object_end(j);
}
