/* The first screen and the run screen: a host in, a key script in, text out. */
#include "tests/unit/view_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tables.h"

static void started(struct world *w, struct table *t, int rows, int cols)
{
	world_start(w, rows, cols);
	world_scan(w, t);
}

static void first_screen_says_what_looks_left_behind(void **state)
{
	static const struct {
		int rows, cols;
		const char *golden;
	} sizes[] = {{24, 100, "incident-100x24"},
		     {24, 80, "incident-80x24"},
		     {10, 40, "incident-40x10"},
		     {40, 120, "incident-120x40"}};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		started(&w, world_incident(), sizes[i].rows, sizes[i].cols);
		world_shows(&w, "4 SUSPECTS in 2 sessions · 1 CONNECTED");
		world_golden(&w, sizes[i].golden);
		world_end(&w);
	}
}

static void a_calm_host_says_so(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_calm(), 24, 100);
	world_shows(&w, "nothing looks left behind · 9 processes, all accounted for");
	world_hides(&w, "SUSPECT");
	world_golden(&w, "calm-100x24");
	world_end(&w);
}

static void too_small_a_terminal_is_told_in_one_line(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 9, 39);
	assert_string_equal(world_screen(&w),
			    "stray needs 40 x 10; this is 39 x 9\n\n\n\n\n\n\n\n\n");
	world_end(&w);
}

static void no_size_draws_outside_or_hides_the_cursor(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "Down Down Down");
	for (int rows = 10; rows <= 42; rows += 4) {
		for (int cols = 40; cols <= 140; cols += 9) {
			char script[32], line[600];

			snprintf(script, sizeof(script), "Resize:%dx%d", rows, cols);
			world_keys(&w, script);
			world_line(&w, "\n>", line, sizeof(line));
			world_shows(&w, "web-01");
		}
	}
	world_end(&w);
}

static void the_worst_session_is_first(void **state)
{
	struct world w;
	const char *screen;

	(void)state;
	started(&w, world_incident(), 24, 100);
	screen = world_screen(&w);
	assert_true(strstr(screen, "session 4160") < strstr(screen, "session 4102"));
	world_end(&w);
}

static void the_accounted_for_unfolds_to_its_processes(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_calm(), 24, 100);
	world_hides(&w, "nginx: master");
	world_keys(&w, "Right");
	world_shows(&w, "▾ services");
	world_shows(&w, "nginx: master");
	world_keys(&w, "Left");
	world_hides(&w, "nginx: master");
	world_keys(&w, "Enter");
	world_shows(&w, "nginx: master");
	world_end(&w);
}

static void a_shows_the_whole_host_and_o_the_suspects(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 40, 120);
	world_keys(&w, "a");
	world_shows(&w, "cron -f");
	world_shows(&w, "sh upload.sh");
	world_hides(&w, "accounted for");
	world_keys(&w, "o");
	world_hides(&w, "cron -f");
	world_shows(&w, "accounted for");
	world_end(&w);
}

static void every_process_is_in_exactly_one_place(void **state)
{
	struct world w;
	unsigned sum = 0;

	(void)state;
	started(&w, world_incident(), 24, 100);
	for (int b = 0; b < BUCKET_COUNT; b++)
		sum += w.view.rows.accounted.sums[b].processes;
	assert_int_equal(sum + w.tracker.suspects, w.tracker.now->procs.n);
	world_end(&w);
}

static void find_finds(void **state)
{
	static const struct {
		const char *keys, *cursor_at, *also;
	} cases[] = {
		{"/ <4150> Enter", "4150", "python3"},
		{"/ <curl> Enter", "4171", "curl"},
		{"/ <:443> Enter", "4171", "198.51.100.9"},
		{"/ <198.51.100> Enter", "4171", "curl"},
		{"/ <14:01-14:02> Enter", "4150", "worker"},
		{"/ <14:02> Enter", "4160", "upload"},
		{"/ <user:root> Enter", "sbin/init", "init"}, /* accounted for: unfolded */
		{"/ <cwd:/home/op> Enter", "4160", "upload"},
		{"/ <4102> Enter", "session 4102", "PID 4102 has ended"}, /* a dead PID */
		{"/ <nginx> Enter", "600", "▾ services"},
		{"/ <sid:4102> Enter", "4131", "deploy"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;
		char line[600];

		started(&w, world_incident(), 30, 100);
		world_keys(&w, cases[i].keys);
		world_line(&w, "\n>", line, sizeof(line));
		if (!strstr(strchr(line, '>') ? line : "", cases[i].cursor_at) &&
		    !strstr(strstr(world_screen(&w), "\n>"), cases[i].cursor_at))
			fail_msg("%s: the cursor is not at '%s':\n%s", cases[i].keys,
				 cases[i].cursor_at, w.text);
		world_shows(&w, cases[i].also);
		world_end(&w);
	}
}

static void what_is_not_there_is_not_found(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <31337> Enter");
	world_shows(&w, "nothing alive has PID, PGID or SID 31337");
	world_keys(&w, "/ <:22> Enter");
	world_shows(&w, "nothing alive has connection to port 22");
	world_end(&w);
}

static void a_filter_leaves_the_rest_out(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "\\ <curl> Enter");
	world_shows(&w, "curl -T");
	world_hides(&w, "python3 worker");
	world_shows(&w, "only 'curl'");
	world_shows(&w, "4 SUSPECTS in 2 sessions · 1 CONNECTED OUT · 1 SHOWN");
	world_hides(&w, "▸ services");
	world_keys(&w, "Esc");
	world_shows(&w, "python3 worker");
	world_end(&w);
}

static void the_selection_follows_the_process_not_the_row(void **state)
{
	struct world w;
	struct table *t;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <4131> Enter");
	t = world_incident(); /* the session above it is gone: rows move up */
	world_age(t, 1);
	t->procs.v[t->procs.n - 1].id.pid = 30000; /* not 4171 any more */
	world_scan(&w, t);
	assert_int_equal(view_process(&w.view)->id.pid, 4131);
	assert_false(w.view.cursor_lost);
	world_end(&w);
}

static void order_is_kept_and_newcomers_wait(void **state)
{
	struct world w;
	struct table *t = world_incident();
	const char *screen;

	(void)state;
	started(&w, world_incident(), 30, 100);
	world_age(t, 2);
	world_add(t, 5000, 1, 5000, 5000, "nc -l 4444", "/usr/bin/nc")->connections = 2;
	world_scan(&w, t);
	world_shows(&w, "+1 new · 1 CONNECTED OUT · S sorts them in");
	screen = world_screen(&w);
	assert_true(strstr(screen, "+1 new") < strstr(screen, "session 5000"));
	assert_true(strstr(screen, "session 4102") < strstr(screen, "+1 new"));
	world_keys(&w, "S Enter");
	world_hides(&w, "+1 new");
	screen = world_screen(&w);
	assert_true(strstr(screen, "session 5000") < strstr(screen, "session 4102"));
	world_end(&w);
}

static void the_dead_keep_their_place_until_the_list_is_sorted(void **state)
{
	struct world w;
	struct table *t = world_without(world_incident(), 4171);

	(void)state;
	started(&w, world_incident(), 30, 100);
	world_age(t, 2);
	world_scan(&w, t);
	world_shows(&w, "curl -T dump.sql");
	world_shows(&w, "gone 14:11:09");
	world_shows(&w, "3 SUSPECTS");
	world_keys(&w, "S Enter");
	world_hides(&w, "curl -T dump.sql");
	world_end(&w);
}

static struct table *with_daemons(struct table *t, int n, int deleted)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = 6000 + i;
		struct process *p =
			world_add(t, pid, 1, pid, pid, "case27-daemon", "/opt/case27-daemon");

		p->detail->cwd_deleted = i < deleted;
	}
	return t;
}

static void quiet_identical_ones_are_one_row(void **state)
{
	struct world w;

	(void)state;
	started(&w, with_daemons(world_incident(), 40, 20), 30, 100);
	world_shows(&w, "40 × case27-daemon under 1");
	world_shows(&w, "20 with deleted cwd");
	world_hides(&w, "6007");
	world_keys(&w, "/ <6007> Enter");
	assert_int_equal(view_process(&w.view)->id.pid, 6007);
	world_end(&w);
}

static void one_that_needs_eyes_is_in_no_fold(void **state)
{
	struct table *t = with_daemons(world_incident(), 40, 0);
	struct world w;

	(void)state;
	t->procs.v[t->procs.n - 1].connections = 1;
	tables_set(&t->procs.v[t->procs.n - 1].remote, "203.0.113.7:22");
	started(&w, t, 30, 100);
	world_shows(&w, "39 × case27-daemon");
	world_shows(&w, "203.0.113.7:22");
	world_end(&w);
}

static void r_chooses_a_run_and_its_screen_says_how_it_stands(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <4150> Enter r");
	world_shows(&w, "Which run?");
	world_keys(&w, "Enter");
	world_shows(&w, "session 4102 · LEFTOVER: ended before 14:11:07");
	world_shows(&w, "2 ALIVE");
	world_shows(&w, "REGROUPED");
	world_shows(&w, "the run's");
	world_shows(&w, "elsewhere on this host");
	world_golden(&w, "run-100x24");
	world_keys(&w, "Resize:24x80");
	world_golden(&w, "run-80x24");
	world_keys(&w, "r Home Enter");
	world_shows(&w, "nothing recorded");
	world_end(&w);
}

static void a_run_of_which_nothing_lives_says_so(void **state)
{
	struct world w;
	struct table *t = world_without(world_without(world_incident(), 4131), 4150);

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <4150> Enter r Enter");
	world_age(t, 3);
	world_scan(&w, t);
	world_shows(&w, "nothing of it is alive");
	world_shows(&w, "2 ended");
	world_shows(&w, "nothing of session 4102 is alive");
	world_end(&w);
}

static void the_first_detach_rings(void **state)
{
	struct world w;
	struct table *t = world_incident();
	struct process *p;

	(void)state;
	started(&w, world_incident(), 30, 100);
	world_keys(&w, "/ <4150> Enter r Enter");
	assert_false(w.view.bell);
	world_age(t, 1);
	p = world_add(t, 7000, 4150, 7000, 7000, "setsid sleep", "/usr/bin/sleep");
	assert_non_null(p);
	world_scan(&w, t);
	assert_true(w.view.bell);
	world_shows(&w, "first detach: 1 of session 4102 left its session");
	world_shows(&w, "DETACHED");
	world_end(&w);
}

static void the_end_of_what_is_followed_rings(void **state)
{
	struct world w;
	struct table *t = world_without(world_incident(), 4171);

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <4171> Enter F");
	world_shows(&w, "following 4171 curl");
	world_age(t, 1);
	world_scan(&w, t);
	assert_true(w.view.bell);
	world_shows(&w, "4171 curl has ended");
	world_hides(&w, "following");
	world_end(&w);
}

static void hostile_names_are_escaped(void **state)
{
	struct table *t = world_incident();
	struct world w;

	(void)state;
	world_add(t, 8000, 1, 8000, 8000, "\x1b[2Jx\xe2\x80\xaey", "/tmp/e");
	started(&w, t, 30, 100);
	world_shows(&w, "\\x1b[2Jx\\u202ey");
	assert_null(strchr(w.text, '\x1b'));
	world_end(&w);
}

static void ascii_is_ascii(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	w.view.o.ascii = w.grid.ascii = true;
	for (const char *s = world_screen(&w); *s; s++)
		assert_true((unsigned char)*s < 0x7f);
	world_end(&w);
}

static void keys_of_what_is_to_come_say_so(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "t");
	world_shows(&w, "comes with a later version");
	world_keys(&w, "Down");
	world_hides(&w, "comes with");
	world_end(&w);
}

static void pages_open_and_close(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <4131> Enter w");
	assert_int_equal(w.last, REQUEST_DETAIL);
	world_shows(&w, "Why 4131");
	world_shows(&w, "parent gone");
	world_shows(&w, "sh -c ./deploy.sh --env prod");
	world_keys(&w, "Esc ?");
	world_shows(&w, "Help: keys, flags, coverage");
	world_shows(&w, "anything that ended before 14:11:02");
	world_keys(&w, "q d");
	world_shows(&w, "Nothing was sent yet");
	world_keys(&w, "Esc");
	world_shows(&w, "4 SUSPECTS");
	world_end(&w);
}

static void what_is_read_of_one_process_is_awaited_and_given_up(void **state)
{
	struct detail *d = detail_new();
	struct world w;

	(void)state;
	assert_non_null(d);
	d->have = DETAIL_WCHAN | DETAIL_STATUS;
	tables_set(&d->wchan, "hrtimer_nanosleep");
	started(&w, world_incident(), 50, 100);
	world_keys(&w, "/ <4131> Enter w");
	world_shows(&w, "reading…");
	view_detail(&w.view, READING_DONE, d);
	world_hides(&w, "reading…");
	world_shows(&w, "hrtimer_nanosleep");
	world_keys(&w, "Esc / <4171> Enter w");
	world_shows(&w, "TCP ⇄ 198.51.100.9:443");
	world_shows(&w, "reading…");
	view_detail(&w.view, READING_LATE, NULL);
	world_hides(&w, "reading…");
	world_shows(&w, "not answered in 2 s");
	world_keys(&w, "Esc Down w"); /* the keys go on */
	world_shows(&w, "reading…");
	world_end(&w);
	detail_unref(d);
}

/* Who is connected comes after the first scan; the order waits for it only if nobody waits. */
static void the_first_order_is_by_who_is_connected(void **state)
{
	struct table *t = world_incident();
	struct world w;

	(void)state;
	bytes_free(&table_pid(t, 4171)->remote);
	table_pid(t, 4171)->connections = 0;
	started(&w, t, 30, 100);
	tables_set(&table_pid(w.tracker.now, 4171)->remote, "198.51.100.9:443");
	table_pid(w.tracker.now, 4171)->connections = 1;
	view_contacts(&w.view);
	world_shows(&w, "1 CONNECTED OUT");
	world_shows(&w, "⇄ 198.51.100.9:443");
	assert_int_equal(w.view.cursor, 0);
	world_keys(&w, "/ <4131> Enter");
	view_contacts(&w.view);
	assert_int_equal(view_process(&w.view)->id.pid, 4131);
	world_end(&w);
}

static void a_click_on_the_key_line_presses_the_key(void **state)
{
	struct world w;
	char line[256], script[64];

	(void)state;
	started(&w, world_incident(), 30, 100);
	world_line(&w, "q quit", line, sizeof(line));
	snprintf(script, sizeof(script), "Click:29,%d", (int)(strstr(line, "? keys") - line));
	world_keys(&w, script);
	world_shows(&w, "Help: keys, flags, coverage");
	world_keys(&w, "Click:29,2"); /* Esc back */
	world_shows(&w, "4 SUSPECTS");
	world_keys(&w, "Click:29,0 Click:29,99");
	world_shows(&w, "4 SUSPECTS");
	snprintf(script, sizeof(script), "/ <4131> Enter Click:29,%d",
		 (int)(strstr(line, "K kill") - line) + 5);
	world_keys(&w, script);
	world_shows(&w, "KILL to group 4102");
	snprintf(script, sizeof(script), "Click:29,%d", (int)(strstr(line, "q quit") - line));
	world_keys(&w, script); /* no answer to a dialog */
	world_shows(&w, "KILL to group 4102");
	world_keys(&w, "Esc Down Resize:10x40");
	world_line(&w, "? keys", line, sizeof(line)); /* fewer of them, elsewhere */
	snprintf(script, sizeof(script), "Click:9,%d", (int)(strstr(line, "? keys") - line));
	world_keys(&w, script);
	assert_int_equal(w.view.screen, SCREEN_HELP);
	world_end(&w);
}

static void who_is_hit_is_not_said_to_be_spared(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 30, 100);
	world_keys(&w, "/ <4131> Enter");
	world_shows(&w, "hits group 4102: 1, TERM useless for 1.  NOT 4150");
	world_keys(&w, "[");
	world_keys(&w, "]");
	while (!view_row(&w.view) || view_row(&w.view)->kind != ROW_SESSION ||
	       view_process(&w.view)->sid != 4102)
		world_keys(&w, "Up");
	world_shows(&w, "hits session 4102: 2");
	world_hides(&w, "NOT 4150");
	world_end(&w);
}

static void what_is_wider_than_the_page_goes_on_below(void **state)
{
	struct table *t = world_incident();
	struct world w;

	(void)state;
	tables_set(&table_pid(t, 4131)->detail->cwd,
		   "/srv/a rather/long and/windy directory/測試/with blanks/and one at the end");
	started(&w, t, 50, 40);
	world_keys(&w, "/ <4131> Enter w");
	world_shows(&w, " directory   /srv/a rather/long\n"
			"             and/windy\n"
			"             directory/測試/with\n"
			"             blanks/and one at the end\n");
	world_end(&w);
}

static void tags_are_kept_by_identity(void **state)
{
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	world_keys(&w, "/ <4131> Enter Space");
	world_shows(&w, " *  4131");
	assert_int_equal(w.view.tagged.n, 1);
	world_keys(&w, "U");
	assert_int_equal(w.view.tagged.n, 0);
	world_keys(&w, "/ <4160> Enter Down c");
	assert_int_equal(w.view.tagged.n, 2); /* with its child */
	world_end(&w);
}

static void keys_before_the_first_scan_do_no_harm(void **state)
{
	struct world w;

	(void)state;
	world_start(&w, 24, 100);
	world_keys(&w, "T K x z F9 Enter r Enter n u o a S i Down Space c w l d s Right Tick n");
	world_keys(&w, "?");
	world_shows(&w, "Help: keys");
	world_keys(&w, "Esc q");
	assert_int_equal(w.asked[REQUEST_QUIT], 1);
	world_end(&w);
}

static void what_is_searched_for_may_be_typed_before_the_first_scan(void **state)
{
	struct world w;

	(void)state;
	world_start(&w, 24, 100);
	world_keys(&w, "/ <41> Tick <31>");
	world_shows(&w, "find: 4131");
	world_keys(&w, "Enter");
	world_scan(&w, world_incident());
	view_find_waiting(&w.view);
	assert_int_equal(view_process(&w.view)->id.pid, 4131);
	world_keys(&w, "Home");
	view_find_waiting(&w.view); /* once */
	assert_int_equal(w.view.cursor, 0);
	world_end(&w);
	world_start(&w, 24, 100);
	world_keys(&w, "F4 <nobody-has-this> Enter F4 Esc / <x> Esc F4 <4131> Enter");
	world_scan(&w, world_incident());
	view_find_waiting(&w.view);
	world_shows(&w, "4131");
	world_shows(&w, "1 SHOWN");
	world_end(&w);
}

static void a_failed_scan_says_that_the_screen_is_old(void **state)
{
	struct err err = {0};
	struct world w;

	(void)state;
	started(&w, world_incident(), 24, 100);
	err_set(&err, 24, "/proc: too many open files");
	view_scan_failed(&w.view, &err);
	world_shows(&w, "old: the last look failed: /proc: too many open files");
	world_scan(&w, world_incident());
	world_hides(&w, "old:");
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_screen_says_what_looks_left_behind),
		cmocka_unit_test(a_calm_host_says_so),
		cmocka_unit_test(too_small_a_terminal_is_told_in_one_line),
		cmocka_unit_test(no_size_draws_outside_or_hides_the_cursor),
		cmocka_unit_test(the_worst_session_is_first),
		cmocka_unit_test(the_accounted_for_unfolds_to_its_processes),
		cmocka_unit_test(a_shows_the_whole_host_and_o_the_suspects),
		cmocka_unit_test(every_process_is_in_exactly_one_place),
		cmocka_unit_test(find_finds),
		cmocka_unit_test(what_is_not_there_is_not_found),
		cmocka_unit_test(a_filter_leaves_the_rest_out),
		cmocka_unit_test(the_selection_follows_the_process_not_the_row),
		cmocka_unit_test(order_is_kept_and_newcomers_wait),
		cmocka_unit_test(the_dead_keep_their_place_until_the_list_is_sorted),
		cmocka_unit_test(quiet_identical_ones_are_one_row),
		cmocka_unit_test(one_that_needs_eyes_is_in_no_fold),
		cmocka_unit_test(r_chooses_a_run_and_its_screen_says_how_it_stands),
		cmocka_unit_test(a_run_of_which_nothing_lives_says_so),
		cmocka_unit_test(the_first_detach_rings),
		cmocka_unit_test(the_end_of_what_is_followed_rings),
		cmocka_unit_test(hostile_names_are_escaped),
		cmocka_unit_test(ascii_is_ascii),
		cmocka_unit_test(keys_of_what_is_to_come_say_so),
		cmocka_unit_test(pages_open_and_close),
		cmocka_unit_test(who_is_hit_is_not_said_to_be_spared),
		cmocka_unit_test(what_is_wider_than_the_page_goes_on_below),
		cmocka_unit_test(a_click_on_the_key_line_presses_the_key),
		cmocka_unit_test(what_is_read_of_one_process_is_awaited_and_given_up),
		cmocka_unit_test(the_first_order_is_by_who_is_connected),
		cmocka_unit_test(tags_are_kept_by_identity),
		cmocka_unit_test(keys_before_the_first_scan_do_no_harm),
		cmocka_unit_test(what_is_searched_for_may_be_typed_before_the_first_scan),
		cmocka_unit_test(a_failed_scan_says_that_the_screen_is_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
