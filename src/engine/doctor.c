#include "engine/doctor.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "contain/cgroup.h"
#include "contain/deny.h"
#include "contain/fixture.h"
#include "contain/signal.h"
#include "contain/spawn.h"
#include "contain/stop.h"
#include "contain/unit.h"
#include "engine/recorded.h"
#include "reach/sock.h"
#include "record/anchor.h"
#include "source/hostinfo.h"
#include "source/netlink.h"
#include "source/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FIXTURE_S 20           /* how long one lives at most */
#define TRIAL_NS 2000000000ull /* how long one trial may take */

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {"yes", "partly", "no"};

	return names[v];
}

static struct finding *add(struct doctor *d, const char *name, const char *means)
{
	struct finding *f = &d->v[d->n < DOCTOR_MAX ? d->n++ : DOCTOR_MAX - 1];

	*f = (struct finding){.name = name, .means = means};
	return f;
}

static void found(struct finding *f, enum verdict v, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void found(struct finding *f, enum verdict v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, ap);
	va_end(ap);
	f->verdict = v;
}

static void remedy(struct finding *f, const char *text)
{
	snprintf(f->remedy, sizeof(f->remedy), "%s", text);
}

/* A fixture that is no longer wanted, by its identity. */
static void end_fixture(struct identity id)
{
	struct target_set one = {0};

	if (target_add(&one, id, NULL, NULL) == 0) {
		signal_each(&one, SIGKILL);
		target_set_wait(&one, clock_boot_ns() + TRIAL_NS, NULL);
	}
	target_set_clear(&one);
	waitpid(id.pid, NULL, WNOHANG);
}

/* --- what it sees --- */

static void try_proc(struct doctor *d)
{
	struct finding *f = add(d, "proc", "other processes are seen");
	struct source_options o = {0};
	struct source *s = NULL;
	struct table *t = NULL;
	struct err why = {0};
	int r = source_open(&o, &s, &why);

	if (!r)
		r = source_scan(s, &t, &why);
	if (r) {
		found(f, VERDICT_NO, "%s", why.text);
	} else if (t->coverage.hidepid) {
		found(f, VERDICT_PARTLY,
		      "%zu processes; /proc hides those of other users (hidepid): whose children "
		      "are orphans is not known",
		      t->procs.n);
		remedy(f, "run it as root, or in the group that gid= of the mount names");
	} else {
		found(f, VERDICT_YES, "%zu processes", t->procs.n);
	}
	table_free(t);
	source_close(s);
}

static void try_namespace(struct doctor *d)
{
	struct finding *f = add(d, "namespace", "the whole host is in view");
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct coverage coverage;
	struct host host;
	char taint[32] = "";

	if (proc < 0) {
		found(f, VERDICT_NO, "/proc cannot be read");
		return;
	}
	hostinfo_read(proc, &host, &coverage);
	file_read_at(proc, "sys/kernel/tainted", taint, sizeof(taint));
	if (host.pid_ns_initial)
		found(f, VERDICT_YES, "the initial PID namespace, kernel %s%s", host.kernel,
		      atoi(taint) ? ", which is tainted" : "");
	else
		found(f, VERDICT_PARTLY,
		      "a PID namespace of its own: what is outside of it is not in view, kernel %s",
		      host.kernel);
}

/* The environment of a process of ours. */
static void try_environ(struct doctor *d)
{
	struct finding *f = add(d, "environ", "members are found by their mark");
	struct fixture_options o = {.seconds = FIXTURE_S, .cgroup = -1};
	struct source_options so = {0};
	struct source *s = NULL;
	struct detail *detail = NULL;
	struct identity id;
	struct err why = {0};
	int r = fixture_make(FIXTURE_SESSION, &o, &id, &why);

	if (!r) {
		r = source_open(&so, &s, &why);
		if (!r)
			r = source_detail(s, id, DETAIL_ENVIRON, &detail, &why);
		end_fixture(id);
	}
	if (r < 0 || !detail_knows(detail, DETAIL_ENVIRON))
		found(f, VERDICT_NO, "not even of a process of its own: %s",
		      r < 0 ? why.text : "not readable");
	else if (geteuid() == 0)
		found(f, VERDICT_YES, "of every process that is not protected");
	else
		found(f, VERDICT_PARTLY,
		      "of this user's processes, but of those that protect it "
		      "(ssh-agent)");
	detail_unref(detail);
	source_close(s);
}

struct heard {
	pid_t pid;
	unsigned forks, exits;
};

static void hear(void *ctx, const struct event *e)
{
	struct heard *h = ctx;

	h->forks += e->kind == EVENT_FORK && e->child == h->pid;
	h->exits += e->kind == EVENT_EXIT && e->pid == h->pid;
}

static void try_events(struct doctor *d)
{
	struct finding *f = add(d, "events", "forks, execs and exits are seen as they happen");
	struct fixture_options o = {.seconds = FIXTURE_S, .cgroup = -1};
	struct netlink *n = NULL;
	struct heard h = {0};
	struct identity id;
	struct err why = {0};
	uint64_t until;

	if (netlink_open(&n, &why) < 0 || fixture_make(FIXTURE_SESSION, &o, &id, &why) < 0) {
		found(f, VERDICT_NO, "%s: looked for ten times a second instead", why.text);
		netlink_close(n);
		return;
	}
	h.pid = id.pid;
	end_fixture(id);
	until = clock_boot_ns() + TRIAL_NS;
	while ((!h.forks || !h.exits) && clock_boot_ns() < until) {
		struct pollfd p = {.fd = netlink_fd(n), .events = POLLIN};

		poll(&p, 1, 100);
		netlink_drain(n, NETLINK_DRAIN_ALL, hear, &h, NULL);
	}
	if (h.forks && h.exits)
		found(f, VERDICT_YES, "the process connector told of a fixture's fork and exit");
	else
		found(f, VERDICT_NO,
		      "the process connector is there and told of %u forks, %u exits", h.forks,
		      h.exits);
	netlink_close(n);
}

static void try_bpf(struct doctor *d)
{
	struct finding *f = add(d, "bpf", "the arguments of the shortest-lived are seen");

	found(f, VERDICT_NO, "not in this version: what ends before it is read has no arguments");
}

/* A connection on loopback, of this process: whether it is found. */
static void try_connections(struct doctor *d)
{
	struct finding *f = add(d, "connections", "the remote end of a connection is told");
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	AUTO_FD server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_FD client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sock_table t = {0};
	struct err why = {0};
	struct stat st;

	if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(server, 1) < 0 || getsockname(server, (struct sockaddr *)&at, &size) < 0 ||
	    connect(client, (struct sockaddr *)&at, sizeof(at)) < 0 || fstat(client, &st) < 0) {
		found(f, VERDICT_NO, "no connection on loopback could be made: %s",
		      strerror(errno));
		return;
	}
	if (sock_table_read(&t, &why) < 0)
		found(f, VERDICT_NO, "%s", why.text);
	else if (sock_find(&t, st.st_ino))
		found(f, VERDICT_YES,
		      "a connection of its own was found; those of other network "
		      "namespaces are not");
	else
		found(f, VERDICT_NO, "a connection of its own was not found");
	sock_table_clear(&t);
}

/* --- what it holds --- */

/* All shapes in a unit. */
static int fill_unit(const struct unit *u, struct identity ids[FIXTURE_SHAPES], struct err *err)
{
	struct fixture_options o = {.seconds = FIXTURE_S, .cgroup = u->dir};

	for (int s = 0; s < FIXTURE_SHAPES; s++) {
		int r = fixture_make((enum fixture_shape)s, &o, &ids[s], err);

		if (r < 0)
			return r;
	}
	return 0;
}

static size_t alive_of(const struct identity *ids, size_t n)
{
	size_t alive = 0;

	for (size_t i = 0; i < n; i++)
		alive += identity_known(ids[i]) && !proc_has_ended(ids[i].pid, ids[i].start);
	return alive;
}

static int unit_targets(void *ctx, struct identity_list *out, struct err *err)
{
	return unit_members(ctx, out, err);
}

/* Ends all in it the way a run would; how long that took, or -errno. */
static int64_t empty_unit(struct unit *u, const struct identity *ids, struct err *err)
{
	uint64_t began = clock_boot_ns();
	struct act_hooks hooks = {.ctx = u, .members = unit_targets};
	struct target_set set = {0};
	int r = 0;

	if (u->kind == UNIT_CGROUP)
		r = unit_kill(u, err);
	else
		r = stop_then_kill(&set, &hooks, began + TRIAL_NS, NULL, err);
	target_set_clear(&set);
	while (!r && alive_of(ids, FIXTURE_SHAPES) && clock_boot_ns() < began + TRIAL_NS)
		poll(NULL, 0, 1);
	for (int s = 0; s < FIXTURE_SHAPES; s++)
		waitpid(ids[s].pid, NULL, WNOHANG);
	return r < 0 ? r : (int64_t)(clock_boot_ns() - began);
}

static void try_unit(struct finding *f, struct unit *u)
{
	struct identity ids[FIXTURE_SHAPES] = {0};
	struct err why = {0};
	int64_t took = unit_reap_here(u, &why);
	size_t left;

	if (took >= 0)
		took = fill_unit(u, ids, &why);
	if (took >= 0)
		took = empty_unit(u, ids, &why);
	left = alive_of(ids, FIXTURE_SHAPES);
	if (took < 0)
		found(f, VERDICT_NO, "%s", why.text);
	else if (left)
		found(f, VERDICT_NO, "%zu of %d fixtures were not ended", left, FIXTURE_SHAPES);
	else
		found(f, VERDICT_YES,
		      "a daemon, a setsid and three more, two of which ignore TERM, were ended in "
		      "%.1f ms",
		      (double)took / 1e6);
	for (int s = 0; left && s < FIXTURE_SHAPES; s++)
		end_fixture(ids[s]);
	unit_remove(u);
	unit_close(u);
}

static void try_cgroup(struct doctor *d)
{
	struct finding *f = add(d, "cgroup", "a run is held by the kernel, and killed in one act");
	struct proc_stat st;
	struct unit u;

	if (proc_stat_read(getpid(), &st) < 0)
		return;
	unit_make(&u, "doctor", (struct identity){st.pid, st.start});
	if (u.kind == UNIT_CGROUP) {
		try_unit(f, &u);
		return;
	}
	found(f, VERDICT_NO, "%s", u.why_not.text);
	remedy(f, "systemd-run --user --scope -p Delegate=yes stray run ... gives it a subtree");
	unit_close(&u);
}

static void try_subreaper(struct doctor *d)
{
	struct finding *f =
		add(d, "subreaper", "a run is held without a cgroup: orphans come back");
	struct unit u;

	unit_make(&u, NULL, (struct identity){0});
	try_unit(f, &u);
}

/* setsid and setpgid refused, and each try told. */
static void try_deny(struct doctor *d)
{
	struct finding *f = add(d, "detach", "--detach=deny refuses setsid and tells each try");
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 0", NULL};
	struct spawn_caller caller;
	struct deny deny;
	struct spawn_plan plan = {.caller = &caller,
				  .argv = argv,
				  .cgroup = -1,
				  .null_stdio = true,
				  .prepare = deny_install,
				  .ctx = &deny};
	struct spawned child;
	struct err why = {0};
	int r = deny_open(&deny, &why);

	spawn_note_caller(&caller);
	if (!r)
		r = spawn_held(&plan, &child, &why);
	if (!r) {
		r = deny_take(&deny, &why);
		spawn_cancel(&child);
	}
	if (r < 0)
		found(f, VERDICT_NO, "%s", why.text);
	else if (deny.listener < 0)
		found(f, VERDICT_PARTLY,
		      "refused, and the tries are not told: another filter "
		      "listens already");
	else
		found(f, VERDICT_YES, "%s",
		      geteuid() ? "with no_new_privs: sudo fails in such a run"
				: "a filter with a listener was made");
	deny_close(&deny);
}

static void try_group_signal(struct doctor *d)
{
	struct finding *f = add(d, "pidfd", "a signal reaches who was meant, never a later one");
	struct fixture_options o = {.seconds = FIXTURE_S, .cgroup = -1};
	struct target_set set = {0};
	struct identity id;
	struct err why = {0};
	int r = fixture_make(FIXTURE_GROUP, &o, &id, &why);

	if (!r)
		r = target_add(&set, id, NULL, &why);
	if (!r)
		r = signal_group(id.pid, &set, SIGTERM, &why);
	if (r < 0)
		found(f, VERDICT_NO, "%s", why.text);
	else if (target_set_wait(&set, clock_boot_ns() + TRIAL_NS, NULL) == 0)
		found(f, VERDICT_YES, "TERM to a fixture's group ended it");
	else
		found(f, VERDICT_NO, "TERM to a fixture's group did not end it");
	target_set_clear(&set);
	if (!r)
		end_fixture(id);
}

/* --- what it keeps --- */

static void try_state_dir(struct doctor *d, const char *option)
{
	struct finding *f = add(d, "state", "what is done is recorded");
	struct statedir *s = NULL;
	struct err why = {0};
	uint64_t began = clock_boot_ns();
	int r = recorded_state_dir(option, STATEDIR_WRITE, &s, &why);

	if (!r)
		r = statedir_probe_writable(s, &why);
	if (r < 0) {
		found(f, VERDICT_NO, "%s", why.text);
		remedy(f, "name another with --state-dir or STRAY_STATE_DIR");
	} else {
		found(f, VERDICT_YES, "%.140s: written and synced in %.1f ms", statedir_path(s),
		      (double)(clock_boot_ns() - began) / 1e6);
	}
	statedir_close(s);
}

static void try_syslog(struct doctor *d)
{
	struct finding *f = add(d, "syslog",
				"heads of journals are kept where their writer cannot "
				"change them");
	struct err why = {0};

	if (anchor_try(ANCHOR_SOCKET, &why) == 0) {
		found(f, VERDICT_YES, "a line was sent to " ANCHOR_SOCKET);
	} else {
		found(f, VERDICT_NO, "%s: who can write a journal could rewrite it", why.text);
		remedy(f, "a system log (journald, rsyslog) that forwards to another host");
	}
}

static void try_descriptors(struct doctor *d)
{
	struct finding *f = add(d, "descriptors", "each of many processes is held by a handle");
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	found(f, l.rlim_cur >= 1024 ? VERDICT_YES : VERDICT_PARTLY,
	      "%llu may be open, %llu where it asks", (unsigned long long)l.rlim_cur,
	      (unsigned long long)l.rlim_max);
}

void doctor_try(struct doctor *d, const char *state_dir)
{
	d->n = 0;
	try_namespace(d);
	try_proc(d);
	try_environ(d);
	try_events(d);
	try_bpf(d);
	try_connections(d);
	try_cgroup(d);
	try_subreaper(d);
	try_group_signal(d);
	try_deny(d);
	try_descriptors(d);
	try_state_dir(d, state_dir);
	try_syslog(d);
}
