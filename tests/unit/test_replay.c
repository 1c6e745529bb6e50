#include "source/replay.h"

#include "model/diff.h"
#include "record/snapshot.h"
#include "tests/unit/parsed.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char *write_text(const struct table *t, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	struct err err = {0};

	assert_non_null(out);
	assert_int_equal(snapshot_write(out, t, NULL, 0, NULL, &err), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* An error is one line, tells the file, and leaves no table behind. */
static int read_text(const char *text, size_t len, struct table **t, struct err *err)
{
	FILE *in = len ? fmemopen((void *)text, len, "r") : fopen("/dev/null", "r");
	int r;

	assert_non_null(in);
	memset(err, 0, sizeof(*err));
	*t = NULL;
	r = replay_read(in, "old.json", t, err);
	fclose(in);
	if (r < 0) {
		assert_null(*t);
		assert_int_equal(err->code, -r);
		assert_null(strchr(err->text, '\n'));
		if (r != -ENOMEM)
			assert_int_equal(strncmp(err->text, "old.json: ", 10), 0);
	} else {
		assert_int_equal(r, 0);
		assert_non_null(*t);
	}
	return r;
}

static json_t *as_json(const struct table *t)
{
	size_t len;
	char *text = write_text(t, &len);
	json_t *value = json_loadb(text, len, 0, NULL);

	assert_non_null(value);
	free(text);
	return value;
}

static int read_json(const json_t *value, size_t flags, struct table **t, struct err *err)
{
	char *text = json_dumps(value, flags);
	int r = read_text(text, strlen(text), t, err);

	free(text);
	return r;
}

static void assert_same_table(const struct table *a, struct table *b)
{
	struct diff_options all = {0};
	struct err err = {0};
	json_t *x, *y;
	struct diff d;

	assert_true(b->coverage.sources & 1u << SOURCE_REPLAY);
	b->coverage.sources &= ~(1u << SOURCE_REPLAY);
	x = as_json(a);
	y = as_json(b);
	assert_true(json_equal(x, y));
	json_decref(x);
	json_decref(y);
	assert_int_equal(diff_tables(a, b, &all, &d, &err), 0);
	assert_true(diff_is_empty(&d));
	diff_clear(&d);
}

static void what_was_written_is_read_back(void **state)
{
	(void)state;
	for (unsigned round = 1; round <= 100; round++) {
		unsigned seed = round;
		struct table *t = tables_make(&seed, 30), *again;
		struct err err;
		size_t len;
		char *text = write_text(t, &len);

		assert_int_equal(read_text(text, len, &again, &err), 0);
		assert_same_table(t, again);
		free(text);
		table_free(t);
		table_free(again);
	}
}

static void every_field_comes_back_as_it_was(void **state)
{
	struct table *t = tables_new(), *again;
	struct process *p = tables_add(t, 4131, 881234, 1);
	const struct login l = {"12", 77, 1000, "session-12.scope", "closing", "sshd", "", 12};
	const struct process *q;
	struct err err;
	json_t *value;

	(void)state;
	assert_true(VEC_PUSH(&t->host.logins, l));
	t->host.logins_known = true;
	t->host.uid = 0;
	t->coverage.hidepid = true;
	t->coverage.vanished = 2;
	t->coverage.skipped = 1;
	t->coverage.events_lost = UINT64_MAX;
	p->tty_nr = 34819;
	p->tty_closed = true;
	p->pf = PROCESS_PF_KTHREAD;
	p->state = 'Z';
	p->origin = ORIGIN_CONTAINER;
	tables_set(&p->origin_name, "docker 3f2a");
	p->detail->have = DETAIL_ALL & ~DETAIL_EXE;
	p->detail->unread[3] = EACCES;
	tables_set(&p->detail->exe, NULL);
	p->detail->cmdline_total = 1 << 20;
	tables_set(&p->detail->wchan, "do_wait");
	p->detail->ns[NS_NET] = UINT64_MAX;
	tables_set(&p->detail->stdio[2], "pipe:[1]");
	p->detail->sig_ignored = UINT64_MAX;
	p->detail->sig_caught = 1;
	p->detail->tracer = 12;
	p->detail->audit_session = -1;
	p->detail->login_uid = -2;
	p->detail->nspid[1] = 1;
	p->detail->n_nspid = 2;
	value = as_json(t);
	assert_int_equal(read_json(value, 0, &again, &err), 0);
	assert_same_table(t, again);
	assert_memory_equal(&again->host.logins.v[0], &l, sizeof(l));
	assert_int_equal(again->host.self.pid, t->host.self.pid);
	assert_true(again->host.self.start == t->host.self.start);
	assert_true(again->host.pid_ns_initial && again->host.systemd);
	assert_int_equal(again->host.uid, 0);
	assert_true(again->coverage.hidepid && again->coverage.events_lost == UINT64_MAX);
	assert_int_equal(again->coverage.unreadable[3], 1);
	assert_int_equal(again->coverage.first_scan_wall_ns, t->coverage.first_scan_wall_ns);
	q = &again->procs.v[0];
	assert_int_equal(q->tty_nr, 34819);
	assert_true(q->tty_closed && process_is_kthread(q) && q->origin == ORIGIN_CONTAINER);
	assert_int_equal(q->owner, 1000);
	assert_int_equal(q->detail->have, DETAIL_ALL & ~DETAIL_EXE);
	assert_int_equal(q->detail->unread[3], EACCES);
	assert_int_equal(q->detail->cmdline_total, 1 << 20);
	assert_int_equal(q->detail->audit_session, -1);
	assert_int_equal(q->detail->login_uid, -2);
	assert_int_equal(q->detail->tracer, 12);
	json_decref(value);
	table_free(t);
	table_free(again);
}

static void terminals_keep_their_names(void **state)
{
	static const uint32_t numbers[] = {
		34816, 34819,     (1u << 20) | 34816 | 44, 1025, 1088, 1281, 58624, 52288,
		2304,  0x0ff00001};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint32_t again = 0;
		char name[32];

		assert_true(tty_name(numbers[i], name));
		assert_true(tty_number(name, &again));
		assert_int_equal(again, numbers[i]);
	}
	for (size_t i = 0; i < 10; i++) {
		static const char *const none[10] = {"",       "pts/",      "pts/-1", "pts/1x",
						     "pts/01", "tty64",     "0:0",    "pts/9999999",
						     "5:1",    "/dev/pts/1"};
		uint32_t number;

		assert_false(tty_number(none[i], &number));
	}
}

static void a_cut_file_is_an_error_at_every_byte(void **state)
{
	unsigned seed = 5;
	struct table *t = tables_make(&seed, 3), *again;
	struct err err;
	size_t len;
	char *text = write_text(t, &len);

	(void)state;
	for (size_t cut = 0; cut < len - 1; cut++)
		assert_true(read_text(text, cut, &again, &err) < 0);
	assert_int_equal(read_text(text, len - 1, &again, &err), 0); /* but for the last newline */
	table_free(again);
	free(text);
	table_free(t);
}

/* Whatever stands in the file: a table or an error, never a crash (with the sanitizers). */
static void a_damaged_file_is_a_table_or_an_error(void **state)
{
	unsigned seed = 11;
	struct table *t = tables_make(&seed, 4);
	size_t len, refused = 0;
	char *text = write_text(t, &len);

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct table *again;
		struct err err;
		size_t at = tables_random(&seed, (unsigned)len);
		char was = text[at];

		text[at] = (char)tables_random(&seed, 256);
		if (read_text(text, len, &again, &err) < 0)
			refused++;
		table_free(again);
		text[at] = was;
	}
	assert_true(refused > 1000);
	free(text);
	table_free(t);
}

/* The member (of the first process, where `process`) replaced; NULL: left out. */
static void what_is_wrong_is_named(void **state)
{
	static const struct {
		bool process;
		const char *key, *json;
		int r;
		const char *text;
	} cases[] = {
		{false, "schema", NULL, -EINVAL, "schema is missing"},
		{false, "schema", "1", -EINVAL, "schema"},
		{false, "schema", "\"stray.diff/1\"", -EINVAL, "is a stray.diff/1"},
		{false, "schema", "\"x\\u001b[2J\"", -EINVAL, "is a x\\x1b[2J"},
		{false, "schema", "\"stray.snapshot/\"", -EINVAL, "version"},
		{false, "schema", "\"stray.snapshot/1a\"", -EINVAL, "version"},
		{false, "schema", "\"stray.snapshot/2\"", -EPROTONOSUPPORT, "stray.snapshot/2"},
		{false, "schema", "\"stray.snapshot/1.7\"", 0, NULL},
		{false, "boottime_ns", NULL, -EINVAL, "boottime_ns is missing"},
		{false, "boottime_ns", "-1", -EINVAL, "boottime_ns"},
		{false, "boottime_ns", "\"90714004112345\"", 0, NULL},
		{false, "ticks_per_second", "0", -EINVAL, "ticks_per_second"},
		{false, "taken_at", "null", -EINVAL, "taken_at is missing"},
		{false, "taken_at", "\"yesterday\"", -EINVAL, "taken_at"},
		{false, "boot_id", "\"0123456789012345678901234567890123456\"", -EINVAL, "boot_id"},
		{false, "boot_id", "null", 0, NULL},
		{false, "host", "{}", -EINVAL, "host"},
		{false, "taker", "3", -EINVAL, "taker"},
		{false, "taker", "null", 0, NULL},
		{false, "logins", "{}", -EINVAL, "logins"},
		{false, "logins", "[3]", -EINVAL, "logins"},
		{false, "coverage", NULL, -EINVAL, "coverage: missing"},
		{false, "coverage", "[]", -EINVAL, "coverage: not an object"},
		{false, "coverage", "{\"sources\":[\"telepathy\"]}", 0, NULL},
		{false, "coverage", "{\"sources\":\"proc\"}", -EINVAL, "sources"},
		{false, "processes", "{}", -EINVAL, "processes[0]"},
		{false, "processes", "null", -EINVAL, "processes[0]"},
		{false, "processes", "[]", -ENODATA, "no process"},
		{false, "processes", "[17]", -EINVAL, "processes[0]: not an object"},
		{false, "later", "{\"any\":[1,2,{}]}", 0, NULL},
		{true, "pid", NULL, -EINVAL, "processes[0]: pid is missing"},
		{true, "pid", "0", -EINVAL, "pid"},
		{true, "pid", "4194305", -EINVAL, "pid"},
		{true, "pid", "1.5", -EINVAL, "pid"},
		{true, "pid", "\"1\"", -EINVAL, "pid"},
		{true, "start_ticks", NULL, -EINVAL, "start_ticks is missing"},
		{true, "start_ticks", "-5", -EINVAL, "start_ticks"},
		{true, "ppid", "null", 0, NULL},
		{true, "ppid", "-1", -EINVAL, "ppid"},
		{true, "tpgid", "-2", -EINVAL, "tpgid"},
		{true, "state", NULL, -EINVAL, "state is missing"},
		{true, "state", "\"\"", -EINVAL, "state"},
		{true, "state", "\"Q\"", -EINVAL, "state"},
		{true, "state", "\"SS\"", -EINVAL, "state"},
		{true, "tty", "\"nowhere\"", -EINVAL, "tty"},
		{true, "kthread", "1", -EINVAL, "kthread"},
		{true, "threads", "99999999", -EINVAL, "threads"},
		{true, "uid", "4294967295", -EINVAL, "uid"},
		{true, "comm", "7", -EINVAL, "comm"},
		{true, "args", "\"sh\"", -EINVAL, "args"},
		{true, "args", "[1]", -EINVAL, "args"},
		{true, "args_b64", "[]", -EINVAL, "args_b64"},
		{true, "args_b64", "[null,null,\"%\"]", -EINVAL, "args_b64"},
		{true, "args_b64", "[null,null,\"AGEA\"]", -EINVAL, "NUL"},
		{true, "args_b64", "[null,null,\"Yf8=\"]", 0, NULL},
		{true, "args_cut", "true", -EINVAL, "args_bytes"},
		{true, "nspid", "[1,2,3,4,5,6,7,8,9]", -EINVAL, "nspid"},
		{true, "nspid", "[\"1\"]", -EINVAL, "nspid"},
		{true, "sig_ignored", "\"18446744073709551616\"", -EINVAL, "sig_ignored"},
		{true, "env_marks", "{}", -EINVAL, "env_marks"},
		{true, "audit_session", "-2", -EINVAL, "audit_session"},
		{true, "origin", "[]", -EINVAL, "origin"},
		{true, "origin", "{\"kind\":\"a later kind\"}", 0, NULL},
		{true, "namespaces", "[]", -EINVAL, "namespaces"},
		{true, "stdio", "1", -EINVAL, "stdio"},
		{true, "unreadable", "[\"exe\"]", -EINVAL, "unreadable"},
		{true, "unreadable", "[{\"member\":\"exe\"}]", -EINVAL, "unreadable"},
		{true, "unreadable", "[{\"member\":\"later\",\"errno\":\"ENEW\"}]", 0, NULL},
		{true, "later", "[[[1]]]", 0, NULL},
	};
	struct table *t = tables_new(), *again;

	(void)state;
	tables_add(t, 4131, 881234, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *value = as_json(t);
		json_t *o =
			cases[i].process ? json_array_get(member(value, "processes"), 0) : value;
		struct err err;

		if (cases[i].json)
			json_object_set_new(o, cases[i].key,
					    json_loads(cases[i].json, JSON_DECODE_ANY, NULL));
		else
			json_object_del(o, cases[i].key);
		if (read_json(value, 0, &again, &err) != cases[i].r)
			fail_msg("%s %s: %s", cases[i].key, cases[i].json, err.text);
		if (cases[i].text && !strstr(err.text, cases[i].text))
			fail_msg("%s %s: %s", cases[i].key, cases[i].json, err.text);
		table_free(again);
		json_decref(value);
	}
	table_free(t);
}

static void the_order_in_the_file_does_not_matter(void **state)
{
	unsigned seed = 9;
	struct table *t = tables_make(&seed, 20), *again;
	json_t *value = as_json(t), *list = json_array();
	struct err err;

	(void)state;
	for (size_t i = 20; i--;)
		json_array_append(list, json_array_get(member(value, "processes"), i));
	json_object_set_new(value, "processes", list);
	assert_int_equal(read_json(value, JSON_SORT_KEYS | JSON_INDENT(3), &again, &err), 0);
	assert_same_table(t, again);
	json_decref(value);
	table_free(t);
	table_free(again);
}

static void a_pid_twice_is_refused(void **state)
{
	struct table *t = tables_new(), *again;
	json_t *value, *list;
	struct err err;

	(void)state;
	tables_add(t, 10, 500, 1);
	tables_add(t, 11, 500, 1);
	value = as_json(t);
	list = member(value, "processes");
	json_array_append(list, json_array_get(list, 0));
	assert_int_equal(read_json(value, 0, &again, &err), -EINVAL);
	assert_non_null(strstr(err.text, "twice"));
	json_decref(value);
	table_free(t);
}

static void a_partial_snapshot_may_be_empty(void **state)
{
	struct table *t = tables_new(), *again;
	struct err err;
	json_t *value;

	(void)state;
	t->coverage.partial = true;
	value = as_json(t);
	assert_int_equal(read_json(value, 0, &again, &err), 0);
	assert_true(again->coverage.partial);
	json_decref(value);
	table_free(t);
	table_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read_back),
		cmocka_unit_test(every_field_comes_back_as_it_was),
		cmocka_unit_test(terminals_keep_their_names),
		cmocka_unit_test(a_cut_file_is_an_error_at_every_byte),
		cmocka_unit_test(a_damaged_file_is_a_table_or_an_error),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(the_order_in_the_file_does_not_matter),
		cmocka_unit_test(a_pid_twice_is_refused),
		cmocka_unit_test(a_partial_snapshot_may_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
