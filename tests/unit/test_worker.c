/* One thread does what may hang; here it hangs at a pipe until the test lets it go. */
#include "base/clock.h"
#include "engine/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 10000
#define SECOND CLOCK_NS_PER_S

static atomic_int begun, dropped, freed;

/* What the thread works with: the names of the jobs that it did, in order. */
struct own {
	char did[16];
};

struct job {
	int fd; /* -1: nothing to hang at */
	char name;
	char before[16]; /* what was done before it */
	pthread_t by;
};

static void run(void *own, void *ctx)
{
	struct own *o = own;
	struct job *j = ctx;
	char c;
	ssize_t n;

	atomic_fetch_add(&begun, 1);
	if (j->fd >= 0) {
		n = read(j->fd, &c, 1);
		(void)n;
	}
	strcpy(j->before, o->did);
	o->did[strlen(o->did)] = j->name;
	j->by = pthread_self();
}

static void drop(void *ctx)
{
	free(ctx);
	atomic_fetch_add(&dropped, 1);
}

static void free_own(void *own)
{
	free(own);
	atomic_fetch_add(&freed, 1);
}

static struct worker *open_one(void)
{
	struct own *own = calloc(1, sizeof(*own));
	struct worker *w = NULL;

	assert_non_null(own);
	atomic_store(&begun, 0);
	atomic_store(&dropped, 0);
	atomic_store(&freed, 0);
	assert_int_equal(worker_open(own, free_own, &w, NULL), 0);
	return w;
}

static struct job *ask(struct worker *w, char name, int fd, uint64_t boot_ns)
{
	struct job *j = calloc(1, sizeof(*j));
	struct worker_job job = {run, drop, j};

	assert_non_null(j);
	j->fd = fd;
	j->name = name;
	assert_int_equal(worker_add(w, &job, boot_ns, NULL), 0);
	return j;
}

static struct job *answer(struct worker *w)
{
	struct pollfd p = {.fd = worker_fd(w), .events = POLLIN};
	struct job *j = NULL;

	while (!j && poll(&p, 1, PATIENCE_MS) == 1)
		j = worker_take(w);
	return j;
}

static void wait_for(atomic_int *what, int n)
{
	for (int ms = 0; atomic_load(what) < n && ms < PATIENCE_MS; ms++)
		usleep(1000);
	assert_int_equal(atomic_load(what), n);
}

static void what_is_asked_for_is_done_in_that_order(void **state)
{
	struct worker *w = open_one();
	char before[4] = "";

	(void)state;
	assert_int_equal(worker_alone(w)->code, 0);
	for (const char *c = "abc"; *c; c++)
		ask(w, *c, -1, 0);
	for (const char *c = "abc"; *c; c++) {
		struct job *j = answer(w);

		assert_non_null(j);
		assert_int_equal(j->name, *c);
		assert_string_equal(j->before, before);
		assert_false(pthread_equal(j->by, pthread_self()));
		before[strlen(before)] = *c;
		free(j);
	}
	assert_null(worker_take(w));
	worker_close(w);
	assert_int_equal(atomic_load(&dropped), 0);
	assert_int_equal(atomic_load(&freed), 1);
}

static void who_asks_waits_for_nothing_and_is_told_what_is_first(void **state)
{
	struct worker *w = open_one();
	uint64_t since = 0;
	struct job *a, *b;
	int hole[2];

	(void)state;
	assert_int_equal(pipe(hole), 0);
	assert_null(worker_first(w, &since));
	a = ask(w, 'a', hole[0], 5 * SECOND);
	b = ask(w, 'b', -1, 7 * SECOND);
	assert_ptr_equal(worker_first(w, &since), a);
	assert_int_equal(since, 5 * SECOND);
	assert_null(worker_take(w));
	assert_int_equal(worker_wait(w, clock_boot_ns() + SECOND / 100), -ETIMEDOUT);
	assert_int_equal(write(hole[1], "x", 1), 1);
	assert_int_equal(worker_wait(w, clock_boot_ns() + 10 * SECOND), 0);
	assert_null(worker_first(w, &since));
	assert_ptr_equal(worker_take(w), a);
	assert_ptr_equal(worker_take(w), b);
	free(a);
	free(b);
	worker_close(w);
	close(hole[0]);
	close(hole[1]);
}

static void closing_leaves_what_hangs_behind_and_drops_what_waits(void **state)
{
	struct worker *w = open_one();
	int hole[2];

	(void)state;
	assert_int_equal(pipe(hole), 0);
	ask(w, 'd', -1, 0);
	assert_int_equal(worker_wait(w, clock_boot_ns() + 10 * SECOND), 0); /* done, not taken */
	ask(w, 'a', hole[0], 0);
	wait_for(&begun, 2); /* what waits is dropped */
	ask(w, 'b', -1, 0);
	worker_close(w);
	assert_int_equal(atomic_load(&freed), 0);
	close(hole[1]);
	wait_for(&freed, 1);
	wait_for(&dropped, 3);
	close(hole[0]);
}

/* As where a sandbox allows no thread: no room for a stack of that size. */
static void without_a_thread_each_is_done_by_who_asks(void **state)
{
	pthread_attr_t was, huge;
	struct worker *w;
	struct job *j;
	uint64_t since;

	(void)state;
	assert_int_equal(pthread_getattr_default_np(&was), 0);
	assert_int_equal(pthread_attr_init(&huge), 0);
	assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 50), 0);
	assert_int_equal(pthread_setattr_default_np(&huge), 0);
	w = open_one();
	assert_int_equal(pthread_setattr_default_np(&was), 0);
	assert_int_not_equal(worker_alone(w)->code, 0);
	j = ask(w, 'a', -1, 0);
	assert_null(worker_first(w, &since));
	assert_true(pthread_equal(j->by, pthread_self()));
	assert_int_equal(worker_wait(w, 0), 0);
	assert_ptr_equal(answer(w), j);
	free(j);
	worker_close(w);
	assert_int_equal(atomic_load(&freed), 1);
	pthread_attr_destroy(&huge);
	pthread_attr_destroy(&was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for_is_done_in_that_order),
		cmocka_unit_test(who_asks_waits_for_nothing_and_is_told_what_is_first),
		cmocka_unit_test(closing_leaves_what_hangs_behind_and_drops_what_waits),
		cmocka_unit_test(without_a_thread_each_is_done_by_who_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
