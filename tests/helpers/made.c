#include "made.h"

#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define NOBODY 65534
#define CANNOT 77 /* mkproc's exit status, see mkproc.h */

bool made_try(struct made *m, const char *const *argv)
{
	const char *args[16] = {"mkproc", "--life", "30"};
	const char *path = getenv("STRAY_MKPROC");
	int in[2], out[2], n = 3, status;
	FILE *f;

	memset(m, 0, sizeof(*m));
	for (int i = 0; argv[i]; i++)
		args[n++] = argv[i];
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	m->maker = fork();
	if (m->maker == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(path ? path : "./mkproc", (char **)(uintptr_t)args);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	m->in = in[1];
	f = fdopen(out[0], "r");
	assert_non_null(f);
	while (m->n < MADE_MAX && fscanf(f, "%31s", m->line[m->n].name) == 1 &&
	       strcmp(m->line[m->n].name, "READY") != 0 &&
	       fscanf(f, "%ld", &m->line[m->n].number) == 1)
		m->n++;
	if (strcmp(m->line[m->n].name, "READY") == 0) {
		fclose(f);
		return true;
	}
	fclose(f);
	close(m->in);
	assert_int_equal(waitpid(m->maker, &status, 0), m->maker);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
		return false;
	fail_msg("mkproc %s: status %#x", args[3], status);
	return false;
}

void made_start(struct made *m, const char *const *argv)
{
	if (made_try(m, argv))
		return;
	print_message("mkproc cannot make: %s\n", argv[0]);
	skip();
}

pid_t made_pid(const struct made *m, const char *name, int i)
{
	for (int k = 0; k < m->n; k++)
		if (strcmp(m->line[k].name, name) == 0 && i-- == 0)
			return (pid_t)m->line[k].number;
	fail_msg("mkproc made no %s", name);
	return 0;
}

void made_end(struct made *m)
{
	int status;

	close(m->in);
	assert_int_equal(waitpid(m->maker, &status, 0), m->maker);
	assert_int_equal(status, 0);
}

static int read_stat(pid_t pid, char *state, unsigned long long *start)
{
	char path[64], buf[1024], *p = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(buf, sizeof(buf), f))
		p = strrchr(buf, ')');
	fclose(f);
	if (!p || sscanf(p + 1,
			 " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			 "%*d %llu",
			 state, start) != 2)
		return -1;
	return 0;
}

char made_state(pid_t pid)
{
	unsigned long long start;
	char state;

	return read_stat(pid, &state, &start) < 0 ? 0 : state;
}

bool made_becomes(pid_t pid, char state)
{
	for (int i = 0; i < 500; i++) {
		char now = made_state(pid);

		if (now == state || (!state && (now == 'Z' || now == 'X')))
			return true;
		usleep(10000);
	}
	return false;
}

unsigned long long made_start_ticks(pid_t pid)
{
	unsigned long long start;
	char state;

	return read_stat(pid, &state, &start) < 0 ? 0 : start;
}

int as_nobody(int (*f)(void *ctx), void *ctx)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		skip_for("only root can become another user");
	pid = fork();
	if (pid == 0) {
		alarm(30);
		if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
		    setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(99);
		_exit(f(ctx));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}
