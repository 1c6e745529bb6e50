#include "model/asked.h"

#include "tests/unit/chosen.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The root 300, of a shell; a service 200 that is older, and what each look sees of it. */
#define BELOW                         \
	"host self=920\n"             \
	"1 0 1 1 S 0 init\n"          \
	"920 1 920 920 S 120 stray\n" \
	"210 1 210 210 S 410 sh\n"    \
	"300 210 300 300 S 500 agent\n"
#define HOST BELOW "200 1 200 200 S 400 server spoke=500-700\n"
#define SILENT BELOW "200 1 200 200 S 400 server\n"
#define ROOT "300 group session chosen"

/* Chooses 300; then a source says who spoke with whom. */
static void choose(struct chosen *c, const char *host, uint64_t over)
{
	chosen_find(c, "300", SILENT);
	c->run.over_ticks = over;
	chosen_watch(c);
	hosts_look(&c->k, host);
}

static void what_a_service_forked_while_a_member_spoke_with_it_is_a_possible_member(void **state)
{
	static const struct {
		const char *what, *host, *evidence;
		uint64_t over;
	} cases[] = {
		{"born in that time", HOST "400 200 400 400 S 600 job\n", ROOT ", 400 peer", 0},
		{"in its last tick", HOST "400 200 400 400 S 700 job\n", ROOT ", 400 peer", 0},
		{"after it", HOST "400 200 400 400 S 701 job\n", ROOT, 0},
		{"before the member was there", HOST "400 200 400 400 S 499 job\n", ROOT, 0},
		{"before the run was over", HOST "400 200 400 400 S 600 job\n", ROOT ", 400 peer",
		 600},
		{"after it", HOST "400 200 400 400 S 600 job\n", ROOT, 599},
		{"of one that nobody spoke with", SILENT "400 200 400 400 S 600 job\n", ROOT, 0},
		{"of another", HOST "400 210 400 400 S 600 job\n", ROOT, 0},
		{"what it forks itself",
		 HOST "400 200 400 400 S 600 job\n401 400 400 400 S 610 x\n", ROOT ", 400 peer", 0},
		{"PID 1's, by whatever way",
		 "host self=920\n1 0 1 1 S 0 init spoke=500-700\n920 1 920 920 S 120 stray\n"
		 "300 1 300 300 S 500 agent\n400 1 400 400 S 600 job\n",
		 ROOT, 0},
		{"a kernel thread", HOST "400 200 400 400 S 600 job kthread\n", ROOT, 0},
		{"stray itself", HOST "host self=400\n400 200 400 400 S 600 stray\n", ROOT, 0},
		{"of a member",
		 BELOW "400 300 400 400 S 510 server spoke=500-700\n401 400 400 400 S 600 job\n",
		 ROOT ", 400 parent, 401 parent", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;

		choose(&c, cases[i].host, cases[i].over);
		chosen_expect(&c, cases[i].what, cases[i].evidence);
		chosen_end(&c);
	}
}

static void it_is_possible_only_and_flagged_so(void **state)
{
	struct chosen c;
	char flags[7];

	(void)state;
	choose(&c, HOST "400 200 400 400 S 600 job\n", 0);
	assert_false(run_is_member(hosts_process(c.k.now, 400)));
	run_flags(&c.run, hosts_process(c.k.now, 400), flags);
	assert_string_equal(flags, "-S---?");
	chosen_end(&c);
}

static void it_stays_so_when_they_have_spoken_and_when_its_forker_is_gone(void **state)
{
	struct chosen c;

	(void)state;
	choose(&c, HOST, 0);
	hosts_look(&c.k, SILENT "400 200 400 400 S 600 job\n401 200 401 401 S 701 late\n");
	chosen_expect(&c, "what was seen before the last look", ROOT ", 400 peer");
	hosts_look(&c.k, BELOW "400 1 400 400 S 600 job\n401 1 401 401 S 701 late\n");
	chosen_expect(&c, "its forker is gone", ROOT ", 400 peer");
	chosen_end(&c);
}

static void what_one_look_knows_of_it_is_put_to_what_another_does(void **state)
{
	static const struct {
		const char *what;
		uint64_t was[2], now[2], both[2];
	} cases[] = {
		{"never", {0, 0}, {0, 0}, {0, 0}},
		{"then", {5, 8}, {0, 0}, {5, 8}},
		{"now", {0, 0}, {5, 8}, {5, 8}},
		{"still", {5, 8}, {5, 9}, {5, 9}},
		{"another member, an older one", {5, 8}, {3, 9}, {3, 9}},
		{"a member from the first tick on", {0, 8}, {5, 9}, {0, 9}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct process was = {.spoke_from = cases[i].was[0],
					    .spoke_until = cases[i].was[1]};
		struct process p = {.spoke_from = cases[i].now[0], .spoke_until = cases[i].now[1]};

		asked_carry_over(&p, &was);
		if (p.spoke_from != cases[i].both[0] || p.spoke_until != cases[i].both[1])
			fail_msg("%s: %" PRIu64 "-%" PRIu64, cases[i].what, p.spoke_from,
				 p.spoke_until);
	}
}

static void another_run_in_view_has_spoken_with_nobody(void **state)
{
	struct chosen c;

	(void)state;
	choose(&c, HOST "400 200 400 400 S 600 job\n", 0);
	assert_int_equal(tracker_set_run(&c.k, &c.run, NULL), 0);
	chosen_expect(&c, "chosen anew", ROOT);
	chosen_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_a_service_forked_while_a_member_spoke_with_it_is_a_possible_member),
		cmocka_unit_test(it_is_possible_only_and_flagged_so),
		cmocka_unit_test(it_stays_so_when_they_have_spoken_and_when_its_forker_is_gone),
		cmocka_unit_test(what_one_look_knows_of_it_is_put_to_what_another_does),
		cmocka_unit_test(another_run_in_view_has_spoken_with_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
