#include "record/snapshot.h"

#include "tests/unit/parsed.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static json_t *write_table(const struct table *t, const struct snapshot_options *options)
{
	FILE *out = parsed_begin();
	struct err err = {0};

	assert_int_equal(snapshot_write(out, t, NULL, 0, options, &err), 0);
	return parsed_end(out);
}

/* A snapshot of the one process in t. */
static json_t *write_one(const struct table *t, json_t **process)
{
	json_t *snapshot = write_table(t, NULL);

	assert_int_equal(json_array_size(member(snapshot, "processes")), 1);
	*process = json_array_get(member(snapshot, "processes"), 0);
	return snapshot;
}

static void a_snapshot_says_where_and_when(void **state)
{
	static const struct {
		const char *key, *json;
	} cases[] = {
		{"schema", "\"stray.snapshot/1\""},
		{"host", "\"web-01\""},
		{"boot_id", "\"5c0a3c8e-14c8-4a0c-9d0e-0d9f3f6c2b11\""},
		{"kernel", "\"6.1.0-18-amd64\""},
		{"taken_at", "\"2026-07-24T14:11:07.000250Z\""},
		{"boottime_ns", "90714004112345"},
		{"ticks_per_second", "100"},
		{"pid_namespace", "4026531836"},
		{"pid_namespace_initial", "true"},
		{"net_namespace", "4026531840"},
		{"taker", "{\"pid\":90001,\"start_ticks\":9071300}"},
		{"systemd", "true"},
		{"logins", "[{\"id\":\"12\",\"leader\":77,\"uid\":1000,"
			   "\"scope\":\"session-12.scope\",\"state\":\"closing\","
			   "\"service\":\"sshd\",\"tty\":null,\"audit_session\":12}]"},
		{"processes", "[]"},
		{"coverage", "{\"sources\":[\"proc\"],\"partial\":false,\"events_lost\":0,"
			     "\"hidepid\":false,\"vanished\":3,\"skipped\":0,\"unreadable\":{},"
			     "\"first_scan_at\":\"2026-07-24T14:11:07.000250Z\"}"},
	};
	const struct login l = {"12", 77, 1000, "session-12.scope", "closing", "sshd", "", 12};
	struct table *t = tables_new();
	json_t *snapshot;

	(void)state;
	t->host.logins_known = true;
	assert_true(VEC_PUSH(&t->host.logins, l));
	t->coverage.vanished = 3;
	snapshot = write_table(t, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_json(member(snapshot, cases[i].key), cases[i].json);
	json_decref(snapshot);
	table_free(t);
}

static void what_is_not_known_of_a_host_is_null(void **state)
{
	static const char *const keys[] = {"host",   "boot_id", "pid_namespace", "net_namespace",
					   "logins", "uid",     "taker"};
	struct table *t = tables_new();
	json_t *snapshot;

	(void)state;
	t->host.hostname[0] = t->host.boot_id[0] = '\0';
	t->host.pid_ns = t->host.net_ns = 0;
	t->host.uid = (uid_t)-1;
	t->host.self.pid = 0;
	snapshot = write_table(t, NULL);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_json(member(snapshot, keys[i]), "null");
	json_decref(snapshot);
	table_free(t);
}

static void a_process_has_every_member_of_the_format(void **state)
{
	static const struct {
		const char *key, *json;
	} cases[] = {
		{"pid", "4131"},
		{"ppid", "1"},
		{"pgid", "4131"},
		{"sid", "4131"},
		{"tty", "\"pts/3\""},
		{"tpgid", "-1"},
		{"state", "\"S\""},
		{"start_ticks", "881234"},
		{"started_at", "\"2026-07-23T15:26:05.336137Z\""},
		{"uid", "1000"},
		{"euid", "1000"},
		{"user", "\"op\""},
		{"comm", "\"sh\""},
		{"exe", "\"/usr/bin/dash\""},
		{"exe_deleted", "false"},
		{"exe_dev", "65025"},
		{"exe_inode", "131"},
		{"cwd", "\"/home/op\""},
		{"cwd_deleted", "true"},
		{"cmdline", "\"sh -c sleep 100\""},
		{"args", "[\"sh\",\"-c\",\"sleep 100\"]"},
		{"cgroup", "\"/user.slice/user-1000.slice/session-12.scope\""},
		{"origin", "{\"kind\":\"login\",\"name\":\"session-12.scope\"}"},
		{"audit_session", "12"},
		{"login_uid", "1000"},
		{"kthread", "false"},
		{"threads", "1"},
		{"cpu_ticks", "12"},
		{"rss_kb", "2048"},
		{"nspid", "[4131,7]"},
		{"env_marks", "[]"},
		{"env_credentials", "[]"},
		{"sig_ignored", "\"16384\""},
		{"sig_caught", "\"18446744073709551615\""},
		{"tracer", "0"},
		{"unreadable", "[]"},
	};
	static const char *const absent[] = {"args_b64", "cmdline_b64", "comm_b64", "args_cut",
					     "run_id",   "flags",       "evidence", "tty_closed",
					     "wchan",    "namespaces",  "suspect",  "stdio"};
	struct table *t = tables_new();
	struct process *p = tables_add(t, 4131, 881234, 1);
	json_t *snapshot, *process;

	(void)state;
	p->tty_nr = 34819;
	p->origin = ORIGIN_LOGIN;
	tables_set(&p->origin_name, "session-12.scope");
	p->detail->cwd_deleted = true;
	p->detail->nspid[1] = 7;
	p->detail->n_nspid = 2;
	p->detail->sig_ignored = 1 << 14;
	p->detail->sig_caught = UINT64_MAX;
	snapshot = write_one(t, &process);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_json(member(process, cases[i].key), cases[i].json);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_null(json_object_get(process, absent[i]));
	json_decref(snapshot);
	table_free(t);
}

static void what_is_not_known_of_a_process_is_null(void **state)
{
	static const char *const keys[] = {
		"ppid",
		"pgid",
		"sid",
		"tty",
		"uid",
		"euid",
		"user",
		"comm",
		"exe",
		"exe_deleted",
		"exe_dev",
		"exe_inode",
		"cwd",
		"cwd_deleted",
		"cmdline",
		"args",
		"cgroup",
		"origin",
		"login_uid",
		"env_marks",
		"cgroup_v2",
		"audit_session",
		"env_credentials",
	};
	struct table *t = tables_new();
	struct process *p = tables_add(t, 4131, 881234, 1);
	json_t *snapshot, *process;

	(void)state;
	detail_unref(p->detail);
	p->detail = NULL;
	p->ppid = p->pgid = p->sid = -1;
	snapshot = write_one(t, &process);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_json(member(process, keys[i]), "null");
	json_decref(snapshot);
	table_free(t);
}

static void any_byte_survives(void **state)
{
	struct table *t = tables_new();
	struct process *p = tables_add(t, 4131, 881234, 1);
	json_t *snapshot, *process;

	(void)state;
	tables_set(&p->detail->comm, "a\xff");
	tables_set(&p->detail->cwd, "/\x1b[2J\xe2\x80\xae/\xc2\x9b");
	tables_args(p, "ok", "\xff", "", NULL);
	snapshot = write_one(t, &process);
	assert_json(member(process, "comm"), "\"a\xef\xbf\xbd\"");
	assert_json(member(process, "comm_b64"), "\"Yf8=\"");
	assert_null(json_object_get(process, "cwd_b64"));
	assert_string_equal(json_string_value(member(process, "cwd")),
			    "/\x1b[2J\xe2\x80\xae/\xc2\x9b");
	assert_json(member(process, "args"), "[\"ok\",\"\xef\xbf\xbd\",\"\"]");
	assert_json(member(process, "args_b64"), "[null,\"/w==\",null]");
	assert_json(member(process, "cmdline"), "\"ok \xef\xbf\xbd\"");
	assert_json(member(process, "cmdline_b64"), "\"b2sg/w==\"");
	json_decref(snapshot);
	table_free(t);
}

static void arguments_are_those_between_the_nuls(void **state)
{
	static const struct {
		const char *raw;
		size_t len;
		const char *args, *cmdline;
	} cases[] = {
		{"", 0, "[]", "\"\""},
		{"", 1, "[\"\"]", "\"\""},
		{"a\0b", 4, "[\"a\",\"b\"]", "\"a b\""},
		{"a\0b", 3, "[\"a\",\"b\"]", "\"a b\""},
		{"title\0\0", 8, "[\"title\",\"\",\"\"]", "\"title\""},
		{"\0x", 3, "[\"\",\"x\"]", "\" x\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = tables_new();
		struct process *p = tables_add(t, 4131, 881234, 1);
		json_t *snapshot, *process;

		assert_true(bytes_set(&p->detail->cmdline, cases[i].raw, cases[i].len));
		p->detail->cmdline_total = cases[i].len;
		snapshot = write_one(t, &process);
		assert_json(member(process, "args"), cases[i].args);
		assert_json(member(process, "cmdline"), cases[i].cmdline);
		assert_null(json_object_get(process, "args_cut"));
		json_decref(snapshot);
		table_free(t);
	}
}

static void what_was_cut_or_not_readable_is_said(void **state)
{
	struct table *t = tables_new();
	struct process *p = tables_add(t, 4131, 881234, 1);
	json_t *snapshot, *process;

	(void)state;
	p->detail->cmdline_total = 2000000;
	p->detail->unread[3] = EACCES;
	p->detail->unread[5] = EPERM;
	tables_set(&p->detail->exe, NULL);
	snapshot = write_one(t, &process);
	assert_json(member(process, "args_cut"), "true");
	assert_json(member(process, "args_bytes"), "2000000");
	assert_json(member(process, "unreadable"), "[{\"member\":\"exe\",\"errno\":\"EACCES\"},"
						   "{\"member\":\"environ\",\"errno\":\"EPERM\"}]");
	assert_json(member(member(snapshot, "coverage"), "unreadable"),
		    "{\"exe\":1,\"environ\":1}");
	json_decref(snapshot);
	table_free(t);
}

static void of_the_environment_names_alone_are_written(void **state)
{
	struct table *t = tables_new();
	struct process *p = tables_add(t, 4131, 881234, 1);
	struct mark mark = {strdup("AI_AGENT"), strdup("the-value")};
	char *names[] = {strdup("API_TOKEN"), strdup("A\xffKEY")};
	json_t *snapshot, *process;
	char *text;

	(void)state;
	p->detail->marks = malloc(sizeof(mark));
	p->detail->marks[0] = mark;
	p->detail->n_marks = 1;
	p->detail->secret_names = malloc(sizeof(names));
	memcpy(p->detail->secret_names, names, sizeof(names));
	p->detail->n_secret_names = 2;
	snapshot = write_one(t, &process);
	assert_json(member(process, "env_marks"), "[\"AI_AGENT\"]");
	assert_json(member(process, "env_credentials"), "[\"API_TOKEN\",\"A\xef\xbf\xbdKEY\"]");
	assert_json(member(process, "env_credentials_b64"), "[null,\"Qf9LRVk=\"]");
	text = json_dumps(snapshot, 0);
	assert_null(strstr(text, "the-value"));
	free(text);
	json_decref(snapshot);
	table_free(t);
}

static void what_was_asked_for_is_there(void **state)
{
	struct table *t = tables_new();
	struct process *p = tables_add(t, 4131, 881234, 1);
	json_t *snapshot, *process;

	(void)state;
	p->tty_closed = true;
	p->detail->have = DETAIL_ALL;
	tables_set(&p->detail->wchan, "do_wait");
	p->detail->ns[NS_PID] = 4026531836;
	tables_set(&p->detail->stdio[0], "/dev/null");
	tables_set(&p->detail->stdio[1], "pipe:[123]");
	snapshot = write_one(t, &process);
	assert_json(member(process, "tty_closed"), "true");
	assert_json(member(process, "wchan"), "\"do_wait\"");
	assert_json(member(member(process, "namespaces"), "pid"), "4026531836");
	assert_json(member(member(process, "namespaces"), "net"), "null");
	assert_json(member(process, "stdio"),
		    "{\"stdin\":\"/dev/null\",\"stdout\":\"pipe:[123]\",\"stderr\":null}");
	json_decref(snapshot);
	table_free(t);
}

static void a_run_in_view_adds_what_it_knows(void **state)
{
	struct table *t = tables_new();
	struct process *p = tables_add(t, 4131, 881234, 1);
	struct run run = {.pgid = 4102, .sid = 4102};
	struct snapshot_options options = {
		.process = {.run = &run, .run_id = "run-7f3c0a12", .suspects = true}};
	json_t *snapshot, *process;

	(void)state;
	p->reparented = KNOWN_SEEN;
	p->parent_was = (struct identity){4100, 1};
	p->parent_known = KNOWN_SEEN;
	p->evidence = EVIDENCE_CGROUP | EVIDENCE_FORK;
	p->suspect = SUSPECT_REPARENTED | SUSPECT_MARK;
	p->explained = SUSPECT_LEADER_GONE;
	snapshot = write_table(t, &options);
	process = json_array_get(member(snapshot, "processes"), 0);
	assert_json(member(process, "run_id"), "\"run-7f3c0a12\"");
	assert_json(json_array_get(member(process, "flags"), 0), "\"R\"");
	assert_json(member(process, "evidence"), "[\"cgroup\",\"fork\"]");
	assert_true(json_is_array(member(process, "classes")));
	assert_json(member(process, "original_ppid"), "4100");
	assert_int_equal(json_array_size(member(process, "suspect")), 2);
	assert_int_equal(json_array_size(member(process, "explained")), 1);
	json_decref(snapshot);

	p->parent_known = KNOWN_NOT;
	p->evidence = 0;
	snapshot = write_table(t, &options);
	process = json_array_get(member(snapshot, "processes"), 0);
	assert_json(member(process, "original_ppid"), "null");
	assert_null(json_object_get(process, "run_id"));
	json_decref(snapshot);
	table_free(t);
}

static void members_alone_make_a_partial_snapshot(void **state)
{
	const struct identity members[] = {{30, 500}, {10, 500}, {20, 999}};
	struct table *t = tables_new();
	FILE *out = parsed_begin();
	struct err err = {0};
	json_t *snapshot;

	(void)state;
	for (pid_t pid = 10; pid <= 40; pid += 10)
		tables_add(t, pid, 500, 1);
	assert_int_equal(snapshot_write(out, t, members, 3, NULL, &err), 0);
	snapshot = parsed_end(out);
	assert_int_equal(json_array_size(member(snapshot, "processes")), 2);
	assert_json(member(json_array_get(member(snapshot, "processes"), 1), "pid"), "30");
	assert_json(member(member(snapshot, "coverage"), "partial"), "true");
	json_decref(snapshot);
	table_free(t);
}

static void pretty_or_not_it_says_the_same(void **state)
{
	const struct snapshot_options pretty = {.pretty = true};
	unsigned seed = 3;
	struct table *t = tables_make(&seed, 60);
	json_t *a = write_table(t, NULL), *b = write_table(t, &pretty);

	(void)state;
	assert_true(json_equal(a, b));
	json_decref(a);
	json_decref(b);
	table_free(t);
}

static void any_table_is_strict_json(void **state)
{
	(void)state;
	for (unsigned round = 1; round <= 100; round++) {
		unsigned seed = round;
		struct table *t = tables_make(&seed, 30);
		json_t *snapshot = write_table(t, NULL);

		assert_int_equal(json_array_size(member(snapshot, "processes")), 30);
		json_decref(snapshot);
		table_free(t);
	}
}

static void what_is_out_of_order_is_refused(void **state)
{
	struct table *t = tables_new();
	FILE *out = fopen("/dev/null", "w");
	struct err err = {0};
	struct snapshot *s = snapshot_begin(out, &t->host, NULL, &err);

	(void)state;
	tables_add(t, 20, 500, 1);
	assert_int_equal(snapshot_add(s, &t->procs.v[0], &err), 0);
	assert_int_equal(snapshot_add(s, &t->procs.v[0], &err), -EINVAL);
	snapshot_discard(s);
	fclose(out);
	table_free(t);
}

static void a_full_disk_is_an_error_at_the_end(void **state)
{
	struct table *t = tables_new();
	FILE *full = fopen("/dev/full", "w");
	struct err err = {0};

	(void)state;
	tables_add(t, 20, 500, 1);
	assert_non_null(full);
	assert_int_equal(snapshot_write(full, t, NULL, 0, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(full);
	table_free(t);
}

static void a_large_host_takes_no_more_memory(void **state)
{
	struct table *t = tables_new();
	struct process *p = tables_add(t, 1, 500, 1);
	FILE *out = fopen("/dev/null", "w");
	struct err err = {0};
	struct snapshot *s = snapshot_begin(out, &t->host, NULL, &err);
	size_t before;

	(void)state;
	assert_int_equal(snapshot_add(s, p, &err), 0);
	before = mallinfo2().uordblks;
	for (p->id.pid = 2; p->id.pid <= 30000; p->id.pid++)
		assert_int_equal(snapshot_add(s, p, &err), 0);
	assert_true(mallinfo2().uordblks <= before + 65536); /* stdio's buffer at most */
	assert_int_equal(snapshot_end(s, &t->coverage, &err), 0);
	fclose(out);
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_host_takes_no_more_memory),
		cmocka_unit_test(a_snapshot_says_where_and_when),
		cmocka_unit_test(what_is_not_known_of_a_host_is_null),
		cmocka_unit_test(a_process_has_every_member_of_the_format),
		cmocka_unit_test(what_is_not_known_of_a_process_is_null),
		cmocka_unit_test(any_byte_survives),
		cmocka_unit_test(arguments_are_those_between_the_nuls),
		cmocka_unit_test(what_was_cut_or_not_readable_is_said),
		cmocka_unit_test(of_the_environment_names_alone_are_written),
		cmocka_unit_test(what_was_asked_for_is_there),
		cmocka_unit_test(a_run_in_view_adds_what_it_knows),
		cmocka_unit_test(members_alone_make_a_partial_snapshot),
		cmocka_unit_test(pretty_or_not_it_says_the_same),
		cmocka_unit_test(any_table_is_strict_json),
		cmocka_unit_test(what_is_out_of_order_is_refused),
		cmocka_unit_test(a_full_disk_is_an_error_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
