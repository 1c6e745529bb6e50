#include "tests/unit/tables.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ANY_PROCESS_MAX 64

struct table *tables_new(void)
{
	struct table *t = table_new();

	assert_non_null(t);
	strcpy(t->host.hostname, "web-01");
	strcpy(t->host.boot_id, "5c0a3c8e-14c8-4a0c-9d0e-0d9f3f6c2b11");
	strcpy(t->host.kernel, "6.1.0-18-amd64");
	t->host.wall_ns = 1784902267000250000ULL;
	t->host.boot_ns = 90714004112345ULL;
	t->host.ticks_per_second = 100;
	t->host.pid_ns = 0xEFFFFFFC;
	t->host.pid_ns_initial = true;
	t->host.net_ns = 4026531840;
	t->host.self = (struct identity){90001, 9071300};
	t->host.systemd = true;
	t->coverage.sources = 1u << SOURCE_PROC;
	t->coverage.first_scan_wall_ns = t->host.wall_ns;
	return t;
}

void tables_set(struct bytes *b, const char *text)
{
	if (text)
		assert_true(bytes_set(b, text, strlen(text)));
	else
		bytes_free(b);
}

static void append(struct bytes *b, const char *data, size_t len)
{
	b->data = realloc(b->data, b->len + len + 1);
	assert_non_null(b->data);
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void tables_args(struct process *p, ...)
{
	struct bytes *args = &p->detail->cmdline;
	const char *arg;
	va_list ap;

	bytes_free(args);
	append(args, "", 0);
	va_start(ap, p);
	while ((arg = va_arg(ap, const char *)))
		append(args, arg, strlen(arg) + 1);
	va_end(ap);
	p->detail->cmdline_total = args->len;
}

struct process *tables_add(struct table *t, pid_t pid, uint64_t start, pid_t ppid)
{
	struct process p = {.id = {pid, start}, .ppid = ppid, .pgid = pid, .sid = pid};
	struct detail *d = detail_new();

	assert_non_null(d);
	p.tpgid = -1;
	p.state = 'S';
	p.threads = 1;
	p.cpu_ticks = 12;
	p.rss_kb = 2048;
	p.owner = 1000;
	p.detail = d;
	d->have = DETAIL_BASIC;
	tables_set(&d->comm, "sh");
	tables_args(&p, "sh", "-c", "sleep 100", NULL);
	tables_set(&d->cgroup, "/user.slice/user-1000.slice/session-12.scope");
	d->cgroup_v2 = true;
	tables_set(&d->exe, "/usr/bin/dash");
	d->exe_dev = 65025;
	d->exe_inode = 131;
	tables_set(&d->cwd, "/home/op");
	d->uid = d->euid = 1000;
	tables_set(&d->user, "op");
	d->tracer = 0;
	d->nspid[0] = pid;
	d->n_nspid = 1;
	d->audit_session = 12;
	d->login_uid = 1000;
	assert_true(table_add(t, &p));
	return &t->procs.v[t->procs.n - 1];
}

unsigned tables_random(unsigned *seed, unsigned below)
{
	*seed = *seed * 1664525u + 1013904223u; /* Numerical Recipes */
	return (*seed >> 8) % below;
}

static bool chance(unsigned *seed, unsigned percent)
{
	return tables_random(seed, 100) < percent;
}

/* Few different texts, so that processes come to be alike. */
static void any_text(struct bytes *b, unsigned *seed)
{
	static const char *const texts[] = {
		"/usr/bin/sleep",
		"/srv/app",
		"a\xff\xfe",
		"\xe2\x82\xac uro",
		"",
		"tab\there",
		"line\nend",
		"\"quote\\",
		"\x1b[31mred",
		"\xe2\x80\xae"
		"bidi",
	};

	if (chance(seed, 10))
		bytes_free(b);
	else
		tables_set(b, texts[tables_random(seed, sizeof(texts) / sizeof(texts[0]))]);
}

static void any_args(struct detail *d, unsigned *seed)
{
	unsigned n = tables_random(seed, 4);
	struct bytes arg = {0};

	bytes_free(&d->cmdline);
	d->cmdline_total = 0;
	if (chance(seed, 10))
		return;
	append(&d->cmdline, "", 0);
	for (unsigned i = 0; i < n; i++) {
		any_text(&arg, seed);
		if (arg.data)
			append(&d->cmdline, arg.data, arg.len + 1);
	}
	bytes_free(&arg);
	d->cmdline_total = d->cmdline.len;
}

static void any_marks(struct detail *d, unsigned *seed)
{
	if (!chance(seed, 30))
		return;
	d->marks = calloc(1, sizeof(*d->marks));
	assert_non_null(d->marks);
	d->marks[0].name = strdup("AI_AGENT");
	d->marks[0].value = strdup("");
	d->n_marks = 1;
	d->secret_names = calloc(1, sizeof(*d->secret_names));
	assert_non_null(d->secret_names);
	d->secret_names[0] = strdup("API_TOKEN");
	d->n_secret_names = 1;
}

static void any_unread(struct detail *d, unsigned *seed)
{
	static const unsigned char errnos[] = {EACCES, EPERM, ENOENT, EIO};
	static const unsigned bits[] = {3, 4, 5}; /* exe, cwd, environ */
	unsigned bit;

	if (!chance(seed, 20))
		return;
	bit = bits[tables_random(seed, 3)];
	d->have &= ~(1u << bit);
	d->unread[bit] = errnos[tables_random(seed, 4)];
	if (1u << bit == DETAIL_EXE) {
		bytes_free(&d->exe);
		d->exe_deleted = false;
		d->exe_dev = d->exe_inode = 0;
	} else if (1u << bit == DETAIL_CWD) {
		bytes_free(&d->cwd);
		d->cwd_deleted = false;
	}
}

static void any_detail(struct process *p, unsigned *seed)
{
	struct detail *d = p->detail;

	any_text(&d->comm, seed);
	any_args(d, seed);
	any_text(&d->exe, seed);
	any_text(&d->cwd, seed);
	any_text(&d->cgroup, seed);
	d->exe_deleted = d->exe.data && chance(seed, 20);
	d->cwd_deleted = d->cwd.data && chance(seed, 20);
	d->uid = chance(seed, 5) ? (uid_t)-1 : tables_random(seed, 3);
	any_unread(d, seed);
	if (d->have & DETAIL_ENVIRON)
		any_marks(d, seed);
}

static void any_stat(struct process *p, unsigned *seed, pid_t pids)
{
	static const char states[] = "RSDZTtI";

	p->ppid = (pid_t)tables_random(seed, (unsigned)pids);
	p->pgid = (pid_t)tables_random(seed, (unsigned)pids);
	p->sid = (pid_t)tables_random(seed, (unsigned)pids);
	p->tty_nr = chance(seed, 50) ? 0 : 34816 + tables_random(seed, 4);
	p->state = states[tables_random(seed, sizeof(states) - 1)];
	p->pf = chance(seed, 10) ? PROCESS_PF_KTHREAD : 0;
	p->cpu_ticks = tables_random(seed, 1000);
}

struct table *tables_make(unsigned *seed, size_t n)
{
	struct table *t = tables_new();
	pid_t pid = 0;

	for (size_t i = 0; i < n; i++) {
		struct process *p;

		pid += 1 + (pid_t)tables_random(seed, 3);
		p = tables_add(t, pid, 1000 + tables_random(seed, 1000), 1);
		any_stat(p, seed, (pid_t)n * 2);
		if (chance(seed, 10)) {
			detail_unref(p->detail);
			p->detail = NULL;
		} else {
			any_detail(p, seed);
		}
	}
	t->host.self = n ? t->procs.v[tables_random(seed, (unsigned)n)].id : t->host.self;
	table_count_coverage(t);
	return t;
}

/* A detail is shared and never changes: a change is a new one. */
static void renew_detail(struct process *p, unsigned *seed)
{
	struct detail *old = p->detail;

	p->detail = detail_new();
	assert_non_null(p->detail);
	p->detail->have = DETAIL_BASIC;
	any_detail(p, seed);
	detail_unref(old);
}

struct table *tables_later(const struct table *t, unsigned *seed)
{
	struct table *later = tables_new();
	pid_t last = 0;

	for (size_t i = 0; i < t->procs.n; i++) {
		struct process p;

		last = t->procs.v[i].id.pid;
		if (chance(seed, 15))
			continue;
		assert_true(process_copy(&p, &t->procs.v[i]));
		if (chance(seed, 15)) /* the number is another's now, doing the same work */
			p.id.start += 500;
		else if (chance(seed, 20))
			any_stat(&p, seed, last + 1);
		else if (chance(seed, 20) && p.detail)
			renew_detail(&p, seed);
		if (process_is_kthread(&t->procs.v[i]) || process_is_kthread(&p))
			p.pf = t->procs.v[i].pf;
		assert_true(table_add(later, &p));
	}
	for (unsigned n = tables_random(seed, 6); n; n--) {
		struct process *p;

		last += 1 + (pid_t)tables_random(seed, 3);
		p = tables_add(later, last, 3000 + tables_random(seed, 1000), 1);
		any_stat(p, seed, last + 1);
		any_detail(p, seed);
	}
	later->host.wall_ns += 5 * CLOCK_NS_PER_S;
	later->host.boot_ns += 5 * CLOCK_NS_PER_S;
	return later;
}
