/* What may hang is done by others; here it hangs at a pipe until the test lets it go. */
#include "base/clock.h"
#include "engine/errand.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 10000
#define SECOND CLOCK_NS_PER_S

static atomic_int dropped;

struct reading {
	int fd; /* -1: answers at once */
	int answer;
};

static void run(void *ctx)
{
	struct reading *r = ctx;
	char c;

	r->answer = r->fd < 0 ? 1 : read(r->fd, &c, 1) == 1 ? c : -1;
}

static void drop(void *ctx)
{
	free(ctx);
	atomic_fetch_add(&dropped, 1);
}

static int start(struct errand *e, int fd, struct err *err)
{
	struct reading *r = calloc(1, sizeof(*r));
	struct errand_job job = {run, drop, r};

	assert_non_null(r);
	r->fd = fd;
	return errand_start(e, &job, 0, err);
}

static struct reading *answer(struct errand *e)
{
	struct pollfd p = {.fd = errand_fd(e), .events = POLLIN};
	struct reading *r = NULL;

	while (!r && poll(&p, 1, PATIENCE_MS) == 1)
		r = errand_take(e);
	return r;
}

static void wait_dropped(int n)
{
	for (int ms = 0; atomic_load(&dropped) < n && ms < PATIENCE_MS; ms++)
		usleep(1000);
	assert_int_equal(atomic_load(&dropped), n);
}

static void what_answers_is_taken(void **state)
{
	struct errand *e;
	struct reading *r;

	(void)state;
	atomic_store(&dropped, 0);
	assert_int_equal(errand_open(&e, NULL), 0);
	assert_int_equal(start(e, -1, NULL), 0);
	r = answer(e);
	assert_non_null(r);
	assert_int_equal(r->answer, 1);
	assert_false(errand_busy(e));
	assert_null(errand_take(e));
	free(r);
	errand_close(e);
	assert_int_equal(atomic_load(&dropped), 0);
}

static void what_hangs_is_late_and_left_and_the_next_one_goes_on(void **state)
{
	struct reading *r;
	struct errand *e;
	int hole[2];

	(void)state;
	atomic_store(&dropped, 0);
	assert_int_equal(pipe(hole), 0);
	assert_int_equal(errand_open(&e, NULL), 0);
	assert_int_equal(start(e, hole[0], NULL), 0);
	assert_null(errand_take(e));
	assert_null(errand_late(e, ERRAND_HANG_NS - 1, ERRAND_HANG_NS));
	assert_non_null(errand_late(e, ERRAND_HANG_NS, ERRAND_HANG_NS));
	errand_leave(e);
	assert_false(errand_busy(e));
	assert_int_equal(start(e, -1, NULL), 0);
	r = answer(e);
	assert_non_null(r);
	assert_int_equal(r->answer, 1);
	free(r);
	assert_int_equal(write(hole[1], "x", 1), 1); /* the lost one comes back after all */
	wait_dropped(1);
	assert_null(errand_take(e));
	errand_close(e);
	close(hole[0]);
	close(hole[1]);
}

static void too_many_that_hang_are_an_error_until_they_come_back(void **state)
{
	struct err err = {0};
	struct errand *e;
	int hole[2], r = -EBUSY;

	(void)state;
	atomic_store(&dropped, 0);
	assert_int_equal(pipe(hole), 0);
	assert_int_equal(errand_open(&e, NULL), 0);
	for (int i = 0; i < ERRAND_LEFT_MAX; i++)
		assert_int_equal(start(e, hole[0], NULL), 0);
	assert_int_equal(start(e, -1, &err), -EBUSY);
	assert_string_equal(err.text, "8 readings hang: no more are begun");
	close(hole[1]); /* all read the end */
	wait_dropped(ERRAND_LEFT_MAX + 1);
	for (int ms = 0; r == -EBUSY && ms < PATIENCE_MS; ms++, usleep(1000))
		r = start(e, -1, NULL);
	assert_int_equal(r, 0);
	free(answer(e));
	errand_close(e);
	close(hole[0]);
}

static void closing_leaves_what_hangs_and_that_frees_itself(void **state)
{
	struct errand *e;
	int hole[2];

	(void)state;
	atomic_store(&dropped, 0);
	assert_int_equal(pipe(hole), 0);
	assert_int_equal(errand_open(&e, NULL), 0);
	assert_int_equal(start(e, hole[0], NULL), 0);
	errand_close(e);
	assert_int_equal(atomic_load(&dropped), 0);
	close(hole[1]);
	wait_dropped(1);
	close(hole[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_answers_is_taken),
		cmocka_unit_test(what_hangs_is_late_and_left_and_the_next_one_goes_on),
		cmocka_unit_test(too_many_that_hang_are_an_error_until_they_come_back),
		cmocka_unit_test(closing_leaves_what_hangs_and_that_frees_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
