#include "model/pipes.h"

#include "tests/unit/chosen.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The root 300 was given pipes by 200, which reads them; a shell runs stray. */
#define HOST                                       \
	"host self=920 pipes-of=300\n"             \
	"1 0 1 1 S 0 init\n"                       \
	"920 1 920 920 S 120 stray\n"              \
	"200 1 200 200 S 400 executor other=1,2\n" \
	"300 200 300 300 S 500 agent holds=0,1,2\n"

/* Chooses 300, whose stdin is no pipe. */
static void choose(struct chosen *c, const char *host)
{
	chosen_find(c, "300", host);
	c->run.ends_asked = true;
	c->run.ends[1] = (struct pipe_end){71, 1};
	c->run.ends[2] = (struct pipe_end){72, 1};
	chosen_watch(c);
}

#define ROOT "300 group session chosen"
#define AWAY "400 1 400 400 S 600 away holds=2\n"

static void who_holds_the_same_end_is_a_member_if_nobody_older_does(void **state)
{
	static const struct {
		const char *what, *host, *evidence;
	} cases[] = {
		{"it left in every way", HOST AWAY, ROOT ", 400 pipe"},
		{"and what it forked", HOST AWAY "401 400 401 401 S 610 x\n",
		 ROOT ", 400 pipe, 401 parent"},
		{"stdout alone", HOST "400 1 400 400 S 600 away holds=1\n", ROOT ", 400 pipe"},
		{"what is no pipe of the root's", HOST "400 1 400 400 S 600 away holds=0\n", ROOT},
		{"the other end", HOST "400 1 400 400 S 600 tee other=1,2\n", ROOT},
		{"older than the root", HOST "400 1 400 400 S 499 older holds=2\n", ROOT},
		{"and shared with an older one",
		 HOST AWAY "250 1 250 250 S 450 older holds=1,2\n401 1 401 401 S 600 x holds=1\n",
		 ROOT},
		{"where the older one shares another end",
		 HOST AWAY "250 1 250 250 S 450 older holds=1\n", ROOT ", 400 pipe"},
		{"a dead one shares nothing", HOST AWAY "250 1 250 250 Z 450 older holds=2\n",
		 ROOT ", 400 pipe"},
		{"of the same tick, later", HOST "400 1 400 400 S 500 away holds=2\n",
		 ROOT ", 400 pipe"},
		{"of the same tick, before", HOST AWAY "299 1 299 299 S 500 x holds=2\n", ROOT},
		{"of the same tick, before PIDs came round",
		 HOST AWAY "32000 1 32000 32000 S 500 x holds=2\n", ROOT},
		{"facts of another's pipes", HOST "host pipes-of=200\n" AWAY, ROOT},
		{"stray itself", HOST "host self=400\n" AWAY, ROOT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;

		choose(&c, cases[i].host);
		chosen_expect(&c, cases[i].what, cases[i].evidence);
		chosen_end(&c);
	}
}

static void what_is_not_readable_is_not_guessed(void **state)
{
	static const struct {
		const char *what, *host, *evidence, *unknown;
	} cases[] = {
		{"all is read", HOST AWAY, ROOT ", 400 pipe", NULL},
		{"the parent that made the pipes speaks for the older ones",
		 HOST AWAY "250 1 250 250 S 450 older fds_unread\n", ROOT ", 400 pipe", NULL},
		{"the parent itself is not readable",
		 "host self=920 pipes-of=300\n1 0 1 1 S 0 init\n920 1 920 920 S 120 stray\n"
		 "200 1 200 200 S 400 executor fds_unread\n"
		 "300 200 300 300 S 500 agent holds=1,2\n" AWAY,
		 ROOT, "whether the run's pipes are its own: descriptors of 1 older processes"},
		{"an older one, and the parent is not known",
		 "host self=920 pipes-of=300\n1 0 1 1 S 0 init\n920 1 920 920 S 120 stray\n"
		 "250 1 250 250 S 450 older fds_unread\n"
		 "300 1 300 300 S 500 agent holds=1,2\n" AWAY,
		 ROOT, "whether the run's pipes are its own: descriptors of 1 older processes"},
		{"others are hidden, and the parent is not known",
		 "host self=920 pipes-of=300 hidepid\n920 1 920 920 S 120 stray\n"
		 "300 1 300 300 S 500 agent holds=1,2\n" AWAY,
		 ROOT, "whether the run's pipes are its own: descriptors of 0 older processes"},
		{"a later one", HOST AWAY "401 1 401 401 S 600 x fds_unread\n", ROOT ", 400 pipe",
		 "who else holds the run's pipes: descriptors of 1 process not readable"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct chosen c;
		char text[160];
		bool unknown;

		choose(&c, cases[i].host);
		chosen_expect(&c, cases[i].what, cases[i].evidence);
		unknown = pipes_unknown(&c.run, text, sizeof(text));
		if (unknown != (cases[i].unknown != NULL) ||
		    (unknown && !strstr(text, cases[i].unknown)))
			fail_msg("%s: \"%s\"", cases[i].what, unknown ? text : "");
		chosen_end(&c);
	}
}

static void why_nothing_is_known_of_the_pipes_is_told(void **state)
{
	static const struct {
		bool asked;
		pid_t root;
		uint8_t error;
		const char *text;
	} cases[] = {
		{false, 0, 0, NULL},
		{true, 300, 0, NULL},
		{true, 0, 0, "who else holds the run's pipes: its root is gone"},
		{true, 300, ESRCH, "who else holds the run's pipes: its root 300 has ended"},
		{true, 300, EACCES, "the run's pipes: descriptors of 300 not readable (EACCES)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = {.ends_asked = cases[i].asked,
				  .ends_error = cases[i].error,
				  .root = {cases[i].root, 1}};
		char text[160];

		assert_int_equal(pipes_unknown(&run, text, sizeof(text)), cases[i].text != NULL);
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
	}
}

static void it_stays_so_when_the_root_or_an_older_holder_ends(void **state)
{
	struct chosen c;

	(void)state;
	choose(&c, HOST AWAY);
	hosts_look(&c.k, "host self=920\n1 0 1 1 S 0 init\n920 1 920 920 S 120 stray\n" AWAY
			 "500 1 500 500 S 900 later holds=2\n");
	chosen_expect(&c, "facts of nobody", "400 pipe");
	c.k.now->ends_of = c.run.root; /* the source goes on looking for them */
	assert_int_equal(tracker_set_run(&c.k, &c.run, NULL), 0);
	chosen_expect(&c, "the root is gone", "400 pipe, 500 pipe");
	chosen_end(&c);

	choose(&c, HOST AWAY "250 1 250 250 S 450 older holds=2\n");
	hosts_look(&c.k, HOST AWAY);
	chosen_expect(&c, "the older holder is gone", ROOT);
	chosen_end(&c);
}

static void the_peer_is_told_and_no_member(void **state)
{
	struct chosen c;

	(void)state;
	choose(&c, HOST "400 1 400 400 S 600 tee other=0,2\n");
	assert_int_equal(pipes_peer(&c.run, c.k.now, hosts_process(c.k.now, 200)), 1 << 1 | 1 << 2);
	assert_int_equal(pipes_peer(&c.run, c.k.now, hosts_process(c.k.now, 400)), 1 << 2);
	assert_int_equal(pipes_peer(&c.run, c.k.now, hosts_process(c.k.now, 300)), 0);
	assert_string_equal(pipes_name(2), "stderr");
	chosen_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_holds_the_same_end_is_a_member_if_nobody_older_does),
		cmocka_unit_test(what_is_not_readable_is_not_guessed),
		cmocka_unit_test(why_nothing_is_known_of_the_pipes_is_told),
		cmocka_unit_test(it_stays_so_when_the_root_or_an_older_holder_ends),
		cmocka_unit_test(the_peer_is_told_and_no_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
