/*
 * Random histories of a small host, told to the fold in every order in which they may come:
 * what it knows at the end is what is.
 */
#include "model/kin.h"
#include "model/process.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ULL
#define TICK (10 * MS)
#define HISTORIES 1500
#define STEPS 120
#define INIT 1
#define SHELL 7 /* a stranger */
#define REAPER 50
#define ROOT 100
#define PID_MIN 200
#define PIDS 14 /* few, so that they come again soon */
#define PROCS_MAX 400

static uint64_t seed;

/* xorshift64* */
static uint64_t draw(uint64_t below)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (seed * 2685821657736338717ULL >> 33) % below;
}

struct proc {
	struct identity id;
	pid_t ppid, pgid, sid, forker; /* forker 0: made as a sibling (CLONE_PARENT) */
	bool member, alive, zombie;
	uint64_t born_ns, died_ns;
};

struct world {
	uint64_t now;
	struct proc p[PROCS_MAX];
	size_t n;
	struct event e[PROCS_MAX * 4];
	size_t n_events;
};

/* All processes of one moment. */
struct sight {
	uint64_t at;
	struct kin_reading v[PIDS + 8];
	size_t n;
};

static struct proc *holder(struct world *w, pid_t pid)
{
	for (size_t i = w->n; i-- > 0;)
		if (w->p[i].id.pid == pid && (w->p[i].alive || w->p[i].zombie))
			return &w->p[i];
	return NULL;
}

static void pass(struct world *w)
{
	w->now += 1 + draw(15) * MS;
}

static struct event *happens(struct world *w, enum event_kind kind, pid_t pid)
{
	struct event *e = &w->e[w->n_events++];

	assert_true(w->n_events < sizeof(w->e) / sizeof(w->e[0]));
	*e = (struct event){.kind = kind, .boot_ns = w->now, .pid = pid};
	return e;
}

/* No number of a living process, group or session, and none that was another's this tick. */
static pid_t free_pid(struct world *w)
{
	for (int tries = 0; tries < 50; tries++) {
		pid_t pid = PID_MIN + (pid_t)draw(PIDS);
		bool used = false;

		for (size_t i = 0; i < w->n && !used; i++) {
			const struct proc *p = &w->p[i];

			used = p->id.pid == pid && w->now < p->died_ns + 2 * TICK;
			if (p->alive || p->zombie)
				used |= pid == p->id.pid || pid == p->pgid || pid == p->sid;
		}
		if (!used)
			return pid;
	}
	return 0;
}

static void add(struct world *w, struct proc p)
{
	assert_true(w->n < PROCS_MAX);
	p.alive = true;
	p.born_ns = w->now;
	p.id.start = w->now / TICK;
	w->p[w->n++] = p;
}

static void do_fork(struct world *w, struct proc *by)
{
	pid_t pid = free_pid(w);
	struct proc p = {.id.pid = pid,
			 .ppid = by->id.pid,
			 .forker = by->id.pid,
			 .pgid = by->pgid,
			 .sid = by->sid,
			 .member = by->member};

	if (!pid)
		return;
	if (by->id.pid == ROOT && draw(8) == 0) {
		p.ppid = by->ppid;
		p.forker = 0;
	}
	add(w, p);
	w->now += draw(2) * TICK; /* the event may be of the next tick */
	happens(w, EVENT_FORK, p.ppid)->child = pid;
}

static void do_setsid(struct world *w, struct proc *p)
{
	for (size_t i = 0; i < w->n; i++)
		if ((w->p[i].alive || w->p[i].zombie) && w->p[i].pgid == p->id.pid)
			return; /* EPERM */
	p->sid = p->pgid = p->id.pid;
	happens(w, EVENT_SID, p->id.pid);
}

static void do_setpgid(struct world *w, struct proc *p)
{
	const struct proc *into = &w->p[draw(w->n)];

	if (p->sid == p->id.pid)
		return;
	p->pgid = into->alive && into->sid == p->sid && draw(2) ? into->pgid : p->id.pid;
}

static void do_exit(struct world *w, struct proc *p)
{
	const struct proc *parent = holder(w, p->ppid);

	if (p->id.pid < ROOT)
		return;
	p->alive = false;
	p->zombie = parent && parent->alive && parent->id.pid >= ROOT && draw(2);
	p->died_ns = w->now;
	happens(w, EVENT_EXIT, p->id.pid)->status = (int)draw(3) << 8;
	for (size_t i = 0; i < w->n; i++) {
		struct proc *c = &w->p[i];

		if (c->ppid != p->id.pid || !(c->alive || c->zombie))
			continue;
		c->ppid = p->member ? REAPER : INIT;
		c->zombie = false;
	}
}

static void step(struct world *w)
{
	struct proc *p = &w->p[draw(w->n)];

	pass(w);
	if (p->zombie && draw(2)) {
		p->zombie = false;
		p->died_ns = w->now;
	}
	if (!p->alive || p->id.pid == INIT || p->id.pid == REAPER)
		return;
	switch (draw(8)) {
	case 0:
		do_setsid(w, p);
		break;
	case 1:
		do_setpgid(w, p);
		break;
	case 2:
		happens(w, EVENT_EXEC, p->id.pid);
		break;
	case 3:
	case 4:
		do_exit(w, p);
		break;
	default:
		do_fork(w, p);
	}
}

static void start(struct world *w)
{
	w->n = w->n_events = 0;
	w->now = 100 * TICK;
	add(w, (struct proc){.id.pid = INIT, .pgid = INIT, .sid = INIT});
	add(w, (struct proc){.id.pid = SHELL, .ppid = INIT, .pgid = SHELL, .sid = SHELL});
	add(w, (struct proc){.id.pid = REAPER, .ppid = SHELL, .pgid = SHELL, .sid = SHELL});
	add(w, (struct proc){.id.pid = ROOT,
			     .ppid = REAPER,
			     .forker = REAPER,
			     .pgid = ROOT,
			     .sid = ROOT,
			     .member = true});
	w->now += TICK;
}

static void look(const struct world *w, struct sight *s)
{
	s->n = 0;
	s->at = w->now;
	for (size_t i = 0; i < w->n; i++) {
		const struct proc *p = &w->p[i];

		if (!p->alive && !p->zombie)
			continue;
		assert_true(s->n < sizeof(s->v) / sizeof(s->v[0]));
		s->v[s->n++] = (struct kin_reading){
			.id = p->id,
			.ppid = p->ppid,
			.pgid = p->pgid,
			.sid = p->sid,
			.dead = p->zombie,
			.evidence = p->ppid == REAPER && p->id.pid != REAPER ? EVIDENCE_ADOPTED : 0,
		};
	}
}

/* --- what is told of it --- */

static struct kin *new_kin(const struct world *w)
{
	return kin_new(&(struct kin_options){.root = w->p[3].id,
					     .pgid = ROOT,
					     .sid = ROOT,
					     .owns_pgid = true,
					     .owns_sid = true,
					     .reaper = w->p[2].id});
}

static uint64_t start_then(const struct world *w, pid_t pid, uint64_t at)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct proc *p = &w->p[i];

		if (p->id.pid == pid && p->born_ns <= at && (!p->died_ns || at < p->died_ns))
			return p->id.start;
	}
	return 0;
}

/* With what netlink_complete() would read at that moment. */
static void fold(const struct world *w, struct kin *k, struct event e, uint64_t at)
{
	e.child_start = start_then(w, e.child, at);
	e.start_read = e.child_start && e.child_start <= e.boot_ns / TICK && draw(8);
	if (!e.start_read)
		e.child_start = e.boot_ns / TICK;
	e.pid_start = kin_unsure(k) ? start_then(w, e.pid, at) : 0;
	e.alive_start = e.kind == EVENT_EXIT ? start_then(w, e.pid, at) : 0;
	if (kin_wants(k, &e))
		assert_int_equal(kin_event(k, &e, NULL), 0);
}

static void fold_sight(struct kin *k, const struct sight *s)
{
	assert_int_equal(kin_scan(k, s->v, s->n, true, s->at, NULL), 0);
}

/* --- what must hold --- */

/* Each comes once and ends once at most, and only who came ends. */
static void expect_one_life_each(const struct kin *k, const struct world *w)
{
	struct identity came[PROCS_MAX], ended[PROCS_MAX];
	size_t n, n_came = 0, n_ended = 0;
	const struct kin_change *c = kin_changes(k, &n);

	came[n_came++] = w->p[3].id;
	for (size_t i = 0; i < n; i++) {
		/* a start time that follows from an event is not far off */
		if (c[i].kind == KIN_FORKED) {
			for (size_t j = 0; j < n_came; j++)
				assert_false(identity_same(came[j], c[i].id));
			came[n_came++] = c[i].id;
		}
		if (c[i].kind == KIN_EXITED) {
			for (size_t j = 0; j < n_ended; j++)
				assert_false(identity_same(ended[j], c[i].id));
			ended[n_ended++] = c[i].id;
		}
	}
	assert_true(n_ended <= n_came);
	assert_int_equal(n_came - n_ended, kin_counts(k).alive);
}

/* "100 7 100 100 -R" a line: living members in order of PID. */
static void add_line(char **at, pid_t pid, uint64_t start, pid_t ppid, pid_t pgid, pid_t sid,
		     const char *flags)
{
	*at += sprintf(*at, "%d@%" PRIu64 " %d %d %d%s\n", pid, start, ppid, pgid, sid, flags);
}

#define TEXT_MAX ((PIDS + 8) * 80)

static void what_is(const struct world *w, char out[static TEXT_MAX])
{
	*out = '\0';
	for (pid_t pid = ROOT; pid < PID_MIN + PIDS; pid++)
		for (size_t i = 0; i < w->n; i++) {
			const struct proc *p = &w->p[i];
			char flags[4] = "";

			if (!p->alive || !p->member || p->id.pid != pid)
				continue;
			if (p->sid != ROOT)
				strcat(flags, "S");
			else if (p->pgid != ROOT)
				strcat(flags, "G");
			if (p->forker ? p->ppid != p->forker : p->ppid != REAPER)
				strcat(flags, "R");
			add_line(&out, pid, p->id.start, p->ppid, p->pgid, p->sid, flags);
		}
}

static void what_is_known(const struct kin *k, char out[static TEXT_MAX])
{
	*out = '\0';
	for (pid_t pid = ROOT; pid < PID_MIN + PIDS; pid++) {
		const struct kin_member *m = kin_pid(k, pid);
		char flags[4] = "";

		if (!m)
			continue;
		if (m->detached)
			strcat(flags, "S");
		if (m->regrouped)
			strcat(flags, "G");
		if (m->reparented)
			strcat(flags, "R");
		assert_true(m->evidence);
		add_line(&out, pid, m->id.start, m->ppid, m->pgid, m->sid, flags);
	}
}

/* Whether its parent made it is not known of who was found: the kernel tells only then. */
static void forget_reparented(char *text)
{
	for (char *at; (at = strchr(text, 'R'));)
		memmove(at, at + 1, strlen(at));
}

static void expect_truth(struct kin *k, const struct world *w, const char *what, uint64_t which)
{
	char is[TEXT_MAX], known[TEXT_MAX];

	what_is(w, is);
	what_is_known(k, known);
	if (kin_counts(k).lost) {
		forget_reparented(is);
		forget_reparented(known);
	}
	if (strcmp(is, known) != 0)
		fail_msg("history %" PRIu64 ", %s: known is\n%sand not\n%s", which, what, known,
			 is);
	expect_one_life_each(k, w);
	kin_free(k);
}

struct history {
	struct world w;
	struct sight middle, end;
	size_t events_before_middle;
};

static void make(struct history *h, uint64_t which)
{
	size_t middle = 10 + which % (STEPS - 20);

	seed = which * 0x9e3779b97f4a7c15ULL + 1;
	start(&h->w);
	for (size_t i = 0; i < STEPS; i++) {
		if (i == middle) {
			look(&h->w, &h->middle);
			h->events_before_middle = h->w.n_events;
			pass(&h->w);
		}
		step(&h->w);
	}
	pass(&h->w);
	look(&h->w, &h->end);
}

static void each_history(void (*f)(struct history *h, uint64_t which))
{
	struct history *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	for (uint64_t which = 1; which <= HISTORIES; which++) {
		make(h, which);
		f(h, which);
	}
	free(h);
}

static void events_first(struct history *h, uint64_t which)
{
	struct kin *k = new_kin(&h->w);

	for (size_t i = 0; i < h->w.n_events; i++)
		fold(&h->w, k, h->w.e[i], h->w.e[i].boot_ns);
	fold_sight(k, &h->end);
	expect_truth(k, &h->w, "events, read at once, then a scan", which);

	k = new_kin(&h->w);
	for (size_t i = 0; i < h->w.n_events; i++)
		fold(&h->w, k, h->w.e[i], h->w.now);
	fold_sight(k, &h->end);
	expect_truth(k, &h->w, "events, read late, then a scan", which);
}

static void scan_first(struct history *h, uint64_t which)
{
	struct kin *k = new_kin(&h->w);

	fold_sight(k, &h->end);
	for (size_t i = 0; i < h->w.n_events; i++)
		fold(&h->w, k, h->w.e[i], h->w.now);
	expect_truth(k, &h->w, "a scan, then events", which);
}

/* All but groups and sessions that it was born into: these are inherited as last read. */
static void what_events_tell(const struct kin *k, char out[static TEXT_MAX])
{
	size_t n;
	const struct kin_member *v = kin_members(k, &n);

	*out = '\0';
	for (size_t i = 0; i < n; i++)
		if (v[i].alive)
			out += sprintf(out, "%d %d%s%s\n", v[i].id.pid, v[i].ppid,
				       v[i].sid == v[i].id.pid ? "S" : "",
				       v[i].reparented ? "R" : "");
}

/* All events, and the scan of the middle before the one of that number. */
static struct kin *told(const struct history *h, size_t when)
{
	struct kin *k = new_kin(&h->w);

	for (size_t i = 0; i <= h->w.n_events; i++) {
		if (i == when)
			fold_sight(k, &h->middle);
		if (i < h->w.n_events)
			fold(&h->w, k, h->w.e[i], h->w.e[i].boot_ns);
	}
	return k;
}

static void scan_between(struct history *h, uint64_t which)
{
	size_t late = h->events_before_middle + draw(h->w.n_events - h->events_before_middle + 1);
	struct kin *k = told(h, late), *in_time = told(h, h->events_before_middle);
	char after[TEXT_MAX], before[TEXT_MAX];

	what_events_tell(k, after);
	what_events_tell(in_time, before);
	assert_string_equal(after, before);
	kin_free(in_time);
	fold_sight(k, &h->end);
	expect_truth(k, &h->w, "a scan that comes late", which);
}

static void some_lost(struct history *h, uint64_t which)
{
	struct kin *k = new_kin(&h->w);
	bool gap = false;

	for (size_t i = 0; i < h->w.n_events; i++) {
		struct event lost = {.kind = EVENT_LOST, .boot_ns = h->w.e[i].boot_ns};
		bool drop = draw(gap ? 3 : 10) != 0 ? gap : !gap;

		if (gap && !drop)
			kin_event(k, &lost, NULL);
		gap = drop;
		if (!gap)
			fold(&h->w, k, h->w.e[i], h->w.e[i].boot_ns);
		if (i == h->events_before_middle && !gap && draw(2))
			fold_sight(k, &h->middle);
	}
	if (gap)
		kin_event(k, &(struct event){.kind = EVENT_LOST, .boot_ns = h->w.now}, NULL);
	fold_sight(k, &h->end);
	assert_false(kin_unsure(k));
	expect_truth(k, &h->w, "some events lost, then a scan", which);
}

static void events_then_a_scan_tell_what_is(void **state)
{
	(void)state;
	each_history(events_first);
}

static void a_scan_then_events_tell_the_same(void **state)
{
	(void)state;
	each_history(scan_first);
}

static void a_scan_that_comes_late_changes_nothing(void **state)
{
	(void)state;
	each_history(scan_between);
}

static void a_scan_sets_right_what_was_lost(void **state)
{
	(void)state;
	each_history(some_lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_then_a_scan_tell_what_is),
		cmocka_unit_test(a_scan_then_events_tell_the_same),
		cmocka_unit_test(a_scan_that_comes_late_changes_nothing),
		cmocka_unit_test(a_scan_sets_right_what_was_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
