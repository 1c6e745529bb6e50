#include "record/statedir.h"

#include "tests/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define OTHER_UID 54321

static void the_directory_is_the_first_that_is_said(void **state)
{
	static const struct {
		struct statedir_env env;
		const char *path; /* NULL: an error */
	} cases[] = {
		{{"/opt", "/stray", "/xdg", "/home/op", "/run/1", 1000}, "/opt"},
		{{NULL, "/stray", "/xdg", "/home/op", "/run/1", 1000}, "/stray"},
		{{NULL, "/stray", "/xdg", "/root", "/run/0", 0}, "/stray"},
		{{"here", NULL, NULL, "/root", NULL, 0}, "here"},
		{{NULL, NULL, "/xdg", "/root", "/run/0", 0}, "/var/lib/stray"},
		{{NULL, "", "/xdg", "/home/op", "/run/1", 1000}, "/xdg/stray"},
		{{NULL, NULL, "", "/home/op", "/run/1", 1000}, "/home/op/.local/state/stray"},
		{{NULL, NULL, "xdg", "/home/op", NULL, 1000}, "/home/op/.local/state/stray"},
		{{NULL, NULL, NULL, NULL, "/run/user/1", 1000}, "/run/user/1/stray"},
		{{NULL, NULL, NULL, "", "/run/user/1", 1000}, "/run/user/1/stray"},
		{{NULL, NULL, NULL, "home", "run", 1000}, NULL},
		{{NULL, NULL, NULL, NULL, NULL, 1000}, NULL},
		{{"", "/stray", NULL, "/home/op", NULL, 1000}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = {0};
		char *path = NULL;
		int r = statedir_choose(&cases[i].env, &path, &err);

		assert_int_equal(r == 0, cases[i].path != NULL);
		if (r == 0)
			assert_string_equal(path, cases[i].path);
		else
			assert_non_null(strstr(err.text, "--state-dir"));
		free(path);
	}
}

static void assert_mode(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

/* Opens; closes again where that succeeds. */
static int try_open(const char *path, enum statedir_use use, struct err *err)
{
	struct statedir *s = NULL;
	int r;

	memset(err, 0, sizeof(*err));
	r = statedir_open(path, use, &s, err);
	statedir_close(s);
	return r;
}

static void what_is_missing_is_made_for_us_alone(void **state)
{
	struct err err;

	assert_int_equal(try_open(scratch_path(state, "a/b/c"), STATEDIR_READ, &err), -ENOENT);
	assert_int_equal(scratch_count(*state), 0);
	assert_int_equal(try_open(scratch_path(state, "a/b/c"), STATEDIR_WRITE, &err), 0);
	assert_mode(scratch_path(state, "a"), 0700);
	assert_mode(scratch_path(state, "a/b"), 0700);
	assert_mode(scratch_path(state, "a/b/c"), 0700);
	assert_int_equal(try_open(scratch_path(state, "a/b//c/"), STATEDIR_WRITE, &err), 0);
	assert_int_equal(try_open(scratch_path(state, "a/b/c/."), STATEDIR_READ, &err), 0);
}

static void a_relative_path_is_kept_as_an_absolute_one(void **state)
{
	struct statedir *s = NULL;
	struct err err = {0};
	int here = open(".", O_RDONLY | O_DIRECTORY);

	assert_int_equal(chdir(*state), 0);
	assert_int_equal(statedir_open("rel", STATEDIR_WRITE, &s, &err), 0);
	assert_string_equal(statedir_path(s), scratch_path(state, "rel"));
	statedir_close(s);
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void a_directory_that_others_can_write_to_is_refused(void **state)
{
	static const struct {
		mode_t mode;
		int r;
	} cases[] = {{0700, 0},      {0755, 0},      {0750, 0},      {0770, -EPERM},
		     {0702, -EPERM}, {0777, -EPERM}, {01777, -EPERM}};
	const char *dir = scratch_path(state, "d");

	assert_int_equal(mkdir(dir, 0700), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err;

		assert_int_equal(chmod(dir, cases[i].mode), 0);
		assert_int_equal(try_open(dir, STATEDIR_WRITE, &err), cases[i].r);
		assert_int_equal(try_open(dir, STATEDIR_READ, &err), cases[i].r);
		assert_mode(dir, cases[i].mode);
	}
}

static void a_link_in_its_place_is_refused(void **state)
{
	struct err err;

	assert_int_equal(mkdir(scratch_path(state, "real"), 0700), 0);
	assert_int_equal(symlink("real", scratch_path(state, "link")), 0);
	assert_int_equal(symlink("nowhere", scratch_path(state, "dangling")), 0);
	assert_int_equal(try_open(scratch_path(state, "link"), STATEDIR_WRITE, &err), -ELOOP);
	assert_non_null(strstr(err.text, "symbolic link"));
	assert_int_equal(try_open(scratch_path(state, "link/"), STATEDIR_WRITE, &err), -ELOOP);
	assert_int_equal(try_open(scratch_path(state, "dangling"), STATEDIR_WRITE, &err), -ELOOP);
	assert_int_equal(access(scratch_path(state, "nowhere"), F_OK), -1);
}

static void our_own_link_on_the_way_is_followed(void **state)
{
	struct err err;

	assert_int_equal(mkdir(scratch_path(state, "real"), 0700), 0);
	assert_int_equal(symlink("real", scratch_path(state, "rel")), 0);
	assert_int_equal(symlink(scratch_path(state, "real"), scratch_path(state, "abs")), 0);
	assert_int_equal(symlink("loop", scratch_path(state, "loop")), 0);
	assert_int_equal(try_open(scratch_path(state, "rel/d1"), STATEDIR_WRITE, &err), 0);
	assert_int_equal(try_open(scratch_path(state, "abs/d2"), STATEDIR_WRITE, &err), 0);
	assert_mode(scratch_path(state, "real/d1"), 0700);
	assert_mode(scratch_path(state, "real/d2"), 0700);
	assert_int_equal(try_open(scratch_path(state, "loop/d"), STATEDIR_WRITE, &err), -ELOOP);
}

static void what_is_no_directory_is_refused(void **state)
{
	struct err err;

	assert_int_equal(mknod(scratch_path(state, "file"), S_IFREG | 0600, 0), 0);
	assert_int_equal(mkfifo(scratch_path(state, "fifo"), 0600), 0);
	assert_int_equal(try_open(scratch_path(state, "file"), STATEDIR_WRITE, &err), -ENOTDIR);
	assert_int_equal(try_open(scratch_path(state, "fifo"), STATEDIR_WRITE, &err), -ENOTDIR);
	assert_int_equal(try_open(scratch_path(state, "file/d"), STATEDIR_WRITE, &err), -ENOTDIR);
	assert_int_equal(try_open("/", STATEDIR_READ, &err), -EINVAL);
}

static void names_that_are_too_long_are_an_error(void **state)
{
	char name[5000];
	struct err err;

	(void)state;
	memset(name, 'a', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(try_open(name, STATEDIR_WRITE, &err), -ENAMETOOLONG);
	name[1000] = '\0';
	assert_int_equal(try_open(name, STATEDIR_WRITE, &err), -ENAMETOOLONG);
	assert_non_null(strstr(err.text, "too long"));
}

/* Root, and not only of a user namespace that has one uid. */
static bool can_give_away(void **state)
{
	return geteuid() == 0 && chown(*state, OTHER_UID, OTHER_UID) == 0 &&
	       chown(*state, 0, 0) == 0;
}

static void root_keeps_out_of_other_users_hands(void **state)
{
	struct err err;

	if (!can_give_away(state))
		skip_for("not root, who can give files away");
	/* the directory is another's */
	assert_int_equal(mkdir(scratch_path(state, "theirs"), 0755), 0);
	assert_int_equal(chown(scratch_path(state, "theirs"), OTHER_UID, OTHER_UID), 0);
	assert_int_equal(try_open(scratch_path(state, "theirs"), STATEDIR_WRITE, &err), -EPERM);
	assert_non_null(strstr(err.text, "54321"));
	assert_int_equal(try_open(scratch_path(state, "theirs"), STATEDIR_READ, &err), 0);
	/* it would be made in another's */
	assert_int_equal(try_open(scratch_path(state, "theirs/s"), STATEDIR_WRITE, &err), -EPERM);
	assert_int_equal(scratch_count(scratch_path(state, "theirs")), 0);
	/* or where anybody can write */
	assert_int_equal(mkdir(scratch_path(state, "open"), 0700), 0);
	assert_int_equal(chmod(scratch_path(state, "open"), 0777), 0);
	assert_int_equal(try_open(scratch_path(state, "open/s"), STATEDIR_WRITE, &err), -EPERM);
	assert_int_equal(chmod(scratch_path(state, "open"), 01777), 0);
	assert_int_equal(try_open(scratch_path(state, "open/s"), STATEDIR_WRITE, &err), 0);
	/* or behind another's link */
	assert_int_equal(symlink("open", scratch_path(state, "trap")), 0);
	assert_int_equal(lchown(scratch_path(state, "trap"), OTHER_UID, OTHER_UID), 0);
	assert_int_equal(try_open(scratch_path(state, "trap/s"), STATEDIR_WRITE, &err), -ELOOP);
	assert_int_equal(try_open(scratch_path(state, "trap/s"), STATEDIR_READ, &err), -ELOOP);
}

static void an_ordinary_user_uses_only_what_is_the_users_own(void **state)
{
	struct err err;

	if (!can_give_away(state))
		skip_for("not root, who can give files away");
	assert_int_equal(mkdir(scratch_path(state, "roots"), 0755), 0);
	assert_int_equal(mkdir(scratch_path(state, "mine"), 0755), 0);
	assert_int_equal(chown(scratch_path(state, "mine"), OTHER_UID, OTHER_UID), 0);
	assert_int_equal(chmod(*state, 0755), 0);
	assert_int_equal(seteuid(OTHER_UID), 0);
	assert_int_equal(try_open(scratch_path(state, "roots"), STATEDIR_WRITE, &err), -EPERM);
	assert_int_equal(try_open(scratch_path(state, "roots"), STATEDIR_READ, &err), -EPERM);
	assert_int_equal(try_open(scratch_path(state, "roots/s"), STATEDIR_WRITE, &err), -EACCES);
	assert_non_null(strstr(err.text, "--state-dir"));
	assert_int_equal(try_open(scratch_path(state, "mine/s"), STATEDIR_WRITE, &err), 0);
	assert_int_equal(seteuid(0), 0);
}

static void a_directory_in_it_is_held_to_the_same(void **state)
{
	struct statedir *s = NULL, *reader = NULL;
	struct err err = {0};
	int fd = -1;

	assert_int_equal(statedir_open(scratch_path(state, "s"), STATEDIR_WRITE, &s, &err), 0);
	assert_int_equal(statedir_open(scratch_path(state, "s"), STATEDIR_READ, &reader, &err), 0);
	assert_int_equal(statedir_subdir(reader, "acts", &fd, &err), -ENOENT);
	err_clear(&err);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(statedir_subdir(s, "acts", &fd, &err), 0);
		close(fd);
	}
	assert_mode(scratch_path(state, "s/acts"), 0700);
	assert_int_equal(symlink("acts", scratch_path(state, "s/runs")), 0);
	assert_int_equal(statedir_subdir(s, "runs", &fd, &err), -ELOOP);
	err_clear(&err);
	assert_int_equal(chmod(scratch_path(state, "s/acts"), 0777), 0);
	assert_int_equal(statedir_subdir(s, "acts", &fd, &err), -EPERM);
	statedir_close(s);
	statedir_close(reader);
}

static void a_probe_leaves_nothing_behind(void **state)
{
	struct statedir *s = NULL;
	struct err err = {0};

	assert_int_equal(statedir_open(scratch_path(state, "s"), STATEDIR_WRITE, &s, &err), 0);
	assert_int_equal(statedir_probe_writable(s, &err), 0);
	assert_int_equal(scratch_count(scratch_path(state, "s")), 0);
	statedir_close(s);
}

static int make_file(void **state, const char *name)
{
	int fd = open(scratch_path(state, name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static void the_probe_of_one_that_was_killed_is_removed_by_the_next(void **state)
{
	struct statedir *s = NULL;
	struct err err = {0};
	int living;

	assert_int_equal(statedir_open(scratch_path(state, "s"), STATEDIR_WRITE, &s, &err), 0);
	close(make_file(state, "s/.probe-7"));
	living = make_file(state, "s/.probe-8");
	assert_int_equal(flock(living, LOCK_EX), 0);
	close(make_file(state, "s/probe"));
	assert_int_equal(mkdir(scratch_path(state, "s/.probe-9"), 0700), 0);
	assert_int_equal(symlink("probe", scratch_path(state, "s/.probe-10")), 0);
	assert_int_equal(statedir_probe_writable(s, &err), 0);
	assert_int_equal(scratch_count(scratch_path(state, "s")), 4);
	assert_int_equal(access(scratch_path(state, "s/.probe-7"), F_OK), -1);
	close(living);
	assert_int_equal(statedir_probe_writable(s, &err), 0);
	assert_int_equal(scratch_count(scratch_path(state, "s")), 3);
	statedir_close(s);
}

static void a_full_disk_is_said_beforehand(void **state)
{
	struct statedir *s = NULL;
	struct err err = {0};

	if (!scratch_small_fs(state, 1 << 20))
		skip_for("no file system of our own can be mounted");
	assert_int_equal(statedir_open(scratch_path(state, "small/s"), STATEDIR_WRITE, &s, &err),
			 0);
	scratch_fill(state, 8192);
	assert_int_equal(statedir_probe_writable(s, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "No space left"));
	assert_int_equal(scratch_count(scratch_path(state, "small/s")), 0);
	statedir_close(s);
}

static void what_is_not_writable_is_said_beforehand(void **state)
{
	struct statedir *s = NULL;
	struct err err = {0};
	bool root = can_give_away(state);

	if (geteuid() == 0 && !root)
		skip_for("a root that cannot give files away");
	assert_int_equal(chmod(*state, 0755), 0);
	assert_int_equal(mkdir(scratch_path(state, "s"), 0700), 0);
	if (root) {
		assert_int_equal(chown(scratch_path(state, "s"), OTHER_UID, OTHER_UID), 0);
		assert_int_equal(seteuid(OTHER_UID), 0);
	}
	assert_int_equal(statedir_open(scratch_path(state, "s"), STATEDIR_WRITE, &s, &err), 0);
	assert_int_equal(chmod(scratch_path(state, "s"), 0500), 0);
	assert_int_equal(statedir_probe_writable(s, &err), -EACCES);
	statedir_close(s);
	if (root)
		assert_int_equal(seteuid(0), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_directory_is_the_first_that_is_said),
		TEST(what_is_missing_is_made_for_us_alone),
		TEST(a_relative_path_is_kept_as_an_absolute_one),
		TEST(a_directory_that_others_can_write_to_is_refused),
		TEST(a_link_in_its_place_is_refused),
		TEST(our_own_link_on_the_way_is_followed),
		TEST(what_is_no_directory_is_refused),
		TEST(names_that_are_too_long_are_an_error),
		TEST(root_keeps_out_of_other_users_hands),
		TEST(an_ordinary_user_uses_only_what_is_the_users_own),
		TEST(a_directory_in_it_is_held_to_the_same),
		TEST(a_probe_leaves_nothing_behind),
		TEST(the_probe_of_one_that_was_killed_is_removed_by_the_next),
		TEST(a_full_disk_is_said_beforehand),
		TEST(what_is_not_writable_is_said_beforehand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
