#include "tui/facts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/origin.h"
#include "model/pipes.h"
#include "model/suspect.h"

void facts_command(struct line *l, const struct process *p, int cells)
{
	struct bytes command = {0};

	if (process_command(p, &command) < 0)
		return;
	/* no more is made safe than fits: an argument may be megabytes long */
	if (cells > 0 && command.len > (size_t)cells * 4 + 4)
		command.len = (size_t)cells * 4 + 4;
	line_bytes(l, &command, cells);
	bytes_free(&command);
}

void facts_name(struct line *l, const struct process *p)
{
	static const struct bytes unknown = {0};

	line_bytes(l, p->detail ? &p->detail->comm : &unknown, 24);
}

void facts_user(struct line *l, const struct process *p)
{
	if (p->detail && p->detail->user.data)
		line_bytes(l, &p->detail->user, 32);
	else
		line_add(l, "%u", p->owner);
}

uint64_t facts_wall_ns(const struct host *h, uint64_t ticks)
{
	uint64_t hz = h->ticks_per_second > 0 ? (uint64_t)h->ticks_per_second : 100;

	return h->wall_ns - h->boot_ns + ticks / hz * CLOCK_NS_PER_S +
	       ticks % hz * (CLOCK_NS_PER_S / hz);
}

uint64_t facts_age(const struct host *h, const struct process *p)
{
	uint64_t at = facts_wall_ns(h, p->id.start);

	return h->wall_ns > at ? (h->wall_ns - at) / CLOCK_NS_PER_S : 0;
}

void facts_when(const struct host *h, uint64_t wall_ns, char out[static 9])
{
	uint64_t day = 86400 * CLOCK_NS_PER_S;
	time_t s = (time_t)(wall_ns / CLOCK_NS_PER_S);
	struct tm tm;

	if (h->wall_ns / day == wall_ns / day) {
		clock_hms(wall_ns, out);
		return;
	}
	gmtime_r(&s, &tm);
	strftime(out, 9, h->wall_ns - wall_ns < 300 * day ? "%b %d" : "%Y", &tm);
}

void facts_size(uint64_t kb, char out[static 8])
{
	if (kb < 1024)
		snprintf(out, 8, "%" PRIu64 "K", kb);
	else if (kb < 1024 * 1024)
		snprintf(out, 8, "%" PRIu64 "M", kb / 1024);
	else if (kb < 10ULL * 1024 * 1024)
		snprintf(out, 8, "%.1fG", (double)kb / 1024 / 1024);
	else
		snprintf(out, 8, "%" PRIu64 "G", kb / 1024 / 1024 % 100000);
}

void facts_tty(struct line *l, const struct process *p)
{
	char name[32];

	if (!p->tty_nr) {
		line_add(l, p->tty_closed ? "tty closed" : "no tty");
		return;
	}
	if (!tty_name(p->tty_nr, name))
		snprintf(name, sizeof(name), "tty %u:%u", p->tty_nr >> 8 & 0xfff, p->tty_nr & 0xff);
	line_add(l, "%s%s", name, p->tty_closed ? " closed" : "");
}

void facts_reasons(struct line *l, const struct process *p, unsigned but)
{
	const char *mark = suspect_mark(p);
	struct line inner;

	line_start(&inner, l->ascii);
	for (unsigned i = 0; i < SUSPECT_COUNT; i++) {
		unsigned bit = 1u << i;

		if (!(p->suspect & bit & ~but) || (bit == SUSPECT_CHILD && inner.len))
			continue;
		line_comma(&inner);
		if (bit == SUSPECT_MARK && mark) {
			struct bytes name = {(char *)mark, strlen(mark)};

			line_add(&inner, "mark ");
			line_bytes(&inner, &name, 32);
		} else {
			line_add(&inner, "%s", suspect_reason(bit));
		}
	}
	line_add(l, "%s", inner.text);
}

bool facts_related(const struct process *p, const struct process *q)
{
	const struct detail *d = p->detail, *e = q->detail;

	if (p->sid == q->sid)
		return true;
	if (d && e && d->audit_session >= 0 && d->audit_session == e->audit_session)
		return true;
	return p->origin == ORIGIN_LOGIN && p->origin_name.len &&
	       bytes_same(&p->origin_name, &q->origin_name);
}

void facts_resists(struct line *l, const struct process *p)
{
	if (p->detail && sigmask_has(p->detail->sig_ignored, SIGTERM))
		line_add(l, "ignores TERM");
	if (p->state == 'T')
		line_add(l, "%sstopped", l->len ? ", " : "");
	else if (p->state == 't')
		line_add(l, "%straced", l->len ? ", " : "");
	else if (p->state == 'D')
		line_add(l, "%suninterruptible", l->len ? ", " : "");
}

void facts_origin(struct line *l, const struct table *t, const struct process *p)
{
	static const char *const logins[] = {
		[LOGIN_NONE] = "",
		[LOGIN_OPEN] = "login open",
		[LOGIN_CLOSED] = "login closed",
		[LOGIN_STATE_UNKNOWN] = "",
	};
	const char *login = logins[origin_login_state(t, p)];
	struct bytes name;

	bool scope = !p->origin_name.len && origin_scope(p, &name);

	if (p->origin_name.len || scope)
		line_bytes(l, scope ? &name : &p->origin_name, 40);
	if (*login)
		line_add(l, "%s%s", p->origin_name.len || scope ? ", " : "", login);
}

static void unreadable(const struct table *t, void (*fn)(void *, const char *), void *ctx)
{
	struct line l;

	line_start(&l, false);
	for (unsigned i = 0; i < DETAIL_COUNT; i++) {
		if (!t->coverage.unreadable[i])
			continue;
		line_comma(&l);
		line_add(&l, "%s of %u", detail_name(1u << i), t->coverage.unreadable[i]);
	}
	if (!l.len)
		return;
	line_add(&l, ", not readable%s", t->host.uid ? " (other users')" : "");
	fn(ctx, l.text);
}

void facts_not_known(const struct table *t, const struct run *run,
		     void (*fn)(void *ctx, const char *safe), void *ctx)
{
	const struct coverage *c = &t->coverage;
	char text[160], when[9];

	if (run && pipes_unknown(run, text, sizeof(text)))
		fn(ctx, text);
	if (c->hidepid) {
		snprintf(text, sizeof(text),
			 "other users' processes, which /proc hides (hidepid): %zu visible",
			 t->procs.n);
		fn(ctx, text);
	}
	if (c->partial)
		fn(ctx, "the rest of the host: only a target's processes are here");
	if (!(c->sources & 1u << SOURCE_REPLAY)) {
		clock_hms(c->first_scan_wall_ns, when);
		snprintf(text, sizeof(text),
			 "anything that ended before %s (no recorder on this host)", when);
		fn(ctx, text);
	}
	if (c->events_lost) {
		snprintf(text, sizeof(text), "%" PRIu64 " events that were lost", c->events_lost);
		fn(ctx, text);
	}
	unreadable(t, fn, ctx);
	if (c->skipped) {
		snprintf(text, sizeof(text), "%u readings that hung and were given up", c->skipped);
		fn(ctx, text);
	}
	if (!t->host.pid_ns_initial && t->host.pid_ns)
		fn(ctx, "what runs outside this PID namespace");
}

bool facts_seen(const struct table *t, struct line *l)
{
	const struct coverage *c = &t->coverage;
	bool heard = c->sources & 1u << SOURCE_NETLINK;
	char when[9];

	clock_hms(heard ? c->events_wall_ns : c->first_scan_wall_ns, when);
	line_add(l, "%s since %s", heard ? source_kind_name(SOURCE_NETLINK) : "scans", when);
	if (heard && c->events_lost)
		line_add(l, ", %" PRIu64 " events lost", c->events_lost);
	else if (heard)
		line_add(l, ", nothing lost");
	return heard;
}

const char *facts_signal(int sig, char out[static 8])
{
	const char *name = sigabbrev_np(sig);

	snprintf(out, 8, "%s", name ? name : "");
	if (!name)
		snprintf(out, 8, "%d", sig);
	return out;
}
