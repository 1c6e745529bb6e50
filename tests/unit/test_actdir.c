#include "record/actdir.h"

#include "base/file.h"
#include "tests/unit/intents.h"
#include "tests/unit/parsed.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define DIR_NAME "s/acts/20260724T141109Z-4160"

/* An act on group 4160: a shell and the curl it started. */
struct act {
	struct table *before, *after;
	struct intent intent;
	struct statedir *state;
	struct err err;
};

static const struct intent_process aimed[] = {{{4160, 881000}, NULL}, {{4171, 881234}, NULL}};
static const struct intent_process spared[] = {{{4131, 880000}, "group 4102"}};
static const struct identity members[] = {{4131, 880000}, {4160, 881000}, {4171, 881234}};

static void fill_tables(struct act *a)
{
	struct process *p;

	a->before = tables_new();
	a->after = tables_new();
	a->after->host.wall_ns += 5000000000;
	p = tables_add(a->before, 4131, 880000, 1);
	p->pgid = p->sid = 4102;
	tables_add(a->before, 4160, 881000, 1);
	p = tables_add(a->before, 4171, 881234, 4160);
	p->pgid = p->sid = 4160;
	tables_args(p, "curl", "-T", "`x` <b>\n# [a](http://evil)", "--token=***", NULL);
	tables_add(a->before, 5000, 100, 1);
	p = tables_add(a->after, 4131, 880000, 1);
	p->pgid = p->sid = 4102;
	tables_add(a->after, 5000, 100, 1);
}

static void setup_at(struct act *a, const char *path)
{
	memset(a, 0, sizeof(*a));
	fill_tables(a);
	a->intent = intent_term(&a->before->host);
	a->intent.aimed = aimed;
	a->intent.n_aimed = 2;
	a->intent.spared = spared;
	a->intent.n_spared = 1;
	assert_int_equal(statedir_open(path, STATEDIR_WRITE, &a->state, &a->err), 0);
}

static void end(struct act *a)
{
	table_free(a->before);
	table_free(a->after);
	statedir_close(a->state);
}

static struct actdir *open_act(struct act *a)
{
	struct actdir *dir = NULL;

	assert_int_equal(actdir_open(a->state, &a->intent, &dir, &a->err), 0);
	return dir;
}

static void write_report(struct act *a, struct actdir *dir)
{
	const struct report report = {
		.intent = &a->intent,
		.before = a->before,
		.after = a->after,
		.ended_wall_ns = a->after->host.wall_ns,
	};

	assert_int_equal(actdir_report(dir, &report, &a->err), 0);
}

static void write_all(struct act *a, struct actdir *dir)
{
	const struct diff_options options = {members, 3};
	struct diff d;

	assert_int_equal(actdir_before(dir, a->before, members, 3, NULL, &a->err), 0);
	assert_int_equal(actdir_after(dir, a->after, members, 3, NULL, &a->err), 0);
	assert_int_equal(diff_tables(a->before, a->after, &options, &d, &a->err), 0);
	assert_int_equal(actdir_diff(dir, &d, NULL, &a->err), 0);
	diff_clear(&d);
	write_report(a, dir);
}

static void assert_mode(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void an_act_leaves_its_five_files(void **state)
{
	static const char *const names[] = {"intent.json", "before.json", "after.json", "diff.json",
					    "record.md"};
	struct actdir *dir;
	struct act a;

	umask(0);
	setup_at(&a, scratch_path(state, "s"));
	dir = open_act(&a);
	assert_string_equal(actdir_path(dir), scratch_path(state, DIR_NAME));
	write_all(&a, dir);
	actdir_close(dir);
	assert_mode(scratch_path(state, "s/acts"), 0700);
	assert_mode(scratch_path(state, DIR_NAME), 0700);
	assert_int_equal(scratch_count(scratch_path(state, DIR_NAME)), 5);
	for (size_t i = 0; i < 5; i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", scratch_path(state, DIR_NAME), names[i]);
		assert_mode(path, 0600);
		if (i < 4)
			json_decref(parsed_file(path));
	}
	end(&a);
}

static void the_intent_is_whole_before_anything_is_done(void **state)
{
	static const struct {
		const char *key, *json;
	} cases[] = {
		{"schema", "\"stray.act/1\""},
		{"at", "\"2026-07-24T14:11:09.214000Z\""},
		{"boottime_ns", "90716218000000"},
		{"kind", "\"end\""},
		{"title", "\"TERM to group 4160\""},
		{"target", "\"pgid:4160\""},
		{"unit", "\"group\""},
		{"number", "4160"},
		{"signals", "[\"TERM\",\"KILL\"]"},
		{"grace_ns", "5000000000"},
		{"freeze_first", "false"},
		{"aimed",
		 "[{\"pid\":4160,\"start_ticks\":881000},{\"pid\":4171,\"start_ticks\":881234}]"},
		{"not_aimed", "[{\"pid\":4131,\"start_ticks\":880000,\"why\":\"group 4102\"}]"},
		{"operator",
		 "{\"uid\":1000,\"login_uid\":1000,\"sudo_user\":null,\"tty\":\"pts/2\"}"},
	};
	struct actdir *dir;
	json_t *intent;
	struct act a;

	setup_at(&a, scratch_path(state, "s"));
	dir = open_act(&a);
	intent = parsed_file(scratch_path(state, DIR_NAME "/intent.json"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_json(member(intent, cases[i].key), cases[i].json);
	assert_json(member(member(intent, "looked_at"), "host"), "\"web-01\"");
	json_decref(intent);
	actdir_close(dir);
	end(&a);
}

static void files_hold_the_members_and_not_the_host(void **state)
{
	struct actdir *dir;
	json_t *before;
	struct act a;

	setup_at(&a, scratch_path(state, "s"));
	dir = open_act(&a);
	assert_int_equal(actdir_before(dir, a.before, members, 3, NULL, &a.err), 0);
	before = parsed_file(scratch_path(state, DIR_NAME "/before.json"));
	assert_int_equal(json_array_size(member(before, "processes")), 3);
	assert_json(member(member(before, "coverage"), "partial"), "true");
	json_decref(before);
	actdir_close(dir);
	end(&a);
}

static void each_act_has_a_directory_of_its_own(void **state)
{
	struct actdir *first, *second, *third;
	struct act a;

	setup_at(&a, scratch_path(state, "s"));
	first = open_act(&a);
	second = open_act(&a);
	a.intent.number = 0;
	third = open_act(&a); /* by the first that is aimed at */
	assert_string_equal(actdir_path(second), scratch_path(state, DIR_NAME "-2"));
	assert_string_equal(actdir_path(third), scratch_path(state, DIR_NAME "-3"));
	actdir_close(first);
	actdir_close(second);
	actdir_close(third);
	end(&a);
}

static void a_second_look_has_a_file_of_its_own(void **state)
{
	struct actdir *dir;
	struct act a;

	setup_at(&a, scratch_path(state, "s"));
	dir = open_act(&a);
	assert_int_equal(actdir_before(dir, a.before, members, 3, NULL, &a.err), 0);
	assert_int_equal(actdir_before(dir, a.before, members, 3, NULL, &a.err), -EEXIST);
	err_clear(&a.err);
	for (int i = 0; i < 3; i++)
		assert_int_equal(actdir_after(dir, a.after, members, 3, NULL, &a.err), 0);
	json_decref(parsed_file(scratch_path(state, DIR_NAME "/after.json")));
	json_decref(parsed_file(scratch_path(state, DIR_NAME "/after-2.json")));
	json_decref(parsed_file(scratch_path(state, DIR_NAME "/after-3.json")));
	actdir_close(dir);
	end(&a);
}

static void what_was_not_begun_leaves_nothing(void **state)
{
	struct actdir *dir;
	struct act a;

	setup_at(&a, scratch_path(state, "s"));
	dir = open_act(&a);
	assert_int_equal(actdir_before(dir, a.before, members, 3, NULL, &a.err), 0);
	actdir_abandon(dir);
	actdir_abandon(NULL);
	assert_int_equal(scratch_count(scratch_path(state, "s/acts")), 0);
	end(&a);
}

static void a_link_for_acts_is_refused(void **state)
{
	struct actdir *dir = NULL;
	struct act a;

	setup_at(&a, scratch_path(state, "s"));
	assert_int_equal(mkdir(scratch_path(state, "trap"), 0700), 0);
	assert_int_equal(symlink("../trap", scratch_path(state, "s/acts")), 0);
	assert_int_equal(actdir_open(a.state, &a.intent, &dir, &a.err), -ELOOP);
	assert_null(dir);
	assert_int_equal(scratch_count(scratch_path(state, "trap")), 0);
	end(&a);
}

static void a_full_disk_is_said_and_leaves_no_half_file(void **state)
{
	struct actdir *dir = NULL;
	struct act a;

	if (!scratch_small_fs(state, 1 << 20))
		skip_for("no file system of our own can be mounted");
	setup_at(&a, scratch_path(state, "small/s"));
	scratch_fill(state, 4096); /* room for acts/ or the intent, not for all */
	for (int i = 0; i < 10; i++) {
		int r = actdir_open(a.state, &a.intent, &dir, &a.err);

		if (r < 0) {
			assert_int_equal(r, -ENOSPC);
			break;
		}
		r = actdir_before(dir, a.before, members, 3, NULL, &a.err);
		if (r < 0) {
			assert_int_equal(r, -ENOSPC);
			actdir_abandon(dir);
			break;
		}
		actdir_close(dir);
		assert_true(i < 9);
	}
	assert_non_null(strstr(a.err.text, "No space left"));
	for (int n = 1; n < 10; n++) { /* what is there is whole */
		char path[256];
		struct stat st;

		snprintf(path, sizeof(path), "%s%.0d/intent.json",
			 scratch_path(state, "small/" DIR_NAME), n > 1 ? -n : 0);
		if (stat(path, &st) == 0)
			json_decref(parsed_file(path));
	}
	end(&a);
}

static void the_record_says_how_to_check_its_files(void **state)
{
	struct actdir *dir;
	char command[1024];
	struct act a;
	AUTO_FREE char *text = NULL;
	const char *line, *line_end;
	int fd;

	setup_at(&a, scratch_path(state, "s"));
	dir = open_act(&a);
	write_all(&a, dir);
	actdir_close(dir);
	assert_true(file_read_all_at(AT_FDCWD, scratch_path(state, DIR_NAME "/record.md"), 1 << 20,
				     &text) > 0);
	line = strstr(text, "    sed -n");
	assert_non_null(line);
	line_end = strchr(line, '\n');
	snprintf(command, sizeof(command), "cd '%s' && (%.*s) >/dev/null 2>&1",
		 scratch_path(state, DIR_NAME), (int)(line_end - line), line);
	assert_int_equal(system(command), 0);
	fd = open(scratch_path(state, DIR_NAME "/before.json"), O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, " ", 1), 1);
	close(fd);
	assert_int_not_equal(system(command), 0);
	end(&a);
}

static void a_digest_is_that_of_sha256sum(void **state)
{
	AUTO_FD dir = open(*state, O_RDONLY | O_DIRECTORY);
	AUTO_FD fd = openat(dir, "f", O_WRONLY | O_CREAT, 0600);
	char hex[DIGEST_HEX];
	struct err err = {0};
	uint64_t size;

	assert_int_equal(write(fd, "abc", 3), 3); /* FIPS 180-2, appendix B.1 */
	assert_int_equal(digest_file(dir, "f", hex, &size, &err), 0);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223"
				 "b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(size, 3);
	assert_int_equal(symlinkat("f", dir, "l"), 0);
	assert_int_equal(mkfifoat(dir, "p", 0600), 0);
	assert_int_equal(digest_file(dir, "l", hex, NULL, &err), -ELOOP);
	err_clear(&err);
	assert_int_equal(digest_file(dir, "p", hex, NULL, &err), -EINVAL);
	err_clear(&err);
	assert_int_equal(digest_file(dir, "none", hex, NULL, &err), -ENOENT);
}

static void the_operator_is_who_runs_this(void **state)
{
	struct operator o;
	json_t *value;
	FILE *out = parsed_begin();
	struct jw *j = jw_open(out, false);

	(void)state;
	setenv("SUDO_USER", "op", 1);
	o = operator_current();
	unsetenv("SUDO_USER");
	assert_int_equal(o.uid, geteuid());
	assert_string_equal(o.sudo_user, "op");
	assert_true(o.login_uid >= -2 && o.login_uid < UINT32_MAX);
	o.login_uid = -1;
	operator_json(j, NULL, &o);
	assert_int_equal(jw_close(j), 0);
	value = parsed_end(out);
	assert_json(member(value, "login_uid"), "-1");
	assert_json(member(value, "sudo_user"), "\"op\"");
	json_decref(value);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_act_leaves_its_five_files),
		TEST(the_intent_is_whole_before_anything_is_done),
		TEST(files_hold_the_members_and_not_the_host),
		TEST(each_act_has_a_directory_of_its_own),
		TEST(a_second_look_has_a_file_of_its_own),
		TEST(what_was_not_begun_leaves_nothing),
		TEST(a_link_for_acts_is_refused),
		TEST(a_full_disk_is_said_and_leaves_no_half_file),
		TEST(the_record_says_how_to_check_its_files),
		TEST(a_digest_is_that_of_sha256sum),
		TEST(the_operator_is_who_runs_this),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
