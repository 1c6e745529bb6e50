#include "engine/launch.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/proc_stat.h"
#include "base/vec.h"
#include "contain/signal.h"
#include "engine/launch_lost.h"
#include "engine/launch_talk.h"
#include "engine/warden.h"
#include "record/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define LOOK_MS 250           /* between two looks after the warden, where the run is to be over */
#define IDLE_MS 2000          /* the same before */
#define HANG_NS 1000000000ull /* for which one reading may then hold it up */
#define BURY_NS 1000000000ull /* for it to die */

struct front {
	char mark[RUN_MARK_SIZE];
	const struct launch_options *o;
	struct launch_result *out;
	struct spawn_caller caller;
	struct identity self;
	struct unit unit;
	struct identity cmd, warden;
	int talk_fd, result_fd, signal_fd;
	struct source_pulse *pulse; /* shared with the warden: what it reads; NULL: not known */
	pid_t hung;                 /* on whom it was said to hang; 0: on nobody */
	uint64_t began_ns;
	uint64_t due_ns;  /* when the run is to be over; 0: it has no deadline */
	int end_signal;   /* that it was asked to end for; 0: none */
	int tty_fd;       /* the controlling terminal, where the command is on it; -1 */
	sigset_t ignored; /* when stray was started */
	struct baseline *baseline;
	launch_say_fn *say;
	void *ctx;
	bool over;
	unsigned asked;                  /* how often it was to end */
	VEC(pid_t) others;               /* that are not the run's and came or went while it ran */
	bool others_short, others_known; /* some are missing; they are all */
	char *exe;
};

void launch_result_clear(struct launch_result *r)
{
	free(r->members);
	baseline_diff_clear(&r->elsewhere);
	memset(r, 0, sizeof(*r));
}

/* The controlling terminal is one of 0 to 2: a keyboard is the command's. */
static int find_terminal(const struct launch_options *o)
{
	for (int fd = 0; fd < 3 && !o->own_session; fd++)
		if (isatty(fd) && tcgetsid(fd) == getsid(0))
			return fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return -1;
}

/*
 * A HUP that is ignored is left so (nohup).  INT and QUIT are taken all the same, as a shell's
 * background jobs are started with both ignored: but not those of a key, see is_of_key().
 */
static int take_signals(struct front *f, struct err *err)
{
	static const int taken[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	struct sigaction was;
	sigset_t set;

	sigemptyset(&set);
	sigemptyset(&f->ignored);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		sigaction(taken[i], NULL, &was);
		if (was.sa_handler == SIG_IGN)
			sigaddset(&f->ignored, taken[i]);
		if (was.sa_handler != SIG_IGN || taken[i] != SIGHUP)
			sigaddset(&set, taken[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	f->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return f->signal_fd < 0 ? err_errno(err, errno, "signalfd") : 0;
}

static int choose_id(struct front *f, struct err *err)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_errno(err, errno, "no random number for the run's mark");
	snprintf(f->mark, sizeof(f->mark), "%016" PRIx64, number);
	if (!f->o->id)
		return rundir_new_id(f->out->id, err);
	if (!rundir_id_valid(f->o->id))
		return err_set(err, EINVAL,
			       "--id: letters, digits, '.', '_', '-', at most %d, and a letter or "
			       "digit first",
			       RUN_ID_MAX);
	snprintf(f->out->id, sizeof(f->out->id), "%s", f->o->id);
	return 0;
}

static int make_unit(struct front *f, struct err *err)
{
	struct proc_stat st;
	int r = proc_stat_read_self(&st);

	if (r == -EXDEV)
		return err_set(
			err, EXDEV,
			"/proc is that of another PID namespace: unshare(1) has --mount-proc");
	if (r < 0)
		return err_errno(err, -r, "/proc/self/stat");
	f->self = (struct identity){st.pid, st.start};
	unit_make(&f->unit, f->out->id, f->self);
	/* should the warden die, its orphans come to us */
	return unit_reap_here(&f->unit, err);
}

/* The front's own side; the warden's is talk[1]. */
static int make_ways(struct front *f, int *warden_end, struct err *err)
{
	int talk[2];

	f->result_fd = memfd_create("result", MFD_CLOEXEC);
	if (f->result_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
		return err_errno(err, errno, "no way to speak with the warden");
	f->talk_fd = talk[0];
	*warden_end = talk[1];
	f->pulse = mmap(NULL, sizeof(*f->pulse), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (f->pulse == MAP_FAILED)
		f->pulse = NULL;
	return 0;
}

static int run_warden(struct front *f, int warden_end)
{
	struct warden_start start = {
		.options = f->o,
		.caller = &f->caller,
		.id = f->out->id,
		.mark = f->mark,
		.exe = f->exe,
		.unit = &f->unit,
		.front = f->self,
		.talk_fd = warden_end,
		.pulse = f->pulse,
		.result_fd = f->result_fd,
		.terminal = f->tty_fd >= 0,
	};

	file_close_fd(&f->talk_fd);
	file_close_fd(&f->signal_fd);
	file_close_fd(&f->tty_fd);
	return warden_run(&start);
}

/* --- the front --- */

static void take_members(struct front *f)
{
	ssize_t n;

	lseek(f->result_fd, 0, SEEK_SET);
	n = file_read_all_fd(f->result_fd, 1u << 30, &f->out->members);
	f->out->members_len = n > 0 ? (size_t)n : 0;
	while (f->out->members_len && f->out->members[f->out->members_len - 1] == '\n')
		f->out->members_len--;
}

/*
 * Those that the run left, from what the warden wrote, and the two that were made before the
 * host was looked at: its difference is about others.
 */
static int list_ours(const struct front *f, struct identity **v, size_t *n)
{
	json_t *o = NULL;
	const json_t *added, *p;
	size_t i;

	*v = NULL;
	*n = 0;
	if (f->out->members)
		json_read_line(f->out->members, f->out->members_len, &o, NULL);
	added = json_object_get(o, "added_processes");
	*v = calloc(json_array_size(added) + 2, sizeof(**v));
	if (*v) {
		(*v)[(*n)++] = f->warden;
		(*v)[(*n)++] = f->cmd;
	}
	json_array_foreach(added, i, p)
	{
		int64_t pid = 0;
		uint64_t start = 0;

		if (*v && json_get_int(p, "pid", 0, INT32_MAX, &pid, NULL, NULL) == 0 &&
		    json_get_uint(p, "start_ticks", &start, NULL, NULL) == 0)
			(*v)[(*n)++] = (struct identity){(pid_t)pid, start};
	}
	if (*v)
		qsort(*v, *n, sizeof(**v), identity_order);
	json_decref(o);
	return *v ? 0 : -ENOMEM;
}

static void compare(struct front *f)
{
	AUTO_FREE struct identity *ours = NULL;
	struct baseline_known known = {
		.others = f->others.v,
		.n_others = f->others.n,
		.others_known = f->others_known,
	};
	bool none = f->others_known && !f->others.n; /* nobody to tell ours from */

	if (!f->baseline || (!none && list_ours(f, &ours, &known.n_ours) < 0))
		return;
	known.ours = ours;
	baseline_compare(f->baseline, &known, &f->out->elsewhere, NULL);
}

static void take_over(struct front *f, const struct talk *t)
{
	struct launch_result *r = f->out;

	f->over = true;
	r->state = t->state;
	r->status = t->status;
	r->own_status = t->exited;
	r->wait_status = t->wait_status;
	r->die_of = t->signal == SIGINT || t->signal == SIGQUIT ? t->signal : 0;
	r->elapsed_ns = t->elapsed_ns;
	r->unit = f->unit.kind;
	f->others_known = t->others_known && !f->others_short;
}

static void note_others(struct front *f, const struct talk *t)
{
	for (unsigned i = 0; i < t->n && i < TALK_OTHERS_MAX; i++)
		if (!VEC_PUSH(&f->others, t->others[i]))
			f->others_short = true;
}

/* Waits for the next word of the warden; false: it is gone. */
static bool hear(struct front *f, struct talk *t)
{
	struct pollfd p = {.fd = f->talk_fd, .events = POLLIN};
	int r;

	while ((r = talk_receive(f->talk_fd, t)) == 0)
		poll(&p, 1, -1);
	return r > 0;
}

static void end_run(struct front *f, int signal)
{
	struct talk t = {.kind = TALK_END, .signal = signal};

	f->asked++;
	talk_send(f->talk_fd, &t);
	if (!f->end_signal)
		f->end_signal = signal;
	f->due_ns = clock_boot_ns();
}

/* The command, in our group, has it too; where the key's signal is ignored nobody is meant. */
static bool is_of_key(const struct front *f, const struct signalfd_siginfo *info)
{
	int sig = (int)info->ssi_signo;

	return (sig == SIGINT || sig == SIGQUIT) && info->ssi_code == SI_KERNEL &&
	       (f->tty_fd >= 0 || sigismember(&f->ignored, sig) == 1);
}

static void on_signals(struct front *f)
{
	struct signalfd_siginfo info;

	while (read(f->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		int sig = (int)info.ssi_signo;
		struct talk pass = {.kind = TALK_PASS, .signal = sig};

		if (sig == SIGUSR1 || sig == SIGUSR2)
			talk_send(f->talk_fd, &pass);
		else if (!is_of_key(f, &info))
			end_run(f, sig);
	}
}

/* Where the warden is gone. */
static bool is_hurried(void *ctx)
{
	struct front *f = ctx;

	on_signals(f);
	return f->asked > 1;
}

/* The same, but for what it says to the person. */
static bool hear_fact(struct front *f, struct talk *t)
{
	bool heard;

	while ((heard = hear(f, t)) && t->kind == TALK_SAY)
		f->say(f->ctx, t->text);
	return heard;
}

static bool is_due(const struct front *f, uint64_t now)
{
	return f->due_ns && now >= f->due_ns;
}

/* For poll(2). */
static int patience_ms(const struct front *f)
{
	uint64_t now = clock_boot_ns(), left_ms = IDLE_MS;

	if (!f->pulse)
		return -1;
	if (is_due(f, now))
		return LOOK_MS;
	if (f->due_ns)
		left_ms = (f->due_ns - now) / 1000000 + 1;
	return left_ms < IDLE_MS ? (int)left_ms : IDLE_MS;
}

/*
 * A member can keep whoever reads its command line waiting, for ever (its mmap_lock, held by a
 * fault that nobody answers), and so the warden past the deadline: one that hangs is as good as
 * dead.
 */
static void give_up_warden(struct front *f, pid_t reading)
{
	struct target_set one = {0};
	char line[120];

	snprintf(line, sizeof(line),
		 "the warden hangs reading %d, which does not let itself be read", (int)reading);
	f->say(f->ctx, line);
	if (target_add(&one, f->warden, NULL, NULL) == 0)
		signal_target(&one.v[0], SIGKILL);
	target_set_clear(&one);
}

/* Before the run is to be over: to kill the warden would end what may live. */
static void say_it_hangs(struct front *f, pid_t reading)
{
	char line[160];

	if (reading == f->hung)
		return;
	f->hung = reading;
	snprintf(line, sizeof(line),
		 "the warden hangs reading %d, which does not let itself be read: nothing more is "
		 "seen; %s ends the run",
		 (int)reading, f->due_ns ? "its deadline" : "a signal to stray");
	f->say(f->ctx, line);
}

/* False: it is killed, since it hangs when the run is to be over. */
static bool look_after_warden(struct front *f)
{
	pid_t reading = source_hangs(f->pulse, HANG_NS);
	bool due = is_due(f, clock_boot_ns());

	if (reading && due)
		give_up_warden(f, reading);
	else if (reading)
		say_it_hangs(f, reading);
	return !reading || !due;
}

/* Until the run is over (0), the warden gone, or given up (-ETIMEDOUT). */
static int watch(struct front *f)
{
	for (;;) {
		struct pollfd p[] = {
			{.fd = f->talk_fd, .events = POLLIN},
			{.fd = f->signal_fd, .events = POLLIN},
		};
		struct talk t;
		int r = poll(p, 2, patience_ms(f));

		if (r < 0)
			continue;
		if (r == 0 && !look_after_warden(f))
			return -ETIMEDOUT;
		if (p[1].revents)
			on_signals(f);
		while ((r = talk_receive(f->talk_fd, &t)) > 0) {
			if (t.kind == TALK_SAY)
				f->say(f->ctx, t.text);
			else if (t.kind == TALK_OTHERS)
				note_others(f, &t);
			else if (t.kind == TALK_OVER)
				take_over(f, &t);
		}
		if (r < 0)
			return f->over ? 0 : r;
	}
}

/* Where the command's own job took the foreground and is gone, the shell would find nobody. */
static void take_foreground_back(const struct front *f)
{
	sigset_t ttou, old;
	pid_t group = f->tty_fd < 0 ? -1 : tcgetpgrp(f->tty_fd);

	if (group <= 1 || group == getpgrp() || unit_group_lives(group))
		return;
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &old);
	tcsetpgrp(f->tty_fd, getpgrp());
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static int failed(struct front *f, const struct talk *t, struct err *err)
{
	f->out->status = t->status ? t->status : STATUS_FAILED;
	return err_set(err, t->error ? t->error : ECHILD, "%s", t->text);
}

/* What the warden says next on the way to the start.  0, or why there is none. */
static int await(struct front *f, struct talk *t, struct err *err)
{
	if (!hear_fact(f, t))
		return err_set(err, ECHILD, "the warden has died before the command began");
	return t->kind == TALK_FAILED ? failed(f, t, err) : 0;
}

/* One that was given up dies once what it waits for is gone: at the latest with the run, mostly. */
static void bury_warden(struct front *f)
{
	uint64_t until = clock_boot_ns() + BURY_NS;

	while (waitpid(f->warden.pid, NULL, WNOHANG) == 0) {
		if (clock_boot_ns() >= until) {
			f->say(f->ctx, "the warden was killed, and still hangs in the kernel");
			return;
		}
		poll(NULL, 0, 1);
	}
}

/* The warden ends the run no more. */
static void end_without(struct front *f, bool given_up)
{
	const struct launch_lost_signals signals = {f->signal_fd, is_hurried, f};
	int status = f->end_signal ? 128 + f->end_signal : 124;

	if (!given_up)
		waitpid(f->warden.pid, NULL, 0);
	launch_lost(f->o, &f->unit, f->self, &signals, f->out, f->say, f->ctx);
	f->out->elapsed_ns = clock_boot_ns() - f->began_ns;
	if (!given_up)
		return;
	f->out->status = status;
	bury_warden(f);
}

/* The warden may have given up the cgroup, for a reason that its record tells. */
static void take_kind(struct front *f, enum unit_kind kind)
{
	if (kind != f->unit.kind)
		unit_fall_back(&f->unit, &(struct err){0});
}

/* From the fork on.  0, or why nothing was started. */
static int be_front(struct front *f, pid_t warden, struct err *err)
{
	struct talk t;
	struct proc_stat st;
	int r;

	f->warden = (struct identity){.pid = warden};
	if (proc_stat_read(warden, &st) == 0)
		f->warden.start = st.start;

	f->out->status = STATUS_FAILED;
	spawn_give_up_streams(&f->caller, STDERR_FILENO); /* that we speak on */
	signal(SIGPIPE, SIG_IGN); /* nobody reads it: no reason to end a run */
	r = await(f, &t, err);    /* READY */
	if (r < 0)
		return r;
	/* while the warden makes the command, on whose CPU its word has woken us: it goes first */
	sched_yield();
	if (baseline_take(&f->baseline, NULL) < 0)
		f->baseline = NULL;
	r = await(f, &t, err); /* HELD */
	if (r < 0)
		return r;
	f->cmd = t.id;
	take_kind(f, t.unit);
	t = (struct talk){.kind = TALK_GO};
	talk_send(f->talk_fd, &t);
	if (hear_fact(f, &t) && t.kind == TALK_FAILED)
		return failed(f, &t, err);
	f->began_ns = clock_boot_ns();
	if (f->o->deadline_ns)
		f->due_ns = f->began_ns + f->o->deadline_ns;
	if (t.kind == TALK_STARTED)
		r = watch(f);
	if (!f->over || r < 0)
		end_without(f, r == -ETIMEDOUT);
	else
		waitpid(f->warden.pid, NULL, 0);
	take_foreground_back(f);
	take_members(f);
	compare(f);
	return 0;
}

static int prepare(struct front *f, int *warden_end, struct err *err)
{
	int r = spawn_find(f->o->argv[0], &f->exe, err);

	f->out->status = r == -ENOENT ? 127 : r < 0 ? 126 : STATUS_FAILED;
	if (!r)
		r = choose_id(f, err);
	if (!r)
		r = make_unit(f, err);
	if (!r)
		r = make_ways(f, warden_end, err);
	if (!r)
		r = take_signals(f, err);
	f->tty_fd = find_terminal(f->o);
	return r;
}

static void clear(struct front *f)
{
	baseline_free(f->baseline);
	free(f->others.v);
	file_close_fd(&f->talk_fd);
	file_close_fd(&f->result_fd);
	file_close_fd(&f->signal_fd);
	file_close_fd(&f->tty_fd);
	spawn_caller_clear(&f->caller);
	if (f->pulse)
		munmap(f->pulse, sizeof(*f->pulse));
	unit_close(&f->unit);
	free(f->exe);
}

enum launch_outcome launch_run(const struct launch_options *o, launch_say_fn *say, void *ctx,
			       struct launch_result *out, bool *warden, struct err *err)
{
	struct front f = {.o = o,
			  .out = out,
			  .say = say,
			  .ctx = ctx,
			  .talk_fd = -1,
			  .result_fd = -1,
			  .signal_fd = -1,
			  .tty_fd = -1,
			  .unit = {.dir = -1, .events = -1, .freeze = -1, .kill = -1}};
	int warden_end = -1, r;
	pid_t pid = -1;

	memset(out, 0, sizeof(*out));
	*warden = false;
	spawn_note_caller(&f.caller);
	r = prepare(&f, &warden_end, err);
	if (!r) {
		fflush(NULL); /* or what is in its buffers is written twice */
		pid = spawn_fork();
		if (pid < 0)
			r = err_errno(err, errno, "no process can be made");
	}
	if (!r && pid == 0) {
		*warden = true;
		out->status = run_warden(&f, warden_end);
	} else {
		file_close_fd(&warden_end);
		if (!r)
			r = be_front(&f, pid, err);
		else
			unit_remove(&f.unit);
	}
	clear(&f);
	return r < 0 ? LAUNCH_NOT_STARTED : LAUNCH_OVER;
}
