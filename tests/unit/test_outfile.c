#include "record/outfile.h"

#include "base/file.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

static void assert_holds(const char *path, const char *text)
{
	char buf[64];

	assert_int_equal(file_read_at(AT_FDCWD, path, buf, sizeof(buf)), strlen(text));
	assert_string_equal(buf, text);
}

static void a_file_is_whole_and_ours_alone(void **state)
{
	const char *path = scratch_path(state, "f");
	struct outfile f;
	struct err err = {0};
	struct stat st;

	umask(0);
	assert_int_equal(outfile_create(AT_FDCWD, path, &f, &err), 0);
	fputs("text\n", f.stream);
	assert_int_equal(outfile_finish(&f, &err), 0);
	outfile_discard(&f);
	assert_holds(path, "text\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void it_is_made_relative_to_a_directory(void **state)
{
	AUTO_FD dir = open(*state, O_RDONLY | O_DIRECTORY);
	struct outfile f;
	struct err err = {0};

	assert_int_equal(mkdirat(dir, "sub", 0700), 0);
	assert_int_equal(outfile_create(dir, "sub/f", &f, &err), 0);
	fputs("x", f.stream);
	assert_int_equal(outfile_finish(&f, &err), 0);
	assert_holds(scratch_path(state, "sub/f"), "x");
	assert_int_equal(outfile_create(dir, "none/f", &f, &err), -ENOENT);
}

static void what_exists_is_never_overwritten(void **state)
{
	static const char *const names[] = {"file", "link", "dangling", "dir", "fifo"};

	assert_int_equal(symlink("/etc/passwd", scratch_path(state, "link")), 0);
	assert_int_equal(symlink("nowhere", scratch_path(state, "dangling")), 0);
	assert_int_equal(mkdir(scratch_path(state, "dir"), 0700), 0);
	assert_int_equal(mkfifo(scratch_path(state, "fifo"), 0600), 0);
	assert_int_equal(mknod(scratch_path(state, "file"), S_IFREG | 0600, 0), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct outfile f;
		struct err err = {0};

		assert_int_equal(outfile_create(AT_FDCWD, scratch_path(state, names[i]), &f, &err),
				 -EEXIST);
		assert_non_null(strstr(err.text, "choose another name"));
	}
	assert_int_equal(scratch_count(*state), 5);
}

static void what_is_given_up_is_removed(void **state)
{
	struct outfile f, none = {0};
	struct err err = {0};

	assert_int_equal(outfile_create(AT_FDCWD, scratch_path(state, "f"), &f, &err), 0);
	fputs("part", f.stream);
	outfile_discard(&f);
	outfile_discard(&none);
	assert_int_equal(scratch_count(*state), 0);
}

static void another_file_of_the_name_is_not_removed(void **state)
{
	const char *path = scratch_path(state, "f");
	struct outfile f;
	struct err err = {0};

	assert_int_equal(outfile_create(AT_FDCWD, path, &f, &err), 0);
	assert_int_equal(rename(path, scratch_path(state, "g")), 0);
	assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
	outfile_discard(&f);
	assert_int_equal(scratch_count(*state), 2);
}

/* More than a buffer, so that the first failing write is long past at the end. */
static void write_much(FILE *stream)
{
	for (int i = 0; i < 40000; i++)
		fputs("0123456789", stream);
}

static void what_does_not_fit_on_the_disk_is_removed(void **state)
{
	struct outfile f;
	struct err err = {0};

	if (!scratch_small_fs(state, 1 << 20))
		skip_for("no file system of our own can be mounted");
	scratch_fill(state, 8192);
	assert_int_equal(outfile_create(AT_FDCWD, scratch_path(state, "small/f"), &f, &err), 0);
	write_much(f.stream);
	assert_true(outfile_finish(&f, &err) < 0);
	assert_non_null(strstr(err.text, "small/f"));
	assert_int_equal(access(scratch_path(state, "small/f"), F_OK), -1);

	err_clear(&err);
	assert_int_equal(outfile_create(AT_FDCWD, scratch_path(state, "small/f"), &f, &err), 0);
	for (int i = 0; i < 1000; i++) /* stays in the buffer until the end */
		fputs("0123456789", f.stream);
	assert_int_equal(outfile_finish(&f, &err), -ENOSPC);
	assert_int_equal(access(scratch_path(state, "small/f"), F_OK), -1);
}

static void what_passes_a_limit_is_removed(void **state)
{
	const struct rlimit limit = {8192, RLIM_INFINITY};
	struct rlimit was;
	struct outfile f;
	struct err err = {0};

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(outfile_create(AT_FDCWD, scratch_path(state, "f"), &f, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	write_much(f.stream);
	assert_true(outfile_finish(&f, &err) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(scratch_count(*state), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_whole_and_ours_alone),
		TEST(it_is_made_relative_to_a_directory),
		TEST(what_exists_is_never_overwritten),
		TEST(what_is_given_up_is_removed),
		TEST(another_file_of_the_name_is_not_removed),
		TEST(what_does_not_fit_on_the_disk_is_removed),
		TEST(what_passes_a_limit_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
