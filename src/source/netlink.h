/*
 * What the kernel tells of processes the moment they do it: the process
 * connector (CONFIG_PROC_EVENTS), for root, and for everybody since Linux 6.6.
 *
 * Whoever drains it every few milliseconds loses nothing; what was lost is
 * told in its place.  Events say who did what, but no names and no arguments.
 * Listens only: it changes nothing for anybody else, keeps no opinion on who is
 * meant, and never blocks after it was opened.
 */
#ifndef STRAY_SOURCE_NETLINK_H
#define STRAY_SOURCE_NETLINK_H

#include "base/err.h"
#include "model/event.h"

#define NETLINK_DRAIN_NS 5000000ULL /* between two drains: slows spawning by 0 to 4 % */

struct netlink; /* opaque */

/*
 * Subscribes, and waits for the kernel to say so, a quarter of a second at most.  From its
 * return on every event is told.  -EPERM: for root only (before Linux 6.6); -EPROTONOSUPPORT:
 * the kernel has none; -ECONNREFUSED: this is another network namespace than the initial one;
 * -EXDEV: another PID or user namespace, where PIDs of events would be those of others;
 * -ETIMEDOUT: silent, as kernels without CONFIG_PROC_EVENTS are.
 */
int netlink_open(struct netlink **out, struct err *err);
void netlink_close(struct netlink *n); /* NULL is fine */

/* Readable (poll) when something waits.  Drain by the clock, not by this. */
int netlink_fd(const struct netlink *n);

typedef void netlink_fn(void *ctx, const struct event *e);

/*
 * Hands what waits to fn, in order, up to max messages or a few more; e is borrowed until fn
 * returns.  0; 1 where more may wait; -errno where the socket is of no more use.  In a storm more
 * comes while this is handed on: who has other things to do asks for some at a time.
 */
#define NETLINK_DRAIN_SOME 128  /* 3 ms or so, where each is looked into */
#define NETLINK_DRAIN_ALL 65536 /* more than its buffer holds */
int netlink_drain(struct netlink *n, size_t max, netlink_fn *fn, void *ctx, struct err *err);

/* How many events the kernel could not deliver, of all kinds, those of threads too; at least. */
uint64_t netlink_lost(const struct netlink *n);

/*
 * Reads beside a fresh event what struct event says of start times, from /proc; some 15 µs.
 * Where a child is gone already its start time follows from the event: one tick late at most.
 * forker, too: for who is not sure whether pid is still who it was, having lost events.
 */
void netlink_complete(struct event *e, bool forker);

#endif
