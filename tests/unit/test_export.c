#include "record/export.h"

#include "tests/unit/exported.h"

#include "base/file.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_like(const char *text, const char *file)
{
	AUTO_FREE char *path = NULL, *want = NULL;

	assert_true(asprintf(&path, "%s/tests/unit/%s", getenv("abs_top_srcdir"), file) > 0);
	if (getenv("REGEN"))
		exported_file(path, text);
	assert_true(file_read_all_at(AT_FDCWD, path, 1 << 20, &want) > 0);
	assert_string_equal(text, want);
}

/* tests/unit/export.md and export.json are what an export looks like; with REGEN set they
 * are written anew, to be read before they are committed. */
static void an_incident_reads_as_the_model_does(void **state)
{
	AUTO_FREE char *text = NULL;
	struct exported m;

	exported_incident(&m, state);
	text = exported_text(&m, false);
	assert_like(text, "export.md");
	exported_end(&m);
}

static void the_same_incident_as_json(void **state)
{
	AUTO_FREE char *text = NULL;
	json_t *o = NULL;
	struct err err = {0};
	struct exported m;

	exported_incident(&m, state);
	text = exported_text(&m, true);
	assert_int_equal(json_read_line(text, strlen(text), &o, &err), 0);
	json_decref(o);
	assert_like(text, "export.json");
	exported_end(&m);
}

/* Each on its line, so that what is sealed can be checked in the export itself. */
static void the_timeline_of_json_holds_the_lines_as_they_were_sealed(void **state)
{
	static const char head[] = "    {\"schema\":\"stray.journal/1\"";
	AUTO_FREE char *text = NULL;
	char prev[CHAIN_HEX] = CHAIN_START;
	unsigned n = 0;
	struct exported m;

	exported_incident(&m, state);
	text = exported_text(&m, true);
	for (char *line = text, *next; line; line = next) {
		struct chain_seal seal;
		size_t len;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strncmp(line, head, sizeof(head) - 1) != 0)
			continue;
		len = strlen(line);
		assert_true(chain_check(line + 4, len - 4 - (line[len - 1] == ','), &seal));
		assert_string_equal(seal.prev, prev);
		memcpy(prev, seal.hash, sizeof(prev));
		n++;
	}
	assert_int_equal(n, m.seq);
	assert_string_equal(prev, m.prev);
	exported_end(&m);
}

static void no_process_writes_a_line_or_a_heading_of_its_own(void **state)
{
	AUTO_FREE char *text = NULL;
	struct exported m;

	exported_incident(&m, state);
	text = exported_text(&m, false);
	assert_non_null(strstr(text, "\\\\n\\\\n# Head\\\\n- item"));
	assert_null(strstr(text, "\n# Head"));
	assert_null(strstr(text, "\n- item"));
	assert_null(strstr(text, "<img"));
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xe2\x80\xae"));
	exported_end(&m);
}

static void an_end_is_told_of_the_act_that_it_came_in(void **state)
{
	static const char *const words[] = {
		"lived on; ended later, in act two\n",
		"gone " DAY "14:00:09.500000Z, 0.50 s after the first signal to it", NULL};
	static const char *const acts[] = {"one", "two"};
	char members[300];
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	for (size_t i = 0; i < 2; i++) {
		snprintf(members, sizeof(members),
			 "\"act\":\"%s\",\"signal\":\"%s\",\"to\":[" P(4102, 879000) "]", acts[i],
			 i ? "KILL" : "STOP");
		exported_event(&m, "14:00:09.000", "stated", "signal_intent", members);
		exported_event(&m, "14:00:09.000", "seen", "signal_sent", members);
	}
	exported_event(&m, "14:00:09.500", "seen", "exited",
		       "\"act\":\"two\",\"process\":" P(4102, 879000) ",\"signal\":\"KILL\"");
	exported_says(&m, words);
	exported_end(&m);
}

static void only_a_note_on_it_or_a_rule_explains_a_leftover(void **state)
{
	static const char *const unexplained[] = {
		"; 2 of these are unexplained (a note on the run as a whole is below)\n",
		"**unexplained** (a note on the run as a whole is below)\n", NULL};
	static const char *const explained[] = {"; 0 of these are unexplained\n",
						"kept by the rule exe=/bin/sh", "all is well",
						NULL};
	AUTO_FREE char *json = NULL;
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_leave_one(&m, "\"classes\":[\"left\"]");
	exported_event(&m, "14:00:05.000", "stated", "note", OPERATOR ",\"text\":\"all is well\"");
	exported_says(&m, unexplained);
	json = exported_text(&m, true);
	assert_non_null(strstr(json, "\"explanations\": [],\n      \"unexplained\": true"));
	exported_event(&m, "14:00:06.000", "stated", "kept",
		       "\"process\":" P(4131, 880300) ",\"rule\":\"exe=/bin/sh\"");
	exported_event(&m, "14:00:06.000", "stated", "note",
		       OPERATOR ",\"text\":\"the root\",\"process\":" P(4102, 879000));
	exported_says(&m, explained);
	exported_end(&m);
}

static void one_that_a_second_signal_ended_survived_the_first(void **state)
{
	static const char *const words[] = {"**survived** (survived TERM: it ignores TERM)\n",
					    " it survived TERM: it ignores TERM\n",
					    ": lived through TERM: it ignores TERM; gone " DAY
					    "14:00:07.500000Z, 2.50 s after the first signal",
					    "4131@880300 SURVIVED TERM: it ignores TERM\n", NULL};
	AUTO_FREE char *text = NULL;
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_leave_one(&m, "\"classes\":[\"left\"]");
	exported_event(&m, "14:00:05.000", "stated", "signal_intent",
		       "\"act\":\"one\",\"signal\":\"TERM\",\"to\":[" P(4131, 880300) "]");
	exported_event(&m, "14:00:05.000", "seen", "signal_sent",
		       "\"act\":\"one\",\"signal\":\"TERM\",\"to\":[" P(4131, 880300) "]");
	exported_event(&m, "14:00:07.000", "scanned", "survivor",
		       "\"act\":\"one\",\"process\":" P(
			       4131, 880300) ",\"why\":\"ignores_term\",\"signal\":\"TERM\"");
	exported_event(&m, "14:00:07.500", "seen", "exited",
		       "\"act\":\"one\",\"process\":" P(4131, 880300) ",\"signal\":\"KILL\"");
	exported_says(&m, words);
	text = exported_text(&m, false);
	assert_null(strstr(text, "nobody had signalled it"));
	exported_end(&m);
}

static void how_it_detached_is_said_as_far_as_it_is_known(void **state)
{
	static const char *const cases[][2] = {
		{"\"sid\":4131,\"pgid\":4131", "(a session of its own (setsid))"},
		{"\"sid\":4102,\"pgid\":4131", "(a process group of its own (setpgid))"},
		{"\"sid\":4120,\"pgid\":4120", "(in session 4120, which is not the run's)"},
		{"\"sid\":4102,\"pgid\":4102,\"flags\":[\"C\"]", "(left the run's cgroup)"},
		{"\"sid\":4131,\"pgid\":4131,\"flags\":[\"C\"]",
		 "(left the run's cgroup; a session of its own (setsid))"},
		{"\"flags\":[\"S\"]", "(a session of its own (setsid))"},
		{"\"sid\":4102,\"pgid\":4102", "(by what is not known)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *want = NULL;
		char members[200];
		struct exported m;

		exported_begin(&m, state);
		exported_open_run(&m);
		snprintf(members, sizeof(members), "\"classes\":[\"detached\"],%s", cases[i][0]);
		exported_leave_one(&m, members);
		assert_true(asprintf(&want, "**detached** %s\n", cases[i][1]) > 0);
		exported_says(&m, (const char *const[]){want, NULL});
		exported_end(&m);
		scratch_teardown(state);
		scratch_setup(state);
	}
}

static void the_operator_has_the_name_that_the_journal_knows(void **state)
{
	static const char *const words[] = {
		"note by root (uid 0, login uid unset, terminal pts/2): one\n",
		"note by uid 7, login uid unset, terminal pts/2: two\n", NULL};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_leave_one(&m, "\"classes\":[\"left\"]");
	exported_event(
		&m, "14:00:05.000", "stated", "note",
		"\"operator\":{\"uid\":0,\"login_uid\":-1,\"sudo_user\":null,\"tty\":\"pts/2\"},"
		"\"text\":\"one\"");
	exported_event(
		&m, "14:00:05.000", "stated", "note",
		"\"operator\":{\"uid\":7,\"login_uid\":-1,\"sudo_user\":null,\"tty\":\"pts/2\"},"
		"\"text\":\"two\"");
	exported_says(&m, words);
	exported_end(&m);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_incident_reads_as_the_model_does),
		T(the_same_incident_as_json),
		T(the_timeline_of_json_holds_the_lines_as_they_were_sealed),
		T(no_process_writes_a_line_or_a_heading_of_its_own),
		T(an_end_is_told_of_the_act_that_it_came_in),
		T(only_a_note_on_it_or_a_rule_explains_a_leftover),
		T(one_that_a_second_signal_ended_survived_the_first),
		T(how_it_detached_is_said_as_far_as_it_is_known),
		T(the_operator_has_the_name_that_the_journal_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
