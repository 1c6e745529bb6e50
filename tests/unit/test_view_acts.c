/* What is asked before anything is done, and what is told of it afterwards. */
#include "tests/unit/view_world.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/unit/tables.h"

static void at(struct world *w, struct table *t, const char *pid)
{
	char script[64];

	world_start(w, 30, 100);
	world_scan(w, t);
	snprintf(script, sizeof(script), "/ <%s> Enter", pid);
	world_keys(w, script);
	w->last = REQUEST_NONE;
}

static void a_dialog_says_what_is_hit(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	world_keys(&w, "T");
	assert_int_equal(w.last, REQUEST_FLUSH);
	world_shows(&w, "TERM to group 4160");
	world_shows(&w, "2 processes of user op, none yours");
	world_shows(&w, "Enter sends TERM to 2");
	world_golden(&w, "dialog-term-100x30");
	world_keys(&w, "Enter");
	assert_int_equal(w.last, REQUEST_ACT);
	assert_int_equal(w.view.dialog.plan.hit.n, 2);
	assert_int_equal(w.view.dialog.plan.signal, SIGTERM);
	world_end(&w);
}

static void esc_sends_nothing(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	world_keys(&w, "K Esc");
	world_shows(&w, "nothing was sent");
	assert_int_equal(w.asked[REQUEST_ACT], 0);
	world_end(&w);
}

static void keys_before_it_is_drawn_are_no_answer(void **state)
{
	struct input enter = input_key(INPUT_ENTER), t = input_key('T');
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	assert_int_equal(view_update(&w.view, &t), REQUEST_FLUSH);
	assert_int_equal(view_update(&w.view, &enter), REQUEST_NONE);
	view_dialog_drawn(&w.view, NULL);
	assert_int_equal(view_update(&w.view, &enter), REQUEST_ACT);
	world_end(&w);
}

static void a_paste_is_no_answer(void **state)
{
	struct input paste = {.kind = INPUT_PASTE, .text = "2\n"};
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	world_keys(&w, "T");
	assert_int_equal(view_update(&w.view, &paste), REQUEST_NONE);
	assert_true(w.view.dialog.open);
	world_end(&w);
}

static void useless_signals_are_said_before(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4131");
	world_keys(&w, "T");
	world_shows(&w, "Useless for 1 of 1: 4131 ignores TERM");
	world_keys(&w, "Esc K");
	world_hides(&w, "Useless");
	world_end(&w);
}

static void tab_turns_the_scope(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4150");
	world_keys(&w, "T");
	world_shows(&w, "TERM to group 4150");
	world_keys(&w, "Tab");
	world_shows(&w, "TERM to session 4102");
	world_shows(&w, "Enter sends TERM to 2");
	world_keys(&w, "Tab");
	world_shows(&w, "TERM to process 4150");
	world_keys(&w, "F Enter");
	assert_int_equal(w.last, REQUEST_ACT);
	assert_true(w.view.dialog.act.freeze_first);
	assert_int_equal(w.view.dialog.plan.scope, SCOPE_PROCESS);
	world_end(&w);
}

static void a_service_needs_its_count_typed(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "600");
	world_keys(&w, "T Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 0);
	world_shows(&w, "type 1");
	world_keys(&w, "2 Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 0);
	world_keys(&w, "Backspace 1 Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 1);
	world_end(&w);
}

static void what_is_not_to_be_touched_is_refused(void **state)
{
	static const struct {
		const char *pid, *words;
	} cases[] = {{"1", "REFUSED"}, {"3", "REFUSED"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;

		at(&w, world_incident(), cases[i].pid);
		world_keys(&w, "K");
		world_shows(&w, cases[i].words);
		world_keys(&w, "1 Enter 1 Enter Enter");
		assert_int_equal(w.asked[REQUEST_ACT], 0);
		world_end(&w);
	}
}

/* Stray, its shell, and two jobs in one group: as a script has them. */
static struct table *own_group(void)
{
	struct table *t = world_incident();

	table_pid(t, 2600)->pgid = 2517;
	world_add(t, 2700, 2517, 2517, 2517, "node worker.js", "/usr/bin/node");
	world_add(t, 2701, 2517, 2517, 2517, "tail -f app.log", "/usr/bin/tail");
	return t;
}

static void the_group_of_ones_own_shell_is_refused_and_its_others_offered(void **state)
{
	struct world w;

	(void)state;
	at(&w, own_group(), "2700");
	world_keys(&w, "K");
	world_shows(&w, "KILL to group 2517: REFUSED, it holds your own");
	world_shows(&w, "those you add, 0 of the 4");
	world_shows(&w, "2517 bash, 2600 stray");
	world_shows(&w, "yours: cannot be added");
	world_golden(&w, "dialog-own-100x30");
	world_keys(&w, "Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 0);
	world_keys(&w, "Space Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 0);
	world_keys(&w, "1 Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 1);
	assert_int_equal(w.view.dialog.plan.hit.n, 1);
	assert_int_equal(w.view.dialog.plan.hit.v[0].id.pid, 2700);
	world_end(&w);
}

static void of_ones_own_group_a_runs_members_are_hit_alone(void **state)
{
	struct world w;

	(void)state;
	at(&w, own_group(), "2700");
	world_keys(&w, "r Home Enter"); /* the process and what it forks */
	world_shows(&w, "1 ALIVE");
	world_keys(&w, "/ <2700> Enter K");
	world_shows(&w, "members only, 1 of the 4");
	world_shows(&w, "no member: Space adds it");
	world_keys(&w, "Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 0);
	world_keys(&w, "1 Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 1);
	assert_int_equal(w.view.dialog.plan.hit.v[0].id.pid, 2700);
	world_end(&w);
}

static void an_act_is_never_for_a_row_that_moved_under_the_cursor(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_calm(), "600"); /* accounted for: a row that goes with its process */
	world_scan(&w, world_without(world_calm(), 600));
	world_keys(&w, "K");
	assert_int_equal(w.asked[REQUEST_FLUSH], 0);
	world_shows(&w, "600 nginx has gone; the cursor stands on");
	world_keys(&w, "Enter");
	assert_int_equal(w.view.screen, SCREEN_LIST);
	world_end(&w);
}

static void the_dead_are_not_aimed_at(void **state)
{
	struct world w;
	struct table *t = world_without(world_incident(), 4171);

	(void)state;
	at(&w, world_incident(), "4171");
	world_age(t, 1);
	world_scan(&w, t);
	world_keys(&w, "K");
	world_shows(&w, "it is dead already");
	assert_int_equal(w.asked[REQUEST_FLUSH], 0);
	world_end(&w);
}

static void what_cannot_be_recorded_is_not_sent(void **state)
{
	struct input t = input_key('T');
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	view_update(&w.view, &t);
	view_dialog_drawn(&w.view, "/var/lib/stray: No space left on device");
	world_shows(&w, "No space left on device");
	world_shows(&w, "nothing is sent");
	world_keys(&w, "Enter Enter Tab Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 0);
	world_end(&w);
}

/* From Enter until the intent is on the disk the screen is free, and nothing else is begun. */
static void while_an_act_begins_the_screen_is_free_and_no_other_is_begun(void **state)
{
	struct act_outcome o = {.hit = 2, .title = "TERM to group 4160"};
	struct err err = {0};
	struct plan plan;
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	world_keys(&w, "T Enter");
	view_act_begins(&w.view, &plan);
	assert_int_equal(plan.hit.n, 2);
	world_hides(&w, "Enter sends TERM");
	world_shows(&w, "TERM to group 4160: the intent is being written, nothing is sent yet");
	world_keys(&w, "Up K");
	assert_false(w.view.dialog.open);
	world_shows(&w, "TERM to group 4160 is under way: one act at a time");
	world_shows(&w, "nothing is sent yet"); /* in the pane, whatever was said since */
	view_acted(&w.view, &o, NULL);
	world_hides(&w, "nothing is sent yet");
	world_shows(&w, "under way, 2 to go");
	plan_clear(&plan);
	world_end(&w);
	at(&w, world_incident(), "4171");
	world_keys(&w, "T Enter");
	view_act_begins(&w.view, &plan);
	err_set(&err, ENOSPC, "acts: No space left on device");
	view_act_failed(&w.view, false, &err);
	world_shows(&w, "nothing was sent: acts: No space left on device");
	world_keys(&w, "K");
	world_shows(&w, "KILL to group 4160");
	plan_clear(&plan);
	world_end(&w);
}

static void what_changed_is_said_and_asked_again(void **state)
{
	struct err err = {0};
	struct plan plan;
	struct world w;
	struct table *t = world_incident();

	(void)state;
	at(&w, world_incident(), "4171");
	world_keys(&w, "T Enter");
	view_act_begins(&w.view, &plan);
	plan_clear(&plan);
	world_hides(&w, "Enter sends TERM");
	err_set(&err, EAGAIN, "5000 is new there since");
	view_act_failed(&w.view, true, &err);
	world_keys(&w, "Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 1); /* the first one */
	world_age(t, 1);
	world_add(t, 5000, 4160, 4160, 4160, "sleep 9", "/usr/bin/sleep");
	world_scan(&w, t);
	view_dialog_drawn(&w.view, NULL);
	world_shows(&w, "5000 is new there since");
	world_shows(&w, "Enter sends TERM to 3");
	world_keys(&w, "Enter");
	assert_int_equal(w.asked[REQUEST_ACT], 2);
	world_end(&w);
}

static void tagged_rows_are_the_target(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4131");
	world_keys(&w, "Space / <4160> Enter Down Space K");
	world_shows(&w, "KILL to 2 picked processes");
	world_keys(&w, "Enter");
	assert_int_equal(w.last, REQUEST_ACT);
	assert_int_equal(w.view.dialog.plan.hit.n, 2);
	world_end(&w);
}

static void a_fold_is_ended_in_one_act_after_its_count_is_shown(void **state)
{
	struct table *t = world_incident();
	struct world w;

	(void)state;
	for (int i = 0; i < 40; i++)
		world_add(t, 6000 + i, 1, 6000 + i, 6000 + i, "case27-daemon",
			  "/opt/case27-daemon");
	world_start(&w, 30, 100);
	world_scan(&w, t);
	while (view_row(&w.view)->kind != ROW_FOLD)
		world_keys(&w, "Down");
	world_keys(&w, "K");
	world_shows(&w, "KILL to 40 picked processes");
	world_shows(&w, "and");
	world_keys(&w, "Enter");
	assert_int_equal(w.last, REQUEST_ACT);
	assert_int_equal(w.view.dialog.plan.hit.n, 40);
	world_end(&w);
}

static void x_ends_the_run_that_is_chosen(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4150");
	world_keys(&w, "x");
	world_shows(&w, "none is chosen");
	world_keys(&w, "r Enter x");
	world_shows(&w, "END (TERM, grace, KILL) of session 4102");
	world_shows(&w, "all members of session 4102");
	world_shows(&w, "Enter ends 2");
	world_keys(&w, "Enter");
	assert_int_equal(w.last, REQUEST_ACT);
	assert_int_equal(w.view.dialog.act.kind, ACT_END);
	assert_int_equal(w.view.dialog.plan.hit.n, 2);
	world_end(&w);
}

static void z_freezes_and_thaws_what_stands_still(void **state)
{
	struct table *t = world_incident();
	struct world w;

	(void)state;
	table_pid(t, 4150)->state = 'T';
	at(&w, t, "4131");
	world_keys(&w, "z");
	world_shows(&w, "FREEZE of group 4102");
	world_shows(&w, "woken by the kernel");
	world_keys(&w, "Esc / <4150> Enter z");
	world_shows(&w, "THAW of group 4150");
	world_end(&w);
}

static void add_item(struct act_outcome *o, pid_t pid, const struct table *t,
		     enum act_result result)
{
	struct act_item item = {.id = table_pid(t, pid)->id, .result = result};

	assert_int_equal(process_command(table_pid(t, pid), &item.command), 0);
	assert_true(VEC_PUSH(&o->items, item));
}

/* A run that is a control group is frozen as one; where it cannot be, that is said. */
static void z_says_by_what_it_freezes(void **state)
{
	struct selector target = {0};
	struct act_outcome o = {.hit = 2, .title = "freeze: STOP to run", .done = true};
	struct table *t = world_incident();
	struct err err = {0};
	struct world w;

	(void)state;
	tables_set(&table_pid(t, 4160)->detail->cgroup, "/demo.scope");
	tables_set(&table_pid(t, 4171)->detail->cgroup, "/demo.scope");
	at(&w, t, "4171");
	assert_int_equal(selector_parse("cgroup:/demo.scope", &target, &err), 0);
	assert_int_equal(view_choose(&w.view, &target, &err), 0);
	world_keys(&w, "/ <4171> Enter z");
	world_shows(&w, "FREEZE of group 4160");
	world_shows(&w, "By SIGSTOP until none is new.");
	world_keys(&w, "Tab Tab");
	world_shows(&w, "Its cgroup cannot be frozen from here. By SIGSTOP");
	w.view.freezer_works = true;
	world_shows(&w, "By cgroup.freeze: the kernel stops all of /demo.scope");
	world_hides(&w, "SIGSTOP");
	world_keys(&w, "Esc");
	o.by_cgroup = true;
	add_item(&o, 4171, w.tracker.now, ACT_RESULT_FROZEN);
	view_acted(&w.view, &o, NULL);
	world_keys(&w, "d");
	world_shows(&w, "frozen by its cgroup");
	world_keys(&w, "Esc z");
	world_shows(&w, "THAW of");
	assert_int_equal(w.view.dialog.scope, SCOPE_RUN);
	world_end(&w);
	bytes_free(&o.items.v[0].command);
	free(o.items.v);
	selector_free(&target);
}

static void any_signal_is_chosen_from_a_list(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	world_keys(&w, "F9");
	world_shows(&w, "Which signal?");
	world_keys(&w, "Down Down Down Enter");
	world_shows(&w, "HUP to group 4160");
	world_keys(&w, "Enter");
	assert_int_equal(w.view.dialog.plan.signal, SIGHUP);
	world_end(&w);
}

static void readonly_has_no_acts(void **state)
{
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	w.view.o.readonly = true;
	world_keys(&w, "K");
	world_shows(&w, "acts are absent");
	world_keys(&w, "x");
	world_shows(&w, "acts are absent");
	world_keys(&w, "z F9");
	assert_int_equal(w.asked[REQUEST_FLUSH], 0);
	world_hides(&w, "Which signal?");
	world_end(&w);
}

static void dialogs_fit_every_size(void **state)
{
	struct world w;

	(void)state;
	for (int rows = 10; rows <= 30; rows += 5) {
		for (int cols = 40; cols <= 100; cols += 20) {
			char script[32];

			at(&w, world_incident(), "4131");
			snprintf(script, sizeof(script), "Resize:%dx%d T", rows, cols);
			world_keys(&w, script);
			world_shows(&w, "TERM to group 4102");
			world_shows(&w, "Enter sends TERM to 1");
			world_end(&w);
		}
	}
}

/* --- afterwards ------------------------------------------------------------- */

static void the_outcome_says_who_went_and_who_did_not(void **state)
{
	struct table *before = world_incident(), *after = world_without(world_incident(), 4171);
	struct act_outcome o = {.hit = 2,
				.gone = 1,
				.alive = 1,
				.not_aimed = 1,
				.title = "TERM to session 4160",
				.dir = "/var/lib/stray/acts/20260724T141109Z-4160",
				.done = true};
	struct world w;

	(void)state;
	table_sort(before);
	table_sort(after);
	table_pid(after, 4160)->survived = true;
	o.before = before;
	o.after = after;
	o.sent_wall_ns = before->host.wall_ns;
	add_item(&o, 4171, before, ACT_RESULT_GONE);
	o.items.v[0].died_of = o.items.v[0].last_signal = SIGTERM;
	o.items.v[0].after_ns = 120000000;
	add_item(&o, 4160, before, ACT_RESULT_ALIVE);
	o.items.v[1].why = "ignores_term";
	add_item(&o, 4131, before, ACT_RESULT_NOT_AIMED);
	at(&w, world_incident(), "4160");
	view_acted(&w.view, &o, NULL);
	world_shows(&w, "TERM to session 4160: 1 of 2 gone; 4160 alive (ignores the signal)");
	assert_true(table_pid(w.tracker.now, 4160)->survived);
	world_keys(&w, "Down");
	world_shows(&w, "last: TERM to session 4160 14:11:07: 1 of 2 gone");
	world_keys(&w, "d");
	world_shows(&w, "died of TERM after 120 ms");
	world_shows(&w, "= not aimed at");
	world_shows(&w, "written: /var/lib/stray/acts/20260724T141109Z-4160");
	world_golden(&w, "diff-100x30");
	world_end(&w);
	for (size_t i = 0; i < o.items.n; i++)
		bytes_free(&o.items.v[i].command);
	free(o.items.v);
	table_free(before);
	table_free(after);
}

static void add_connection(struct act_outcome *o, pid_t pid, const struct table *t, bool before,
			   bool after)
{
	struct act_connection c = {.contact.id = table_pid(t, pid)->id,
				   .contact.remote = "198.51.100.9:443",
				   .before = before,
				   .after = after};

	assert_true(VEC_PUSH(&o->connections, c));
}

static void the_diff_says_who_is_connected_and_what_else_came_and_went(void **state)
{
	struct table *before = world_incident(), *after = world_without(world_incident(), 4171);
	struct act_outcome o = {.hit = 1, .gone = 1, .title = "TERM to process 4171", .done = true};
	struct world w;

	(void)state;
	world_add(after, 4203, 4150, 4203, 4203, "curl -T dump.sql", "/usr/bin/curl");
	world_add(after, 4300, 600, 600, 600, "nginx: worker", "/usr/sbin/nginx");
	world_add(before, 4301, 1, 4301, 4301, "sleep 1", "/usr/bin/sleep");
	table_sort(before);
	table_sort(after);
	o.before = before;
	o.after = after;
	add_item(&o, 4171, before, ACT_RESULT_GONE);
	add_item(&o, 4131, before, ACT_RESULT_NOT_AIMED);
	add_item(&o, 4150, before, ACT_RESULT_NOT_AIMED);
	add_item(&o, 4203, after, ACT_RESULT_APPEARED);
	o.appeared = 1;
	add_connection(&o, 4171, before, true, false);
	add_connection(&o, 4131, before, true, false);
	add_connection(&o, 4150, before, true, true);
	add_connection(&o, 4203, after, false, true);
	o.unasked = 2;
	o.unasked_error = EXDEV;
	at(&w, world_incident(), "4160");
	view_acted(&w.view, &o, NULL);
	world_keys(&w, "d");
	world_shows(&w, "1 NEW SINCE");
	world_shows(&w, "2 CONNECTED");
	world_shows(&w, "gone with 4171");
	world_shows(&w, "closed, 4131 lives");
	world_shows(&w, "not known: the connections of 2 of them (EXDEV)");
	world_shows(&w, "elsewhere on this host: +1 -1 (o shows)");
	world_shows(&w, "not recorded");
	world_hides(&w, "nginx: worker");
	world_keys(&w, "o");
	world_shows(&w, "nginx: worker");
	world_golden(&w, "diff-connections-100x30");
	world_keys(&w, "Resize:24x80");
	world_shows(&w, "= connection");
	world_end(&w);
	for (size_t i = 0; i < o.items.n; i++)
		bytes_free(&o.items.v[i].command);
	free(o.items.v);
	free(o.connections.v);
	table_free(before);
	table_free(after);
}

static void quitting_during_an_act_is_asked_twice(void **state)
{
	struct act_outcome o = {.hit = 1, .title = "TERM to group 4160"};
	struct world w;

	(void)state;
	at(&w, world_incident(), "4171");
	view_acted(&w.view, &o, NULL);
	world_keys(&w, "q");
	assert_int_equal(w.asked[REQUEST_QUIT], 0);
	world_shows(&w, "TERM to group 4160 is under way");
	world_keys(&w, "K");
	world_shows(&w, "one act at a time");
	world_keys(&w, "q q");
	assert_int_equal(w.asked[REQUEST_QUIT], 1);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dialog_says_what_is_hit),
		cmocka_unit_test(esc_sends_nothing),
		cmocka_unit_test(keys_before_it_is_drawn_are_no_answer),
		cmocka_unit_test(a_paste_is_no_answer),
		cmocka_unit_test(useless_signals_are_said_before),
		cmocka_unit_test(tab_turns_the_scope),
		cmocka_unit_test(a_service_needs_its_count_typed),
		cmocka_unit_test(what_is_not_to_be_touched_is_refused),
		cmocka_unit_test(the_group_of_ones_own_shell_is_refused_and_its_others_offered),
		cmocka_unit_test(of_ones_own_group_a_runs_members_are_hit_alone),
		cmocka_unit_test(an_act_is_never_for_a_row_that_moved_under_the_cursor),
		cmocka_unit_test(the_dead_are_not_aimed_at),
		cmocka_unit_test(what_cannot_be_recorded_is_not_sent),
		cmocka_unit_test(while_an_act_begins_the_screen_is_free_and_no_other_is_begun),
		cmocka_unit_test(what_changed_is_said_and_asked_again),
		cmocka_unit_test(tagged_rows_are_the_target),
		cmocka_unit_test(a_fold_is_ended_in_one_act_after_its_count_is_shown),
		cmocka_unit_test(x_ends_the_run_that_is_chosen),
		cmocka_unit_test(z_freezes_and_thaws_what_stands_still),
		cmocka_unit_test(z_says_by_what_it_freezes),
		cmocka_unit_test(any_signal_is_chosen_from_a_list),
		cmocka_unit_test(readonly_has_no_acts),
		cmocka_unit_test(dialogs_fit_every_size),
		cmocka_unit_test(the_outcome_says_who_went_and_who_did_not),
		cmocka_unit_test(the_diff_says_who_is_connected_and_what_else_came_and_went),
		cmocka_unit_test(quitting_during_an_act_is_asked_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
