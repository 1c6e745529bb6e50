#include "model/diff.h"

#include "tests/unit/tables.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

static struct diff compare(const struct table *before, const struct table *after,
			   const struct diff_options *options)
{
	struct err err = {0};
	struct diff d;

	assert_int_equal(diff_tables(before, after, options, &d, &err), 0);
	return d;
}

static void the_same_table_twice_differs_in_nothing(void **state)
{
	unsigned seed = 7;
	struct table *t = tables_make(&seed, 200);
	struct diff d = compare(t, t, NULL);

	(void)state;
	assert_true(diff_is_empty(&d));
	assert_int_equal(d.same + d.kthreads_before + 1, 200);
	assert_int_equal(d.kthreads_before, d.kthreads_after);
	diff_clear(&d);
	table_free(t);
}

/* What one field of one process says of before and of after. */
static void set_pgid(struct process *p, bool after)
{
	p->pgid = after ? 2 : 1;
}

static void set_ppid(struct process *p, bool after)
{
	p->ppid = after ? 1 : 2;
}

static void set_sid(struct process *p, bool after)
{
	p->sid = after ? 10 : 3;
}

static void set_tty(struct process *p, bool after)
{
	p->tty_nr = after ? 0 : 34816;
}

static void set_exe(struct process *p, bool after)
{
	tables_set(&p->detail->exe, after ? "/usr/bin/curl" : "/usr/bin/dash");
}

static void set_args(struct process *p, bool after)
{
	tables_args(p, "sh", after ? "a b" : "a", after ? NULL : "b", NULL);
}

static void set_cwd(struct process *p, bool after)
{
	tables_set(&p->detail->cwd, after ? "/" : "/tmp");
}

static void set_uid(struct process *p, bool after)
{
	p->detail->uid = after ? 0 : 1000;
}

static void set_cgroup(struct process *p, bool after)
{
	tables_set(&p->detail->cgroup, after ? "/" : "/run-1");
}

static void set_stopped(struct process *p, bool after)
{
	p->state = after ? 'T' : 'S';
}

static void set_running(struct process *p, bool after)
{
	p->state = after ? 'R' : 'D';
}

static void set_idle(struct process *p, bool after)
{
	p->state = after ? 'I' : 'S';
}

static void set_busy(struct process *p, bool after)
{
	p->cpu_ticks = after ? 9000 : 1;
}

static void set_last_nul(struct process *p, bool after)
{
	assert_true(bytes_set(&p->detail->cmdline, "a\0b", after ? 4 : 3));
}

static void set_one_empty_arg(struct process *p, bool after)
{
	assert_true(bytes_set(&p->detail->cmdline, "", after ? 1 : 0));
}

static void hide_exe(struct process *p, bool after)
{
	tables_set(&p->detail->exe, after ? NULL : "/usr/bin/dash");
}

static void show_cwd(struct process *p, bool after)
{
	tables_set(&p->detail->cwd, after ? "/" : NULL);
}

static void hide_args(struct process *p, bool after)
{
	if (after)
		bytes_free(&p->detail->cmdline);
}

static void hide_uid(struct process *p, bool after)
{
	p->detail->uid = after ? (uid_t)-1 : 0;
}

static void hide_all(struct process *p, bool after)
{
	if (after) {
		detail_unref(p->detail);
		p->detail = NULL;
	}
}

static void a_change_is_a_field_that_both_know_and_that_differs(void **state)
{
	static const struct {
		void (*set)(struct process *p, bool after);
		unsigned fields;
	} cases[] = {
		{set_ppid, 1u << DIFF_PPID},
		{set_pgid, 1u << DIFF_PGID},
		{set_sid, 1u << DIFF_SID},
		{set_tty, 1u << DIFF_TTY},
		{set_exe, 1u << DIFF_EXE},
		{set_args, 1u << DIFF_ARGS},
		{set_cwd, 1u << DIFF_CWD},
		{set_uid, 1u << DIFF_UID},
		{set_cgroup, 1u << DIFF_CGROUP},
		{set_stopped, 1u << DIFF_STATE},
		{set_one_empty_arg, 1u << DIFF_ARGS},
		{set_running, 0},
		{set_idle, 0},
		{set_busy, 0},
		{set_last_nul, 0},
		{hide_exe, 0},
		{show_cwd, 0},
		{hide_args, 0},
		{hide_uid, 0},
		{hide_all, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *before = tables_new(), *after = tables_new();
		struct diff d;

		cases[i].set(tables_add(before, 10, 500, 1), false);
		cases[i].set(tables_add(after, 10, 500, 1), true);
		d = compare(before, after, NULL);
		assert_int_equal(d.changed.n, cases[i].fields ? 1 : 0);
		if (d.changed.n)
			assert_int_equal(d.changed.v[0].fields, cases[i].fields);
		assert_int_equal(d.added.n + d.removed.n + d.restarted.n, 0);
		diff_clear(&d);
		table_free(before);
		table_free(after);
	}
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	struct diff d;

	(void)state;
	tables_add(before, 10, 500, 1);
	tables_args(tables_add(after, 10, 900, 1), "sleep", "1", NULL);
	d = compare(before, after, NULL);
	assert_int_equal(d.removed.n, 1);
	assert_int_equal(d.removed.v[0]->id.start, 500);
	assert_int_equal(d.added.n, 1);
	assert_int_equal(d.added.v[0]->id.start, 900);
	assert_int_equal(d.changed.n, 0);
	diff_clear(&d);
	table_free(before);
	table_free(after);
}

static void what_went_and_came_back_is_restarted(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	struct diff d;

	(void)state;
	tables_add(before, 10, 500, 1);
	tables_add(after, 77, 900, 1);
	d = compare(before, after, NULL);
	assert_int_equal(d.restarted.n, 1);
	assert_int_equal(d.restarted.v[0].before->id.pid, 10);
	assert_int_equal(d.restarted.v[0].after->id.pid, 77);
	assert_int_equal(d.added.n + d.removed.n + d.changed.n, 0);
	assert_false(diff_is_empty(&d));
	diff_clear(&d);
	table_free(before);
	table_free(after);
}

static void what_is_not_known_of_a_process_makes_it_no_restart(void **state)
{
	void (*const hides[])(struct process * p, bool after) = {hide_exe, hide_args, hide_all};

	(void)state;
	for (size_t i = 0; i < sizeof(hides) / sizeof(hides[0]); i++) {
		struct table *before = tables_new(), *after = tables_new();
		struct diff d;

		hides[i](tables_add(before, 10, 500, 1), true);
		hides[i](tables_add(after, 77, 900, 1), true);
		d = compare(before, after, NULL);
		assert_int_equal(d.restarted.n, 0);
		assert_int_equal(d.removed.n, 1);
		assert_int_equal(d.added.n, 1);
		diff_clear(&d);
		table_free(before);
		table_free(after);
	}
}

/* Of three alike that went, two came back: the oldest two. */
static void each_restart_takes_one_of_each_side(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	struct diff d;

	(void)state;
	tables_add(before, 10, 520, 1);
	tables_add(before, 11, 510, 1);
	tables_add(before, 12, 530, 1);
	tables_set(&tables_add(before, 13, 540, 1)->detail->cwd, "/srv");
	tables_add(after, 20, 900, 1);
	tables_add(after, 21, 901, 1);
	tables_set(&tables_add(after, 22, 902, 1)->detail->cwd, "/srv");
	d = compare(before, after, NULL);
	assert_int_equal(d.restarted.n, 3);
	assert_int_equal(d.restarted.v[0].before->id.pid, 10);
	assert_int_equal(d.restarted.v[0].after->id.pid, 21);
	assert_int_equal(d.restarted.v[1].before->id.pid, 11);
	assert_int_equal(d.restarted.v[1].after->id.pid, 20);
	assert_int_equal(d.restarted.v[2].before->id.pid, 13);
	assert_int_equal(d.restarted.v[2].after->id.pid, 22);
	assert_int_equal(d.removed.n, 1);
	assert_int_equal(d.removed.v[0]->id.pid, 12);
	assert_int_equal(d.added.n, 0);
	diff_clear(&d);
	table_free(before);
	table_free(after);
}

static void the_taker_and_kernel_threads_are_left_out(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	struct diff d;

	(void)state;
	tables_add(before, 2, 0, 0)->pf = PROCESS_PF_KTHREAD;
	tables_add(before, 9, 100, 2)->pf = PROCESS_PF_KTHREAD;
	tables_add(before, 50, 700, 1);
	before->host.self = (struct identity){50, 700};
	tables_add(after, 2, 0, 0)->pf = PROCESS_PF_KTHREAD;
	tables_add(after, 50, 900, 1);
	tables_add(after, 60, 950, 1);
	after->host.self = (struct identity){60, 950};
	d = compare(before, after, NULL);
	assert_int_equal(d.kthreads_before, 2);
	assert_int_equal(d.kthreads_after, 1);
	assert_int_equal(d.removed.n, 0);
	assert_int_equal(d.added.n, 1); /* the number of a taker, but another process */
	assert_int_equal(d.added.v[0]->id.pid, 50);
	diff_clear(&d);
	table_free(before);
	table_free(after);
}

static void members_are_compared_and_the_rest_counted(void **state)
{
	const struct identity members[] = {{12, 500}, {10, 500}, {30, 900}};
	const struct diff_options options = {members, 3};
	struct table *before = tables_new(), *after = tables_new();
	struct diff d;

	(void)state;
	tables_add(before, 10, 500, 1);                                   /* changes */
	tables_args(tables_add(before, 11, 500, 1), "not", "ours", NULL); /* goes */
	tables_args(tables_add(before, 12, 500, 1), "ours", NULL);        /* comes back */
	tables_add(before, 13, 500, 1);                                   /* changes, not ours */
	tables_add(after, 10, 500, 7);
	tables_add(after, 13, 500, 7);
	tables_args(tables_add(after, 30, 900, 1), "new", NULL);
	tables_args(tables_add(after, 31, 900, 1), "ours", NULL);
	tables_args(tables_add(after, 32, 900, 1), "theirs", NULL);
	d = compare(before, after, &options);
	assert_true(d.restricted);
	assert_int_equal(d.changed.n, 1);
	assert_int_equal(d.changed.v[0].before->id.pid, 10);
	assert_int_equal(d.added.n, 1);
	assert_int_equal(d.added.v[0]->id.pid, 30);
	assert_int_equal(d.restarted.n, 1);
	assert_int_equal(d.restarted.v[0].after->id.pid, 31);
	assert_int_equal(d.removed.n, 0);
	assert_int_equal(d.elsewhere_added, 1);
	assert_int_equal(d.elsewhere_removed, 1);
	diff_clear(&d);

	/* No member at all is not the same as no restriction. */
	d = compare(before, after, &(struct diff_options){members, 0});
	assert_true(diff_is_empty(&d));
	assert_int_equal(d.elsewhere_added, 3);
	assert_int_equal(d.elsewhere_removed, 2);
	diff_clear(&d);
	table_free(before);
	table_free(after);
}

static void other_boot(struct table *t)
{
	t->host.boot_id[0] = 'f';
}

static void no_boot(struct table *t)
{
	t->host.boot_id[0] = '\0';
}

static void other_host(struct table *t)
{
	strcpy(t->host.hostname, "db-01");
}

static void other_namespace(struct table *t)
{
	t->host.pid_ns++;
}

static void no_namespace(struct table *t)
{
	t->host.pid_ns = 0;
}

static void other_ticks(struct table *t)
{
	t->host.ticks_per_second = 1000;
}

static void what_is_not_of_one_kernel_is_refused(void **state)
{
	static const struct {
		void (*change)(struct table *t);
		const char *word;
	} cases[] = {{other_boot, "boot"},
		     {no_boot, "boot of AFTER is not known"},
		     {other_host, "host"},
		     {other_namespace, "namespace"},
		     {no_namespace, "namespace of AFTER is not known"},
		     {other_ticks, "ticks"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *before = tables_new(), *after = tables_new();
		struct err err = {0};
		struct diff d;

		cases[i].change(after);
		assert_int_equal(diff_tables(before, after, NULL, &d, &err), -EXDEV);
		assert_non_null(strstr(err.text, cases[i].word));
		table_free(before);
		table_free(after);
	}
}

static void a_target_alone_tells_nothing_of_the_host(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	struct err err = {0};
	struct diff d;

	(void)state;
	before->host.boot_ns = 10000000000; /* tick 1000 */
	tables_add(before, 10, 500, 1);
	tables_add(before, 11, 500, 1);
	tables_add(after, 10, 500, 1);
	tables_args(tables_add(after, 20, 999, 1), "old", NULL);
	tables_args(tables_add(after, 21, 1000, 1), "new", NULL);

	after->coverage.partial = true;
	assert_int_equal(diff_tables(before, after, NULL, &d, &err), -EINVAL);

	before->coverage.partial = true;
	for (int partial = 0; partial < 2; partial++) {
		after->coverage.partial = partial;
		d = compare(before, after, NULL);
		assert_int_equal(d.removed.n, 1);
		assert_int_equal(d.added.n, 1);
		assert_int_equal(d.added.v[0]->id.pid, 21);
		diff_clear(&d);
	}
	table_free(before);
	table_free(after);
}

/* --- the property: BEFORE and the diff give AFTER --- */

static void apply_detail(struct process *p, const struct process *after, unsigned fields)
{
	struct detail *d = p->detail;
	const struct detail *from = after->detail;

	if (fields & 1u << DIFF_EXE)
		assert_true(bytes_set(&d->exe, from->exe.data, from->exe.len));
	if (fields & 1u << DIFF_ARGS)
		assert_true(bytes_set(&d->cmdline, from->cmdline.data, from->cmdline.len));
	if (fields & 1u << DIFF_CWD)
		assert_true(bytes_set(&d->cwd, from->cwd.data, from->cwd.len));
	if (fields & 1u << DIFF_UID)
		d->uid = from->uid;
	if (fields & 1u << DIFF_CGROUP)
		assert_true(bytes_set(&d->cgroup, from->cgroup.data, from->cgroup.len));
}

static void apply(struct process *p, const struct process *after, unsigned fields)
{
	apply_detail(p, after, fields);
	if (fields & 1u << DIFF_PPID)
		p->ppid = after->ppid;
	if (fields & 1u << DIFF_PGID)
		p->pgid = after->pgid;
	if (fields & 1u << DIFF_SID)
		p->sid = after->sid;
	if (fields & 1u << DIFF_TTY)
		p->tty_nr = after->tty_nr;
	if (fields & 1u << DIFF_STATE)
		p->state = after->state;
}

/* A copy whose details are its own, so that they can be written to. */
static void copy(struct process *to, const struct process *from)
{
	const struct detail *d = from->detail;

	assert_true(process_copy(to, from));
	if (!d)
		return;
	detail_unref(to->detail);
	to->detail = detail_new();
	assert_non_null(to->detail);
	apply_detail(to, from,
		     (d->exe.data ? 1u << DIFF_EXE : 0) | (d->cmdline.data ? 1u << DIFF_ARGS : 0) |
			     (d->cwd.data ? 1u << DIFF_CWD : 0) | 1u << DIFF_UID |
			     (d->cgroup.data ? 1u << DIFF_CGROUP : 0));
}

static bool holds(const struct diff_list *list, const struct process *p)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == p)
			return true;
	return false;
}

static const struct diff_pair *pair_of(const struct diff_pairs *list, const struct process *before)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].before == before)
			return &list->v[i];
	return NULL;
}

static struct table *apply_diff(const struct table *before, const struct diff *d)
{
	struct table *t = tables_new();
	struct process p;

	for (size_t i = 0; i < before->procs.n; i++) {
		const struct diff_pair *change = pair_of(&d->changed, &before->procs.v[i]);

		if (holds(&d->removed, &before->procs.v[i]) ||
		    pair_of(&d->restarted, &before->procs.v[i]))
			continue;
		copy(&p, &before->procs.v[i]);
		if (change)
			apply(&p, change->after, change->fields);
		assert_true(table_add(t, &p));
	}
	for (size_t i = 0; i < d->added.n + d->restarted.n; i++) {
		copy(&p, i < d->added.n ? d->added.v[i] : d->restarted.v[i - d->added.n].after);
		assert_true(table_add(t, &p));
	}
	table_sort(t);
	return t;
}

/* Every process of after that is compared stands in got, the same in each field. */
static void assert_reached(const struct table *got, const struct table *after, const struct diff *d)
{
	size_t compared = 0;

	for (size_t i = 0; i < after->procs.n; i++) {
		const struct process *p = &after->procs.v[i];
		const struct process *q = table_find(got, p->id);

		if (process_is_kthread(p) || identity_same(p->id, d->before->host.self) ||
		    identity_same(p->id, d->after->host.self))
			continue;
		compared++;
		assert_non_null(q);
		assert_int_equal(diff_process(q, p), 0);
	}
	for (size_t i = 0; i < got->procs.n; i++)
		if (process_is_kthread(&got->procs.v[i]) ||
		    identity_same(got->procs.v[i].id, d->before->host.self) ||
		    identity_same(got->procs.v[i].id, d->after->host.self))
			compared++;
	assert_int_equal(got->procs.n, compared);
}

static void before_and_the_diff_give_after(void **state)
{
	(void)state;
	for (unsigned round = 1; round <= 200; round++) {
		unsigned seed = round;
		struct table *before = tables_make(&seed, 40);
		struct table *after = tables_later(before, &seed);
		struct diff d = compare(before, after, NULL);
		struct table *got = apply_diff(before, &d);

		assert_reached(got, after, &d);
		diff_clear(&d);
		table_free(got);
		table_free(before);
		table_free(after);
	}
}

/* 30,000 alike on each side, none in common: the worst that restarts can be. */
static void a_large_host_is_compared_at_once(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	clock_t start;
	struct diff d;

	(void)state;
	for (pid_t pid = 1; pid <= 30000; pid++) {
		tables_add(before, pid, 500, 1);
		tables_add(after, pid, 900, 1);
	}
	start = clock();
	d = compare(before, after, NULL);
	assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
	assert_int_equal(d.restarted.n, 30000);
	diff_clear(&d);
	table_free(before);
	table_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_table_twice_differs_in_nothing),
		cmocka_unit_test(a_change_is_a_field_that_both_know_and_that_differs),
		cmocka_unit_test(a_number_that_is_used_again_is_another_process),
		cmocka_unit_test(what_went_and_came_back_is_restarted),
		cmocka_unit_test(what_is_not_known_of_a_process_makes_it_no_restart),
		cmocka_unit_test(each_restart_takes_one_of_each_side),
		cmocka_unit_test(the_taker_and_kernel_threads_are_left_out),
		cmocka_unit_test(members_are_compared_and_the_rest_counted),
		cmocka_unit_test(what_is_not_of_one_kernel_is_refused),
		cmocka_unit_test(a_target_alone_tells_nothing_of_the_host),
		cmocka_unit_test(before_and_the_diff_give_after),
		cmocka_unit_test(a_large_host_is_compared_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
