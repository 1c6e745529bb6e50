#include "engine/warden.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "contain/prompt.h"
#include "engine/launched.h"
#include "engine/warden_parts.h"
#include "source/hostinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDLES 1000            /* that a warden has room for from the start */
#define STAY_NS 2000000ull      /* a command that is over by then needs no thread for its record */
#define CLOSE_NS 10000000000ull /* how long the last of the record may take */

/* --- making --- */

static struct identity identity_of(pid_t pid)
{
	struct proc_stat st;

	if (proc_stat_read(pid, &st) < 0)
		return (struct identity){0};
	return (struct identity){pid, st.start};
}

/* While a second thread runs the kernel waits for each CPU to grow the table of descriptors. */
static void make_room_for_handles(int some_fd)
{
	int fd = fcntl(some_fd, F_DUPFD_CLOEXEC, HANDLES); /* as far as the caller's limit goes */

	file_close_fd(&fd);
}

/* What would end it is read, not suffered: it ends when its run has. */
static int take_signals(struct warden *w, struct err *err)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	w->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	return w->signal_fd < 0 || w->timer_fd < 0 ? err_errno(err, errno, "the warden") : 0;
}

static int make_kin(struct warden *w, struct err *err)
{
	struct kin_options o = {
		.root = w->cmd.id,
		.pgid = w->pgid,
		.sid = w->sid,
		.owns_pgid = w->owns,
		.owns_sid = w->owns,
		.reaper = w->self,
		.ticks_per_second = w->host.ticks_per_second,
	};

	w->kin = kin_new(&o);
	return w->kin ? 0 : err_nomem(err);
}

/* What the run is to flags and classes. */
static void make_run(struct warden *w)
{
	struct run *run = &w->run;

	snprintf(run->id, sizeof(run->id), "%s", w->start->id);
	run->recorded = !w->o->no_record;
	run->root = w->cmd.id;
	run->pgid = w->pgid;
	run->sid = w->sid;
	run->owns_pgid = run->owns_sid = w->owns;
	run->since_ticks = w->cmd.id.start;
	if (*w->unit->path)
		bytes_set(&run->cgroup, w->unit->path, strlen(w->unit->path));
}

/* As far as it is known by now. */
static struct launched how_launched(const struct warden *w)
{
	return (struct launched){
		.state_dir = w->o->state_dir,
		.id = w->start->id,
		.approved_by = w->o->approved_by,
		.mark = w->start->mark,
		.parent_run = getenv(RUN_ID_NAME),
		.argv = w->o->argv,
		.caller = w->start->caller,
		.exe = w->start->exe,
		.root = w->cmd.id,
		.pgid = w->pgid,
		.sid = w->sid,
		.owns_pgid = w->owns,
		.owns_sid = w->owns,
		.unit = w->unit,
		.host = &w->host,
		.front = w->start->front,
		.warden = w->self,
		.deadline_wall_ns = w->o->deadline_ns ? w->host.wall_ns + w->o->deadline_ns : 0,
		.grace_ns = w->o->grace_ns,
	};
}

/* Once the command is held. */
static int make_record(struct warden *w, struct launching *l, struct err *err)
{
	struct runlog_options options = {.process_bytes_max = w->o->journal_max};
	struct coverage coverage = {
		.sources = (1u << SOURCE_PROC) | (w->net ? 1u << SOURCE_NETLINK : 0),
		.first_scan_wall_ns = w->host.wall_ns,
	};
	struct launched how = how_launched(w);
	char fallbacks[WARDEN_FALLBACKS_MAX];
	struct recorded recorded;
	int r;

	if (w->o->no_record) {
		warden_say_held(w, NULL);
		return 0;
	}
	warden_fallbacks(w, fallbacks, sizeof(fallbacks));
	how.fallbacks = *fallbacks ? fallbacks : NULL;
	how.coverage = &coverage;
	r = launched_create(&how, l, &recorded, err);
	if (r < 0)
		return r;
	w->run_dir = fcntl(recorded.dir.fd, F_DUPFD_CLOEXEC, 3);
	warden_say_held(w, recorded.dir.path);
	return runlog_open(&recorded, &options, &w->log, err);
}

static int prepare(struct warden *w, struct err *err)
{
	struct source_options source = {.pulse = w->start->pulse};
	struct coverage coverage;
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = take_signals(w, err);

	make_room_for_handles(proc);
	if (!r && proc < 0)
		r = err_errno(err, errno, "/proc");
	if (!r)
		r = unit_reap_here(w->unit, err);
	if (!r)
		r = source_open(&source, &w->source, err);
	if (r < 0)
		return r;
	hostinfo_read(proc, &w->host, &coverage);
	w->self = identity_of(getpid());
	/* before the command is: what it does first is seen */
	if (w->o->no_events)
		err_set(&w->net_why, ECANCELED, "--capture=none");
	else if (netlink_open(&w->net, &w->net_why) < 0)
		w->net = NULL;
	if (w->net)
		strangers_open(&w->strangers);
	if (!w->net && w->o->needs_events)
		return err_set(err, ENOTSUP, "--capture=netlink: %.200s", w->net_why.text);
	return 0;
}

static void send_failed(const struct warden *w, const struct err *why, int status)
{
	struct talk t = {.kind = TALK_FAILED, .error = why->code, .status = status};

	snprintf(t.text, sizeof(t.text), "%s", why->text);
	talk_send(w->start->talk_fd, &t);
}

/* The command, held, and its record.  On failure nothing of it is left. */
static int hold(struct warden *w, struct err *err)
{
	const struct launched how = how_launched(w);
	struct launching l = {0};
	int r = warden_begin_hold(w, err);

	if (r < 0)
		return r;
	/* launched_prepare() tells which descriptors the command has: ours are those */
	if (!w->o->no_record)
		r = launched_prepare(&how, &l, err);
	if (r < 0)
		spawn_cancel(&w->cmd);
	else
		r = warden_hold(w, err);
	if (!r) {
		r = make_kin(w, err);
		make_run(w);
		if (!r)
			r = make_record(w, &l, err);
		if (r < 0)
			spawn_cancel(&w->cmd);
	}
	launching_clear(&l);
	return r;
}

/* All but letting it go.  On failure nothing of it is left. */
static int make(struct warden *w, struct err *err)
{
	struct talk held = {.kind = TALK_HELD}, ready = {.kind = TALK_READY};
	int r = prepare(w, err);

	if (!r)
		r = talk_send(w->start->talk_fd, &ready);
	if (!r)
		r = hold(w, err);
	if (r < 0)
		return r;
	spawn_give_up_streams(w->start->caller, 3);
	held.id = w->cmd.id;
	held.unit = w->unit->kind;
	talk_send(w->start->talk_fd, &held); /* that the front is gone await_go() learns */
	/* while the front says go: later it might wait for the disk.  Without, `stray end` is alone */
	if (w->run_dir >= 0)
		w->door = door_open(w->run_dir, NULL);
	return 0;
}

/* --- waiting --- */

/* The front says go, or is gone, or does not want it any more. */
static bool await_go(struct warden *w)
{
	struct pollfd p[] = {{.fd = w->start->talk_fd, .events = POLLIN}};
	struct talk t;
	int r;

	while ((r = talk_receive(w->start->talk_fd, &t)) == 0)
		poll(p, 1, -1);
	return r > 0 && t.kind == TALK_GO;
}

/* Its parent died before it began: the command never runs. */
static bool parent_is_gone(const struct warden *w)
{
	struct pollfd p = {.fd = w->o->die_with_fd, .events = POLLIN};

	return p.fd >= 0 && poll(&p, 1, 0) > 0;
}

static int let_go(struct warden *w, struct err *err)
{
	struct talk started = {.kind = TALK_STARTED, .id = w->cmd.id};
	int r;

	w->began_ns = clock_boot_ns();
	if (w->o->deadline_ns)
		w->deadline_ns = w->began_ns + w->o->deadline_ns;
	warden_tell_watch(w, NULL);
	warden_tell_started(w);
	prompt_thread(pthread_self());
	r = spawn_let_go(&w->cmd, err);
	if (!r)
		r = spawn_outcome(&w->cmd, err);
	if (r < 0)
		return r;
	warden_say_fallbacks(w);
	if (runlog_hash(w->log))
		warden_stay(w);
	w->phase = PHASE_RUNNING;
	w->tick_ns = w->began_ns + STAY_NS;
	talk_send(w->start->talk_fd, &started);
	return 0;
}

/* It could not be executed, or is not to be: a run that did nothing. */
static void never_ran(struct warden *w, const struct err *why, int status)
{
	warden_close(w, NULL, RUN_FINISHED, 0, why->text);
	if (w->began_ns)
		warden_tell_watch(w, "over");
	waitpid(w->cmd.id.pid, NULL, 0);
	send_failed(w, why, status);
}

static void on_signals(struct warden *w)
{
	struct signalfd_siginfo info;

	while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGTERM)
			warden_end(w, CAUSE_ASKED, SIGTERM);
	warden_reap_command(w);
	w->orphans = true; /* they are reaped when what they did was taken */
}

static void on_talk(struct warden *w)
{
	struct talk t;
	int r;

	while ((r = talk_receive(w->start->talk_fd, &t)) > 0) {
		if (t.kind == TALK_END) {
			if (w->asked++)
				warden_hurry(w);
			else
				warden_end(w, CAUSE_ASKED, t.signal);
		} else if (t.kind == TALK_PASS && !w->cmd_over) {
			struct target_set one = {0};

			if (target_add(&one, w->cmd.id, NULL, NULL) == 0)
				signal_target(&one.v[0], t.signal);
			target_set_clear(&one);
		}
	}
	if (r == -EPIPE && !w->front_gone) {
		w->front_gone = true;
		warden_end(w, CAUSE_FRONT, 0);
	}
}

enum {
	FD_SIGNAL,
	FD_TALK,
	FD_PARENT,
	FD_TIMER,
	FD_LADDER,
	FD_EVENTS,
	FD_UNIT,
	FD_DENY,
	FD_DOOR,
	FD_VISITOR,
	FD_GUESTS,
	FDS = FD_GUESTS + WARDEN_GUESTS
};

/* All else can wait, also until the kernel's queue of events is read: that holds some 40,000. */
static bool rushes(const struct warden *w)
{
	return w->rush && w->phase == PHASE_ENDING && w->ladder;
}

/* When something is to be done, whatever happens. */
static uint64_t next_due(const struct warden *w, uint64_t now)
{
	uint64_t due = w->tick_ns;

	if (rushes(w))
		return now + ladder_timeout_ns(w->ladder, now);
	if (w->phase < PHASE_EXPIRING && w->deadline_ns && w->deadline_ns < due)
		due = w->deadline_ns;
	if ((w->phase == PHASE_SETTLING || w->phase == PHASE_EXPIRING) && w->due_ns < due)
		due = w->due_ns;
	if (w->net && w->drain_ns && w->drain_ns < due)
		due = w->drain_ns;
	if (w->ladder && w->phase == PHASE_ENDING) {
		uint64_t left = ladder_timeout_ns(w->ladder, now);

		if (left < due && now + left < due)
			due = now + left;
	}
	return due;
}

static void wait_for_something(struct warden *w)
{
	uint64_t now = clock_boot_ns(), due = next_due(w, now);
	/* else by the clock: it slows nobody's spawning */
	bool listen = w->net && !w->drain_ns && !rushes(w);
	struct itimerspec at = {.it_value = {.tv_sec = (time_t)(due / CLOCK_NS_PER_S),
					     .tv_nsec = (long)(due % CLOCK_NS_PER_S)}};
	struct pollfd p[FDS] = {
		[FD_SIGNAL] = {.fd = w->signal_fd, .events = POLLIN},
		[FD_TALK] = {.fd = w->front_gone ? -1 : w->start->talk_fd, .events = POLLIN},
		[FD_PARENT] = {.fd = w->phase < PHASE_EXPIRING ? w->o->die_with_fd : -1,
			       .events = POLLIN},
		[FD_TIMER] = {.fd = w->timer_fd, .events = POLLIN},
		[FD_LADDER] = {.fd = w->ladder ? ladder_fd(w->ladder) : -1, .events = POLLIN},
		[FD_EVENTS] = {.fd = listen ? netlink_fd(w->net) : -1, .events = POLLIN},
		[FD_UNIT] = {.fd = w->unit->events, .events = POLLPRI},
		[FD_DENY] = {.fd = w->deny.listener, .events = POLLIN},
		[FD_DOOR] = {.fd = w->door, .events = POLLIN},
		[FD_VISITOR] = {.fd = w->visitor, .events = POLLIN},
	};
	uint64_t fired;

	for (int i = 0; i < WARDEN_GUESTS; i++)
		p[FD_GUESTS + i] = (struct pollfd){.fd = w->guests[i], .events = POLLIN};
	timerfd_settime(w->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
	if (poll(p, FDS, -1) < 0)
		return;
	if (p[FD_TIMER].revents && read(w->timer_fd, &fired, sizeof(fired)) < 0)
		return;
	if (p[FD_EVENTS].revents)
		warden_drain(w);
	if (p[FD_SIGNAL].revents)
		on_signals(w);
	if (p[FD_TALK].revents)
		on_talk(w);
	if (p[FD_UNIT].revents)
		unit_hear(w->unit);
	if (p[FD_DENY].revents)
		warden_deny(w);
	if (p[FD_DOOR].revents)
		warden_come_in(w);
	for (int i = 0; i < WARDEN_GUESTS; i++)
		if (p[FD_GUESTS + i].revents)
			warden_hear_guest(w, i);
	if (p[FD_VISITOR].revents && w->phase == PHASE_YIELDED)
		warden_hear_visitor(w);
	if (p[FD_PARENT].revents)
		warden_end(w, CAUSE_PARENT, 0);
}

void warden_stay(struct warden *w)
{
	struct err why = {0};

	if (w->stays)
		return;
	w->stays = true;
	if (runlog_start(w->log, &why) < 0 && w->o->verbose)
		warden_say(w, "the end may wait for the disk: %s", why.text);
}

/* Of a large run all is read less often: a warden takes a tenth of a CPU for it, at most. */
static void tick(struct warden *w, uint64_t now)
{
	bool all = !w->net || kin_unsure(w->kin);
	uint64_t rest;

	w->forked_at_tick = kin_counts(w->kin).forked;
	warden_read(w, all ? READ_UNIT : now >= w->read_ns ? READ_MEMBERS : READ_GROUPS);
	if (now >= w->read_ns)
		w->read_ns = now + WARDEN_READ_NS;
	rest = 9 * (clock_boot_ns() - now);
	w->tick_ns = now + (rest < WARDEN_TICK_NS       ? WARDEN_TICK_NS
			    : rest < WARDEN_TICK_MAX_NS ? rest
							: WARDEN_TICK_MAX_NS);
}

/* What can wait does, where it would make the end late. */
static bool is_almost_due(const struct warden *w, uint64_t now)
{
	return (w->phase == PHASE_RUNNING || w->phase == PHASE_YIELDED) && w->deadline_ns &&
	       now + 2 * w->reading_ns >= w->deadline_ns;
}

/* Reading who is there, by the clock. */
static void read_on(struct warden *w, uint64_t now)
{
	uint64_t took;

	if (is_almost_due(w, now)) {
		w->tick_ns = w->deadline_ns + WARDEN_TICK_NS;
		return;
	}
	if (now >= w->tick_ns) {
		warden_stay(w);
		now = clock_boot_ns();
		tick(w, now);
		warden_look_at_visitor(w);
	}
	if (w->unit->kind == UNIT_CGROUP && now >= w->moved_ns) {
		warden_find_moved(w);
		w->moved_ns = now + WARDEN_MOVED_NS;
	}
	took = clock_boot_ns() - now;
	if (took > WARDEN_READING_MAX_NS)
		took = WARDEN_READING_MAX_NS;
	if (took > w->reading_ns)
		w->reading_ns = took;
}

static void on_time(struct warden *w)
{
	uint64_t now = clock_boot_ns();

	if (rushes(w)) {
		warden_end_step(w);
		return;
	}
	if (w->drain_ns ? now >= w->drain_ns : w->orphans) {
		warden_drain(w);
		if (w->orphans) /* now that it is known whom they forked */
			warden_reap(w);
	}
	read_on(w, now);
	warden_tell_changes(w);
	if (w->phase < PHASE_EXPIRING && w->deadline_ns && now >= w->deadline_ns)
		warden_end(w, CAUSE_DEADLINE, 0);
	if (w->phase == PHASE_SETTLING && (now >= w->due_ns || unit_is_empty(w->unit, NULL) == 1))
		warden_settled(w);
	if (w->phase == PHASE_EXPIRING || w->phase == PHASE_ENDING)
		warden_end_step(w);
}

static void warden_clear(struct warden *w)
{
	ladder_free(w->ladder);
	target_set_clear(&w->held);
	netlink_close(w->net);
	kin_free(w->kin);
	source_close(w->source);
	reader_close(w->marks);
	run_clear(&w->run);
	table_free(w->left);
	spawn_close(&w->cmd);
	spawn_close(&w->helper);
	for (size_t i = 0; i < w->batches.n; i++)
		free(w->batches.v[i].to);
	for (size_t i = 0; i < w->handoffs.n; i++)
		bytes_free(&w->handoffs.v[i].args);
	free(w->batches.v);
	free(w->handoffs.v);
	free(w->reaped.v);
	free(w->leavers.v);
	free(w->denied.v);
	deny_close(&w->deny);
	free(w->sent.v);
	strangers_close(&w->strangers);
	file_close_fd(&w->signal_fd);
	file_close_fd(&w->timer_fd);
	if (w->door >= 0)
		unlinkat(w->run_dir, RUNDIR_SOCKET, 0);
	file_close_fd(&w->run_dir);
	file_close_fd(&w->door);
	file_close_fd(&w->visitor);
	for (int i = 0; i < WARDEN_GUESTS; i++)
		file_close_fd(&w->guests[i]);
}

int warden_run(const struct warden_start *start)
{
	struct warden w = {
		.start = start,
		.o = start->options,
		.unit = start->unit,
		.signal_fd = -1,
		.timer_fd = -1,
		.run_dir = -1,
		.door = -1,
		.visitor = -1,
		.cmd = {.pidfd = -1, .go = -1, .outcome = -1},
		.helper = {.pidfd = -1, .go = -1, .outcome = -1},
		.deny = {-1, -1, -1},
		.tick_ns = UINT64_MAX,
	};
	struct err why = {0};

	memset(w.guests, -1, sizeof(w.guests));
	setpgid(0, 0);
	if (make(&w, &why) < 0) {
		send_failed(&w, &why, STATUS_FAILED);
	} else if (!await_go(&w) || parent_is_gone(&w)) {
		spawn_cancel(&w.cmd);
		err_set(&why, ECANCELED, "who started it is gone: it never ran");
		never_ran(&w, &why, STATUS_FAILED);
	} else if (let_go(&w, &why) < 0) {
		never_ran(&w, &why, why.code == ENOENT ? 127 : 126);
	} else {
		while (w.phase != PHASE_OVER) {
			wait_for_something(&w);
			on_time(&w);
		}
	}
	unit_remove(w.unit);
	warden_clear(&w); /* while the ledger is told how it ended */
	runlog_close(w.log, clock_boot_ns() + CLOSE_NS);
	return 0;
}
