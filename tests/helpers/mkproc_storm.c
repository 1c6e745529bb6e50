/* See mkproc_storm.h. */
#include "mkproc_storm.h"

#include "mkproc.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RETRY_US 1000 /* where no process can be had */
#define STAY_US 200000
#define STACK_SIZE 16384
#define STACKS 4 /* of a slot: who dies, two on the way, who comes next */

/* The stack of a process that shares the memory of others; tid: whose, until it is dead
 * (CLONE_CHILD_CLEARTID). */
struct stack {
	_Alignas(16) char bytes[STACK_SIZE];
	_Atomic pid_t tid;
};

static struct slot {
	unsigned way; /* of the next successor */
	struct stack *stacks;
} slots[STORM_MAX];

static struct storm *storm;
static bool light;
static unsigned live_us;
static int go[2];

MK_ONE_MEMORY static void beat(void)
{
	struct timespec ts;
	uint64_t now, last = __atomic_load_n(&storm->beat_ns, __ATOMIC_RELAXED);

	clock_gettime(CLOCK_BOOTTIME, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	while (last < now && !__atomic_compare_exchange_n(&storm->beat_ns, &last, now, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static struct stack *free_stack(const struct slot *s)
{
	for (unsigned i = 0;; i = (i + 1) % STACKS) {
		if (!s->stacks[i].tid)
			return &s->stacks[i];
		if (i == STACKS - 1)
			sched_yield();
	}
}

/* A child that runs fn, which does not return. */
static pid_t make(int (*fn)(void *), struct slot *s)
{
	struct stack *stack;
	pid_t pid;

	if (!light) {
		pid = fork();
		if (pid == 0)
			fn(s);
		return pid;
	}
	stack = free_stack(s);
	return clone(fn, stack->bytes + STACK_SIZE,
		     CLONE_VM | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, s, NULL, NULL,
		     &stack->tid);
}

static void __attribute__((noreturn)) pass_on(int (*fn)(void *), struct slot *s)
{
	while (!mk_over() && make(fn, s) < 0)
		usleep(RETRY_US);
	_exit(0);
}

static int successor(void *ctx);

static int go_between(void *ctx)
{
	mk_bound_life();
	pass_on(successor, ctx);
}

static void __attribute__((noreturn)) stay(void)
{
	while (!mk_over())
		usleep(STAY_US);
	_exit(0);
}

static void __attribute__((noreturn)) hold(struct slot *s)
{
	storm->pid[s - slots] = getpid();
	beat();
	if (live_us)
		usleep(live_us);
	if (__atomic_fetch_add(&storm->forks, 1, __ATOMIC_RELAXED) >= STORM_FORKS)
		stay();
	s->way++;
	pass_on(s->way % 4 == 3 ? go_between : successor, s);
}

static int successor(void *ctx)
{
	struct slot *s = ctx;

	mk_bound_life();
	if (s->way % 4 == 1)
		setsid();
	else if (s->way % 4 == 2)
		setpgid(0, 0);
	hold(s);
}

MK_ONE_MEMORY static int first(void *ctx)
{
	char c;

	mk_child_same();
	close(go[1]);
	if (read(go[0], &c, 1) == 0) /* until the maker lets go, or is gone */
		hold(ctx);
	_exit(0);
}

static void open_page(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)
		      : memfd_create("storm", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, sizeof(*storm)) < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		mk_die(path ? path : "storm");
	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (storm == MAP_FAILED)
		mk_die("mmap");
}

static struct stack *new_stacks(void)
{
	struct stack *v = mmap(NULL, STACKS * sizeof(*v), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (v == MAP_FAILED)
		mk_die("mmap");
	return v;
}

static void rage(char **arg)
{
	const int ignored[] = {SIGTERM, SIGHUP, SIGINT, SIGCHLD};
	int n = mk_number(arg[0], 500, STORM_MAX);

	live_us = arg[0] && arg[1] ? (unsigned)atoi(arg[1]) : 0;
	open_page(arg[0] && arg[1] ? arg[2] : NULL);
	storm->n = (uint32_t)n;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (pipe2(go, O_CLOEXEC) < 0)
		mk_die("pipe");
	for (int i = 0; i < n; i++) {
		slots[i].way = (unsigned)i;
		slots[i].stacks = light ? new_stacks() : NULL;
		if (make(first, &slots[i]) < 0)
			mk_die("fork");
	}
	close(go[0]);
	close(go[1]);
	mk_print("slots", n);
}

void mk_storm(char **arg)
{
	rage(arg);
}

void mk_storm_light(char **arg)
{
	light = true;
	rage(arg);
}
