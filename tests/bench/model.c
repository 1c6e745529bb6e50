/* What folding, judging and showing tables of many processes costs, in CPU time. */
#include "model/tracker.h"
#include "model/tree.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct shape {
	const char *name, *cgroup, *mark;
	pid_t (*parent)(pid_t pid, pid_t n);
};

/* Three hundred services, each with its workers. */
static pid_t service_parent(pid_t pid, pid_t n)
{
	(void)n;
	return pid == 1 ? 0 : pid < 300 ? 1 : 2 + pid % 298;
}

static pid_t chain_parent(pid_t pid, pid_t n)
{
	(void)n;
	return pid - 1;
}

/* Numbers have come round: children have lower ones than their parents. */
static pid_t backward_parent(pid_t pid, pid_t n)
{
	return pid == n ? 0 : pid + 1;
}

static pid_t wide_parent(pid_t pid, pid_t n)
{
	(void)n;
	return pid > 1;
}

#define APP "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-agent-1.scope"

static const struct shape shapes[] = {
	{"services", "/system.slice/some-service-of-a-host.service", NULL, service_parent},
	{"chain", APP, "AI_AGENT", chain_parent},
	{"backward chain", APP, "AI_AGENT", backward_parent},
	{"wide", APP, "AI_AGENT", wide_parent},
};

static bool set(struct bytes *b, const char *text)
{
	return bytes_set(b, text, strlen(text));
}

static bool set_detail(struct process *p, const struct shape *s)
{
	struct detail *d = p->detail = detail_new();

	if (!d || !set(&d->comm, "worker") || !set(&d->cgroup, s->cgroup) ||
	    !set(&d->exe, "/usr/bin/worker") || !set(&d->cwd, "/srv/app"))
		return false;
	d->have = DETAIL_BASIC;
	d->uid = d->euid = 1000;
	d->audit_session = s->mark ? 5 : -1;
	d->sig_ignored = 1; /* HUP */
	if (!s->mark)
		return true;
	d->marks = calloc(1, sizeof(*d->marks));
	if (!d->marks)
		return false;
	d->n_marks = 1;
	d->marks[0] = (struct mark){strdup(s->mark), strdup("1")};
	return d->marks[0].name && d->marks[0].value;
}

/* A first scan with all details, or a later one without. */
static struct table *scan(const struct shape *s, pid_t n, unsigned number)
{
	struct table *t = table_new();

	if (!t)
		return NULL;
	t->host.boot_ns = 10000000000000 + number * 1000000000ull;
	t->host.ticks_per_second = 100;
	t->host.logins_known = true;
	t->host.self = (struct identity){n, (uint64_t)n};
	for (pid_t pid = 1; pid <= n; pid++) {
		struct process p = {.id = {pid, (uint64_t)pid}, .state = 'S', .threads = 1};

		p.ppid = s->parent(pid, n);
		if (p.ppid > pid)
			p.id.start = (uint64_t)(n - pid);
		p.pgid = p.sid = p.ppid > 1 ? p.ppid : pid;
		if ((!number && !set_detail(&p, s)) || !table_add(t, &p)) {
			process_clear(&p);
			table_free(t);
			return NULL;
		}
	}
	return t;
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool fold(struct tracker *k, struct table *t, double *ms)
{
	double from = cpu_ms();

	if (!t || tracker_fold(k, t, NULL) < 0)
		return false;
	*ms = cpu_ms() - from;
	return true;
}

static bool measure(const struct shape *s, pid_t n)
{
	struct selector target = {.kind = SELECT_CGROUP, .name = (char[]){"/"}};
	struct tree_options options = {0};
	struct tracker k;
	struct tree tree = {0};
	struct run run = {0};
	double first, again, with_run = 0, rows;
	bool ok;

	tracker_init(&k);
	ok = fold(&k, scan(s, n, 0), &first) && fold(&k, scan(s, n, 1), &again) &&
	     run_choose(&run, &target, k.now, NULL) == 0 && tracker_set_run(&k, &run, NULL) == 0 &&
	     fold(&k, scan(s, n, 2), &with_run);
	rows = cpu_ms();
	ok = ok && tree_build(k.now, &options, &tree, NULL) == 0;
	rows = cpu_ms() - rows;
	if (ok)
		printf("%6d %-15s first %6.1f ms, again %6.1f, with a run %6.1f, rows %6.1f; "
		       "%zu suspects\n",
		       n, s->name, first, again, with_run, rows, k.suspects);
	tree_free(&tree);
	run_clear(&run);
	tracker_free(&k);
	return ok;
}

int main(void)
{
	for (pid_t n = 3000; n <= 30000; n *= 10)
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
			if (!measure(&shapes[i], n)) {
				fprintf(stderr, "bench_model: out of memory\n");
				return 1;
			}
	return 0;
}
