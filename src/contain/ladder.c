#include "contain/ladder.h"

#include "base/clock.h"
#include "base/vec.h"
#include "contain/stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64
#define RELOOK_NS 20000000ULL        /* how often those without a pidfd are looked at */
#define STOP_LIMIT_NS CLOCK_NS_PER_S /* then KILL goes to what was found */
#define LOOK_NS 100000000ULL         /* for who came since a KILL, while others still die */
#define START_LOOKS 16               /* for the next of a chain that forks and exits */
#define KILL_ROUNDS 16               /* KILLs to members that came since the last one */

enum state { START, GRACE, STOPPING, KILLING, KILLED, DONE };

struct ladder {
	struct ladder_plan plan;
	struct act_hooks hooks;
	enum state state;
	struct target_set set;
	struct {
		struct ladder_outcome *v;
		size_t n, cap;
	} out;               /* by the index of set */
	size_t alive, blind; /* blind: alive without a pidfd */
	size_t killed;       /* of set: these had their KILL */
	bool unsure;         /* the last look failed, or some may be missing in it */
	bool kill_told;      /* the hook was told of a KILL */
	int epoll_fd;
	uint64_t deadline_ns; /* of the state */
	uint64_t look_ns;     /* KILLED: the next look for members that came since */
	unsigned rounds;
	struct stop stop;
	struct guard *guard; /* NULL: nothing was stopped yet, or none could be had */
	struct err note;
};

struct ladder *ladder_new(const struct ladder_plan *plan, const struct act_hooks *hooks)
{
	struct ladder *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->plan = *plan;
	if (hooks)
		l->hooks = *hooks;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0) {
		free(l);
		return NULL;
	}
	return l;
}

void ladder_free(struct ladder *l)
{
	if (!l)
		return;
	ladder_abandon(l);
	close(l->epoll_fd);
	target_set_clear(&l->set);
	free(l->out.v);
	free(l);
}

/* Takes over what the set has beyond the outcomes: watches it, and makes its outcome. */
static int take_new(struct ladder *l, struct err *err)
{
	while (l->out.n < l->set.n) {
		struct target *t = &l->set.v[l->out.n];
		struct epoll_event ev = {.events = EPOLLIN, .data.u64 = l->out.n};
		struct ladder_outcome o = {.id = t->id, .late = l->state != START, .gone = t->gone};

		if (t->gone)
			o.first = t->result;
		if (!VEC_PUSH(&l->out, o))
			return err_nomem(err);
		if (t->gone)
			continue;
		l->alive++;
		if (t->pidfd >= 0 && epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, t->pidfd, &ev) < 0) {
			close(t->pidfd); /* no room to watch it: looked at by the clock */
			t->pidfd = -1;
		}
		l->blind += t->pidfd < 0;
	}
	return 0;
}

int ladder_add(struct ladder *l, struct identity id, struct err *err)
{
	int r = target_add(&l->set, id, NULL, err);

	return r < 0 ? r : take_new(l, err);
}

int ladder_take(struct ladder *l, struct target_set *set, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < set->n; i++) {
		r = target_take(&l->set, set->v[i].id, set->v[i].pidfd, err);
		set->v[i].pidfd = -1;
	}
	target_set_clear(set);
	return r < 0 ? r : take_new(l, err);
}

static void mark_gone(struct ladder *l, size_t i, uint64_t now_ns)
{
	struct target *t = &l->set.v[i];
	struct ladder_outcome *o = &l->out.v[i];

	if (o->gone)
		return;
	t->gone = o->gone = true;
	o->gone_ns = now_ns;
	l->alive--;
	if (t->pidfd < 0) {
		l->blind--;
		return;
	}
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, t->pidfd, NULL);
	o->death = pidfd_death(t->pidfd, t->id);
}

static void collect(struct ladder *l, uint64_t now_ns)
{
	struct epoll_event ev[EVENTS_AT_ONCE];
	int n;

	do {
		n = epoll_wait(l->epoll_fd, ev, EVENTS_AT_ONCE, 0);
		for (int i = 0; i < n; i++)
			mark_gone(l, ev[i].data.u64, now_ns);
	} while (n == EVENTS_AT_ONCE);
	for (size_t i = 0; l->blind && i < l->set.n; i++)
		if (l->set.v[i].pidfd < 0 && !target_alive(&l->set.v[i]))
			mark_gone(l, i, now_ns);
}

/* Adds the members of now.  A failure is noted, and those known are gone on with. */
static int rescan(struct ladder *l, size_t *fresh, struct err *err)
{
	l->unsure = act_rescan(&l->hooks, &l->set, fresh, &l->note) < 0 || *fresh;
	return take_new(l, err);
}

/* Whether the unit is to be killed though nobody in it can be seen. */
static bool is_held(const struct ladder *l)
{
	return l->plan.kill && l->hooks.kill_unit && l->hooks.is_empty &&
	       l->hooks.is_empty(l->hooks.ctx) != 1;
}

/* Whether all are gone: that nobody is known to be alive is not enough. */
static bool all_gone(const struct ladder *l)
{
	return !l->alive && !l->unsure && !is_held(l);
}

/* Takes what came of a signal into the outcomes, from index `first` on. */
static void take_results(struct ladder *l, int sig, size_t first, uint64_t now_ns)
{
	for (size_t i = first; i < l->set.n; i++) {
		const struct target *t = &l->set.v[i];
		struct ladder_outcome *o = &l->out.v[i];

		if (o->gone)
			continue;
		*(l->state == START ? &o->first : &o->killed) = t->result;
		if (t->result == TARGET_SENT) {
			o->last_signal = sig;
			if (!o->signalled_ns)
				o->signalled_ns = now_ns;
		} else if (t->result != TARGET_GONE) {
			o->error = t->error;
		}
	}
}

static void send_first(struct ladder *l)
{
	if (l->plan.pgid <= 1) {
		act_send(&l->hooks, l->plan.first, &l->set, 0);
		return;
	}
	/* What it cannot reach is said by each result. */
	signal_group(l->plan.pgid, &l->set, l->plan.first, NULL);
	for (size_t i = 0; l->hooks.after_signal && i < l->set.n; i++)
		if (!l->out.v[i].gone)
			l->hooks.after_signal(l->hooks.ctx, l->plan.first, &l->set.v[i]);
}

/* Whether those that are alive may all not be signalled: there is nothing to wait for. */
static bool hopeless(const struct ladder *l)
{
	for (size_t i = 0; i < l->out.n; i++) {
		const struct ladder_outcome *o = &l->out.v[i];

		if (!o->gone && (l->killed ? o->killed : o->first) != TARGET_DENIED)
			return false;
	}
	return true;
}

/* The time, where it is later than that. */
static uint64_t later(uint64_t than_ns)
{
	uint64_t now_ns = clock_boot_ns();

	return now_ns > than_ns ? now_ns : than_ns;
}

static int on_start(struct ladder *l, uint64_t now_ns, struct err *err)
{
	size_t fresh;
	int r;

	/* who were meant are gone; have they left others, or those yet others? */
	for (unsigned i = 0; !l->alive && i < START_LOOKS; i++) {
		r = rescan(l, &fresh, err);
		if (r < 0)
			return r;
		if (!l->alive && !fresh)
			break;
	}
	if (all_gone(l))
		return DONE;
	l->deadline_ns = now_ns;
	if (!l->plan.first)
		return GRACE;
	if (!l->alive) {
		l->deadline_ns += l->plan.grace_ns;
		return GRACE;
	}
	r = act_announce(&l->hooks, l->plan.first, &l->set, 0, err);
	if (r < 0)
		return r;
	now_ns = later(now_ns); /* to announce it may have taken longer than the grace is */
	send_first(l);
	take_results(l, l->plan.first, 0, now_ns);
	l->deadline_ns = now_ns + l->plan.grace_ns;
	return GRACE;
}

/* Without one they are stopped all the same: that a storm ends matters more. */
static void call_guard(struct ladder *l)
{
	struct err why = {0};

	if (l->guard || !l->plan.guarded)
		return;
	if (guard_open(&l->guard, &why) < 0)
		l->note = l->note.code ? l->note : why;
	target_set_guard(&l->set, l->guard);
}

static void dismiss_guard(struct ladder *l)
{
	target_set_guard(&l->set, NULL);
	guard_close(l->guard);
	l->guard = NULL;
}

static int begin_kill(struct ladder *l, uint64_t now_ns)
{
	if (!l->plan.stop_first)
		return KILLING;
	call_guard(l);
	stop_begin(&l->stop, &l->set, &l->hooks, now_ns + STOP_LIMIT_NS);
	l->stop.seen = l->killed;
	return STOPPING;
}

static int on_grace(struct ladder *l, uint64_t now_ns, struct err *err)
{
	bool over = now_ns >= l->deadline_ns || (l->alive && hopeless(l));
	size_t fresh;
	int r;

	if (l->alive && !over)
		return GRACE;
	r = rescan(l, &fresh, err);
	if (r < 0)
		return r;
	if (all_gone(l) || (over && !l->plan.kill))
		return DONE;
	return over ? begin_kill(l, now_ns) : GRACE;
}

static int on_stopping(struct ladder *l, uint64_t now_ns, struct err *err)
{
	struct err why = {0};
	int r = stop_step(&l->stop, now_ns, &why), taken = take_new(l, err);

	if (taken < 0)
		return taken;
	if (r == 0)
		return STOPPING;
	if (r < 0 && l->stop.refused)
		return err_set(err, -r, "%s", why.text);
	if (r < 0)
		err_set(&l->note, -r, "%s", why.text);
	return KILLING;
}

/* Of a unit that is killed unseen, too, the intent is told first. */
static int announce_kill(struct ladder *l, struct err *err)
{
	static const struct identity nobody[1];
	bool unseen = l->hooks.kill_unit && l->hooks.before_signal && !l->alive && !l->kill_told;

	l->kill_told = true;
	return unseen ? l->hooks.before_signal(l->hooks.ctx, SIGKILL, nobody, 0, err)
		      : act_announce(&l->hooks, SIGKILL, &l->set, l->killed, err);
}

static int on_killing(struct ladder *l, uint64_t now_ns, struct err *err)
{
	int r;

	for (size_t i = l->killed; i < l->set.n; i++)
		l->set.v[i].result = TARGET_UNTRIED; /* not what came of a STOP */
	r = announce_kill(l, err);
	if (r < 0)
		return r;
	if (l->hooks.kill_unit && l->hooks.kill_unit(l->hooks.ctx, &l->note) == 0) {
		act_send_behind_unit(&l->hooks, &l->set, l->killed);
	} else if (l->hooks.kill_unit && !l->plan.stop_first) {
		l->plan.stop_first = true; /* one by one they could refork each other */
		return begin_kill(l, now_ns);
	} else {
		act_send(&l->hooks, SIGKILL, &l->set, l->killed);
	}
	take_results(l, SIGKILL, l->killed, now_ns);
	l->killed = l->set.n;
	now_ns = later(now_ns);
	l->look_ns = now_ns + LOOK_NS;
	l->deadline_ns = now_ns + l->plan.kill_wait_ns;
	return KILLED;
}

static int on_killed(struct ladder *l, uint64_t now_ns, struct err *err)
{
	bool over = now_ns >= l->deadline_ns || (l->alive && hopeless(l));
	size_t fresh;
	int r;

	/* the killed wait for a CPU, too: others that came meanwhile are not to wait for that */
	if (l->alive && !over && now_ns < l->look_ns)
		return KILLED;
	r = rescan(l, &fresh, err);
	if (r < 0)
		return r;
	l->look_ns = later(now_ns) + LOOK_NS;
	if (fresh && ++l->rounds < KILL_ROUNDS)
		return begin_kill(l, later(now_ns));
	return over || all_gone(l) ? DONE : KILLED;
}

int ladder_step(struct ladder *l, uint64_t now_ns, struct err *err)
{
	static int (*const on[])(struct ladder *, uint64_t, struct err *) = {
		[START] = on_start,     [GRACE] = on_grace,   [STOPPING] = on_stopping,
		[KILLING] = on_killing, [KILLED] = on_killed,
	};

	collect(l, now_ns);
	while (l->state != DONE) {
		int next = on[l->state](l, now_ns, err);

		if (next < 0) {
			signal_undo_stop(&l->set);
			l->state = DONE;
			dismiss_guard(l);
			return next;
		}
		if (next == (int)l->state)
			return 0;
		l->state = (enum state)next;
	}
	collect(l, now_ns); /* those that came last may have ended, too */
	dismiss_guard(l);
	return 1;
}

int ladder_fd(const struct ladder *l)
{
	return l->epoll_fd;
}

uint64_t ladder_timeout_ns(const struct ladder *l, uint64_t now_ns)
{
	uint64_t left = l->deadline_ns > now_ns ? l->deadline_ns - now_ns : 0;

	switch (l->state) {
	case KILLED:
		if (l->look_ns < l->deadline_ns)
			left = l->look_ns > now_ns ? l->look_ns - now_ns : 0;
		/* fall through */
	case GRACE:
		return (l->blind || !l->alive) && left > RELOOK_NS ? RELOOK_NS : left;
	case STOPPING:
		return STOP_RETRY_NS;
	case DONE:
		return UINT64_MAX;
	case START:
	case KILLING:
		break;
	}
	return 0;
}

void ladder_abandon(struct ladder *l)
{
	if (l->state == STOPPING)
		signal_undo_stop(&l->set);
	l->state = DONE;
	dismiss_guard(l);
}

void ladder_hurry(struct ladder *l)
{
	l->plan.grace_ns = 0;
	if (l->state == GRACE)
		l->deadline_ns = 0;
}

int ladder_run(struct ladder *l, struct err *err)
{
	int r;

	while ((r = ladder_step(l, clock_boot_ns(), err)) == 0) {
		struct pollfd p = {.fd = l->epoll_fd, .events = POLLIN};
		uint64_t ns = ladder_timeout_ns(l, clock_boot_ns());
		struct timespec ts;

		if (ns > CLOCK_NS_PER_S) /* poll's clock stops with a suspend: look again */
			ns = CLOCK_NS_PER_S;
		ts = (struct timespec){.tv_sec = (time_t)(ns / CLOCK_NS_PER_S),
				       .tv_nsec = (long)(ns % CLOCK_NS_PER_S)};
		ppoll(&p, 1, &ts, NULL);
	}
	return r < 0 ? r : 0;
}

const struct ladder_outcome *ladder_outcomes(struct ladder *l, size_t *n)
{
	for (size_t i = 0; i < l->out.n; i++) {
		struct ladder_outcome *o = &l->out.v[i];

		if (o->gone && !o->death.known && l->set.v[i].pidfd >= 0)
			o->death = pidfd_death(l->set.v[i].pidfd, o->id);
	}
	*n = l->out.n;
	return l->out.v;
}

size_t ladder_alive(const struct ladder *l)
{
	return l->alive;
}

const struct err *ladder_note(const struct ladder *l)
{
	return &l->note;
}
