#include "model/table.h"

#include "base/clock.h"

#include <stdio.h>

const char *source_kind_name(int kind)
{
	static const char *const names[SOURCE_COUNT] = {"proc", "replay", "netlink", "bpf"};

	return kind >= 0 && kind < SOURCE_COUNT ? names[kind] : "?";
}

bool host_started_wall_ns(const struct host *h, uint64_t start_ticks, uint64_t *wall_ns)
{
	uint64_t ticks = h->ticks_per_second > 0 ? (uint64_t)h->ticks_per_second : 0;
	uint64_t boot_wall_ns = h->wall_ns - h->boot_ns;

	if (!ticks || h->wall_ns < h->boot_ns ||
	    start_ticks / ticks >= (UINT64_MAX - boot_wall_ns) / CLOCK_NS_PER_S)
		return false;
	*wall_ns = boot_wall_ns + start_ticks / ticks * CLOCK_NS_PER_S +
		   start_ticks % ticks * CLOCK_NS_PER_S / ticks;
	return true;
}

uint64_t host_now_ticks(const struct host *h)
{
	uint64_t ticks = h->ticks_per_second > 0 ? (uint64_t)h->ticks_per_second : 0;

	return h->boot_ns / CLOCK_NS_PER_S * ticks +
	       h->boot_ns % CLOCK_NS_PER_S * ticks / CLOCK_NS_PER_S;
}

struct table *table_new(void)
{
	return calloc(1, sizeof(struct table));
}

static void drop_contents(struct table *t)
{
	for (size_t i = 0; i < t->procs.n; i++)
		process_clear(&t->procs.v[i]);
	free(t->host.logins.v);
}

void table_clear(struct table *t)
{
	struct table empty = {.procs = {.v = t->procs.v, .cap = t->procs.cap}};

	drop_contents(t);
	*t = empty;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	drop_contents(t);
	free(t->procs.v);
	free(t);
}

struct table *table_clone(const struct table *t)
{
	struct table *c = table_new();

	if (!c)
		return NULL;
	c->host = t->host;
	c->coverage = t->coverage;
	c->ends_of = t->ends_of;
	memset(&c->host.logins, 0, sizeof(c->host.logins));
	for (size_t i = 0; i < t->host.logins.n; i++)
		if (!VEC_PUSH(&c->host.logins, t->host.logins.v[i]))
			goto fail;
	if (!VEC_RESERVE(&c->procs, t->procs.n))
		goto fail;
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process p;

		if (!process_copy(&p, &t->procs.v[i]))
			goto fail;
		if (!table_add(c, &p)) {
			process_clear(&p);
			goto fail;
		}
	}
	return c;
fail:
	table_free(c);
	return NULL;
}

bool table_add(struct table *t, struct process *p)
{
	if (!VEC_PUSH(&t->procs, *p))
		return false;
	memset(p, 0, sizeof(*p));
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->id.pid > y->id.pid) - (x->id.pid < y->id.pid);
}

void table_sort(struct table *t)
{
	size_t kept = 0;

	for (size_t i = 1; i < t->procs.n; i++)
		if (by_pid(&t->procs.v[i - 1], &t->procs.v[i]) >= 0) {
			qsort(t->procs.v, t->procs.n, sizeof(*t->procs.v), by_pid);
			break;
		}
	/* One PID twice in one pass (it ended, the number came again): the later start is alive. */
	for (size_t i = 0; i < t->procs.n; i++) {
		struct process *p = &t->procs.v[i];

		if (kept && t->procs.v[kept - 1].id.pid == p->id.pid) {
			struct process *last = &t->procs.v[kept - 1];

			if (p->id.start > last->id.start) {
				process_clear(last);
				*last = *p;
			} else {
				process_clear(p);
			}
			continue;
		}
		t->procs.v[kept++] = *p;
	}
	t->procs.n = kept;
}

struct process *table_pid(const struct table *t, pid_t pid)
{
	size_t lo = 0, hi = t->procs.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->procs.v[mid].id.pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->procs.n && t->procs.v[lo].id.pid == pid ? &t->procs.v[lo] : NULL;
}

struct process *table_find(const struct table *t, struct identity id)
{
	struct process *p = table_pid(t, id.pid);

	return p && p->id.start == id.start ? p : NULL;
}

const struct login *host_login(const struct host *h, const char *id)
{
	for (size_t i = 0; i < h->logins.n; i++)
		if (strcmp(h->logins.v[i].id, id) == 0)
			return &h->logins.v[i];
	return NULL;
}

const struct login *host_login_scope(const struct host *h, const char *scope, size_t len)
{
	for (size_t i = 0; i < h->logins.n; i++) {
		const char *s = h->logins.v[i].scope;

		if (strlen(s) == len && memcmp(s, scope, len) == 0)
			return &h->logins.v[i];
	}
	return NULL;
}

void table_count_coverage(struct table *t)
{
	memset(t->coverage.unreadable, 0, sizeof(t->coverage.unreadable));
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct detail *d = t->procs.v[i].detail;

		for (unsigned b = 0; d && b < DETAIL_COUNT; b++)
			if (d->unread[b])
				t->coverage.unreadable[b]++;
	}
}

bool tty_name(uint32_t nr, char out[static 32])
{
	unsigned major = nr >> 8 & 0xfff;
	unsigned minor = (nr & 0xff) | (nr >> 12 & 0xfff00);

	if (major >= 136 && major <= 143)
		snprintf(out, 32, "pts/%u", (major - 136) * 256 + minor);
	else if (major == 4 && minor < 64)
		snprintf(out, 32, "tty%u", minor);
	else if (major == 4)
		snprintf(out, 32, "ttyS%u", minor - 64);
	else if (major == 5 && minor == 1)
		snprintf(out, 32, "console");
	else if (major == 229)
		snprintf(out, 32, "hvc%u", minor);
	else if (major == 204 && minor >= 64)
		snprintf(out, 32, "ttyAMA%u", minor - 64);
	else if (nr)
		snprintf(out, 32, "%u:%u", major, minor);
	else
		return false;
	return true;
}

/* Whether name is what tty_name() writes for that number. */
static bool is_tty(const char *name, unsigned major, unsigned minor, uint32_t *tty_nr)
{
	char again[32];

	*tty_nr = (minor & 0xff) | (major & 0xfff) << 8 | (minor & 0xfff00) << 12;
	return tty_name(*tty_nr, again) && strcmp(again, name) == 0;
}

bool tty_number(const char *name, uint32_t *tty_nr)
{
	unsigned major, minor;

	if (sscanf(name, "pts/%7u", &minor) == 1)
		return is_tty(name, 136, minor, tty_nr);
	if (sscanf(name, "ttyAMA%7u", &minor) == 1)
		return is_tty(name, 204, minor + 64, tty_nr);
	if (sscanf(name, "ttyS%7u", &minor) == 1)
		return is_tty(name, 4, minor + 64, tty_nr);
	if (sscanf(name, "tty%7u", &minor) == 1)
		return is_tty(name, 4, minor, tty_nr);
	if (sscanf(name, "hvc%7u", &minor) == 1)
		return is_tty(name, 229, minor, tty_nr);
	if (sscanf(name, "%7u:%7u", &major, &minor) == 2)
		return is_tty(name, major, minor, tty_nr);
	return is_tty(name, 5, 1, tty_nr); /* "console" */
}
