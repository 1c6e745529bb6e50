#include "model/origin.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One step of a cgroup path, without its slashes. */
struct step {
	const char *s;
	size_t len;
};

static bool is(struct step step, const char *what)
{
	return step.len == strlen(what) && memcmp(step.s, what, step.len) == 0;
}

static bool starts(struct step step, const char *with)
{
	size_t n = strlen(with);

	return step.len >= n && memcmp(step.s, with, n) == 0;
}

static bool ends(struct step step, const char *with)
{
	size_t n = strlen(with);

	return step.len >= n && memcmp(step.s + step.len - n, with, n) == 0;
}

static struct step without(struct step step, const char *prefix, const char *suffix)
{
	if (starts(step, prefix)) {
		step.s += strlen(prefix);
		step.len -= strlen(prefix);
	}
	if (ends(step, suffix))
		step.len -= strlen(suffix);
	return step;
}

#define ID_SHORT 12 /* as the engines' own short ids */
#define ID_FULL 64  /* SHA-256 in hexadecimal */

/* The hexadecimal digits that end a step. */
static struct step id_at_end(struct step step)
{
	size_t n = 0;

	while (n < step.len && isxdigit((unsigned char)step.s[step.len - 1 - n]))
		n++;
	return (struct step){step.s + step.len - n, n};
}

static void set_name(struct origin *o, enum origin_kind kind, const char *before, struct step step)
{
	int room = (int)sizeof(o->name) - 1 - (int)strlen(before);

	o->kind = kind;
	snprintf(o->name, sizeof(o->name), "%s%.*s", before,
		 step.len < (size_t)room ? (int)step.len : room, step.s);
}

static void set_container(struct origin *o, const char *engine, struct step id)
{
	char before[24];

	snprintf(before, sizeof(before), "%s ", engine);
	if (id.len > ID_SHORT)
		id.len = ID_SHORT;
	set_name(o, ORIGIN_CONTAINER, before, id);
}

/* Engines whose containers have an id, in a scope or (cgroupfs driver) without. */
static bool id_step(struct step step, struct step parent, struct origin *o)
{
	static const struct {
		const char *prefix, *engine;
	} engines[] = {
		{"docker-", "docker"},      {"libpod-", "podman"},   {"crio-", "cri-o"},
		{"cri-containerd-", "k8s"}, {"nerdctl-", "nerdctl"},
	};
	struct step bare = without(step, "", ".scope"), id = id_at_end(bare);
	bool kube = starts(parent, "pod") || starts(parent, "kubepods");

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (starts(bare, engines[i].prefix) && id.len >= ID_SHORT) {
			set_container(o, engines[i].engine, id);
			return true;
		}
	if (id.len != ID_FULL)
		return false;
	if (bare.len == ID_FULL) { /* /docker/<id>, /kubepods/pod.../<id> */
		set_container(o, kube ? "k8s" : "docker", id);
		return true;
	}
	/* runc's "slice:prefix:id", taken for a name where no systemd is */
	if (bare.s[bare.len - ID_FULL - 1] == ':') {
		set_container(o, memmem(bare.s, bare.len, "kubepods", 8) ? "k8s" : "docker", id);
		return true;
	}
	return false;
}

/* Containers, by the names their engines give: true if the step is one. */
static bool container_step(struct step step, struct step parent, struct origin *o)
{
	if (starts(step, "lxc.payload."))
		set_name(o, ORIGIN_CONTAINER, "lxc ", without(step, "lxc.payload.", ""));
	else if (starts(step, "lxc.monitor."))
		set_name(o, ORIGIN_CONTAINER, "lxc ", without(step, "lxc.monitor.", ""));
	else if ((is(parent, "lxc") || is(parent, "lxc.payload")) && !ends(step, ".slice"))
		set_name(o, ORIGIN_CONTAINER, "lxc ", step);
	else if (starts(step, "podman-") && ends(step, ".scope"))
		/* no container: rootless podman's own, for the namespaces and networks of all */
		set_name(o, ORIGIN_CONTAINER, "podman ", without(step, "podman-", ".scope"));
	else if (starts(step, "machine-") && ends(step, ".scope"))
		set_name(o, ORIGIN_CONTAINER, "machine ", without(step, "machine-", ".scope"));
	else if (starts(step, "systemd-nspawn@") && ends(step, ".service"))
		set_name(o, ORIGIN_CONTAINER, "nspawn ",
			 without(step, "systemd-nspawn@", ".service"));
	else
		return id_step(step, parent, o);
	return true;
}

static bool is_cron_unit(struct step step)
{
	return is(step, "cron.service") || is(step, "crond.service") || is(step, "atd.service");
}

/* A unit, by the names systemd gives.  first, last: of the steps. */
static void unit_step(struct step step, bool below_manager, bool first, bool last, struct origin *o)
{
	bool service = ends(step, ".service"), scope = ends(step, ".scope");

	if (starts(step, "user@") && service) {
		if (last) /* before systemd 226 the manager itself was here */
			set_name(o, ORIGIN_USER_MANAGER, "", step);
	} else if (is(step, "init.scope") && (below_manager || first)) {
		set_name(o, below_manager ? ORIGIN_USER_MANAGER : ORIGIN_INIT, "", step);
	} else if (below_manager && (service || scope)) {
		set_name(o, ORIGIN_USER_UNIT, "", step);
	} else if (scope && starts(step, "session-")) {
		set_name(o, ORIGIN_LOGIN, "", step);
	} else if (service) {
		set_name(o, is_cron_unit(step) ? ORIGIN_CRON : ORIGIN_SERVICE, "", step);
	}
}

struct origin origin_of_cgroup(const char *path, size_t len)
{
	struct origin o = {.kind = ORIGIN_UNKNOWN};
	struct step parent = {"", 0};
	bool below_manager = false;

	for (size_t i = 0; i < len;) {
		struct step step;
		size_t j;

		while (i < len && path[i] == '/')
			i++;
		for (j = i; j < len && path[j] != '/'; j++)
			;
		step = (struct step){path + i, j - i};
		i = j;
		if (!step.len)
			break;
		if (is(step, "..")) /* above the root of our cgroup namespace */
			continue;
		if (container_step(step, parent, &o)) {
			o.unit_len = j;
			return o; /* what is inside is the container's own affair */
		}
		if (!o.unit_len) { /* below a unit, who runs there gives the names */
			unit_step(step, below_manager, !parent.len, j == len, &o);
			if (o.kind != ORIGIN_UNKNOWN)
				o.unit_len = j;
		}
		below_manager |= starts(step, "user@") && ends(step, ".service");
		parent = step;
	}
	return o;
}

bool origin_scope(const struct process *p, struct bytes *out)
{
	const struct bytes *path = p->detail ? &p->detail->cgroup : NULL;
	size_t end = path && path->data && p->origin == ORIGIN_UNKNOWN ? path->len : 0;

	while (end) {
		size_t begin = end;
		struct step step;

		while (begin && path->data[begin - 1] != '/')
			begin--;
		step = (struct step){path->data + begin, end - begin};
		if (ends(step, ".scope")) {
			*out = (struct bytes){path->data + begin, step.len};
			return true;
		}
		end = begin ? begin - 1 : 0;
	}
	return false;
}

const char *origin_kind_name(enum origin_kind kind)
{
	static const char *const names[] = {
		[ORIGIN_UNKNOWN] = "unknown",
		[ORIGIN_KERNEL] = "kernel",
		[ORIGIN_INIT] = "init",
		[ORIGIN_SERVICE] = "unit",
		[ORIGIN_USER_MANAGER] = "user_manager",
		[ORIGIN_USER_UNIT] = "user_unit",
		[ORIGIN_LOGIN] = "login",
		[ORIGIN_CONTAINER] = "container",
		[ORIGIN_CRON] = "cron",
	};

	return names[kind];
}

const struct login *origin_login(const struct table *t, const struct process *p)
{
	const struct detail *d = p->detail;
	const struct login *by_id;
	char id[32];

	if (p->origin == ORIGIN_LOGIN || p->origin == ORIGIN_CRON) {
		const struct login *l;

		l = p->origin_name.data
			    ? host_login_scope(&t->host, p->origin_name.data, p->origin_name.len)
			    : NULL;
		if (l)
			return l;
	}
	if (!d || d->audit_session < 0)
		return NULL;
	for (size_t i = 0; i < t->host.logins.n; i++)
		if (t->host.logins.v[i].audit == d->audit_session)
			return &t->host.logins.v[i];
	/* logind names a session by its audit id where it has one: sd_pid_get_session(3) */
	snprintf(id, sizeof(id), "%" PRId64, d->audit_session);
	by_id = host_login(&t->host, id);
	return by_id && by_id->audit < 0 ? by_id : NULL;
}

bool origin_is_user_manager(const struct process *p)
{
	/* (sd-pam), its helper and child, sits in the same cgroup. */
	return p->origin == ORIGIN_USER_MANAGER && p->ppid == 1;
}

static const struct process *manager_above(const struct table *t, const struct process *p)
{
	for (size_t steps = 0; p && steps < t->procs.n; steps++) {
		if (origin_is_user_manager(p))
			return p;
		p = table_pid(t, p->ppid);
	}
	return NULL;
}

enum login_state origin_login_state_below(const struct table *t, const struct process *p,
					  const struct process *manager)
{
	bool audited = p->detail && p->detail->audit_session >= 0;
	const struct login *l;

	/* A user manager's audit session is nobody's login: logind need not know it. */
	if (audited && p->origin == ORIGIN_USER_UNIT && manager && manager->detail)
		audited = manager->detail->audit_session != p->detail->audit_session;
	if (p->origin == ORIGIN_USER_MANAGER)
		audited = false;
	if (!audited && p->origin != ORIGIN_LOGIN)
		return LOGIN_NONE;
	if (!t->host.logins_known)
		return LOGIN_STATE_UNKNOWN;
	l = origin_login(t, p);
	if (!l || strcmp(l->state, "closing") == 0)
		return LOGIN_CLOSED;
	return LOGIN_OPEN;
}

enum login_state origin_login_state(const struct table *t, const struct process *p)
{
	bool asks = p->origin == ORIGIN_USER_UNIT;

	return origin_login_state_below(t, p, asks ? manager_above(t, p) : NULL);
}

static int set_origin(struct process *p, enum origin_kind kind, const char *name)
{
	p->origin = (uint8_t)kind;
	return bytes_set(&p->origin_name, name, strlen(name)) ? 0 : -ENOMEM;
}

static void set_unit(struct process *p, size_t len)
{
	p->unit_len = len <= UINT16_MAX ? (uint16_t)len : 0;
}

/*
 * Where PID 1 is in a container, so are we: then that container is the host, and
 * no origin of anything in it.
 */
void origin_note_init(struct host *host, const struct process *init)
{
	const struct bytes *path = init && init->detail ? &init->detail->cgroup : NULL;
	struct origin o;

	host->container[0] = '\0';
	if (!path || !path->data)
		return;
	o = origin_of_cgroup(path->data, path->len);
	if (o.kind != ORIGIN_CONTAINER || o.unit_len >= sizeof(host->container))
		return;
	memcpy(host->container, path->data, o.unit_len);
	host->container[o.unit_len] = '\0';
}

static struct origin origin_of_path(const struct host *host, const struct bytes *path)
{
	size_t own = strlen(host->container);
	struct origin o;

	if (!own || path->len < own || memcmp(path->data, host->container, own) != 0 ||
	    (path->len > own && path->data[own] != '/'))
		return origin_of_cgroup(path->data, path->len);
	o = origin_of_cgroup(path->data + own, path->len - own);
	o.unit_len += o.unit_len ? own : 0;
	return o;
}

static bool is_cron_login(const struct host *host, const char *scope)
{
	const struct login *l = host_login_scope(host, scope, strlen(scope));

	return l && (strcmp(l->service, "cron") == 0 || strcmp(l->service, "crond") == 0 ||
		     strcmp(l->service, "atd") == 0);
}

int origin_judge_one(const struct host *host, struct process *p)
{
	const struct detail *d = p->detail;
	struct origin o = {.kind = ORIGIN_UNKNOWN};

	if (process_is_kthread(p))
		return set_origin(p, ORIGIN_KERNEL, "kernel");
	if (d && d->cgroup.data)
		o = origin_of_path(host, &d->cgroup);
	set_unit(p, o.unit_len);
	if (o.kind == ORIGIN_LOGIN && is_cron_login(host, o.name))
		o.kind = ORIGIN_CRON;
	if (o.kind == ORIGIN_UNKNOWN && p->id.pid == 1)
		return set_origin(p, ORIGIN_INIT, "init");
	if (o.kind == ORIGIN_UNKNOWN && d && d->audit_session >= 0) {
		o.kind = ORIGIN_LOGIN;
		snprintf(o.name, sizeof(o.name), "audit session %" PRId64, d->audit_session);
	}
	return set_origin(p, o.kind, o.name);
}

/* A snapshot names origins, but not where in the path they are. */
static bool lacks_unit(const struct process *p)
{
	return !p->unit_len && p->detail && p->detail->cgroup.data &&
	       (p->origin == ORIGIN_SERVICE || p->origin == ORIGIN_USER_MANAGER ||
		p->origin == ORIGIN_USER_UNIT || p->origin == ORIGIN_CONTAINER);
}

int origin_judge(struct table *t)
{
	origin_note_init(&t->host, table_pid(t, 1));
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];

		if (!p->origin_name.data) {
			if (origin_judge_one(&t->host, p) < 0)
				return -ENOMEM;
		} else if (lacks_unit(p)) {
			set_unit(p, origin_of_path(&t->host, &p->detail->cgroup).unit_len);
		}
	}
	return 0;
}
