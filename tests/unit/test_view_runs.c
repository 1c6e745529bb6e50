/* The screens of recorded runs: what is known of them in, a key script in, text out. */
#include "tests/unit/view_world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

#define NOW_NS 1784902267000250000ULL /* 14:11:07, the world's */
#define AGO(s) (NOW_NS - (s)*CLOCK_NS_PER_S)

static void started(struct world *w, struct table *t, int rows, int cols)
{
	world_start(w, rows, cols);
	world_scan(w, t);
}

/* --- a recorded run in view ------------------------------------------------ */

/* session 4102 as a recorded run, in view. */
static void record(struct world *w, struct vigil *g, enum run_state state)
{
	struct selector target;
	struct err err = {0};

	memset(g, 0, sizeof(*g));
	assert_int_equal(selector_parse("sid:4102", &target, &err), 0);
	assert_int_equal(run_choose(&g->recorded.run, &target, w->tracker.now, &err), 0);
	selector_free(&target);
	snprintf(g->recorded.run.id, sizeof(g->recorded.run.id), "run-7f3c0a12");
	snprintf(g->recorded.dir.id, sizeof(g->recorded.dir.id), "run-7f3c0a12");
	snprintf(g->recorded.story.record.target, sizeof(g->recorded.story.record.target),
		 "sid:4102");
	g->recorded.run.recorded = g->open = g->writes = true;
	g->recorded.story.record.host.wall_ns = AGO(660);
	g->state = state;
	assert_int_equal(view_record(&w->view, g, &err), 0);
}

static void forget(struct world *w, struct vigil *g)
{
	struct err err = {0};

	view_record(&w->view, NULL, &err);
	run_clear(&g->recorded.run);
	story_clear(&g->recorded.story);
	world_end(w);
}

static void a_recorded_run_says_its_state_on_the_second_line(void **state)
{
	static const struct {
		enum run_state state, written; /* seen now; the journal's */
		int since_ago, deadline_in;    /* s; 0: none */
		const char *shows;
	} cases[] = {
		{RUN_ACTIVE, RUN_ACTIVE, 700, 0, "\n ACTIVE · 2 ALIVE"},
		{RUN_ACTIVE, RUN_ACTIVE, 700, 660, "\n ACTIVE ██████░░░░░░ 11m00s left · 2 ALIVE"},
		{RUN_EXPIRED, RUN_EXPIRED, 185, 0, "\n EXPIRED 3m05s ago · 2 ALIVE"},
		{RUN_EXPIRED, RUN_EXPIRED, 5, -380, "\n EXPIRED 6m20s ago · 2 ALIVE"},
		{RUN_EXPIRED, RUN_ACTIVE, 700, -380, "\n EXPIRED 6m20s ago · 2 ALIVE"},
		{RUN_ENDING, RUN_ENDING, 7, -380, "\n ENDING asked 7s ago · 2 ALIVE"},
		{RUN_ENDED, RUN_ENDED, 16, -380, "\n ENDED 16s ago · 2 ALIVE"},
		{RUN_ENDED, RUN_EXPIRED, 380, -380, "\n ENDED · 2 ALIVE"},
		{RUN_FINISHED, RUN_FINISHED, 16, 380, "\n FINISHED 16s ago · 2 ALIVE"},
		{RUN_LEFTOVER, RUN_LEFTOVER, 485, 0, "\n LEFTOVER 8m05s ago · 2 ALIVE"},
		{RUN_SURVIVED, RUN_SURVIVED, 9, -380, "\n SURVIVED 9s ago · 2 ALIVE"},
		{RUN_LOST, RUN_ACTIVE, 700, 0, "\n LOST · 2 ALIVE"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vigil g;
		struct world w;

		started(&w, world_incident(), 24, 100);
		record(&w, &g, cases[i].state);
		g.recorded.story.state = cases[i].written;
		g.recorded.story.state_wall_ns = AGO((unsigned)cases[i].since_ago);
		g.recorded.story.over_wall_ns = AGO(380);
		if (cases[i].deadline_in)
			g.recorded.story.record.deadline_wall_ns =
				NOW_NS + (uint64_t)cases[i].deadline_in * CLOCK_NS_PER_S;
		world_shows(&w, cases[i].shows);
		world_shows(&w, "run-7f3c0a12 · sid:4102");
		forget(&w, &g);
	}
}

static void after_is_since_the_record_says_that_it_was_over(void **state)
{
	struct vigil g;
	struct world w;
	char line[600];

	(void)state;
	started(&w, world_incident(), 24, 100);
	record(&w, &g, RUN_EXPIRED);
	g.recorded.story.state = RUN_EXPIRED;
	g.recorded.story.state_wall_ns = AGO(605); /* 14:01:02: 8 s before 4150 began */
	g.recorded.run.over_ticks = (90714 - 605) * 100;
	view_recorded(&w.view);
	world_line(&w, "python3 worker.py", line, sizeof(line));
	assert_non_null(strstr(line, "-G-L-"));
	assert_non_null(strstr(line, "+0:08"));
	world_golden(&w, "recorded-100x24");
	world_keys(&w, "Resize:24x80");
	world_golden(&w, "recorded-80x24");
	forget(&w, &g);
}

static void who_watches_and_since_when_is_said(void **state)
{
	struct vigil g;
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 120);
	record(&w, &g, RUN_ACTIVE);
	world_shows(&w, "seen: scans since 14:11:02 · watched · not what lived between two");
	g.other = true;
	world_shows(&w, "watched by another stray");
	g.other = false;
	g.gap_from_ns = AGO(485);
	g.gap_to_ns = AGO(7);
	g.gap_lost = true;
	world_shows(&w, "nobody watched from 14:03:02 to 14:11:00 (who watched before died)");
	g.writes = false;
	world_shows(&w, "not watched: nothing is written from here");
	forget(&w, &g);
}

static void a_journal_that_cannot_be_written_is_said_once_and_stays_said(void **state)
{
	struct vigil g;
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	record(&w, &g, RUN_ACTIVE);
	err_set(&g.trouble, ENOSPC, "journal.jsonl: No space left on device");
	view_recorded(&w.view);
	world_shows(&w, "\n not written: journal.jsonl: No space left on device");
	world_shows(&w, "not written to the journal: ");
	assert_true(w.view.bell);
	w.view.bell = false;
	world_keys(&w, "Down");
	view_recorded(&w.view);
	assert_false(w.view.bell);
	world_hides(&w, "not written to the journal: ");
	world_shows(&w, "\n not written: journal.jsonl");
	err_clear(&g.trouble);
	view_recorded(&w.view);
	world_hides(&w, "not written");
	forget(&w, &g);
}

/* --- while it is written ---------------------------------------------------- */

static void what_the_disk_keeps_waiting_is_said(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	w.view.writing = "recording the run";
	w.view.writing_s = 7;
	world_shows(&w, "\n the disk is slow: recording the run, 7 s so far\n");
	w.view.leaving = true;
	world_shows(&w, "7 s so far · q again leaves at once\n");
	w.view.writing = NULL;
	world_hides(&w, "the disk is slow");
	world_end(&w);
}

static void who_leaves_is_asked_again_by_q_from_any_screen(void **state)
{
	static const char *const screens[] = {"", "w", "d", "?", "R", "E", "/", "r"};

	(void)state;
	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		struct world w;

		started(&w, world_incident(), 24, 100);
		world_keys(&w, screens[i]);
		w.view.leaving = true;
		world_keys(&w, "q");
		assert_int_equal(w.asked[REQUEST_QUIT], 1);
		world_end(&w);
	}
}

static void a_run_that_is_recorded_at_last_stays_where_it_was(void **state)
{
	struct selector target;
	struct vigil g;
	struct world w;
	struct err err = {0};
	char line[600];

	(void)state;
	started(&w, world_incident(), 24, 100);
	record(&w, &g, RUN_ACTIVE);
	assert_int_equal(selector_parse("sid:4102", &target, &err), 0);
	assert_int_equal(view_choose(&w.view, &target, &err), 0);
	selector_free(&target);
	world_keys(&w, "/ <4150> Enter");
	world_shows(&w, "session 4102");
	w.view.run.ended = 3; /* meanwhile */
	assert_int_equal(view_adopted(&w.view, &g, &err), 0);
	world_shows(&w, "run-7f3c0a12 · sid:4102");
	world_shows(&w, "3 ended");
	world_line(&w, "> ", line, sizeof(line));
	assert_non_null(strstr(line, "group 4150"));
	forget(&w, &g);
}

/* --- who has ended, and who got away --------------------------------------- */

static void add_member(struct vigil *g, pid_t pid, const char *comm, const char *args, size_t len,
		       bool gone)
{
	struct story_member *m = story_add(&g->recorded.story, (struct identity){pid, 8890000});

	assert_non_null(m);
	if (gone)
		story_gone(m, pid == 4141 ? 0 : AGO(600));
	m->evidence = EVIDENCE_FORK;
	m->ppid = 4131;
	m->pgid = m->sid = 4102;
	assert_true(bytes_set(&m->comm, comm, strlen(comm)));
	assert_true(bytes_set(&m->args, args, len));
}

static void members_that_ended_before_the_view_are_listed(void **state)
{
	static const char tar[] = "tar\0czf\0dump.tgz", sh[] = "sh\0upload.sh";
	struct vigil g;
	struct world w;
	struct err err = {0};
	char line[600];

	(void)state;
	started(&w, world_incident(), 24, 100);
	record(&w, &g, RUN_ACTIVE);
	add_member(&g, 4140, "tar", tar, sizeof(tar), true);
	add_member(&g, 4141, "sleep", sh, sizeof(sh), true);
	add_member(&g, 4142, "alive", "alive", 6, false);
	g.recorded.run.ended = 3; /* the journal does not tell of one */
	assert_int_equal(view_record(&w.view, &g, &err), 0);
	world_keys(&w, "End Up");
	world_shows(&w, "▸ ended  3");
	world_keys(&w, "Enter");
	world_shows(&w, "▾ ended  3 · not listed: 1, E tells of them");
	world_hides(&w, "4142");
	world_line(&w, "tar czf dump.tgz", line, sizeof(line));
	assert_non_null(strstr(line, "4140"));
	assert_non_null(strstr(line, "gone 14:01:07")); /* as the journal says */
	world_line(&w, "sh upload.sh", line, sizeof(line));
	assert_string_equal(strstr(line, "gone"), "gone"); /* it does not say when */
	world_keys(&w, "Down Down");
	world_shows(&w, "\n 4141 sh upload.sh (sleep) · parent was 4131\n");
	world_shows(&w, "nothing alive stands in this row");
	world_golden(&w, "ended-100x24");
	story_member(&g.recorded.story, (struct identity){4142, 8890000})->gone = true;
	world_scan(&w, world_incident());
	world_shows(&w, "4142");
	forget(&w, &g);
}

static void of_many_that_ended_the_newest_are_listed(void **state)
{
	struct vigil g = {0};
	struct gone gone = {0};

	(void)state;
	for (pid_t pid = 1; pid <= GONE_MAX + 2; pid++)
		add_member(&g, 5000 + pid, "x", "x", 2, true);
	assert_int_equal(gone_take(&gone, &g.recorded.story), 0);
	assert_int_equal(gone.n, GONE_MAX);
	assert_int_equal(gone.v[0].id.pid, 5003);
	gone_free(&gone);
	story_clear(&g.recorded.story);
}

static void the_pane_says_how_a_member_got_away(void **state)
{
	static const struct {
		const char *keys, *shows;
	} cases[] = {
		{"/ <4150> Enter", " · REGROUPED: own group by setpgid\n"},
		{"/ <4131> Enter", "\n member by: session\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;
		struct selector target;
		struct err err = {0};

		started(&w, world_incident(), 24, 100);
		assert_int_equal(selector_parse("sid:4102", &target, &err), 0);
		assert_int_equal(view_choose(&w.view, &target, &err), 0);
		selector_free(&target);
		world_keys(&w, cases[i].keys);
		world_shows(&w, cases[i].shows);
		world_end(&w);
	}
}

static void a_detached_member_says_that_it_made_its_session(void **state)
{
	struct vigil g;
	struct world w;
	struct err err = {0};
	struct run_kept kept = {.evidence = EVIDENCE_FORK};

	(void)state;
	started(&w, world_incident(), 24, 100);
	record(&w, &g, RUN_ACTIVE);
	kept.id = table_pid(w.tracker.now, 4160)->id;
	assert_true(VEC_PUSH(&g.recorded.run.kept, kept));
	kept.id = table_pid(w.tracker.now, 4171)->id;
	assert_true(VEC_PUSH(&g.recorded.run.kept, kept));
	run_keep_sort(&g.recorded.run);
	assert_int_equal(view_record(&w.view, &g, &err), 0);
	world_keys(&w, "/ <4160> Enter");
	world_shows(&w, " · DETACHED: own session by setsid");
	world_keys(&w, "/ <4171> Enter");
	world_shows(&w, " · DETACHED: in session 4160, not the run's 4102");
	forget(&w, &g);
}

static void q_leads_back_to_the_run_where_there_is_one(void **state)
{
	static const char *const lists[] = {"o", "a"};
	struct vigil g;
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		started(&w, world_incident(), 24, 100);
		record(&w, &g, RUN_ACTIVE);
		world_keys(&w, lists[i]);
		assert_int_not_equal(w.view.list, LIST_RUN);
		world_shows(&w, "q back");
		world_keys(&w, "q");
		assert_int_equal(w.asked[REQUEST_QUIT], 0);
		assert_int_equal(w.view.list, LIST_RUN);
		world_shows(&w, "q quit");
		world_keys(&w, "q");
		assert_int_equal(w.asked[REQUEST_QUIT], 1);
		forget(&w, &g);
	}
}

/* --- the runs -------------------------------------------------------------- */

static void add_run(struct runlist *l, const char *id, enum run_state state, unsigned ago,
		    size_t alive, const char *command)
{
	struct runlist_item item = {.state = state, .alive = alive, .here = true, .readable = true};

	snprintf(item.id, sizeof(item.id), "%s", id);
	snprintf(item.command, sizeof(item.command), "%s", command);
	item.began_ns = AGO(ago);
	assert_true(VEC_PUSH(l, item));
}

static void load_runs(struct world *w)
{
	struct runlist l = {0};

	add_run(&l, "run-7f3c0a12", RUN_ACTIVE, 100, 3, "sh -c ./deploy.sh --env prod");
	l.v[0].deadline_ns = NOW_NS + 100 * CLOCK_NS_PER_S;
	l.v[0].watched = 1;
	add_run(&l, "run-0badcafe", RUN_LEFTOVER, 700, 2, "agent-runner --token=***");
	l.v[1].left = 2;
	l.v[1].over_ns = AGO(485);
	add_run(&l, "nightly", RUN_FINISHED, 90000, 0, "make check");
	l.v[2].here = false;
	add_run(&l, "run-11111111", RUN_ACTIVE, 90010, 0, "x");
	l.v[3].readable = false;
	snprintf(l.v[3].why, sizeof(l.v[3].why), "run.json: byte 17: not JSON");
	view_runs_loaded(&w->view, &l);
}

static void what_was_kept_of_a_list_stands_where_it_did(void **state)
{
	static const char *const ids[] = {"d", "c", "b", "a"};
	struct runlist before = {0}, kept = {0}, now = {0};
	struct runs_item fresh[] = {{.id = "b"}, {.id = "d"}};
	struct runs runs = {.v = fresh, .n = 2};

	(void)state;
	fresh[0].recorded.story.record.host.wall_ns = AGO(300);
	fresh[1].recorded.story.record.host.wall_ns = AGO(100);
	add_run(&before, "c", RUN_FINISHED, 200, 0, "make");
	add_run(&before, "a", RUN_ENDED, 400, 0, "sleep 60");
	before.v[0].noted_ns = AGO(200);
	before.v[1].noted_ns = AGO(400);
	assert_int_equal(runlist_copy(&kept, &before), 0);
	assert_int_equal(runlist_take(&now, &runs, &kept), 0);
	assert_int_equal(now.n, 4);
	for (size_t i = 0; i < now.n; i++)
		assert_string_equal(now.v[i].id, ids[i]);
	assert_string_equal(now.v[3].command, "sleep 60");
	assert_int_equal(now.v[3].state, RUN_ENDED);
	runlist_free(&before);
	runlist_free(&kept);
	runlist_free(&now);
}

static void the_host_says_how_many_runs_are_recorded(void **state)
{
	struct runlist one = {0}, broken = {.trouble = "STATE: Permission denied"};
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_shows(&w, "web-01 · nothing recorded · ");
	load_runs(&w);
	world_shows(&w, "web-01 · 4 runs recorded (R) · ");
	add_run(&one, "run-7f3c0a12", RUN_ENDED, 100, 0, "sh");
	view_runs_loaded(&w.view, &one);
	world_shows(&w, "web-01 · 1 run recorded (R) · ");
	view_runs_loaded(&w.view, &broken); /* then it is not known that there is none */
	world_shows(&w, "web-01 · no run in view · ");
	world_end(&w);
}

static void the_runs_are_listed_newest_first(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	w.view.runs_known = false;
	world_keys(&w, "R");
	assert_int_equal(w.last, REQUEST_RUNS);
	world_shows(&w, "reading the recorded runs");
	load_runs(&w);
	world_shows(&w, "2 of 4 with something alive");
	world_shows(&w, "█████░░░░░");
	world_shows(&w, "DAMAGED  run.json: byte 17: not JSON");
	world_golden(&w, "runs-100x24");
	world_keys(&w, "Resize:24x80");
	world_golden(&w, "runs-80x24");
	world_keys(&w, "Esc");
	world_shows(&w, "SUSPECTS");
	world_end(&w);
}

static void enter_opens_the_run_under_the_cursor_if_it_can_be(void **state)
{
	static const struct {
		const char *keys;
		unsigned asked;
		const char *at, *shows;
	} cases[] = {
		{"Enter", 1, "run-7f3c0a12", ""},
		{"Down Enter", 1, "run-0badcafe", ""},
		{"/ <agent-run> Enter Enter", 1, "run-0badcafe", ""},
		{"Down Down Enter", 0, "nightly", "of another boot or PID namespace"},
		{"End Enter", 0, "run-11111111", "cannot be read: run.json"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;

		started(&w, world_incident(), 24, 100);
		world_keys(&w, "R");
		load_runs(&w);
		world_keys(&w, cases[i].keys);
		assert_int_equal(w.asked[REQUEST_OPEN_RUN], cases[i].asked);
		assert_string_equal(w.view.runs_at, cases[i].at);
		world_shows(&w, cases[i].shows);
		world_end(&w);
	}
}

static void the_cursor_stays_on_its_run_when_a_newer_one_comes(void **state)
{
	struct runlist l = {0};
	struct world w;
	char line[600];

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "R");
	load_runs(&w);
	world_keys(&w, "Down");
	add_run(&l, "brand-new", RUN_ACTIVE, 1, 1, "sleep 5");
	add_run(&l, "run-7f3c0a12", RUN_ACTIVE, 100, 3, "sh");
	add_run(&l, "run-0badcafe", RUN_LEFTOVER, 700, 2, "agent-runner");
	view_runs_loaded(&w.view, &l);
	world_line(&w, "> ", line, sizeof(line));
	assert_non_null(strstr(line, "run-0badcafe"));
	world_keys(&w, "\\ <sleep> Enter");
	world_shows(&w, "brand-new");
	world_hides(&w, "run-7f3c0a12");
	world_keys(&w, "Esc");
	world_shows(&w, "run-7f3c0a12");
	world_end(&w);
}

/* --- the events ------------------------------------------------------------ */

#define AT "\"at\":\"2026-07-24T14:03:02.250000Z\",\"known\":\"seen\","
#define P "\"process\":{\"pid\":4160,\"start_ticks\":881000}"

static const char *const lines[] = {
	"{\"seq\":1," AT "\"event\":\"run_opened\",\"how\":\"adopted\",\"operator\":{\"uid\":0}}",
	"{\"seq\":2," AT "\"event\":\"adopted\",\"target\":\"sid:4102\",\"members\":2}",
	"{\"seq\":3," AT "\"event\":\"forked\"," P
	",\"child\":{\"pid\":4171,\"start_ticks\":881300},\"args\":[\"curl\",\"-T\",\"dump.sql\"]}",
	"{\"seq\":4," AT "\"event\":\"setsid\"," P ",\"from\":4102,\"to\":4160}",
	"{\"seq\":5," AT "\"event\":\"reparented\"," P
	",\"from\":{\"pid\":4155,\"start_ticks\":1},\"to\":{\"pid\":1,\"start_ticks\":2}}",
	"{\"seq\":6," AT "\"event\":\"signal_intent\",\"signal\":\"TERM\",\"unit\":\"group\","
	"\"number\":4160,\"to\":[{\"pid\":4160},{\"pid\":4171}],\"not_aimed\":[{\"pid\":4131}]}",
	"{\"seq\":7," AT "\"event\":\"signal_sent\",\"signal\":\"TERM\","
	"\"to\":[{\"pid\":4160,\"result\":\"sent\",\"errno\":null},"
	"{\"pid\":4171,\"result\":\"denied\",\"errno\":\"EPERM\"}]}",
	"{\"seq\":8," AT "\"event\":\"exited\"," P ",\"signal\":\"TERM\"}",
	"{\"seq\":9," AT "\"event\":\"survivor\",\"process\":{\"pid\":4171,\"start_ticks\":881300},"
	"\"why\":\"ignores_term\"}",
	"{\"seq\":10," AT "\"event\":\"note\",\"text\":\"hostile \\u001b[2J text\"," P "}",
	"{\"seq\":11," AT "\"event\":\"of_tomorrow\",\"what\":\"a later stray's\"}",
	"{\"seq\":12," AT "\"event\":\"run_closed\",\"state\":\"survived\",\"alive\":1}",
};

static void take(struct events *e, const char *line)
{
	struct err err = {0};
	json_t *event;

	assert_int_equal(json_read_line(line, strlen(line), &event, &err), 0);
	assert_int_equal(events_take(e, event), 0);
	json_decref(event);
}

static void load_events(struct world *w, size_t n)
{
	struct events e = {0};

	for (size_t i = 0; i < n; i++)
		take(&e, lines[i]);
	view_events_loaded(&w->view, &e, "");
}

#define N_LINES (sizeof(lines) / sizeof(lines[0]))

static void each_event_is_told_in_words(void **state)
{
	static const char *const words[N_LINES] = {
		"adopted by uid 0",
		"sid:4102, members: 2",
		"made 4171: curl -T dump.sql",
		"from 4102 to 4160",
		"from 4155 to 1",
		"TERM to group 4160: 2, 1 not aimed at",
		"TERM: 4160 sent, 4171 denied EPERM",
		"of TERM",
		"ignores_term",
		"hostile \\x1b[2J text",
		"a later stray's",
		"survived, alive: 1",
	};
	struct events e = {0};

	(void)state;
	for (size_t i = 0; i < N_LINES; i++) {
		take(&e, lines[i]);
		assert_string_equal(e.v[i].words, words[i]);
		assert_int_equal(e.v[i].seq, i + 1);
	}
	events_free(&e);
}

static void events_of_any_shape_do_no_harm(void **state)
{
	static const char *const odd[] = {
		"{}",
		"{\"event\":7,\"seq\":\"x\",\"at\":\"never\",\"process\":[]}",
		"{\"event\":\"forked\",\"child\":{\"pid\":99999999999,\"start_ticks\":-1},\"args\":"
		"[1]}",
		"{\"event\":\"signal_sent\",\"to\":{\"a\":1},\"signal\":{}}",
		"{\"event\":\"exited\",\"signal\":9,\"process\":{\"pid\":-4,\"start_ticks\":1}}",
	};
	struct events e = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		take(&e, odd[i]);
		assert_int_equal(e.v[i].process.pid, 0);
	}
	events_free(&e);
}

static void only_the_newest_events_are_kept(void **state)
{
	struct events e = {0};
	char line[80];

	(void)state;
	for (unsigned i = 1; i <= EVENTS_MAX + 1; i++) {
		snprintf(line, sizeof(line), "{\"seq\":%u,\"event\":\"exited\"}", i);
		take(&e, line);
	}
	assert_int_equal(e.n + e.left_off, EVENTS_MAX + 1);
	assert_int_equal(e.v[e.n - 1].seq, EVENTS_MAX + 1);
	assert_true(e.left_off > 0);
	events_free(&e);
}

static void the_events_follow_the_end_unless_moved(void **state)
{
	struct vigil g;
	struct world w;
	char line[600];

	(void)state;
	started(&w, world_incident(), 24, 100);
	record(&w, &g, RUN_ACTIVE);
	world_keys(&w, "E");
	assert_int_equal(w.last, REQUEST_EVENTS);
	assert_string_equal(w.view.events_of, "run-7f3c0a12");
	load_events(&w, 5);
	world_line(&w, "> ", line, sizeof(line));
	assert_non_null(strstr(line, "reparented"));
	load_events(&w, 6);
	world_line(&w, "> ", line, sizeof(line));
	assert_non_null(strstr(line, "signal_intent"));
	world_keys(&w, "Up");
	load_events(&w, N_LINES);
	world_line(&w, "> ", line, sizeof(line));
	assert_non_null(strstr(line, "reparented"));
	world_shows(&w, "G follows the end");
	world_keys(&w, "G");
	world_golden(&w, "events-100x24");
	world_keys(&w, "Resize:24x80");
	world_golden(&w, "events-80x24");
	forget(&w, &g);
}

static void events_are_filtered_and_found(void **state)
{
	static const struct {
		const char *keys, *shows, *hides;
	} cases[] = {
		{"\\ <4171> Enter", "2 shown", "setsid"}, /* its own, and that it was made */
		{"\\ <SIGNAL> Enter", "signal_sent", "reparented"},
		{"\\ <14:03> Enter", "12 shown", "nothing"},
		{"\\ <14:04> Enter", "0 shown", "setsid"},
		{"\\ <curl> Enter Esc", "setsid", "shown"},
		{"/ <nowhere> Enter", "no event matches 'nowhere'", "shown"},
	};
	struct world w;
	char line[600];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		started(&w, world_incident(), 24, 100);
		view_open_events(&w.view, "run-7f3c0a12");
		load_events(&w, N_LINES);
		world_keys(&w, cases[i].keys);
		world_shows(&w, cases[i].shows);
		world_hides(&w, cases[i].hides);
		world_end(&w);
	}
	started(&w, world_incident(), 24, 100);
	view_open_events(&w.view, "run-7f3c0a12");
	load_events(&w, N_LINES);
	world_keys(&w, "/ <signal> Enter n");
	world_line(&w, "> ", line, sizeof(line));
	assert_non_null(strstr(line, "signal_sent"));
	world_end(&w);
}

static void a_journal_that_does_not_hold_says_so(void **state)
{
	struct events e = {0};
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	view_open_events(&w.view, "run-7f3c0a12");
	take(&e, lines[0]);
	view_events_loaded(&w.view, &e, "it does not hold: line 2 was changed");
	world_shows(&w, "it does not hold: line 2 was changed");
	world_end(&w);
}

static void events_and_notes_want_a_recorded_run(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "E");
	world_shows(&w, "no recorded run is in view: r adopts one");
	world_keys(&w, "m");
	world_shows(&w, "a note goes to the journal of the recorded run in view: r adopts one");
	assert_int_equal(w.asked[REQUEST_EVENTS] + w.asked[REQUEST_NOTE], 0);
	world_end(&w);
}

static void a_note_is_about_the_member_under_the_cursor(void **state)
{
	struct vigil g;
	struct world w;
	struct identity id;

	(void)state;
	started(&w, world_incident(), 24, 100);
	record(&w, &g, RUN_ACTIVE);
	id = table_pid(w.tracker.now, 4150)->id;
	assert_non_null(story_add(&g.recorded.story, id));
	world_keys(&w, "/ <4150> Enter m <log shipper>");
	world_shows(&w, "Note on 4150 python3");
	world_shows(&w, "log shipper");
	world_keys(&w, "Enter");
	assert_int_equal(w.last, REQUEST_NOTE);
	assert_true(identity_same(w.view.note_of, id));
	assert_string_equal(w.view.edit.text, "log shipper");
	world_keys(&w, "/ <4131> Enter m"); /* the journal knows no such member */
	world_shows(&w, "Note on run-7f3c0a12");
	world_keys(&w, "Esc");
	world_hides(&w, "Note on");
	assert_int_equal(w.asked[REQUEST_NOTE], 1);
	world_keys(&w, "m Enter");
	assert_int_equal(w.asked[REQUEST_NOTE], 1);
	world_keys(&w, "e");
	assert_int_equal(w.last, REQUEST_EXPORT);
	forget(&w, &g);
}

static void r_asks_for_a_record_unless_nothing_is_to_be_written(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <4150> Enter r");
	world_shows(&w, "Enter adopts it: recorded, and watched");
	world_keys(&w, "Enter");
	assert_int_equal(w.last, REQUEST_RUN);
	world_end(&w);
	started(&w, world_incident(), 24, 100);
	w.view.o.readonly = true;
	world_keys(&w, "/ <4150> Enter r");
	world_shows(&w, "kept in memory only: nothing is recorded here");
	world_keys(&w, "Enter");
	world_shows(&w, "in memory only");
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_run_says_its_state_on_the_second_line),
		cmocka_unit_test(after_is_since_the_record_says_that_it_was_over),
		cmocka_unit_test(who_watches_and_since_when_is_said),
		cmocka_unit_test(a_journal_that_cannot_be_written_is_said_once_and_stays_said),
		cmocka_unit_test(what_the_disk_keeps_waiting_is_said),
		cmocka_unit_test(who_leaves_is_asked_again_by_q_from_any_screen),
		cmocka_unit_test(a_run_that_is_recorded_at_last_stays_where_it_was),
		cmocka_unit_test(members_that_ended_before_the_view_are_listed),
		cmocka_unit_test(of_many_that_ended_the_newest_are_listed),
		cmocka_unit_test(the_pane_says_how_a_member_got_away),
		cmocka_unit_test(a_detached_member_says_that_it_made_its_session),
		cmocka_unit_test(q_leads_back_to_the_run_where_there_is_one),
		cmocka_unit_test(what_was_kept_of_a_list_stands_where_it_did),
		cmocka_unit_test(the_host_says_how_many_runs_are_recorded),
		cmocka_unit_test(the_runs_are_listed_newest_first),
		cmocka_unit_test(enter_opens_the_run_under_the_cursor_if_it_can_be),
		cmocka_unit_test(the_cursor_stays_on_its_run_when_a_newer_one_comes),
		cmocka_unit_test(each_event_is_told_in_words),
		cmocka_unit_test(events_of_any_shape_do_no_harm),
		cmocka_unit_test(only_the_newest_events_are_kept),
		cmocka_unit_test(the_events_follow_the_end_unless_moved),
		cmocka_unit_test(events_are_filtered_and_found),
		cmocka_unit_test(a_journal_that_does_not_hold_says_so),
		cmocka_unit_test(events_and_notes_want_a_recorded_run),
		cmocka_unit_test(a_note_is_about_the_member_under_the_cursor),
		cmocka_unit_test(r_asks_for_a_record_unless_nothing_is_to_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
