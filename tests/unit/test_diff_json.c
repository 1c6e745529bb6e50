#include "record/diff_json.h"
#include "record/snapshot.h"

#include "tests/unit/parsed.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static json_t *write_diff(const struct table *before, const struct table *after,
			  const struct diff_options *options)
{
	FILE *out = parsed_begin();
	struct err err = {0};
	struct diff d;

	assert_int_equal(diff_tables(before, after, options, &d, &err), 0);
	assert_int_equal(diff_json(out, &d, NULL, &err), 0);
	diff_clear(&d);
	return parsed_end(out);
}

static void a_diff_says_of_what_and_how_much(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	json_t *diff;

	(void)state;
	tables_add(before, 2, 0, 0)->pf = PROCESS_PF_KTHREAD;
	tables_add(before, 10, 500, 1);
	tables_add(after, 10, 500, 1);
	after->host.wall_ns += 1000000000;
	diff = write_diff(before, after, NULL);
	assert_json(member(diff, "schema"), "\"stray.diff/1\"");
	assert_json(member(member(diff, "before"), "host"), "\"web-01\"");
	assert_json(member(member(diff, "before"), "taken_at"), "\"2026-07-24T14:11:07.000250Z\"");
	assert_json(member(member(diff, "after"), "taken_at"), "\"2026-07-24T14:11:08.000250Z\"");
	assert_non_null(member(member(diff, "after"), "boot_id"));
	assert_json(member(member(member(diff, "after"), "coverage"), "sources"), "[\"proc\"]");
	assert_json(member(diff, "added"), "[]");
	assert_json(member(diff, "removed"), "[]");
	assert_json(member(diff, "changed"), "[]");
	assert_json(member(diff, "restarted"), "[]");
	assert_json(member(diff, "same"), "1");
	assert_json(member(diff, "kernel_threads"), "{\"before\":1,\"after\":0}");
	assert_json(member(diff, "elsewhere"), "null");
	json_decref(diff);
	table_free(before);
	table_free(after);
}

static void a_change_says_from_what_to_what(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	struct process *p = tables_add(before, 10, 500, 7);
	json_t *diff;

	(void)state;
	p->tty_nr = 34819;
	tables_set(&p->detail->cwd, "/a\xff");
	tables_args(p, "x", "\xff", NULL);
	p = tables_add(after, 10, 500, 1);
	p->pgid = 3;
	p->sid = 2;
	p->state = 'T';
	tables_set(&p->detail->exe, "/usr/bin/curl");
	tables_set(&p->detail->cgroup, "/");
	p->detail->uid = 0;
	tables_args(p, "y", NULL);
	diff = write_diff(before, after, NULL);
	assert_json(
		member(diff, "changed"),
		"[{\"pid\":10,\"start_ticks\":500,\"comm\":\"sh\",\"fields\":{"
		"\"ppid\":{\"from\":7,\"to\":1},"
		"\"pgid\":{\"from\":10,\"to\":3},"
		"\"sid\":{\"from\":10,\"to\":2},"
		"\"tty\":{\"from\":\"pts/3\",\"to\":null},"
		"\"exe\":{\"from\":\"/usr/bin/dash\",\"to\":\"/usr/bin/curl\"},"
		"\"args\":{\"from\":[\"x\",\"\xef\xbf\xbd\"],\"from_b64\":[null,\"/w==\"],"
		"\"to\":[\"y\"]},"
		"\"cwd\":{\"from\":\"/a\xef\xbf\xbd\",\"from_b64\":\"L2H/\",\"to\":\"/home/op\"},"
		"\"uid\":{\"from\":1000,\"to\":0},"
		"\"cgroup\":{\"from\":\"/user.slice/user-1000.slice/session-12.scope\","
		"\"to\":\"/\"},"
		"\"state\":{\"from\":\"S\",\"to\":\"T\"}}}]");
	json_decref(diff);
	table_free(before);
	table_free(after);
}

static void whole_processes_are_those_of_a_snapshot(void **state)
{
	struct table *before = tables_new(), *after = tables_new();
	json_t *diff, *pair;

	(void)state;
	tables_add(before, 10, 500, 1);
	tables_args(tables_add(before, 11, 500, 1), "gone", NULL);
	tables_args(tables_add(after, 12, 900, 1), "new", NULL);
	tables_add(after, 13, 900, 1);
	diff = write_diff(before, after, NULL);
	assert_json(member(json_array_get(member(diff, "removed"), 0), "cmdline"), "\"gone\"");
	assert_json(member(json_array_get(member(diff, "added"), 0), "cmdline"), "\"new\"");
	assert_json(member(json_array_get(member(diff, "added"), 0), "unreadable"), "[]");
	assert_int_equal(json_array_size(member(diff, "restarted")), 1);
	pair = json_array_get(member(diff, "restarted"), 0);
	assert_json(member(member(pair, "before"), "pid"), "10");
	assert_json(member(member(pair, "after"), "pid"), "13");
	json_decref(diff);
	table_free(before);
	table_free(after);
}

static void what_is_elsewhere_is_counted(void **state)
{
	const struct identity members[] = {{10, 500}};
	const struct diff_options options = {members, 1};
	struct table *before = tables_new(), *after = tables_new();
	json_t *diff;

	(void)state;
	tables_add(before, 10, 500, 1);
	tables_args(tables_add(before, 11, 500, 1), "theirs", NULL);
	tables_args(tables_add(after, 12, 900, 1), "theirs too", NULL);
	tables_args(tables_add(after, 13, 900, 1), "and this", NULL);
	diff = write_diff(before, after, &options);
	assert_json(member(diff, "elsewhere"), "{\"added\":2,\"removed\":1}");
	assert_int_equal(json_array_size(member(diff, "removed")), 1);
	json_decref(diff);
	table_free(before);
	table_free(after);
}

static void a_full_disk_is_an_error_of_the_diff(void **state)
{
	struct table *t = tables_new();
	FILE *full = fopen("/dev/full", "w");
	struct err err = {0};
	struct diff d;

	(void)state;
	assert_non_null(full);
	assert_int_equal(diff_tables(t, t, NULL, &d, &err), 0);
	assert_int_equal(diff_json(full, &d, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "No space left"));
	diff_clear(&d);
	fclose(full);
	table_free(t);
}

/* --- the property, on the files alone: BEFORE and the diff give AFTER --- */

static const char *const fields[] = {"ppid", "pgid", "sid", "tty",    "exe",
				     "args", "cwd",  "uid", "cgroup", "state"};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static json_t *write_table(const struct table *t)
{
	FILE *out = parsed_begin();
	struct err err = {0};

	assert_int_equal(snapshot_write(out, t, NULL, 0, NULL, &err), 0);
	return parsed_end(out);
}

static void key_of(const json_t *process, char out[static 48])
{
	snprintf(out, 48, "%lld@%lld", json_integer_value(member(process, "pid")),
		 json_integer_value(member(process, "start_ticks")));
}

/* The processes that are compared, by identity. */
static json_t *by_identity(const json_t *snapshot, const json_t *diff)
{
	json_t *out = json_object(), *process;
	char key[48], takers[2][48];
	size_t i;

	key_of(member(member(diff, "before"), "taker"), takers[0]);
	key_of(member(member(diff, "after"), "taker"), takers[1]);
	json_array_foreach(member(snapshot, "processes"), i, process)
	{
		key_of(process, key);
		if (!json_is_true(member(process, "kthread")) && strcmp(key, takers[0]) != 0 &&
		    strcmp(key, takers[1]) != 0)
			json_object_set(out, key, process);
	}
	return out;
}

static void set_b64(json_t *process, const char *field, json_t *exact)
{
	char key[16];

	snprintf(key, sizeof(key), "%s_b64", field);
	if (exact)
		json_object_set(process, key, exact);
	else
		json_object_del(process, key);
}

static void apply_changes(json_t *processes, const json_t *diff)
{
	json_t *change, *value;
	const char *field;
	char key[48];
	size_t i;

	json_array_foreach(member(diff, "changed"), i, change)
	{
		json_t *process;

		key_of(change, key);
		process = member(processes, key);
		json_object_foreach(member(change, "fields"), field, value)
		{
			assert_true(json_equal(member(process, field), member(value, "from")));
			json_object_set(process, field, member(value, "to"));
			set_b64(process, field, json_object_get(value, "to_b64"));
		}
	}
}

static void apply_diff(json_t *processes, const json_t *diff)
{
	json_t *item;
	char key[48];
	size_t i;

	apply_changes(processes, diff);
	json_array_foreach(member(diff, "removed"), i, item)
	{
		key_of(item, key);
		assert_int_equal(json_object_del(processes, key), 0);
	}
	json_array_foreach(member(diff, "restarted"), i, item)
	{
		key_of(member(item, "before"), key);
		assert_int_equal(json_object_del(processes, key), 0);
		key_of(member(item, "after"), key);
		json_object_set(processes, key, member(item, "after"));
	}
	json_array_foreach(member(diff, "added"), i, item)
	{
		key_of(item, key);
		json_object_set(processes, key, item);
	}
}

static bool runs_or_waits(const json_t *state)
{
	return strchr("SRDI", json_string_value(state)[0]) != NULL;
}

/* Jansson calls nothing equal to an absent member. */
static void assert_same_b64(const json_t *got, const json_t *want, const char *field)
{
	const json_t *a, *b;
	char key[16];

	snprintf(key, sizeof(key), "%s_b64", field);
	a = json_object_get(got, key);
	b = json_object_get(want, key);
	assert_true((!a && !b) || json_equal(a, b));
}

/* Null is not known, so it differs from nothing. */
static void assert_field(const json_t *got, const json_t *want, const char *field)
{
	const json_t *a = member(got, field), *b = member(want, field);
	bool tty = strcmp(field, "tty") == 0; /* null: none */

	if (!tty && (json_is_null(a) || json_is_null(b)))
		return;
	if (strcmp(field, "state") == 0 && runs_or_waits(a) && runs_or_waits(b))
		return;
	assert_true(json_equal(a, b));
	assert_same_b64(got, want, field);
}

static void assert_reached(const json_t *got, const json_t *want)
{
	json_t *process;
	const char *key;

	assert_int_equal(json_object_size(got), json_object_size(want));
	json_object_foreach((json_t *)want, key, process)
	{
		for (size_t i = 0; i < N_FIELDS; i++)
			assert_field(member(got, key), process, fields[i]);
	}
}

static void before_and_the_diff_give_after(void **state)
{
	size_t changes = 0;

	(void)state;
	for (unsigned round = 1; round <= 60; round++) {
		unsigned seed = round;
		struct table *before = tables_make(&seed, 40);
		struct table *after = tables_later(before, &seed);
		json_t *diff = write_diff(before, after, NULL);
		json_t *b = write_table(before), *a = write_table(after);
		json_t *got = by_identity(b, diff), *want = by_identity(a, diff);

		changes += json_array_size(member(diff, "changed"));
		apply_diff(got, diff);
		assert_reached(got, want);
		json_decref(got);
		json_decref(want);
		json_decref(a);
		json_decref(b);
		json_decref(diff);
		table_free(before);
		table_free(after);
	}
	assert_true(changes > 100); /* or it would show nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_diff_says_of_what_and_how_much),
		cmocka_unit_test(a_change_says_from_what_to_what),
		cmocka_unit_test(whole_processes_are_those_of_a_snapshot),
		cmocka_unit_test(what_is_elsewhere_is_counted),
		cmocka_unit_test(a_full_disk_is_an_error_of_the_diff),
		cmocka_unit_test(before_and_the_diff_give_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
