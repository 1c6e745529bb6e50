#include "source/source.h"

#include "tests/helpers/made.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIFE_S 60
#define MOUNT_MAX 256
#define GROUP_MAX (MOUNT_MAX + 64)

/* What the test made, for end() */
static char group[GROUP_MAX], other[GROUP_MAX];
static pid_t pid;

static int end(void **state)
{
	(void)state;
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	rmdir(group);
	rmdir(other);
	return 0;
}

/* Where cgroup v2 is mounted; false where it is not. */
static bool find_mount(char out[static MOUNT_MAX])
{
	FILE *f = fopen("/proc/mounts", "re");
	char line[1024], type[64];
	bool found = false;

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*s %255s %63s", out, type) == 2 &&
			strcmp(type, "cgroup2") == 0;
	fclose(f);
	return found;
}

static bool move_to(const char *to)
{
	char path[GROUP_MAX + 16];
	FILE *f;
	bool moved;

	snprintf(path, sizeof(path), "%s/cgroup.procs", to);
	f = fopen(path, "we");
	if (!f)
		return false;
	moved = fprintf(f, "%d\n", pid) > 0;
	return fclose(f) == 0 && moved;
}

/* Of the details that a scan brings of pid: its cgroup's last part, or "" where it brings none. */
static void expect(struct source *s, const char *last)
{
	struct table *t;
	struct err err = {0};
	const struct process *p;
	const char *got = "";

	assert_int_equal(source_scan(s, &t, &err), 0);
	p = table_pid(t, pid);
	assert_non_null(p);
	if (p->detail && p->detail->cgroup.data)
		got = strrchr(p->detail->cgroup.data, '/') + 1;
	if (strcmp(got, last) != 0)
		fail_msg("\"%s\", not \"%s\"", got, last);
	table_free(t);
}

static void a_watched_process_that_is_moved_is_read_anew(void **state)
{
	const struct source_options o = {.details = DETAIL_BASIC, .again_and_again = true};
	char mount[MOUNT_MAX], name[64], second[64];
	struct identity id;
	struct source *s;
	struct err err = {0};

	(void)state;
	snprintf(name, sizeof(name), "stray-test-a-%d", getpid());
	snprintf(second, sizeof(second), "stray-test-b-%d", getpid());
	if (!find_mount(mount))
		skip();
	snprintf(group, sizeof(group), "%s/%s", mount, name);
	snprintf(other, sizeof(other), "%s/%s", mount, second);
	if (mkdir(group, 0755) < 0 || mkdir(other, 0755) < 0) {
		print_message("no cgroup can be made: %s\n", strerror(errno));
		skip();
	}
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(LIFE_S);
		for (;;)
			pause();
	}
	id = (struct identity){pid, made_start_ticks(pid)};
	assert_int_equal(source_open(&o, &s, &err), 0);
	assert_true(move_to(group));
	expect(s, name);
	expect(s, "");
	assert_true(move_to(other));
	expect(s, ""); /* not watched */
	assert_int_equal(source_watch(s, &id, 1), 0);
	expect(s, second);
	expect(s, "");
	assert_true(move_to(group));
	expect(s, name);
	assert_int_equal(source_watch(s, NULL, 0), 0);
	assert_true(move_to(other));
	expect(s, "");
	source_close(s);
}

/* Children that live for a millisecond, one after the other; does not return. */
static void storm(void)
{
	alarm(LIFE_S);
	for (;;) {
		pid_t child = fork();

		if (child == 0) {
			usleep(1000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void who_ends_between_the_pass_and_its_details_is_left_out_and_counted(void **state)
{
	const struct source_options o = {.details = DETAIL_BASIC};
	unsigned vanished = 0;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		storm();
	for (int looks = 0; looks < 2000 && !vanished; looks++) {
		struct source *s;
		struct table *t;
		struct err err = {0};

		assert_int_equal(source_open(&o, &s, &err), 0);
		assert_int_equal(source_scan(s, &t, &err), 0);
		vanished += t->coverage.vanished;
		assert_non_null(table_pid(t, pid));
		for (size_t i = 0; i < t->procs.n; i++)
			assert_non_null(t->procs.v[i].detail);
		table_free(t);
		source_close(s);
	}
	assert_true(vanished);
}

static void a_scan_fills_the_table_that_it_is_given(void **state)
{
	const struct source_options o = {.details = DETAIL_BASIC, .again_and_again = true};
	struct source *s;
	struct table *t, *again;
	struct err err = {0};

	(void)state;
	assert_int_equal(source_open(&o, &s, &err), 0);
	assert_int_equal(source_scan(s, &t, &err), 0);
	table_clear(t);
	source_reuse(s, t);
	assert_int_equal(source_scan(s, &again, &err), 0);
	assert_ptr_equal(again, t);
	assert_non_null(table_pid(again, getpid()));
	assert_int_equal(again->host.self.pid, getpid());
	table_clear(again);
	source_reuse(s, again); /* the source's, that ends before it is filled */
	source_close(s);
}

/* Also where only its name is read, and of a lean source, which asks for no names of users. */
static void who_a_process_runs_as_comes_with_any_detail(void **state)
{
	const uid_t nobody = 65534;
	struct err err = {0};
	int up[2];
	char c;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(up), 0);
	pid = fork();
	if (pid == 0) {
		alarm(LIFE_S);
		if (setuid(nobody) == 0 && write(up[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(up[1]);
	assert_int_equal(read(up[0], &c, 1), 1);
	close(up[0]);
	for (int lean = 0; lean < 2; lean++) {
		const struct source_options o = {.details = DETAIL_COMM, .lean = lean};
		struct source *s;
		struct table *t;
		const struct detail *d;

		assert_int_equal(source_open(&o, &s, &err), 0);
		assert_int_equal(source_scan(s, &t, &err), 0);
		assert_non_null(table_pid(t, pid));
		d = table_pid(t, pid)->detail;
		assert_non_null(d);
		assert_int_equal(d->euid, nobody);
		assert_true(lean ? !d->user.len : d->user.len > 0 && !bytes_is(&d->user, "root"));
		table_free(t);
		source_close(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_watched_process_that_is_moved_is_read_anew, end),
		cmocka_unit_test_teardown(
			who_ends_between_the_pass_and_its_details_is_left_out_and_counted, end),
		cmocka_unit_test(a_scan_fills_the_table_that_it_is_given),
		cmocka_unit_test_teardown(who_a_process_runs_as_comes_with_any_detail, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
