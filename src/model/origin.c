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

/* The last run of at least 12 hexadecimal digits in a step: a container id. */
static struct step container_id(struct step step)
{
	struct step best = {NULL, 0};

	for (size_t i = 0; i < step.len;) {
		size_t j = i;

		while (j < step.len && isxdigit((unsigned char)step.s[j]))
			j++;
		if (j - i >= 12)
			best = (struct step){step.s + i, j - i};
		i = j + 1;
	}
	return best;
}

static void set_container(struct origin *o, const char *engine, struct step id)
{
	int n = id.len < 12 ? (int)id.len : 12; /* as the engines' own short ids */

	o->kind = ORIGIN_CONTAINER;
	snprintf(o->name, sizeof(o->name), "%s %.*s", engine, n, id.s ? id.s : "");
}

static void set_name(struct origin *o, enum origin_kind kind, struct step step)
{
	int n = step.len < sizeof(o->name) - 1 ? (int)step.len : (int)sizeof(o->name) - 1;

	o->kind = kind;
	snprintf(o->name, sizeof(o->name), "%.*s", n, step.s);
}

/* Containers, by the names their engines give: true if the step is one. */
static bool container_step(struct step step, struct step parent, struct origin *o)
{
	static const struct {
		const char *prefix, *engine;
	} scopes[] = {
		{"docker-", "docker"},      {"libpod-", "podman"},   {"crio-", "cri-o"},
		{"cri-containerd-", "k8s"}, {"nerdctl-", "nerdctl"}, {"lxc.payload.", "lxc"},
		{"machine-", "machine"},
	};
	struct step id = container_id(step);

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		if (!starts(step, scopes[i].prefix))
			continue;
		if (strcmp(scopes[i].engine, "lxc") == 0)
			id = (struct step){step.s + 12, step.len - 12};
		else if (!ends(step, ".scope") && !id.len)
			continue;
		set_container(o, scopes[i].engine, id);
		return true;
	}
	if (step.len == 64 &&
	    id.len == 64) { /* cgroupfs driver: /docker/<id>, /kubepods/pod…/<id> */
		bool kube = starts(parent, "pod") || starts(parent, "kubepods");

		set_container(o, kube ? "k8s" : "docker", id);
		return true;
	}
	return false;
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
		if (container_step(step, parent, &o)) {
			return o; /* what is inside is the container's own affair */
		} else if (starts(step, "user@") && ends(step, ".service")) {
			below_manager = true;
		} else if (below_manager && starts(step, "init.scope")) {
			set_name(&o, ORIGIN_USER_MANAGER, step);
		} else if (below_manager && (ends(step, ".service") || ends(step, ".scope"))) {
			set_name(&o, ORIGIN_USER_UNIT, step);
		} else if (starts(step, "session-") && ends(step, ".scope")) {
			set_name(&o, ORIGIN_LOGIN, step);
		} else if (starts(step, "cron.service") || starts(step, "crond.service") ||
			   starts(step, "atd.service")) {
			set_name(&o, ORIGIN_CRON, step);
		} else if (ends(step, ".service") && o.kind != ORIGIN_LOGIN) {
			set_name(&o, ORIGIN_SERVICE, step);
		} else if (starts(step, "init.scope") && !parent.len) {
			set_name(&o, ORIGIN_INIT, step);
		}
		parent = step;
	}
	return o;
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
	return host_login(&t->host, id);
}

enum login_state origin_login_state(const struct table *t, const struct process *p)
{
	bool scope = p->origin == ORIGIN_LOGIN;
	bool audited = p->detail && p->detail->audit_session >= 0;
	const struct login *l;

	if (!scope && !audited)
		return LOGIN_NONE;
	if (!t->host.logins_known)
		return LOGIN_STATE_UNKNOWN;
	l = origin_login(t, p);
	if (!l || strcmp(l->state, "closing") == 0)
		return LOGIN_CLOSED;
	return LOGIN_OPEN;
}

bool origin_is_user_manager(const struct table *t, const struct process *p)
{
	const struct process *parent;

	if (p->origin != ORIGIN_USER_MANAGER)
		return false;
	/* (sd-pam), its helper, sits in the same cgroup. */
	parent = table_pid(t, p->ppid);
	return !parent || parent->origin != ORIGIN_USER_MANAGER;
}

static int set_origin(struct process *p, enum origin_kind kind, const char *name)
{
	p->origin = (uint8_t)kind;
	return bytes_set(&p->origin_name, name, strlen(name)) ? 0 : -ENOMEM;
}

int origin_judge_one(const struct host *host, struct process *p)
{
	const struct detail *d = p->detail;
	struct origin o = {.kind = ORIGIN_UNKNOWN};
	const struct login *l;

	if (process_is_kthread(p))
		return set_origin(p, ORIGIN_KERNEL, "kernel");
	if (d && d->cgroup.data)
		o = origin_of_cgroup(d->cgroup.data, d->cgroup.len);
	if (o.kind == ORIGIN_LOGIN) {
		l = host_login_scope(host, o.name, strlen(o.name));
		if (l && (strcmp(l->service, "cron") == 0 || strcmp(l->service, "crond") == 0 ||
			  strcmp(l->service, "atd") == 0))
			o.kind = ORIGIN_CRON;
	}
	if (o.kind == ORIGIN_UNKNOWN && p->id.pid == 1)
		return set_origin(p, ORIGIN_INIT, "init");
	if (o.kind == ORIGIN_UNKNOWN && d && d->audit_session >= 0) {
		o.kind = ORIGIN_LOGIN;
		snprintf(o.name, sizeof(o.name), "audit session %" PRId64, d->audit_session);
	}
	return set_origin(p, o.kind, o.name);
}

int origin_judge(struct table *t)
{
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];
		int r = p->origin_name.data ? 0 : origin_judge_one(&t->host, p);

		if (r < 0)
			return r;
	}
	return 0;
}
