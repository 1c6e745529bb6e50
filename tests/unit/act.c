#include "tests/unit/act.h"

#include "base/file.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ENVIRON_MAX (1u << 20)

static char mark[64];

struct identity identity_of(pid_t pid)
{
	return (struct identity){pid, made_start_ticks(pid)};
}

void mark_new(void)
{
	static int count;
	char value[32];

	snprintf(value, sizeof(value), "%d-%d", getpid(), ++count);
	setenv("STRAY_TEST_MARK", value, 1);
	snprintf(mark, sizeof(mark), "STRAY_TEST_MARK=%s", value);
}

static bool is_marked(pid_t pid)
{
	AUTO_FREE char *env = NULL;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	n = file_read_all_at(AT_FDCWD, path, ENVIRON_MAX, &env);
	return n > 0 && memmem(env, (size_t)n, mark, strlen(mark) + 1);
}

int marked_members(void *ctx, struct identity_list *out, struct err *err)
{
	const struct made *m = ctx;
	DIR *dir = opendir("/proc");
	struct dirent *e;

	if (!dir)
		return err_errno(err, errno, "/proc");
	while ((e = readdir(dir))) {
		pid_t pid = atoi(e->d_name);
		struct identity id;

		if (pid <= 1 || pid == m->maker || pid == getpid() || !is_marked(pid))
			continue;
		id = identity_of(pid);
		if (id.start && !VEC_PUSH(out, id)) {
			closedir(dir);
			return err_nomem(err);
		}
	}
	closedir(dir);
	return 0;
}
