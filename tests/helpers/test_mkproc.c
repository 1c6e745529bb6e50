/* Whether the situations that the other tests rest on are what they say. */
#include "tests/helpers/made.h"
#include "tests/helpers/mkproc_storm.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

static pid_t parent_of(pid_t pid)
{
	char path[64], buf[4096], *p;
	FILE *f;
	int ppid = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(buf, sizeof(buf), f) && (p = strrchr(buf, ')')))
		sscanf(p + 1, " %*c %d", &ppid);
	fclose(f);
	return ppid;
}

enum leads { ANY, MAKERS, ITS_OWN, OF_THE_DEAD }; /* whose session or group */

static void a_shape_is_what_it_says(void **state)
{
	static const struct {
		const char *shape, *arg, *name;
		char state;
		enum leads session, group;
		const char *parent; /* a name, "maker", "reaper" (neither), or NULL */
	} cases[] = {
		{"sleeper", NULL, "child", 'S', MAKERS, MAKERS, "maker"},
		{"daemon", NULL, "daemon", 'S', ITS_OWN, ITS_OWN, "reaper"},
		{"orphan", NULL, "child", 'S', MAKERS, MAKERS, "reaper"},
		{"reparented", NULL, "child", 'S', OF_THE_DEAD, OF_THE_DEAD, "reaper"},
		{"setsid", NULL, "child", 'S', ITS_OWN, ITS_OWN, "maker"},
		{"setpgid", NULL, "child", 'S', MAKERS, ITS_OWN, "maker"},
		{"group", "3", "member", 'S', MAKERS, ANY, "maker"},
		{"leader-gone", "1", "member", 'S', MAKERS, OF_THE_DEAD, "maker"},
		{"zombie-leader", "1", "leader", 'Z', MAKERS, ITS_OWN, "maker"},
		{"two-users", NULL, "nobody", 'S', MAKERS, ANY, "maker"},
		{"zombie", NULL, "zombie", 'Z', MAKERS, MAKERS, "parent"},
		{"thread-left", NULL, "process", 'Z', MAKERS, MAKERS, "maker"},
		{"ignore-term", NULL, "child", 'S', MAKERS, MAKERS, "maker"},
		{"ignore-hup", NULL, "child", 'S', MAKERS, MAKERS, "maker"},
		{"slow-term", "10", "child", 'S', MAKERS, MAKERS, "maker"},
		{"term-reforks", NULL, "child", 'S', MAKERS, MAKERS, "maker"},
		{"stopped", NULL, "child", 'T', MAKERS, MAKERS, "maker"},
		{"stopped-term", NULL, "child", 'T', MAKERS, MAKERS, "maker"},
		{"traced", NULL, "tracee", 't', MAKERS, MAKERS, "tracer"},
		{"vfork", NULL, "parent", 'D', MAKERS, MAKERS, "maker"},
		{"pidns", NULL, "inner", 'S', MAKERS, MAKERS, "init"},
		{"fork-storm", "50", "root", 0, MAKERS, MAKERS, "maker"},
		{"ring", "3", "member", 0, ITS_OWN, ITS_OWN, "maker"},
		{"deleted-cwd", NULL, "child", 'S', MAKERS, MAKERS, "maker"},
		{"pty", NULL, "leader", 'S', ITS_OWN, ITS_OWN, "maker"},
		{"pty-closed", NULL, "child", 'S', ANY, ANY, "leader"},
		{"pty-leader-gone", NULL, "child", 'S', OF_THE_DEAD, OF_THE_DEAD, "reaper"},
		{"many", "20", "idle", 'S', MAKERS, MAKERS, "maker"},
		{"named", "61ff", "child", 'S', MAKERS, MAKERS, "maker"},
		{"tcp", "127.0.0.2", "client", 'S', MAKERS, MAKERS, "maker"},
		{"subreaper", NULL, "orphan", 'S', MAKERS, MAKERS, "reaper"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;
		pid_t pid, ppid, of[2];

		if (!made_try(&m, (const char *const[]){cases[i].shape, cases[i].arg, NULL})) {
			print_message("%s: not possible here\n", cases[i].shape);
			continue;
		}
		pid = made_pid(&m, cases[i].name, 0);
		ppid = parent_of(pid);
		print_message("%s: %s %d\n", cases[i].shape, cases[i].name, pid);
		if (cases[i].state)
			assert_true(made_becomes(pid, cases[i].state));
		of[0] = getsid(pid);
		of[1] = getpgid(pid);
		for (int k = 0; k < 2; k++) {
			enum leads l = k ? cases[i].group : cases[i].session;

			if (l == MAKERS)
				assert_int_equal(of[k], k ? getpgid(m.maker) : getsid(m.maker));
			if (l == ITS_OWN)
				assert_int_equal(of[k], pid);
			if (l == OF_THE_DEAD)
				assert_int_equal(made_state(of[k]), 0);
		}
		if (strcmp(cases[i].parent, "maker") == 0) {
			assert_int_equal(ppid, m.maker);
		} else if (strcmp(cases[i].parent, "reaper") == 0 &&
			   strcmp(cases[i].shape, "subreaper") != 0) {
			assert_int_not_equal(ppid, m.maker);
			for (int k = 0; k < m.n; k++)
				assert_int_not_equal(ppid, m.line[k].number);
		} else {
			assert_int_equal(ppid, made_pid(&m, cases[i].parent, 0));
		}
		made_end(&m);
		for (int k = 0; k < m.n; k++) /* a zombie may wait for a slow reaper */
			if (strcmp(m.line[k].name, "port") != 0)
				assert_true(made_becomes((pid_t)m.line[k].number, 0));
	}
}

/* The page of a storm, made by it. */
static const struct storm *storm_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct storm *s = mmap(NULL, sizeof(*s), PROT_READ, MAP_SHARED, fd, 0);

	assert_true(fd >= 0 && s != MAP_FAILED);
	close(fd);
	return s;
}

static bool ignores_term(pid_t pid)
{
	char path[64], line[256];
	unsigned long long ignored = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "SigIgn: %llx", &ignored);
	if (f)
		fclose(f);
	return ignored >> (SIGTERM - 1) & 1;
}

static void a_storm_goes_on_in_others_and_ends_with_its_maker(void **state)
{
	static const char *const shapes[] = {"storm", "storm-light"};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		char path[] = "/tmp/test_mkproc-XXXXXX";
		int fd = mkostemp(path, O_CLOEXEC), ignored = 0;
		const volatile struct storm *s;
		uint32_t before;
		struct made m;

		assert_true(fd >= 0);
		MADE(&m, shapes[i], "5", "2000", path);
		s = storm_at(path);
		assert_int_equal(s->n, 5);
		assert_int_not_equal(flock(fd, LOCK_SH | LOCK_NB), 0); /* theirs */
		before = s->forks;
		for (int tries = 0; tries < 5000 && (s->forks < before + 50 || !ignored); tries++) {
			ignored += ignores_term(s->pid[tries % 5]);
			usleep(1000);
		}
		assert_true(ignored && s->forks >= before + 50 && s->beat_ns);
		made_end(&m);
		assert_int_equal(flock(fd, LOCK_SH), 0); /* waits for the last of them */
		munmap((void *)(uintptr_t)s, sizeof(*s));
		close(fd);
		unlink(path);
	}
}

static void what_is_left_behind_ends_by_itself(void **state)
{
	FILE *f = popen("./mkproc --life 1 --leave daemon", "re");
	int pid = 0;

	(void)state;
	if (getenv("STRAY_MKPROC"))
		skip_for("told of another mkproc, in STRAY_MKPROC");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "daemon %d\nREADY", &pid), 1);
	assert_int_equal(pclose(f), 0);
	assert_true(made_becomes(pid, 'S'));
	assert_true(made_becomes(pid, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shape_is_what_it_says),
		cmocka_unit_test(a_storm_goes_on_in_others_and_ends_with_its_maker),
		cmocka_unit_test(what_is_left_behind_ends_by_itself),
	};

	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
