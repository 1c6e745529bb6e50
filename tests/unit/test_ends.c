#include "reach/ends.h"
#include "tests/helpers/made.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIFE_S 60

/* A child with these descriptors alone; -1: none. */
static pid_t child_with(int in, int out, int err)
{
	const int fds[] = {in, out, err};
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	alarm(LIFE_S);
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0 ? dup2(fds[i], i) < 0 : close(i) < 0)
			_exit(1);
	close_range(3, ~0u, 0);
	for (;;)
		pause();
}

static void add(struct table *t, pid_t pid)
{
	struct process p = {.id = {pid, made_start_ticks(pid)}, .state = 'S'};

	assert_true(table_add(t, &p));
}

struct made_pipes {
	int read[2], other[2]; /* a pipe, another */
	struct table *t;
	struct run run;
	pid_t pids[8];
	size_t n;
};

static pid_t make(struct made_pipes *m, int in, int out, int err)
{
	pid_t pid = child_with(in, out, err);

	m->pids[m->n++] = pid;
	add(m->t, pid);
	return pid;
}

static void start(struct made_pipes *m)
{
	*m = (struct made_pipes){.t = table_new()};
	assert_non_null(m->t);
	/* out of the way of 0, 1 and 2 */
	assert_int_equal(pipe2(m->read, O_CLOEXEC), 0);
	assert_int_equal(pipe2(m->other, O_CLOEXEC), 0);
	assert_true(m->read[0] > 2);
}

static void finish(struct made_pipes *m)
{
	for (size_t i = 0; i < m->n; i++) {
		kill(m->pids[i], SIGKILL);
		waitpid(m->pids[i], NULL, 0);
	}
	for (int i = 0; i < 2; i++) {
		close(m->read[i]);
		close(m->other[i]);
	}
	table_free(m->t);
}

/* The children have put their descriptors in order: none of ours is left in them. */
static void settle(const struct made_pipes *m)
{
	for (size_t i = 0; i < m->n; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", m->pids[i], m->other[1]);
		while (access(path, F_OK) == 0)
			usleep(1000);
	}
}

static unsigned ends_of(const struct made_pipes *m, pid_t pid)
{
	const struct process *p = table_pid(m->t, pid);

	assert_true(p->ends_known && !p->ends_error);
	return p->ends;
}

static void who_holds_which_end_is_read(void **state)
{
	struct made_pipes m;
	struct ends_reader *r = ends_reader_new();
	struct ends_wanted w;
	pid_t root, same, reader, both, stranger;
	char path[64];
	int rw;

	(void)state;
	start(&m);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", m.read[1]);
	rw = open(path, O_RDWR | O_CLOEXEC);
	assert_true(rw >= 0);
	root = make(&m, m.other[0], m.read[1], m.read[1]);
	same = make(&m, m.read[1], -1, -1);
	reader = make(&m, m.read[0], -1, m.other[1]);
	both = make(&m, -1, rw, -1);
	stranger = make(&m, -1, -1, -1);
	close(rw);
	settle(&m);
	table_sort(m.t);
	m.run.root = (struct identity){root, made_start_ticks(root)};
	ends_ask(&m.run);
	assert_true(m.run.ends_asked && !m.run.ends_error);
	assert_int_equal(m.run.ends[0].access, O_RDONLY);
	assert_int_equal(m.run.ends[1].access, O_WRONLY);
	assert_int_equal(m.run.ends[1].inode, m.run.ends[2].inode);
	w = ends_wanted(&m.run);
	assert_int_equal(ends_read(r, &w, m.t), 0);
	assert_true(identity_same(m.t->ends_of, m.run.root));
	assert_int_equal(ends_of(&m, root), 7);
	assert_int_equal(ends_of(&m, same), 6);
	assert_int_equal(ends_of(&m, reader), 6 << 3 | 1 << 3);
	assert_int_equal(ends_of(&m, both), 6 << 3); /* not the same end */
	assert_int_equal(ends_of(&m, stranger), 0);
	ends_reader_free(r);
	finish(&m);
}

static void each_is_read_once_and_again_after_an_exec(void **state)
{
	struct made_pipes m;
	struct ends_reader *r = ends_reader_new(), *second = ends_reader_new();
	struct ends_wanted w;
	struct process *p;

	(void)state;
	start(&m);
	make(&m, -1, m.read[1], -1);
	settle(&m);
	p = &m.t->procs.v[0];
	m.run.root = p->id;
	ends_ask(&m.run);
	w = ends_wanted(&m.run);
	assert_int_equal(ends_read(r, &w, m.t), 0);
	assert_int_equal(ends_reader_seed(second, &w, m.t), 0);
	kill(m.pids[0], SIGKILL);
	waitpid(m.pids[0], NULL, 0);
	for (int i = 0; i < 2; i++) { /* it is gone: what is told was read before */
		p->ends = 0;
		p->ends_known = false;
		assert_int_equal(ends_read(i ? second : r, &w, m.t), 0);
		assert_int_equal(p->ends, 2);
	}
	p->start_stack++;
	assert_int_equal(ends_read(r, &w, m.t), 0);
	assert_int_equal(p->ends, 0);
	m.n = 0;
	ends_reader_free(r);
	ends_reader_free(second);
	finish(&m);
}

static void what_cannot_be_read_is_told(void **state)
{
	struct run gone = {.root = {0x3fffffff, 1}}, nobody = {0}, init = {.root = {1, 0}};
	struct ends_reader *r = ends_reader_new();
	struct ends_wanted w = {.root = {1, 1}, .end = {{7, 0}}};
	struct table *t = table_new();

	(void)state;
	ends_ask(&gone);
	assert_int_equal(gone.ends_error, ESRCH);
	ends_ask(&nobody);
	assert_true(nobody.ends_asked);
	assert_false(identity_known(ends_wanted(&nobody).root));
	assert_false(identity_known(ends_wanted(NULL).root));
	if (geteuid() == 0) {
		init.root.start = made_start_ticks(1);
		assert_int_equal(seteuid(65534), 0);
		add(t, 1);
		ends_ask(&init);
		assert_int_equal(init.ends_error, EACCES);
		assert_int_equal(ends_read(r, &w, t), 0);
		assert_true(t->procs.v[0].ends_known);
		assert_int_equal(t->procs.v[0].ends_error, EACCES);
		assert_int_equal(seteuid(0), 0);
	}
	ends_reader_free(r);
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_holds_which_end_is_read),
		cmocka_unit_test(each_is_read_once_and_again_after_an_exec),
		cmocka_unit_test(what_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
