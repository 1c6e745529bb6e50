#include "model/run_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void events_lead_from_state_to_state(void **state)
{
	static const struct {
		enum run_state from;
		const char *event;
		enum run_state closed_as, to;
	} cases[] = {
		{RUN_UNKNOWN, "run_opened", RUN_UNKNOWN, RUN_ACTIVE},
		{RUN_ACTIVE, "run_opened", RUN_UNKNOWN, RUN_ACTIVE},
		{RUN_ENDED, "run_opened", RUN_UNKNOWN, RUN_ENDED},
		{RUN_ACTIVE, "deadline_expired", RUN_UNKNOWN, RUN_EXPIRED},
		{RUN_LEFTOVER, "deadline_expired", RUN_UNKNOWN, RUN_LEFTOVER},
		{RUN_ACTIVE, "end_requested", RUN_UNKNOWN, RUN_ENDING},
		{RUN_EXPIRED, "end_requested", RUN_UNKNOWN, RUN_ENDING},
		{RUN_LEFTOVER, "end_requested", RUN_UNKNOWN, RUN_ENDING},
		{RUN_SURVIVED, "end_requested", RUN_UNKNOWN, RUN_ENDING},
		{RUN_LOST, "end_requested", RUN_UNKNOWN, RUN_ENDING},
		{RUN_ENDED, "end_requested", RUN_UNKNOWN, RUN_ENDED},
		{RUN_FINISHED, "end_requested", RUN_UNKNOWN, RUN_FINISHED},
		{RUN_ENDING, "run_closed", RUN_ENDED, RUN_ENDED},
		{RUN_ENDING, "run_closed", RUN_SURVIVED, RUN_SURVIVED},
		{RUN_ACTIVE, "run_closed", RUN_LEFTOVER, RUN_LEFTOVER},
		{RUN_LEFTOVER, "run_closed", RUN_ENDED, RUN_ENDED},
		{RUN_ACTIVE, "run_closed", RUN_UNKNOWN, RUN_ACTIVE},
		{RUN_ENDING, "runner_lost", RUN_UNKNOWN, RUN_LOST},
		{RUN_ENDED, "runner_lost", RUN_UNKNOWN, RUN_ENDED},
		{RUN_ACTIVE, "note", RUN_UNKNOWN, RUN_ACTIVE},
		{RUN_ACTIVE, "of a later stray", RUN_ENDED, RUN_ACTIVE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(run_state_next(cases[i].from, cases[i].event, cases[i].closed_as),
				 cases[i].to);
}

static void only_an_active_run_may_act(void **state)
{
	(void)state;
	for (int s = RUN_UNKNOWN; s < RUN_STATES; s++)
		assert_int_equal(run_state_may_act((enum run_state)s), s == RUN_ACTIVE);
}

static void names_are_read_back(void **state)
{
	(void)state;
	for (int s = RUN_ACTIVE; s < RUN_STATES; s++)
		assert_int_equal(run_state_parse(run_state_name((enum run_state)s)), s);
	assert_int_equal(run_state_parse("unknown"), RUN_UNKNOWN);
	assert_int_equal(run_state_parse("actives"), RUN_UNKNOWN);
}

static void what_survived_needs_eyes_first(void **state)
{
	static const enum run_state order[] = {RUN_SURVIVED, RUN_LEFTOVER, RUN_LOST, RUN_ENDING,
					       RUN_EXPIRED,  RUN_ACTIVE,   RUN_ENDED};

	(void)state;
	for (size_t i = 1; i < sizeof(order) / sizeof(order[0]); i++)
		assert_true(run_state_rank(order[i - 1]) > run_state_rank(order[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_lead_from_state_to_state),
		cmocka_unit_test(only_an_active_run_may_act),
		cmocka_unit_test(names_are_read_back),
		cmocka_unit_test(what_survived_needs_eyes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
