#include "engine/listener.h"

#include "base/clock.h"
#include "base/file.h"
#include "model/heard.h"
#include "source/netlink.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct listener {
	enum listener_how how;
	struct netlink *net;   /* owned; NULL: not subscribed */
	struct kin *kin;       /* owned; NULL: no run is followed */
	struct source *source; /* owned: for arguments; NULL before it was needed */
	uint64_t since_wall_ns;
	uint64_t lost;    /* by subscriptions before this one */
	int epoll, timer; /* the timer while it rests, the subscription while it waits */
	bool resting;
	struct err why;
	/* who is told, during a drain */
	struct tracker *tracker;
	listener_fn *fn;
	void *ctx;
};

static int make_fds(struct listener *l, struct err *err)
{
	struct epoll_event e = {.events = EPOLLIN};

	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (l->epoll < 0 || l->timer < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->timer, &e) < 0)
		return err_errno(err, errno, "no descriptor to listen with");
	return 0;
}

int listener_open(enum listener_how how, struct listener **out, struct err *err)
{
	struct listener *l = calloc(1, sizeof(*l));
	struct netlink *probe = NULL;
	int r;

	if (!l)
		return err_nomem(err);
	l->how = how;
	l->epoll = l->timer = -1;
	r = make_fds(l, err);
	if (!r && how == LISTENER_MUST)
		r = netlink_open(&probe, err);
	netlink_close(probe);
	if (r < 0) {
		listener_close(l);
		return r;
	}
	*out = l;
	return 0;
}

static void stop(struct listener *l)
{
	if (l->net)
		l->lost += netlink_lost(l->net);
	netlink_close(l->net); /* epoll forgets a closed descriptor */
	kin_free(l->kin);
	l->net = NULL;
	l->kin = NULL;
}

void listener_close(struct listener *l)
{
	if (!l)
		return;
	stop(l);
	source_close(l->source);
	file_close_fd(&l->epoll);
	file_close_fd(&l->timer);
	free(l);
}

int listener_fd(const struct listener *l)
{
	return l->epoll;
}

const struct err *listener_why(const struct listener *l)
{
	return &l->why;
}

bool listener_wants_scan(const struct listener *l)
{
	return l->kin && kin_unsure(l->kin);
}

/* Wakes at the next event, or after a rest. */
static void set_alarm(struct listener *l, bool rest)
{
	struct itimerspec at = {.it_value.tv_nsec = rest ? NETLINK_DRAIN_NS : 0};
	struct epoll_event e = {.events = rest ? 0 : EPOLLIN};

	timerfd_settime(l->timer, 0, &at, NULL);
	if (rest != l->resting)
		epoll_ctl(l->epoll, EPOLL_CTL_MOD, netlink_fd(l->net), &e);
	l->resting = rest;
}

/* Where it does not work it is not tried again: what keeps it from that does not change. */
static void subscribe(struct listener *l)
{
	struct epoll_event e = {.events = EPOLLIN};

	if (l->how == LISTENER_NEVER || l->why.code)
		return;
	if (netlink_open(&l->net, &l->why) < 0)
		return;
	l->since_wall_ns = clock_wall_ns();
	l->resting = false;
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, netlink_fd(l->net), &e) < 0) {
		err_errno(&l->why, errno, "no descriptor to listen with");
		netlink_close(l->net);
		l->net = NULL;
	}
}

/* What the table does not cover, now that events were heard beside it. */
static void note_coverage(const struct listener *l, struct tracker *k)
{
	struct coverage *c = k->now ? &k->now->coverage : NULL;

	if (!c || !l->net)
		return;
	c->sources |= 1u << SOURCE_NETLINK;
	c->events_wall_ns = l->since_wall_ns;
	c->events_lost = l->lost + netlink_lost(l->net);
}

int listener_follow(struct listener *l, struct tracker *k, struct err *err)
{
	if (!k->run || !k->now) {
		stop(l);
		return 0;
	}
	if (k->kin && k->kin == l->kin) {
		note_coverage(l, k);
		return 0;
	}
	kin_free(l->kin);
	l->kin = NULL;
	if (!l->net)
		subscribe(l);
	if (!l->net)
		return 0;
	l->kin = heard_new(k->run, k->now);
	if (!l->kin)
		return err_nomem(err);
	k->kin = l->kin;
	note_coverage(l, k);
	return 0;
}

static struct detail *read_exec(struct listener *l, struct identity id)
{
	static const struct source_options only_stat;
	struct detail *d = NULL;

	if (!l->source)
		source_open(&only_stat, &l->source, NULL);
	if (l->source)
		source_exec(l->source, id, &d, NULL);
	return d;
}

static void tell(struct listener *l, const struct kin_change *c)
{
	struct detail *d;

	if (c->known != KNOWN_SEEN)
		return;
	tracker_heard(l->tracker, c);
	if (!l->fn)
		return;
	d = c->kind == KIN_EXECED ? read_exec(l, c->id) : NULL;
	l->fn(l->ctx, c, d);
	detail_unref(d);
}

/* Out of memory a scan sets right what is missing, as where events are lost. */
static void take_event(void *ctx, const struct event *e)
{
	struct listener *l = ctx;
	struct event full = *e;
	const struct kin_change *c;
	size_t n;

	if (!kin_wants(l->kin, e))
		return;
	netlink_complete(&full, kin_unsure(l->kin));
	kin_event(l->kin, &full, NULL);
	c = kin_changes(l->kin, &n);
	for (size_t i = 0; i < n; i++)
		tell(l, &c[i]);
	kin_taken(l->kin);
}

/* As take_event(), counted: whether any came says how to wait for the next. */
struct batch {
	struct listener *l;
	size_t n;
};

static void take_counted(void *ctx, const struct event *e)
{
	struct batch *b = ctx;

	b->n++;
	take_event(b->l, e);
}

void listener_drain(struct listener *l, struct tracker *k, listener_fn *fn, void *ctx)
{
	struct batch b = {.l = l};
	int r;

	if (!l->net || !l->kin || k->kin != l->kin)
		return;
	l->tracker = k;
	l->fn = fn;
	l->ctx = ctx;
	r = netlink_drain(l->net, NETLINK_DRAIN_SOME, take_counted, &b, &l->why);
	if (r < 0) {
		k->kin = NULL;
		stop(l);
		return;
	}
	note_coverage(l, k);
	set_alarm(l, r == 1 || b.n > 0);
}
