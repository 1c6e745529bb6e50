#include "tests/fuzz/fuzz.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

void fuzz_must_at(bool holds, const char *what, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

int fuzz_file(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_must(fd >= 0);
	fuzz_must(write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

#ifndef STRAY_LIBFUZZER

#define INPUT_MAX (1 << 20)
#define CUTS 64 /* as many beginnings of each are tried, too */

static void feed(int n, int dir, const char *name)
{
	AUTO_FREE char *data = NULL;
	ssize_t len = file_read_all_at(dir, name, INPUT_MAX, &data);

	if (len < 0) {
		printf("not ok %d - %s: %s\n", n, name, strerror((int)-len));
		return;
	}
	for (ssize_t cut = 0; cut < CUTS; cut++)
		LLVMFuzzerTestOneInput((const uint8_t *)data, (size_t)(len * cut / CUTS));
	LLVMFuzzerTestOneInput((const uint8_t *)data, (size_t)len);
	printf("ok %d - %s\n", n, name);
	fflush(stdout);
}

static int is_input(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* Feeds the target its corpus, or the files that are named. */
int main(int argc, char **argv)
{
	const char *top = getenv("abs_top_srcdir"),
		   *name = strchr(program_invocation_short_name, '_');
	struct dirent **found = NULL;
	char path[4096];
	int n, dir;

	for (int i = 1; i < argc; i++)
		feed(i, AT_FDCWD, argv[i]);
	if (argc > 1)
		return 0;
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", top ? top : ".",
		 name ? name + 1 : "");
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n = dir < 0 ? 0 : scandir(path, &found, is_input, alphasort);
	if (n <= 0) {
		fprintf(stderr, "%s: no corpus\n", path);
		return 1;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		feed(i + 1, dir, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	close(dir);
	return 0;
}

#endif
