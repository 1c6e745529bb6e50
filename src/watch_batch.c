#include "watch_batch.h"

#include "base/clock.h"
#include "base/file.h"
#include "cmd/subject.h"
#include "engine/vigil.h"
#include "tui/events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define CHUNK 65536
#define PIECE PIPE_BUF /* never waited for where there is room for any (pipe(7)) */
#define LAST_MS 1000   /* how long who reads slowly may take for the last, asked to end */
#define MS 1000000ULL

struct batch {
	const struct batch_options *o;
	struct look look;
	struct listener *listener;
	struct vigil vigil;
	struct run run; /* of the vigil, for the look */
	int signals;    /* signalfd */
	int journal;    /* what is printed */
	off_t at;       /* up to where it was read */
	VEC(char) rest; /* a line that is not whole yet */
	FILE *out;      /* into text: printed, and given as who reads takes it: the run is */
	char *text;     /* watched however slow that is */
	size_t len, given;
	bool told_other, told_trouble;
};

/* --- what is printed ------------------------------------------------------- */

static void print_event(const struct batch *b, const char *line, size_t len)
{
	char when[CLOCK_RFC3339_MAX];
	struct event_line e;
	struct line out;
	json_t *event;

	if (json_read_line(line, len, &event, NULL) < 0)
		return; /* a torn line; verify tells of it */
	events_read(event, &e);
	json_decref(event);
	clock_rfc3339(e.wall_ns, when);
	cmd_line_init(b->o->common, &out);
	out.out = b->out;
	line_put(&out, ROLE_DIM, "%.12s ", when + 11);
	line_put(&out, ROLE_HEAD, "%-16s ", e.name);
	if (e.process.pid)
		line_put(&out, ROLE_NORMAL, "%7d ", e.process.pid);
	else
		line_put(&out, ROLE_NORMAL, "%7s ", "");
	line_put(&out, ROLE_NORMAL, "%s", e.words);
	line_end(&out);
	cmd_line_finish(&out, NULL);
}

static void print_line(const struct batch *b, const char *line, size_t len)
{
	if (b->o->common->json)
		fprintf(b->out, "%.*s\n", (int)len, line);
	else
		print_event(b, line, len);
}

static int take_bytes(struct batch *b, const char *data, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] == '\n') {
			print_line(b, b->rest.v, b->rest.n);
			b->rest.n = 0;
		} else if (!VEC_PUSH(&b->rest, data[i])) {
			return err_nomem(err);
		}
	}
	return 0;
}

/* Gives what is printed, as far as it is taken now: 1: all of it, 0 or -errno. */
static int give(struct batch *b, struct err *err)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	while (b->given < b->len) {
		size_t left = b->len - b->given;
		ssize_t n;

		if (poll(&p, 1, 0) <= 0)
			return 0;
		n = write(p.fd, b->text + b->given, left < PIECE ? left : PIECE);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_errno(err, errno, "stdout");
		b->given += n > 0 ? (size_t)n : 0;
	}
	rewind(b->out);
	b->given = b->len = 0;
	return 1;
}

/* What the journal has grown by, whoever wrote it: 1: all is given, 0: who reads is slow, or
 * -errno. */
static int print_new(struct batch *b, struct err *err)
{
	char chunk[CHUNK];
	ssize_t n;
	int r;

	while ((r = give(b, err)) == 1) {
		n = pread(b->journal, chunk, sizeof(chunk), b->at);
		if (n == 0)
			return 1;
		if (n < 0)
			return err_errno(err, errno, "%s", b->vigil.recorded.dir.path);
		r = take_bytes(b, chunk, (size_t)n, err);
		if (r < 0)
			return r;
		b->at += n;
		if (fflush(b->out) != 0)
			return err_nomem(err);
	}
	return r;
}

/* --- the run --------------------------------------------------------------- */

static void take_heard(void *ctx, const struct kin_change *c, struct detail *detail)
{
	struct batch *b = ctx;

	vigil_hear(&b->vigil, c, detail);
}

static void hear(struct batch *b)
{
	listener_drain(b->listener, &b->look.tracker, take_heard, b);
}

enum woken { WOKEN_TIME, WOKEN_SIGNAL, WOKEN_NO_READER };

static enum woken wait_for(struct batch *b)
{
	struct pollfd p[] = {{.fd = b->signals, .events = POLLIN},
			     {.fd = listener_fd(b->listener), .events = POLLIN},
			     {.fd = STDOUT_FILENO}};
	uint64_t now = clock_boot_ns(), until = now + b->o->delay_ms * MS;

	for (; now < until; now = clock_boot_ns()) {
		p[2].events = b->given < b->len ? POLLOUT : 0;
		if (poll(p, 3, (int)((until - now + MS - 1) / MS)) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			return WOKEN_SIGNAL;
		if (p[2].revents & ~POLLOUT || (p[2].revents && print_new(b, NULL) < 0))
			return WOKEN_NO_READER;
		if (p[1].revents)
			hear(b);
		if (listener_wants_scan(b->listener) && until > now + LISTENER_RESCAN_NS)
			until = now + LISTENER_RESCAN_NS;
	}
	return WOKEN_TIME;
}

static int look_once(struct batch *b, struct err *err)
{
	struct table *scan;
	int r = look_scan(&b->look, &scan, err);

	if (r < 0)
		return r;
	hear(b);
	r = look_fold(&b->look, scan, err);
	return r < 0 ? r : listener_follow(b->listener, &b->look.tracker, err);
}

static int take_signals(struct batch *b, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN); /* whoever reads may go; the journal is closed all the same */
	b->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return b->signals < 0 ? err_errno(err, errno, "no descriptor for signals") : 0;
}

/* 1 and the id; 0: asked to end before there was one. */
static int await_next(struct batch *b, char id[static RUN_ID_MAX + 1], struct err *err)
{
	struct rundir_list known = {0};
	struct statedir *s = NULL;
	int r = recorded_state_dir(b->o->common->state_dir, STATEDIR_READ, &s, NULL);

	if (!r)
		r = rundir_list(s, &known, err);
	statedir_close(s);
	if (r == -ENOENT)
		r = 0;
	while (!r) {
		r = vigil_newcomer(b->o->common->state_dir, &known, id, err);
		if (!r && wait_for(b) != WOKEN_TIME)
			break;
	}
	rundir_list_clear(&known);
	return r;
}

/* 1 and the id; 0: none, as it was asked to end. */
static int which(struct batch *b, char id[static RUN_ID_MAX + 1], struct err *err)
{
	if (b->o->next)
		return await_next(b, id, err);
	if (b->o->name) {
		snprintf(id, RUN_ID_MAX + 1, "%s", b->o->name);
		return 1;
	}
	if (subject_default(b->o->common, &b->look, id))
		return 1;
	return err_set(err, ESRCH,
		       "watch --batch: no recorded run needs eyes: stray adopt TARGET "
		       "makes one, stray runs lists them");
}

static int open_run(struct batch *b, const char *id, struct err *err)
{
	const struct vigil_options o = {b->o->common->state_dir, false, b->o->delay_ms};
	int r = vigil_open(&b->vigil, &o, id, &b->look.tracker.now->host, err);

	if (r < 0)
		return r;
	if (!b->vigil.writes)
		return err_set(err, EROFS, "%s",
			       b->vigil.damage.code ? b->vigil.damage.text : b->vigil.trouble.text);
	if (!run_copy(&b->run, &b->vigil.recorded.run))
		return err_nomem(err);
	b->at = (off_t)journal_size(b->vigil.recorded.dir.journal);
	r = journal_open_read(b->vigil.recorded.dir.fd, RUNDIR_JOURNAL, &b->journal, err);
	if (!r)
		r = look_set_run(&b->look, &b->run, err);
	return r ? r : listener_follow(b->listener, &b->look.tracker, err);
}

/* Once each, until it is over. */
static void say_trouble(struct batch *b)
{
	const struct vigil *g = &b->vigil;

	if (g->other && !b->told_other)
		cmd_troublef("run %s: another stray watches it: its events follow",
			     g->recorded.dir.id);
	if (g->trouble.code && !b->told_trouble)
		cmd_trouble(&g->trouble);
	b->told_other = g->other;
	b->told_trouble = g->trouble.code != 0;
}

/* Waits for who reads, but no longer than a moment once it is to end. */
static int print_last(struct batch *b, bool asked, struct err *err)
{
	struct pollfd p[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
			     {.fd = asked ? -1 : b->signals, .events = POLLIN}};
	uint64_t until = clock_boot_ns() + LAST_MS * MS;
	int r;

	while ((r = print_new(b, err)) == 0) {
		if (asked && clock_boot_ns() >= until)
			return 0;
		if (poll(p, 2, LAST_MS) > 0 && p[1].revents) {
			asked = true;
			p[1].fd = -1;
			until = clock_boot_ns() + LAST_MS * MS;
		}
	}
	return r < 0 ? r : 0;
}

static int watch(struct batch *b, struct err *err)
{
	enum woken woken = WOKEN_TIME;
	const char *reason;
	int r = 0;

	while (!r) {
		vigil_look(&b->vigil, &b->look.tracker);
		b->run.over_ticks = b->vigil.recorded.run.over_ticks;
		say_trouble(b);
		r = print_new(b, err);
		if (r < 0 || vigil_is_over(&b->vigil))
			break;
		woken = wait_for(b);
		if (woken != WOKEN_TIME)
			break;
		r = look_once(b, err);
	}
	if (woken == WOKEN_SIGNAL)
		reason = "signal";
	else
		reason = r < 0 || woken == WOKEN_NO_READER ? "asked" : "over";
	chronicle_close(b->vigil.chronicle, reason);
	b->vigil.chronicle = NULL;
	return r < 0 ? r : print_last(b, woken != WOKEN_TIME, err);
}

int batch_run(const struct batch_options *o, struct err *err)
{
	struct source_options source = *o->source;
	struct batch b = {.o = o, .signals = -1, .journal = -1};
	char id[RUN_ID_MAX + 1];
	int r = take_signals(&b, err);

	b.out = open_memstream(&b.text, &b.len);
	if (!r && !b.out)
		r = err_nomem(err);
	source.again_and_again = true;
	if (!r)
		r = listener_open(o->listen, &b.listener, err);
	if (!r)
		r = look_open(&b.look, &source, err);
	if (!r)
		r = look_again(&b.look, err);
	if (!r)
		r = which(&b, id, err);
	if (r == 1) {
		if (o->next)
			r = look_again(&b.look, err);
		r = r < 0 ? r : open_run(&b, id, err);
		if (!r)
			r = watch(&b, err);
	}
	vigil_close(&b.vigil, "asked");
	listener_close(b.listener);
	if (b.look.reader)
		look_close(&b.look);
	run_clear(&b.run);
	free(b.rest.v);
	if (b.out)
		fclose(b.out);
	free(b.text);
	file_close_fd(&b.journal);
	file_close_fd(&b.signals);
	return r;
}
