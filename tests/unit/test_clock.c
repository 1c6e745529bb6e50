#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void durations_are_those_of_timeout(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t ns;
	} cases[] = {
		{"30", 0, 30 * CLOCK_NS_PER_S},
		{"30s", 0, 30 * CLOCK_NS_PER_S},
		{"5m", 0, 300 * CLOCK_NS_PER_S},
		{"1h", 0, 3600 * CLOCK_NS_PER_S},
		{"1d", 0, 86400 * CLOCK_NS_PER_S},
		{"0", 0, 0},
		{".5", 0, CLOCK_NS_PER_S / 2},
		{"0.25s", 0, CLOCK_NS_PER_S / 4},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"1w", -EINVAL, 0},
		{"1s1", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1e400", -EINVAL, 0},
		{" 1", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = 0;

		assert_int_equal(clock_parse_duration(cases[i].text, &ns), cases[i].r);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void times_survive_a_round_trip(void **state)
{
	char text[CLOCK_RFC3339_MAX];
	uint64_t ns;

	(void)state;
	clock_rfc3339(1784901632004112000ULL, text);
	assert_string_equal(text, "2026-07-24T14:00:32.004112Z");
	assert_int_equal(clock_parse_rfc3339(text, &ns), 0);
	assert_int_equal(ns, 1784901632004112000ULL);
	assert_int_equal(clock_parse_rfc3339("2026-07-24T14:00:32Z", &ns), 0);
	assert_int_equal(clock_parse_rfc3339("2026-07-24T14:00:32+02:00", &ns), -EINVAL);
	assert_int_equal(clock_parse_rfc3339("2026-07-24T14:00:32.Z", &ns), -EINVAL);
	assert_int_equal(clock_parse_rfc3339("2261-12-31T23:59:59Z", &ns), 0);
	assert_int_equal(clock_parse_rfc3339("2554-07-24T14:00:32Z", &ns), -EINVAL);
	assert_int_equal(clock_parse_rfc3339("4052-07-24T14:00:32Z", &ns), -EINVAL);
	assert_int_equal(clock_parse_rfc3339("1969-07-24T14:00:32Z", &ns), -EINVAL);
}

static void ages_take_few_letters(void **state)
{
	static const struct {
		uint64_t s;
		const char *text;
	} cases[] = {{4, "4s"}, {507, "8m27s"}, {11520, "3h12m"}, {187200, "2d04h"}};
	char text[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		clock_age(cases[i].s, text);
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_those_of_timeout),
		cmocka_unit_test(times_survive_a_round_trip),
		cmocka_unit_test(ages_take_few_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
