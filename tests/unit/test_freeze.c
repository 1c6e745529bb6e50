#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "contain/cgroup.h"
#include "contain/freeze.h"
#include "contain/unit.h"
#include "contain/stop.h"
#include "tests/unit/act.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define TEST_LIFE_S 60
#define JANITOR_LIFE_S 40

static void the_hierarchy_is_found_in_mountinfo(void **state)
{
	static const char hybrid[] =
		"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
		"30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
		"31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:2 - cgroup cgroup "
		"rw,cpu,cpuacct\n"
		"36 30 0:33 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
		"40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
	static const char pure[] =
		"25 20 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
	static const char container[] = "40 30 0:37 /docker/3f2a /mnt/a rw - cgroup2 cgroup rw\n"
					"41 30 0:37 / /mnt/with\\040blank rw - cgroup2 cgroup rw\n";
	static const struct {
		const char *text, *controller;
		int r;
		const char *point, *root;
	} cases[] = {
		{hybrid, NULL, 0, "/sys/fs/cgroup/unified", "/"},
		{hybrid, "freezer", 0, "/sys/fs/cgroup/freezer", "/"},
		{hybrid, "cpuacct", 0, "/sys/fs/cgroup/cpu,cpuacct", "/"},
		{hybrid, "cpua", -ENOENT, NULL, NULL},
		{hybrid, "rw", 0, "/sys/fs/cgroup/cpu,cpuacct", "/"}, /* not a name we ask for */
		{pure, NULL, 0, "/sys/fs/cgroup", "/"},
		{pure, "freezer", -ENOENT, NULL, NULL},
		{container, NULL, 0, "/mnt/with blank", "/"},
		{"40 30 0:37 /docker/3f2a /mnt/a rw - cgroup2 cgroup rw\n", NULL, 0, "/mnt/a",
		 "/docker/3f2a"},
		{"", NULL, -ENOENT, NULL, NULL},
		{"40 30 0:37 / /x rw - cgroup2\n", NULL, -ENOENT, NULL, NULL},
		{"\n- cgroup2\n   \n", NULL, -ENOENT, NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_mount m;

		assert_int_equal(cgroup_find_mount(cases[i].text, cases[i].controller, &m),
				 cases[i].r);
		if (cases[i].r == 0) {
			assert_string_equal(m.point, cases[i].point);
			assert_string_equal(m.root, cases[i].root);
		}
	}
}

static void a_path_is_found_in_proc_cgroup(void **state)
{
	static const char hybrid[] = "9:name=systemd:/\n7:cpu,cpuacct:/a\n6:freezer:/f:g\n"
				     "0::/user.slice/x y.scope\n";
	static const struct {
		const char *text, *controller;
		int r;
		const char *path;
	} cases[] = {
		{hybrid, NULL, 0, "/user.slice/x y.scope"},
		{hybrid, "freezer", 0, "/f:g"},
		{hybrid, "cpuacct", 0, "/a"},
		{hybrid, "pids", -ENOENT, NULL},
		{"0::/\n", NULL, 0, "/"},
		{"0::/\n", "freezer", -ENOENT, NULL},
		{"10::/no\n0::/yes", NULL, 0, "/yes"},
		{"", NULL, -ENOENT, NULL},
		{"0:\n", NULL, -ENOENT, NULL},
		{"0::/0123456789012345678901234567890123456789\n", NULL, -ENAMETOOLONG, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[32];

		assert_int_equal(
			cgroup_find_path(cases[i].text, cases[i].controller, path, sizeof(path)),
			cases[i].r);
		if (cases[i].r == 0)
			assert_string_equal(path, cases[i].path);
	}
}

/* A cgroup for one test.  A janitor removes it if the test does not come to its end. */
struct cg {
	char path[PATH_MAX], dir[2 * PATH_MAX];
	const char *thaw_file, *thaw_text;
	pid_t janitor;
	int lifeline;
};

static int write_in(const char *dir, const char *file, const char *text)
{
	AUTO_FD d = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD fd = openat(d, file, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static void janitor(const struct cg *c, int lifeline)
{
	char byte;

	alarm(0);
	signal(SIGALRM, SIG_IGN);
	for (int s = 0; s < JANITOR_LIFE_S * 10; s++) {
		if (read(lifeline, &byte, 1) == 0)
			break;
		usleep(100000);
	}
	write_in(c->dir, c->thaw_file, c->thaw_text);
	for (int s = 0; s < 100 && rmdir(c->dir) < 0; s++)
		usleep(50000);
	_exit(0);
}

static void cg_make(struct cg *c, const char *controller)
{
	AUTO_FREE char *info = NULL;
	static int count;
	char own[PATH_MAX];
	struct cgroup_mount m;
	int line[2];

	if (cgroup_path_of(getpid(), controller, own, sizeof(own), NULL) < 0)
		skip_for("no such cgroup hierarchy");
	assert_true(file_read_all_at(AT_FDCWD, "/proc/self/mountinfo", 1 << 20, &info) > 0);
	if (cgroup_find_mount(info, controller, &m) < 0 || strcmp(m.root, "/") != 0)
		skip_for("no such cgroup hierarchy is mounted whole");
	snprintf(c->path, sizeof(c->path), "%.3000s/stray-test-%d-%d", strcmp(own, "/") ? own : "",
		 getpid(), ++count);
	snprintf(c->dir, sizeof(c->dir), "%s%s", m.point, c->path);
	c->thaw_file = controller ? "freezer.state" : "cgroup.freeze";
	c->thaw_text = controller ? "THAWED" : "0";
	if (mkdir(c->dir, 0755) < 0)
		skip_for("cannot make a cgroup");
	assert_int_equal(pipe2(line, O_CLOEXEC | O_NONBLOCK), 0);
	c->janitor = fork();
	if (c->janitor == 0) {
		close(line[1]);
		janitor(c, line[0]);
	}
	close(line[0]);
	c->lifeline = line[1];
}

static void cg_put(const struct cg *c, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	assert_int_equal(write_in(c->dir, "cgroup.procs", text), 0);
}

static void cg_end(struct cg *c)
{
	close(c->lifeline);
	assert_int_equal(waitpid(c->janitor, NULL, 0), c->janitor);
	assert_int_equal(access(c->dir, F_OK), -1);
}

static uint64_t in_ms(unsigned ms)
{
	return clock_boot_ns() + ms * 1000000ULL;
}

static enum cgroup_frozen frozen(pid_t pid)
{
	enum cgroup_frozen how;
	struct err err = {0};

	if (cgroup_frozen(pid, &how, &err) < 0)
		fail_msg("%s", err.text);
	return how;
}

static void a_frozen_cgroup_holds_still_until_the_thaw(void **state)
{
	struct target_set set = {0};
	struct err err = {0};
	struct made m;
	struct cg c;
	pid_t pid;
	bool yes;

	(void)state;
	cg_make(&c, NULL);
	MADE(&m, "slow-term", "1");
	pid = made_pid(&m, "child", 0);
	cg_put(&c, pid);
	assert_int_equal(cgroup_event(c.path, "populated", &yes, NULL), 0);
	assert_true(yes);
	assert_int_equal(frozen(pid), CGROUP_THAWED);
	assert_int_equal(cgroup_can_freeze(c.path, NULL), 0);
	if (freeze_cgroup(c.path, in_ms(3000), &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(frozen(pid), CGROUP_FROZEN_V2);
	assert_int_equal(target_add(&set, identity_of(pid), NULL, NULL), 0);
	assert_int_equal(signal_target(&set.v[0], SIGTERM), 0);
	assert_int_equal(target_set_wait(&set, in_ms(100), NULL), 1); /* its handler waits */
	assert_int_equal(thaw_cgroup(c.path, NULL), 0);
	assert_int_equal(target_set_wait(&set, in_ms(3000), NULL), 0);
	assert_int_equal(cgroup_wait_event(c.path, "populated", false, in_ms(3000), NULL), 0);
	assert_int_equal(cgroup_wait_event(c.path, "populated", true, in_ms(20), NULL), -ETIME);
	target_set_clear(&set);
	made_end(&m);
	cg_end(&c);
}

static void a_cgroup_is_killed_as_one_also_when_frozen(void **state)
{
	struct made m;
	struct unit u;
	struct proc_stat st;

	(void)state;
	assert_int_equal(proc_stat_read(getpid(), &st), 0);
	unit_make(&u, "test", (struct identity){st.pid, st.start});
	if (u.kind != UNIT_CGROUP)
		skip_for(u.why_not.text); /* also before Linux 5.14, which has no cgroup.kill */
	MADE(&m, "group", "2");
	for (int i = 0; i < m.n; i++) {
		AUTO_FD procs = openat(u.dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);

		assert_true(dprintf(procs, "%d", (int)m.line[i].number) > 0);
	}
	assert_int_equal(unit_halt(&u, in_ms(3000), NULL), 0);
	assert_int_equal(frozen((pid_t)m.line[0].number), CGROUP_FROZEN_V2);
	unit_go_on(&u);
	assert_int_equal(cgroup_wait_event(u.path, "frozen", false, in_ms(3000), NULL), 0);
	assert_int_equal(unit_halt(&u, in_ms(3000), NULL), 0);
	assert_int_equal(unit_kill(&u, NULL), 0);
	for (int i = 0; i < m.n; i++)
		assert_true(made_becomes((pid_t)m.line[i].number, 0));
	assert_int_equal(cgroup_wait_event(u.path, "populated", false, in_ms(3000), NULL), 0);
	made_end(&m);
	unit_remove(&u);
	unit_close(&u);
}

static void what_is_not_frozen_in_time_is_thawed(void **state)
{
	struct made m;
	struct cg c;
	bool yes;
	int r;

	(void)state;
	cg_make(&c, NULL);
	MADE(&m, "many", "200");
	for (int i = 0; i < m.n; i++)
		cg_put(&c, (pid_t)m.line[i].number);
	r = freeze_cgroup(c.path, 0, NULL); /* a deadline long past: they may just make it */
	assert_true(r == 0 || r == -ETIME);
	assert_int_equal(cgroup_wait_event(c.path, "frozen", r == 0, in_ms(3000), NULL), 0);
	assert_int_equal(thaw_cgroup(c.path, NULL), 0);
	assert_int_equal(cgroup_event(c.path, "frozen", &yes, NULL), 0);
	assert_false(yes);
	made_end(&m);
	cg_end(&c);
}

static void a_frozen_v1_cgroup_is_told_apart(void **state)
{
	struct made m;
	struct cg c;
	pid_t pid;

	(void)state;
	cg_make(&c, "freezer");
	MADE(&m, "sleeper");
	pid = made_pid(&m, "child", 0);
	cg_put(&c, pid);
	assert_int_equal(frozen(pid), CGROUP_THAWED);
	assert_int_equal(write_in(c.dir, "freezer.state", "FROZEN"), 0);
	assert_int_equal(frozen(pid), CGROUP_FROZEN_V1);
	assert_int_equal(write_in(c.dir, "freezer.state", "THAWED"), 0);
	assert_int_equal(frozen(pid), CGROUP_THAWED);
	made_end(&m);
	cg_end(&c);
}

static void a_cgroup_that_holds_us_or_all_is_refused(void **state)
{
	char own[PATH_MAX];

	(void)state;
	if (cgroup_path_of(getpid(), NULL, own, sizeof(own), NULL) < 0)
		skip_for("no cgroup v2");
	for (int i = 0; i < 2; i++) {
		struct err err = {0};

		assert_int_equal(cgroup_can_freeze(i ? "/" : own, NULL), -EINVAL);
		assert_int_equal(cgroup_set_freeze(i ? "/" : own, true, &err), -EINVAL);
		assert_int_equal(err.code, EINVAL);
	}
}

static void paths_that_lead_out_are_refused(void **state)
{
	static const struct {
		const char *path;
		int r;
	} cases[] = {
		{"", -EINVAL},        {"x", -EINVAL},       {"/../x", -EINVAL},
		{"/x/..", -EINVAL},   {"/x/../y", -EINVAL}, {"/no-such-cgroup-of-stray", -ENOENT},
		{"/..x-no", -ENOENT},
	};

	(void)state;
	if (cgroup_path_of(getpid(), NULL, (char[PATH_MAX]){0}, PATH_MAX, NULL) < 0)
		skip_for("no cgroup v2");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(cgroup_open(cases[i].path, NULL, NULL), cases[i].r);
}

static void what_was_stopped_is_thawed_by_another(void **state)
{
	struct act_hooks hooks = {.members = marked_members};
	struct target_set set = {0}, again = {0};
	struct made m;

	(void)state;
	mark_new();
	MADE(&m, "group", "2");
	hooks.ctx = &m;
	assert_int_equal(stop_all(&set, &hooks, in_ms(3000), NULL), 0);
	assert_int_equal(set.n, 3);
	for (size_t i = 0; i < set.n; i++) {
		assert_int_equal(made_state(set.v[i].id.pid), 'T');
		assert_int_equal(target_add(&again, set.v[i].id, NULL, NULL), 0);
	}
	target_set_clear(&set);
	assert_int_equal(
		target_add(&again, (struct identity){made_pid(&m, "leader", 0), 1}, NULL, NULL),
		0); /* one that is gone does no harm */
	assert_int_equal(thaw_targets(&again, &hooks, NULL), 0);
	for (int i = 0; i < m.n; i++)
		assert_true(made_becomes((pid_t)m.line[i].number, 'S'));
	target_set_clear(&again);
	made_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hierarchy_is_found_in_mountinfo),
		cmocka_unit_test(a_path_is_found_in_proc_cgroup),
		cmocka_unit_test(a_frozen_cgroup_holds_still_until_the_thaw),
		cmocka_unit_test(a_cgroup_is_killed_as_one_also_when_frozen),
		cmocka_unit_test(what_is_not_frozen_in_time_is_thawed),
		cmocka_unit_test(a_frozen_v1_cgroup_is_told_apart),
		cmocka_unit_test(a_cgroup_that_holds_us_or_all_is_refused),
		cmocka_unit_test(paths_that_lead_out_are_refused),
		cmocka_unit_test(what_was_stopped_is_thawed_by_another),
	};

	alarm(TEST_LIFE_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
