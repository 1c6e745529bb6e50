#include "tui/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { NOTE, CRASH, OVERDUE };

static const struct {
	int signo, kind;
	enum rescue_note note;
} taken[] = {
	{SIGWINCH, NOTE, RESCUE_RESIZED},
	{SIGCONT, NOTE, RESCUE_CONTINUED},
	{SIGTSTP, NOTE, RESCUE_STOP},
	{SIGTERM, NOTE, RESCUE_END},
	{SIGHUP, NOTE, RESCUE_END},
	{SIGINT, NOTE, RESCUE_END},
	{SIGQUIT, NOTE, RESCUE_END},
	{SIGALRM, OVERDUE, RESCUE_END},
	{SIGSEGV, CRASH, 0},
	{SIGBUS, CRASH, 0},
	{SIGFPE, CRASH, 0},
	{SIGILL, CRASH, 0},
	{SIGABRT, CRASH, 0},
};

#define N_TAKEN (sizeof(taken) / sizeof(taken[0]))

/* Handlers have no other way to reach it. */
static struct {
	pid_t owner; /* 0: closed.  A forked child has the handlers, not the terminal */
	int tty, event;
	volatile sig_atomic_t armed;
	volatile sig_atomic_t noted[RESCUE_NOTES];
	volatile sig_atomic_t end_signo;
	struct termios shell;
	char sequence[RESCUE_SEQUENCE_MAX];
	size_t sequence_len;
	struct sigaction before[N_TAKEN];
} state;

/* A crash by a full stack needs another one. */
static char crash_stack[16 * 1024];

bool rescue_foreground(void)
{
	pid_t pgid = tcgetpgrp(state.tty);

	return pgid < 0 || pgid == getpgrp();
}

/* In a handler: never waits, not even for a terminal that takes no output. */
static void restore(void)
{
	int flags;

	if (!state.armed || !rescue_foreground())
		return;
	state.armed = 0;
	flags = fcntl(state.tty, F_GETFL);
	if (flags >= 0)
		fcntl(state.tty, F_SETFL, flags | O_NONBLOCK);
	if (write(state.tty, state.sequence, state.sequence_len) < 0) {
		/* Then the modes are all that can be given back. */
	}
	tcsetattr(state.tty, TCSANOW, &state.shell);
	if (flags >= 0)
		fcntl(state.tty, F_SETFL, flags);
}

static void die(int signo)
{
	sigset_t set;

	signal(signo, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signo);
	_exit(128 + signo);
}

static void on_crash(int signo)
{
	if (getpid() == state.owner)
		restore();
	die(signo);
}

/* Nobody took up the request to end. */
static void on_overdue(int signo)
{
	(void)signo;
	if (getpid() != state.owner || !state.noted[RESCUE_END])
		return;
	restore();
	die(state.end_signo);
}

static void note_end(int signo)
{
	if (state.noted[RESCUE_END])
		return;
	state.end_signo = signo;
	state.noted[RESCUE_END] = 1;
	alarm(RESCUE_PATIENCE);
}

static void on_note(int signo)
{
	const uint64_t one = 1;
	int saved = errno;

	for (size_t i = 0; i < N_TAKEN; i++) {
		if (taken[i].signo != signo)
			continue;
		if (getpid() != state.owner) {
			if (taken[i].note == RESCUE_END)
				die(signo);
			return;
		}
		if (taken[i].note == RESCUE_END)
			note_end(signo);
		else
			state.noted[taken[i].note] = 1;
	}
	if (write(state.event, &one, sizeof(one)) < 0) {
		/* Its counter is at the limit: it is readable then. */
	}
	errno = saved;
}

static void take_signal(size_t i)
{
	static void (*const handlers[])(int) = {on_note, on_crash, on_overdue};
	struct sigaction sa = {.sa_handler = handlers[taken[i].kind], .sa_flags = SA_RESTART};

	if (taken[i].kind == CRASH)
		sa.sa_flags = SA_ONSTACK | SA_NODEFER;
	sigemptyset(&sa.sa_mask);
	sigaction(taken[i].signo, &sa, NULL);
}

int rescue_open(int fd, struct err *err)
{
	stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof(crash_stack)};

	if (state.owner)
		return err_set(err, EBUSY, "there is a live view already");
	memset(&state, 0, sizeof(state));
	state.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (state.event < 0)
		return err_errno(err, errno, "eventfd");
	state.tty = fd;
	state.owner = getpid();
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < N_TAKEN; i++) {
		sigaction(taken[i].signo, NULL, &state.before[i]);
		if (taken[i].note != RESCUE_END || state.before[i].sa_handler != SIG_IGN)
			take_signal(i);
	}
	return 0;
}

void rescue_close(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	rescue_disarm();
	alarm(0);
	for (size_t i = 0; i < N_TAKEN; i++)
		sigaction(taken[i].signo, &state.before[i], NULL);
	sigaltstack(&none, NULL);
	close(state.event);
	state.owner = 0;
}

void rescue_arm(const struct termios *shell, const char *sequence, size_t len)
{
	state.armed = 0;
	state.shell = *shell;
	state.sequence_len = len < sizeof(state.sequence) ? len : sizeof(state.sequence);
	memcpy(state.sequence, sequence, state.sequence_len);
	state.armed = 1;
}

void rescue_disarm(void)
{
	state.armed = 0;
}

int rescue_fd(void)
{
	return state.event;
}

bool rescue_take(enum rescue_note note, int *signo)
{
	uint64_t count;

	if (!state.noted[note])
		return false;
	if (read(state.event, &count, sizeof(count)) < 0) {
		/* Drained before: several notes share it. */
	}
	if (signo)
		*signo = state.end_signo;
	state.noted[note] = 0;
	if (note == RESCUE_END)
		alarm(0);
	return true;
}

bool rescue_shaken(void)
{
	return state.noted[RESCUE_CONTINUED] || state.noted[RESCUE_STOP];
}

void rescue_stop(bool whole)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, ours;

	sigaction(SIGTSTP, &stop, &ours);
	kill(whole ? 0 : getpid(), SIGTSTP);
	/* Continued. */
	sigaction(SIGTSTP, &ours, NULL);
	state.noted[RESCUE_STOP] = 0;
	state.noted[RESCUE_CONTINUED] = 0;
}
