#include "reach/spoken.h"

#include "tests/helpers/made.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIFE_S 60

/* A child that holds this descriptor alone, and is there when it does. */
static pid_t child_with(int fd)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		close(ready[1]);
		assert_int_equal(read(ready[0], &byte, 1), 0);
		close(ready[0]);
		return pid;
	}
	alarm(LIFE_S);
	if (dup2(fd, 0) < 0)
		_exit(1);
	close_range(1, ~0u, 0);
	for (;;)
		pause();
}

/* A service by name, and who is connected to it. */
struct world {
	int client, accepted, pair[2];
	pid_t pids[8];
	size_t n;
	struct table *t;
};

static void connect_by_name(struct world *w)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* an abstract name: nothing to clean up */
	int n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "spoken-%d", getpid());
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);

	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	w->client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(w->client, (struct sockaddr *)&at, len), 0);
	w->accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(w->accepted >= 0);
	close(listener);
}

static struct identity make(struct world *w, int fd)
{
	pid_t pid = child_with(fd);
	struct identity id = {pid, made_start_ticks(pid)};
	struct process p = {.id = id, .state = 'S'};

	w->pids[w->n++] = pid;
	assert_true(table_add(w->t, &p));
	return id;
}

static void start(struct world *w)
{
	*w = (struct world){.t = table_new()};
	assert_non_null(w->t);
	w->t->host.ticks_per_second = 100;
	w->t->host.boot_ns = 90000000000000ull; /* tick 9000000 */
	connect_by_name(w);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->pair), 0);
}

static void finish(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		kill(w->pids[i], SIGKILL);
		waitpid(w->pids[i], NULL, 0);
	}
	close(w->client);
	close(w->accepted);
	close(w->pair[0]);
	close(w->pair[1]);
	table_free(w->t);
}

/* A child of parent, which is none that exists. */
static void give_child(struct world *w, pid_t pid, struct identity parent, uint64_t born)
{
	struct process p = {.id = {pid, born}, .ppid = parent.pid, .state = 'S'};

	assert_true(table_add(w->t, &p));
	table_sort(w->t);
}

#define NOBODY 5000001 /* above any PID: PID_MAX_LIMIT is 2^22 */

static void who_is_reached_by_a_name_is_spoken_with_if_it_has_forked_since(void **state)
{
	static const struct {
		const char *what;
		bool accepts, pair; /* the other has the service's end, of the pair */
		uint64_t born;
		bool spoken;
	} cases[] = {
		{"a service with a child", true, false, 1000, true},
		{"with a child born before", true, false, 999, false},
		{"with a child born when all was over", true, false, 2001, false},
		{"the other end of a pair", false, true, 1000, false},
		{"somebody with that end of the client", false, false, 1000, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;
		struct spoken_wanted wanted = {.since = 1000, .until = 2000, .n = 1};
		const struct process *p;
		struct identity other;

		start(&w);
		wanted.members[0] = make(&w, cases[i].pair ? w.pair[0] : w.client);
		other = make(&w, cases[i].accepts ? w.accepted
				 : cases[i].pair  ? w.pair[1]
						  : w.client);
		give_child(&w, NOBODY, other, cases[i].born);
		assert_int_equal(spoken_read(&wanted, w.t), 0);
		p = table_find(w.t, other);
		if ((p->spoke_until != 0) != cases[i].spoken)
			fail_msg("%s: %d", cases[i].what, !cases[i].spoken);
		if (cases[i].spoken) {
			assert_int_equal(p->spoke_from, wanted.members[0].start);
			assert_int_equal(p->spoke_until, 9000000);
		}
		finish(&w);
	}
}

static void the_client_of_a_member_is_no_service(void **state)
{
	struct spoken_wanted wanted = {.since = 1000, .until = 2000, .n = 1};
	struct identity client;
	struct world w;

	(void)state;
	start(&w);
	wanted.members[0] = make(&w, w.accepted);
	client = make(&w, w.client);
	give_child(&w, NOBODY, client, 1000);
	assert_int_equal(spoken_read(&wanted, w.t), 0);
	assert_int_equal(table_find(w.t, client)->spoke_until, 0);
	finish(&w);
}

static void all_services_are_read_by_turns_where_they_are_many(void **state)
{
	struct spoken_wanted wanted = {.since = 1000, .until = 2000, .n = 1};
	struct identity service;
	struct world w;

	(void)state;
	start(&w);
	wanted.members[0] = make(&w, w.client);
	for (pid_t i = 0; i < SPOKEN_SERVICES_MAX; i++) { /* of whom nothing can be read */
		struct identity id = {NOBODY + 1000 + i, 1};
		struct process p = {.id = id, .state = 'S'};

		assert_true(table_add(w.t, &p));
		give_child(&w, NOBODY + 2000 + i, id, 1500);
	}
	service = make(&w, w.accepted);
	give_child(&w, NOBODY, service, 1500);
	/* it is one of 65, each turn begins 64 further: one of two turns reads it */
	for (wanted.turn = 1; wanted.turn <= 2; wanted.turn++)
		assert_int_equal(spoken_read(&wanted, w.t), 0);
	assert_int_not_equal(table_find(w.t, service)->spoke_until, 0);
	finish(&w);
}

static void members_are_asked_by_turns_where_they_are_many(void **state)
{
	struct run run = {.since_ticks = 5, .over_ticks = 9};
	struct table *t = table_new();
	bool asked[SPOKEN_MEMBERS_MAX * 2] = {0};
	const size_t n = SPOKEN_MEMBERS_MAX + 10;
	struct spoken_wanted w;

	(void)state;
	for (size_t i = 0; i < n + 2; i++) {
		struct process p = {.id = {(pid_t)i + 1, 7}, .state = i == n ? 'Z' : 'S'};

		p.evidence = i <= n ? EVIDENCE_GROUP : EVIDENCE_WINDOW;
		assert_true(table_add(t, &p));
	}
	for (uint64_t turn = 1; turn <= 2; turn++) {
		spoken_wanted(&run, t, turn, &w);
		assert_true(w.n == SPOKEN_MEMBERS_MAX && w.since == 5 && w.until == 9);
		for (size_t i = 0; i < w.n; i++)
			asked[w.members[i].pid - 1] = true;
	}
	for (size_t i = 0; i < n + 2; i++)
		assert_int_equal(asked[i], i < n);
	spoken_wanted(NULL, t, 0, &w);
	assert_int_equal(w.n, 0);
	spoken_wanted(&run, NULL, 0, &w);
	assert_int_equal(w.n, 0);
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_reached_by_a_name_is_spoken_with_if_it_has_forked_since),
		cmocka_unit_test(the_client_of_a_member_is_no_service),
		cmocka_unit_test(all_services_are_read_by_turns_where_they_are_many),
		cmocka_unit_test(members_are_asked_by_turns_where_they_are_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
