/*
 * What listening costs who is listened to: a loop of spawns with and without somebody who drains
 * each 5 ms and folds, by turns in one run; and what an event of strangers costs the listener.
 */
#include "base/clock.h"
#include "model/kin.h"
#include "source/netlink.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUND 500
#define ROUNDS 40      /* with, and as many without: 20,000 spawns each */
#define LIMIT_S 90     /* on a busy machine fewer rounds have to do */
#define WANTED 1.10    /* issue: slowed by at most 10 % */
#define STRANGERS 5000 /* forks by somebody who is no member */

struct listening {
	struct netlink *net; /* NULL: nobody listens */
	struct kin *kin;
	uint64_t events; /* all that came */
};

static void take(void *ctx, const struct event *e)
{
	struct listening *l = ctx;
	struct event full = *e;

	l->events++;
	if (!kin_wants(l->kin, e))
		return;
	netlink_complete(&full, kin_unsure(l->kin));
	kin_event(l->kin, &full, NULL);
	kin_taken(l->kin);
}

/* In a child: so many spawns, each waited for; answers with the ns that it took. */
static void spawn_all(int out, int count)
{
	char *const argv[] = {(char *)"true", NULL};
	uint64_t start = clock_boot_ns(), took;
	pid_t pid;

	for (int i = 0; i < count; i++)
		if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL) == 0)
			waitpid(pid, NULL, 0);
	took = clock_boot_ns() - start;
	_exit(write(out, &took, sizeof(took)) != sizeof(took));
}

static void fork_all(int out, int count)
{
	uint64_t took = 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	_exit(write(out, &took, sizeof(took)) != sizeof(took));
}

/* Lets a child do it while l listens: to it (member), by the clock; or to somebody else, and takes
 * it all at the end.  ns that it took, 0: it failed. */
static uint64_t listen_to(struct listening *l, bool member, void (*what)(int, int), int count)
{
	struct kin_options o = {0};
	uint64_t took = 0;
	int to[2], go[2];
	struct pollfd p;
	char byte = 0;
	pid_t pid;

	if (pipe(to) < 0 || pipe(go) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		alarm(LIMIT_S);
		if (read(go[0], &byte, 1) == 1)
			what(to[1], count);
		_exit(1);
	}
	close(to[1]);
	if (l->net) {
		struct event self = {.kind = EVENT_FORK, .child = pid, .boot_ns = clock_boot_ns()};

		netlink_complete(&self, false);
		o.root = (struct identity){member ? pid : getppid(), member ? self.child_start : 1};
		l->kin = kin_new(&o);
	}
	if (write(go[1], &byte, 1) != 1)
		return 0;
	p = (struct pollfd){.fd = to[0], .events = POLLIN};
	while (poll(&p, 1, l->net && member ? (int)(NETLINK_DRAIN_NS / 1000000) : -1) == 0)
		netlink_drain(l->net, NETLINK_DRAIN_ALL, take, l, NULL);
	if (read(to[0], &took, sizeof(took)) != sizeof(took))
		took = 0;
	waitpid(pid, NULL, 0);
	while (l->net && netlink_drain(l->net, NETLINK_DRAIN_ALL, take, l, NULL) > 0)
		;
	close(to[0]);
	close(go[0]);
	close(go[1]);
	return took;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median_ms(uint64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return (double)v[n / 2] / 1e6;
}

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* A subscription of its own for each round: it costs a little even where nobody drains. */
static void bench_spawns(void)
{
	uint64_t with[ROUNDS], without[ROUNDS], until = clock_boot_ns() + LIMIT_S * CLOCK_NS_PER_S;
	struct kin_counts sum = {0};
	uint64_t lost = 0;
	double cpu = 0;
	size_t n = 0;

	while (n < ROUNDS && clock_boot_ns() < until) {
		struct listening l = {0}, nobody = {0};
		double before = cpu_s();
		struct kin_counts c;

		if (netlink_open(&l.net, NULL) < 0)
			return;
		with[n] = listen_to(&l, true, spawn_all, ROUND);
		cpu += cpu_s() - before;
		c = kin_counts(l.kin);
		sum.forked += c.forked;
		sum.execed += c.execed;
		sum.exited += c.exited;
		lost += netlink_lost(l.net);
		netlink_close(l.net);
		kin_free(l.kin);
		without[n] = listen_to(&nobody, false, spawn_all, ROUND);
		n++;
	}
	printf("%zu times %d spawns, drained each 5 ms and by nobody, by turns\n", n, ROUND);
	printf("  spawning, median of a round        %9.1f %9.1f ms  ratio %5.2f  (wanted <= "
	       "%.2f)\n",
	       median_ms(with, n), median_ms(without, n),
	       median_ms(with, n) / median_ms(without, n), WANTED);
	printf("  recorded of %zu: %lu forks, %lu execs, %lu exits; lost %lu  (wanted: all, 0)\n",
	       n * ROUND, sum.forked, sum.execed, sum.exited - n, lost);
	printf("  the listener's CPU                 %9.1f us a spawn\n",
	       cpu * 1e6 / (double)(n * ROUND));
}

/* Of strangers each event is looked up and let go. */
static void bench_strangers(void)
{
	struct listening l = {0};
	double before = cpu_s();

	if (netlink_open(&l.net, NULL) < 0)
		return;
	listen_to(&l, false, fork_all, STRANGERS);
	printf("  an event of strangers              %9.2f us of CPU, of %lu\n",
	       (cpu_s() - before) * 1e6 / (double)l.events, l.events);
	kin_free(l.kin);
	netlink_close(l.net);
}

int main(void)
{
	struct netlink *net;
	struct err err = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (netlink_open(&net, &err) < 0) {
		printf("listening: %s\n", err.text);
		return 0;
	}
	netlink_close(net);
	bench_spawns();
	bench_strangers();
	return 0;
}
