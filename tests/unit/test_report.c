#include "record/report.h"

#include "base/file.h"
#include "tests/unit/intents.h"
#include "tests/unit/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct intent_process aimed[] = {
	{{4131, 880000}, NULL}, {{4160, 881000}, NULL}, {{4171, 881234}, NULL}};
static const struct intent_process spared[] = {{{4150, 880500}, "regrouped"}};
static const struct identity members[] = {
	{4131, 880000}, {4150, 880500}, {4160, 881000}, {4171, 881234}, {4203, 9071900}};

struct act {
	struct table *before, *after;
	struct intent intent;
	struct report_item items[5];
	struct report_signal signals[2];
	struct diff diff;
	struct report report;
};

static void fill_before(struct act *a)
{
	struct process *p;

	a->before = tables_new();
	p = tables_add(a->before, 4131, 880000, 1);
	p->suspect = SUSPECT_REPARENTED;
	p = tables_add(a->before, 4150, 880500, 4131);
	tables_args(p, "python3", "worker.py", NULL);
	p = tables_add(a->before, 4160, 881000, 1);
	tables_args(p, "sh", "upload.sh", NULL);
	p = tables_add(a->before, 4171, 881234, 4160);
	p->pgid = p->sid = 4160;
	p->tty_nr = 34819;
	tables_args(p, "curl", "-T", "`x` <b>\n# [a](http://evil)", "--token=***", NULL);
	tables_set(&p->detail->exe, NULL);
	p->detail->cwd_deleted = true;
	p->origin = ORIGIN_LOGIN;
	tables_set(&p->origin_name, "session-12.scope");
	tables_set(&p->remote, "198.51.100.9:443");
	p->connections = 2;
	p->detail->secret_names = malloc(sizeof(char *));
	p->detail->secret_names[0] = strdup("API_TOKEN");
	p->detail->n_secret_names = 1;
	a->before->coverage.unreadable[3] = 1;
}

static void fill_after(struct act *a)
{
	struct process *p;

	a->after = tables_new();
	a->after->host.wall_ns += 7 * 1000000000ULL;
	tables_add(a->after, 4131, 880000, 1)->state = 'T';
	p = tables_add(a->after, 4150, 880500, 1);
	tables_args(p, "python3", "worker.py", NULL);
	p = tables_add(a->after, 4203, 9071900, 4150);
	tables_args(p, "curl", "-T", "dump.sql", NULL);
	a->after->coverage.unreadable[3] = 2;
}

static void fill(struct act *a)
{
	const struct diff_options options = {members, 5};
	struct err err = {0};

	memset(a, 0, sizeof(*a));
	fill_before(a);
	fill_after(a);
	assert_int_equal(diff_tables(a->before, a->after, &options, &a->diff, &err), 0);
	a->intent = intent_term(&a->before->host);
	a->intent.aimed = aimed;
	a->intent.n_aimed = 3;
	a->intent.spared = spared;
	a->intent.n_spared = 1;
	a->intent.operator=(struct operator){0, 1000, "op", "pts/2"};
	a->items[0] = (struct report_item){
		&a->before->procs.v[0], REPORT_ALIVE, 0, SIGKILL, 0, "stopped", 0, 0, NULL};
	a->items[1] = (struct report_item){
		&a->before->procs.v[2], REPORT_GONE, SIGTERM, SIGTERM, 30000000, NULL, 0, 0, NULL};
	a->items[2] = (struct report_item){
		&a->before->procs.v[3], REPORT_GONE, 0, SIGKILL, 1250000000, NULL, 0, 0, NULL};
	a->items[3] = (struct report_item){
		&a->after->procs.v[1], REPORT_NOT_AIMED, 0, 0, 0, "regrouped", 0, 0, NULL};
	a->items[4] = (struct report_item){
		&a->after->procs.v[2], REPORT_APPEARED, 0, 0, 0, NULL, 0, 0, NULL};
	a->signals[0] = (struct report_signal){SIGTERM, "group 4160", 3, 0, 1784902269215000000};
	a->signals[1] =
		(struct report_signal){SIGKILL, "4131@880000", 0, EPERM, 1784902274215000000};
	a->report = (struct report){
		.intent = &a->intent,
		.items = a->items,
		.n_items = 5,
		.signals = a->signals,
		.n_signals = 2,
		.before = a->before,
		.after = a->after,
		.diff = &a->diff,
		.ended_wall_ns = a->after->host.wall_ns,
	};
}

static void done(struct act *a)
{
	diff_clear(&a->diff);
	table_free(a->before);
	table_free(a->after);
}

static char *write_report(const struct report *r)
{
	const struct report_file files[] = {{"intent.json", "aa", 12}, {"before.json", "bb", 34}};
	struct err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_write(out, r, files, 2, &err), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The version is not what this is about. */
static void hide_version(char *text)
{
	char *at = strstr(text, "by: stray ");
	char *end;

	assert_non_null(at);
	at += strlen("by: stray ");
	end = strchr(at, '\n');
	memmove(at + 1, end, strlen(end) + 1);
	*at = '?';
}

/* tests/unit/report.md is what a record looks like; with REGEN set it is
 * written anew, to be read before it is committed. */
static void a_record_reads_as_the_model_does(void **state)
{
	AUTO_FREE char *path = NULL, *want = NULL, *text = NULL;
	struct act a;

	(void)state;
	assert_true(asprintf(&path, "%s/tests/unit/report.md", getenv("abs_top_srcdir")) > 0);
	fill(&a);
	text = write_report(&a.report);
	hide_version(text);
	if (getenv("REGEN")) {
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(text, out);
		fclose(out);
	}
	assert_true(file_read_all_at(AT_FDCWD, path, 1 << 20, &want) > 0);
	assert_string_equal(text, want);
	done(&a);
}

/* Text of a process in each place where such text stands. */
static void no_process_writes_a_line_of_its_own(void **state)
{
	static const char hostile[] = "x\n\n# Head\n- item\n<img src=x>|[a](http://b)`c`\x1b[2J";
	AUTO_FREE char *text = NULL;
	struct process *p;
	struct act a;
	size_t heads = 0;

	(void)state;
	fill(&a);
	p = &a.before->procs.v[3];
	tables_set(&p->detail->exe, hostile);
	tables_set(&p->detail->cwd, hostile);
	tables_set(&p->detail->user, hostile);
	tables_set(&p->origin_name, hostile);
	tables_set(&p->remote, hostile);
	free(p->detail->secret_names[0]);
	p->detail->secret_names[0] = strdup(hostile);
	tables_args(p, hostile, NULL);
	snprintf(a.before->host.hostname, sizeof(a.before->host.hostname), "%s", hostile);
	snprintf(a.intent.operator.sudo_user, sizeof(a.intent.operator.sudo_user), "%s", hostile);
	a.intent.title = a.intent.target = a.report.missing = a.items[3].why = hostile;
	a.signals[0].to = hostile;
	text = write_report(&a.report);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		heads += *line == '#';
		assert_null(strstr(line, "<img"));
		assert_null(strstr(line, "]("));
		assert_null(strstr(line, "http://"));
		assert_null(strchr(line, '\x1b'));
		assert_int_not_equal(strncmp(line, "- item", 6), 0);
	}
	assert_int_equal(heads, 8); /* the title and seven sections */
	done(&a);
}

static void an_act_without_a_second_look_says_so(void **state)
{
	AUTO_FREE char *text = NULL;
	struct act a;

	(void)state;
	fill(&a);
	a.report.after = NULL;
	a.report.diff = NULL;
	a.report.n_items = a.report.n_signals = 0;
	a.before->host.pid_ns_initial = false;
	a.before->coverage.hidepid = true;
	text = write_report(&a.report);
	assert_non_null(strstr(text, "what became of them is not known"));
	assert_non_null(strstr(text, "None was sent."));
	assert_non_null(strstr(text, "within a PID namespace"));
	assert_non_null(strstr(text, "hidepid"));
	assert_null(strstr(text, "## Before and after"));
	done(&a);
}

static void lost_events_are_counted(void **state)
{
	AUTO_FREE char *text = NULL;
	struct act a;

	(void)state;
	fill(&a);
	a.after->coverage.sources |= 1u << SOURCE_NETLINK;
	a.after->coverage.events_lost = 17;
	text = write_report(&a.report);
	assert_non_null(strstr(text, "- Sources: proc netlink; events lost: 17\n"));
	done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_reads_as_the_model_does),
		cmocka_unit_test(no_process_writes_a_line_of_its_own),
		cmocka_unit_test(an_act_without_a_second_look_says_so),
		cmocka_unit_test(lost_events_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
