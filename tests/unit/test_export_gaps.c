#include "record/export.h"

#include "tests/unit/exported.h"

#include "base/file.h"
#include "record/ledger.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_fault_is_said_first_and_what_was_before_it_is_told(void **state)
{
	static const char title[] = "# THE JOURNAL OF THIS RUN DOES NOT HOLD\n";
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *json = NULL;
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_event(&m, "14:00:09.000", "stated", "note", OPERATOR ",\"text\":\"a lie\"");
	exported_change_byte(&m, "runs/" RUN "/journal.jsonl", 200);
	text = exported_text(&m, false);
	assert_int_equal(strncmp(text, title, sizeof(title) - 1), 0);
	assert_non_null(strstr(text, "line 4 is not what was written"));
	assert_non_null(strstr(text, "from the 3 events before the fault"));
	assert_non_null(strstr(text, "adopted: pgid:4102"));
	assert_null(strstr(text, "a lie"));
	json = exported_text(&m, true);
	assert_non_null(
		strstr(json, "\"verdict\": \"changed\",\n    \"holds\": false,\n    \"line\": 4"));
	assert_null(strstr(json, "a lie"));
	exported_end(&m);
}

static void a_journal_cut_short_shows_by_the_ledger(void **state)
{
	static const char *const words[] = {"# THE JOURNAL OF THIS RUN DOES NOT HOLD",
					    "its end was cut off", NULL};
	struct err err = {0};
	struct exported m;
	off_t size;

	exported_begin(&m, state);
	exported_open_run(&m);
	size = lseek(m.journal, 0, SEEK_END);
	exported_event(&m, "14:00:09.000", "stated", "note", OPERATOR ",\"text\":\"a lie\"");
	assert_int_equal(ledger_note(m.s, RUN, "run_closed", m.seq, m.prev, RUN_ENDED, true, &err),
			 0);
	assert_int_equal(ftruncate(m.journal, size), 0);
	exported_says(&m, words);
	exported_end(&m);
}

static void a_torn_tail_is_said_and_the_rest_is_told(void **state)
{
	static const char *const words[] = {"the chain holds",
					    "the last writer died while it wrote: 9 bytes",
					    "adopted: pgid:4102", NULL};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	assert_int_equal(write(m.journal, "{\"schema\"", 9), 9);
	exported_says(&m, words);
	exported_end(&m);
}

static void gaps_of_watching_are_told(void **state)
{
	static const char *const words[] = {
		"nobody watched from " DAY "14:03:02.000000Z to " DAY
		"14:11:07.000000Z: silence is not absence",
		"ended without a word some time after " DAY "14:11:07.000000Z, and nobody watched "
		"from then on to " DAY "14:20:00.000000Z",
		"ended without a word some time after " DAY
		"14:20:00.000000Z, and nobody has watched since: silence is not absence",
		NULL};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_watch(&m, "14:00:02.100");
	exported_unwatch(&m, "14:03:02.000");
	exported_watch(&m, "14:11:07.000");
	exported_watch(&m, "14:20:00.000");
	exported_says(&m, words);
	exported_end(&m);
}

static void one_that_nobody_watched_says_so(void **state)
{
	static const char *const words[] = {"nobody ever watched this run", NULL};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_says(&m, words);
	exported_end(&m);
}

static void another_boot_and_a_moved_clock_are_told(void **state)
{
	static const char *const words[] = {
		"the host was started anew between event 3 and 4",
		"moved by +60.000 s against the time since boot between event 4 and 5", NULL};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_event_up(&m, "15:00:00.000", 100, "stated", "note",
			  OPERATOR ",\"text\":\"rebooted\"");
	exported_event_up(&m, "15:02:00.000", 160, "stated", "note",
			  OPERATOR ",\"text\":\"later\"");
	exported_says(&m, words);
	exported_end(&m);
}

static void a_record_that_was_changed_or_lost_is_told(void **state)
{
	static const char *const changed[] = {"run.json is NOT what the first event says it is",
					      "Its record cannot be read", NULL};
	static const char *const lost[] = {"Its record cannot be read", "adopted: pgid:4102",
					   "No such file", NULL};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_change_byte(&m, "runs/" RUN "/run.json", 3);
	exported_says(&m, changed);
	assert_int_equal(remove(scratch_path(state, "runs/" RUN "/run.json")), 0);
	exported_says(&m, lost);
	exported_end(&m);
}

static void files_that_are_not_what_they_were_prove_nothing(void **state)
{
	static const char *const words[] = {
		"diff.json, **CHANGED since**",
		"before.json, **not there**",
		"no comparison is there that is what the journal says",
		"before.json cannot be read",
		"diff.json is not what the journal says it was: nothing is told from it",
		NULL};
	struct exported m;

	exported_incident(&m, state);
	exported_change_byte(&m, "acts/20260724T141200Z-4102/diff.json", 5);
	assert_int_equal(remove(scratch_path(state, "acts/20260724T141200Z-4102/before.json")), 0);
	exported_says(&m, words);
	exported_end(&m);
}

static void the_files_of_a_run_are_compared_like_those_of_its_acts(void **state)
{
	static const char *const as_said[] = {
		"- before: runs/" RUN "/before.json, as the journal says\n",
		"- after: runs/" RUN "/after.json, as the journal says\n",
		"Nothing: no act on this run is recorded", NULL};
	static const char *const not_so[] = {"- before: runs/" RUN
					     "/before.json, **CHANGED since**\n",
					     "- after: runs/" RUN "/after.json, **not there**\n",
					     "before.json is not what the journal says it was",
					     "after.json cannot be read", NULL};
	AUTO_FREE char *json = NULL;
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_own_file(&m, "14:00:02.004", "before", "before.json");
	exported_own_file(&m, "14:00:09.000", "after", "after.json");
	exported_says(&m, as_said);
	exported_change_byte(&m, "runs/" RUN "/before.json", 5);
	assert_int_equal(remove(scratch_path(state, "runs/" RUN "/after.json")), 0);
	exported_says(&m, not_so);
	json = exported_text(&m, true);
	assert_non_null(strstr(json, "\n  \"files\": [\n    {\n      \"what\": \"before\""));
	exported_end(&m);
}

static void what_two_looks_could_not_read_alike_is_told_once(void **state)
{
	static const char *const words[] = {
		"- the first look and watching: environ of 3 processes of the host could not",
		"- watching: fd of 4 processes of the host could not", NULL};
	AUTO_FREE char *text = NULL;
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	for (size_t i = 0; i < 2; i++)
		exported_event(
			&m, "14:00:02.100", "seen", "watch_started",
			"\"watcher\":" P(5000, 880200) ",\"coverage\":{\"sources\":[\"netlink\"],"
						       "\"unreadable\":{\"environ\":3,\"fd\":4}}");
	exported_says(&m, words);
	text = exported_text(&m, false);
	assert_null(strstr(strstr(text, "environ of 3") + 1, "environ of 3"));
	exported_end(&m);
}

static void what_came_after_the_last_head_of_the_ledger_is_counted(void **state)
{
	static const char *const same[] = {"of event 3 (1 event since, which changes no state)",
					   NULL};
	static const char *const changed[] = {"(2 events since, which **CHANGED the state", NULL};
	struct err err = {0};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	assert_int_equal(ledger_note(m.s, RUN, "run_opened", m.seq, m.prev, RUN_ACTIVE, true, &err),
			 0);
	exported_event(&m, "14:00:05.000", "stated", "note", OPERATOR ",\"text\":\"one\"");
	exported_says(&m, same);
	exported_event(&m, "14:00:06.000", "scanned", "run_closed",
		       "\"state\":\"ended\",\"alive\":0");
	exported_says(&m, changed);
	exported_end(&m);
}

static void a_file_elsewhere_is_not_opened(void **state)
{
	static const char *const names[] = {"/etc/passwd",
					    "acts/../runs/" RUN "/run.json",
					    "acts/x/../../secret",
					    "acts/link/secret",
					    "acts/x",
					    "acts//x",
					    "secret",
					    ""};
	AUTO_FREE char *text = NULL;
	char members[300], sha256[CHAIN_HEX];
	struct err err = {0};
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	exported_file(scratch_path(state, "secret"), "s");
	assert_int_equal(symlink("..", scratch_path(state, "acts/link")), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(members, sizeof(members),
			 "\"act\":\"x\",\"what\":\"before\",\"file\":\"%s\",\"sha256\":\"\"",
			 names[i]);
		exported_event(&m, "14:00:09.000", "seen", "snapshot", members);
	}
	text = exported_text(&m, true);
	assert_int_equal(chain_digest("s", 1, sha256, &err), 0);
	assert_null(strstr(text, sha256));
	assert_non_null(strstr(text, "\"state\": \"missing\""));
	assert_null(strstr(text, "\"state\": \"changed\""));
	exported_end(&m);
}

/* Sealed, but not what this stray writes: told as far as it goes. */
static void events_of_odd_shapes_are_told_and_counted(void **state)
{
	static const char *const odd[][2] = {
		{"started", "\"process\":7"},
		{"started", "\"process\":" P(9, 9) ",\"comm\":[1],\"args\":{\"a\":1}"},
		{"forked", ""},
		{"exited", "\"process\":{\"pid\":\"x\"}"},
		{"signal_intent", "\"to\":[1,null,{\"pid\":-1}],\"not_aimed\":\"x\",\"signal\":9"},
		{"signal_sent", "\"to\":{}"},
		{"survivor", "\"why\":1"},
		{"snapshot", ""},
		{"note", ""},
		{"watch_started", "\"coverage\":[]"},
		{"run_closed", "\"state\":\"gone\""},
		{"clock_stepped", "\"by_ns\":\"x\""},
		{"adopted", "\"operator\":{\"uid\":-1}"},
		{"never_heard_of", "\"x\":{\"y\":[1,2]}"},
	};
	static const char *const words[] = {"cannot read; they are in the timeline",
					    "never_heard_of {\"x\":{\"y\":\\[1,2\\]}}", NULL};
	AUTO_FREE char *json = NULL;
	struct exported m;

	exported_begin(&m, state);
	exported_open_run(&m);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		exported_event(&m, "14:00:09.000", "seen", odd[i][0], odd[i][1]);
	exported_says(&m, words);
	json = exported_text(&m, true);
	assert_non_null(strstr(json, "never_heard_of"));
	exported_end(&m);
}

static void a_run_that_is_not_there_is_an_error(void **state)
{
	struct export *x = NULL;
	struct err err = {0};
	struct exported m;

	exported_begin(&m, state);
	assert_int_equal(export_read(m.s, "run-none", 1, &x, &err), -ENOENT);
	assert_int_equal(remove(scratch_path(state, "runs/" RUN "/journal.jsonl")), 0);
	assert_int_equal(export_read(m.s, RUN, 1, &x, NULL), -ENOENT);
	assert_null(x);
	exported_end(&m);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_fault_is_said_first_and_what_was_before_it_is_told),
		T(a_journal_cut_short_shows_by_the_ledger),
		T(a_torn_tail_is_said_and_the_rest_is_told),
		T(gaps_of_watching_are_told),
		T(one_that_nobody_watched_says_so),
		T(another_boot_and_a_moved_clock_are_told),
		T(a_record_that_was_changed_or_lost_is_told),
		T(files_that_are_not_what_they_were_prove_nothing),
		T(the_files_of_a_run_are_compared_like_those_of_its_acts),
		T(what_two_looks_could_not_read_alike_is_told_once),
		T(what_came_after_the_last_head_of_the_ledger_is_counted),
		T(a_file_elsewhere_is_not_opened),
		T(events_of_odd_shapes_are_told_and_counted),
		T(a_run_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
