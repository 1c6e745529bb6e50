#include "engine/listener.h"
#include "engine/look.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define LIFE_S 60
#define PATIENCE_MS 15000
#define QUIET_MS 100

/* A process that is a run; what is written to it makes it fork a child, which ends with 7. */
struct world {
	pid_t root;
	int ask;
	struct look look;
	struct run run;
	struct listener *listener;
	char heard[100];
};

static void make_children(int asked)
{
	char byte;

	alarm(LIFE_S);
	while (read(asked, &byte, 1) == 1) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(7);
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void begin(struct world *w)
{
	const struct source_options stat_only = {0};
	struct selector target = {.kind = SELECT_PID};
	int ask[2];

	memset(w, 0, sizeof(*w));
	assert_int_equal(pipe(ask), 0);
	w->root = fork();
	assert_true(w->root >= 0);
	if (w->root == 0) {
		close(ask[1]);
		make_children(ask[0]);
	}
	close(ask[0]);
	w->ask = ask[1];
	target.number = (uint64_t)w->root;
	assert_int_equal(listener_open(LISTENER_AUTO, &w->listener, NULL), 0);
	assert_int_equal(look_open(&w->look, &stat_only, NULL), 0);
	assert_int_equal(look_again(&w->look, NULL), 0);
	assert_int_equal(run_choose(&w->run, &target, w->look.tracker.now, NULL), 0);
	assert_int_equal(look_set_run(&w->look, &w->run, NULL), 0);
	assert_int_equal(listener_follow(w->listener, &w->look.tracker, NULL), 0);
	if (listener_why(w->listener)->code)
		skip_for(listener_why(w->listener)->text);
}

static void end(struct world *w)
{
	close(w->ask);
	waitpid(w->root, NULL, 0);
	listener_close(w->listener);
	look_close(&w->look);
	run_clear(&w->run);
}

static void hear(void *ctx, const struct kin_change *c, struct detail *detail)
{
	struct world *w = ctx;
	size_t n = strlen(w->heard);

	(void)detail;
	if (c->kind == KIN_FORKED && c->forker.pid == w->root)
		snprintf(w->heard + n, sizeof(w->heard) - n, "forked ");
	if (c->kind == KIN_EXITED)
		snprintf(w->heard + n, sizeof(w->heard) - n, "exited %d ", WEXITSTATUS(c->status));
}

static bool wakes(const struct world *w, int ms)
{
	struct pollfd p = {.fd = listener_fd(w->listener), .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void a_child_between_two_looks_is_heard(void **state)
{
	struct world w;
	const struct coverage *c;

	(void)state;
	begin(&w);
	assert_int_equal(write(w.ask, "x", 1), 1);
	while (!strstr(w.heard, "exited") && wakes(&w, PATIENCE_MS))
		listener_drain(w.listener, &w.look.tracker, hear, &w);
	assert_string_equal(w.heard, "forked exited 7 ");
	/* its parent may not have reaped it yet */
	for (int tries = 0; !w.run.ended && tries < 100; tries++) {
		assert_int_equal(look_again(&w.look, NULL), 0);
		poll(NULL, 0, 10);
	}
	assert_int_equal(w.run.ended, 1);
	assert_int_equal(listener_follow(w.listener, &w.look.tracker, NULL), 0);
	c = &w.look.tracker.now->coverage;
	assert_int_equal(c->sources, 1u << SOURCE_PROC | 1u << SOURCE_NETLINK);
	assert_int_equal(c->events_lost, 0);
	end(&w);
}

static void without_a_run_in_view_nothing_wakes(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(tracker_set_run(&w.look.tracker, NULL, NULL), 0);
	assert_int_equal(listener_follow(w.listener, &w.look.tracker, NULL), 0);
	assert_int_equal(write(w.ask, "x", 1), 1);
	assert_false(wakes(&w, QUIET_MS));
	listener_drain(w.listener, &w.look.tracker, hear, &w);
	assert_string_equal(w.heard, "");
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_between_two_looks_is_heard),
		cmocka_unit_test(without_a_run_in_view_nothing_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
