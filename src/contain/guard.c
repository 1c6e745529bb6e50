#include "contain/guard.h"

#include "base/file.h"
#include "contain/signal.h"
#include "contain/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared by the two: written by who stops, in this order, so that it is whole whenever he ends. */
struct stops {
	atomic_uint n;
	atomic_bool closed;
	struct {
		struct identity id;
		atomic_bool stopped;
	} v[GUARD_MAX];
};

struct guard {
	struct stops *stops;
	pid_t pid;
	int close; /* the end of a pipe that tells it to look whether it is closed */
};

/* --- in the guard: nothing here allocates or locks, as its maker may have had threads --- */

static void let_go_on(struct stops *s)
{
	for (unsigned i = atomic_load(&s->n); i-- > 0;) {
		struct target t = {.id = s->v[i].id, .pidfd = -1};

		if (atomic_load(&s->v[i].stopped))
			signal_target(&t, SIGCONT);
	}
}

/* Of what it got from its maker, who may hold locks and pipes by it, it keeps these; -1: none. */
static void keep_only(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low > 0)
		close_range(0, (unsigned)low - 1, 0);
	if (high > low + 1)
		close_range((unsigned)(low + 1), (unsigned)high - 1, 0);
	close_range((unsigned)high + 1, ~0u, 0);
}

static void __attribute__((noreturn)) watch(struct stops *s, int maker, int closes)
{
	struct pollfd p[] = {{.fd = maker, .events = POLLIN}, {.fd = closes, .events = POLLIN}};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "stray-guard");
	keep_only(maker, closes);
	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (!atomic_load(&s->closed))
		let_go_on(s);
	_exit(0);
}

/* --- in who stops --- */

static int start(struct guard *g, struct err *err)
{
	int closes[2] = {-1, -1}, ready[2] = {-1, -1}, maker, r = 0;
	char byte;

	/* where there are no pidfds the end of the pipe alone tells that we are gone */
	maker = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (pipe2(closes, O_CLOEXEC) < 0 || pipe2(ready, O_CLOEXEC) < 0)
		r = err_errno(err, errno, "no descriptor for a guard");
	g->pid = r ? -1 : spawn_fork();
	if (g->pid == 0) {
		setsid(); /* what is sent to the maker's group, or found in it, is not for it */
		close(closes[1]);
		close(ready[1]); /* the maker waits for that */
		watch(g->stops, maker, closes[0]);
	}
	if (!r && g->pid < 0)
		r = err_errno(err, errno, "no process for a guard");
	file_close_fd(&ready[1]);
	while (!r && read(ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	g->close = closes[1];
	file_close_fd(&ready[0]);
	file_close_fd(&closes[0]);
	file_close_fd(&maker);
	return r;
}

int guard_open(struct guard **out, struct err *err)
{
	struct guard *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return err_nomem(err);
	g->close = g->pid = -1;
	g->stops = mmap(NULL, sizeof(*g->stops), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (g->stops == MAP_FAILED) {
		free(g);
		return err_nomem(err);
	}
	r = start(g, err);
	if (r < 0)
		guard_close(g);
	else
		*out = g;
	return r;
}

void guard_close(struct guard *g)
{
	if (!g)
		return;
	atomic_store(&g->stops->closed, true);
	file_close_fd(&g->close);
	while (g->pid > 0 && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(g->stops, sizeof(*g->stops));
	free(g);
}

void guard_note(struct guard *g, struct identity id)
{
	unsigned n = atomic_load(&g->stops->n);

	if (n == GUARD_MAX)
		return;
	g->stops->v[n].id = id;
	atomic_store(&g->stops->v[n].stopped, true);
	atomic_store(&g->stops->n, n + 1);
}

void guard_forget(struct guard *g, struct identity id)
{
	for (unsigned i = atomic_load(&g->stops->n); i-- > 0;)
		if (identity_same(g->stops->v[i].id, id)) {
			atomic_store(&g->stops->v[i].stopped, false);
			return;
		}
}

bool guard_is(const struct guard *g, pid_t pid)
{
	return g && pid == g->pid;
}
