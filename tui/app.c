#include "tui/app.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "engine/listener.h"
#include "engine/look.h"
#include "engine/scanner.h"
#include "tui/app_act.h"
#include "tui/app_desk.h"
#include "tui/app_load.h"
#include "tui/app_read.h"
#include "tui/app_record.h"
#include "tui/driver.h"
#include "tui/view.h"

#define FIRST_ASKS_NS (10 * CLOCK_NS_PER_S) /* the first screen waits no longer for the rest */
#define FIRST_RUN_NS CLOCK_NS_PER_S         /* nor for the record of the run it is about */
#define LEAVE_NS (5 * CLOCK_NS_PER_S)       /* what a signal, or a fault, lets be written yet */
#define CHECK_MS 500                        /* how often a hanging read is looked for */
#define MS 1000000ULL
#define WAITED_MAX 8

struct app {
	const struct app_options *o;
	struct driver *driver;
	struct scanner *scanner;
	struct listener *listener;
	struct app_desk desk;
	struct app_read read;
	struct app_load load;
	struct tracker tracker;
	struct view view;
	struct app_act act;
	struct app_record record;
	int act_fd; /* as it is known to epoll; -1: none */
	struct grid grid;
	int epoll;
	uint64_t next_scan_ns;
	bool quit, dirty, signalled, forced;
	char title[160];
};

static int watch_fd(struct app *a, int fd, struct err *err)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (fd < 0 || epoll_ctl(a->epoll, EPOLL_CTL_ADD, fd, &e) == 0)
		return 0;
	return err_errno(err, errno, "cannot wait for descriptor %d", fd);
}

static int watch_all(struct app *a, struct err *err)
{
	const int fds[] = {
		driver_fd(a->driver),        driver_signal_fd(a->driver), scanner_fd(a->scanner),
		listener_fd(a->listener),    app_desk_fd(&a->desk),       errand_fd(a->read.detail),
		errand_fd(a->read.contacts), errand_fd(a->load.runs),     errand_fd(a->load.events),
		errand_fd(a->load.export),
	};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(fds) / sizeof(fds[0]); i++)
		r = watch_fd(a, fds[i], err);
	return r;
}

static int open_all(struct app *a, struct err *err)
{
	struct driver_options d = {.ascii = a->o->ascii, .mono = a->o->mono, .mouse = a->o->mouse};
	int rows, cols, r;

	r = driver_open(&d, &a->driver, err);
	if (r < 0)
		return r;
	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (a->epoll < 0)
		return err_errno(err, errno, "no epoll descriptor");
	r = watch_all(a, err);
	driver_size(a->driver, &rows, &cols);
	if (!r)
		r = grid_resize(&a->grid, rows, cols, err);
	a->grid.ascii = driver_ascii(a->driver);
	a->view.o.ascii = a->grid.ascii;
	return r;
}

/*
 * Who was asked to leave by a key has written all by now, unless nobody wanted to wait.  Else the
 * terminal may hang: what is to be written comes first, and nothing is drawn.
 */
static void leave_desk(struct app *a)
{
	if (!a->desk.worker)
		return;
	if (!a->view.leaving)
		app_record_leave(&a->record, a->signalled);
	if (!a->forced)
		app_desk_wait(&a->desk, LEAVE_NS);
	app_desk_close(&a->desk);
}

static void close_all(struct app *a)
{
	leave_desk(a);
	driver_close(a->driver);
	app_act_free(&a->act);
	app_record_close(&a->record);
	file_close_fd(&a->epoll);
	listener_close(a->listener);
	view_free(&a->view);
	tracker_free(&a->tracker);
	scanner_close(a->scanner);
	app_read_close(&a->read);
	app_load_close(&a->load);
	grid_free(&a->grid);
}

/* --- what the view asks for ------------------------------------------------ */

static void draw(struct app *a)
{
	char title[sizeof(a->title)];

	view_draw(&a->view, &a->grid);
	driver_flush(a->driver, &a->grid);
	view_title(&a->view, title, sizeof(title));
	if (strcmp(title, a->title) != 0) {
		memcpy(a->title, title, sizeof(title));
		driver_title(a->driver, title);
	}
	if (a->view.bell)
		driver_bell(a->driver);
	a->view.bell = false;
	a->dirty = false;
}

/* Keys that were typed before the dialog could be seen are no answer to it. */
static int show_dialog(struct app *a, struct err *err)
{
	const struct view *v = &a->view;

	a->view.freezer_works = v->has_run && v->run.chosen.kind == SELECT_CGROUP &&
				act_freezer_works(v->run.chosen.name);
	draw(a);
	driver_flush_input(a->driver);
	view_dialog_drawn(&a->view, NULL);
	a->dirty = true;
	return app_act_probe(&a->act, err);
}

/* By key: what is asked for is written yet, unless it is asked again; by signal at once. */
static void quit(struct app *a)
{
	a->forced = a->view.leaving && !a->signalled;
	a->quit = a->forced || a->signalled;
	if (a->quit)
		return;
	a->view.leaving = true;
	app_record_leave(&a->record, false);
	view_say(&a->view, STYLE_WARNING, "leaving when all is written; q again leaves at once");
}

static int serve(struct app *a, enum request request, struct err *err)
{
	switch (request) {
	case REQUEST_QUIT:
		quit(a);
		break;
	case REQUEST_SUSPEND:
		driver_suspend(a->driver);
		break;
	case REQUEST_REDRAW:
		driver_redraw(a->driver);
		break;
	case REQUEST_RESCAN:
		a->next_scan_ns = 0;
		break;
	case REQUEST_DETAIL:
		app_read_detail(&a->read, &a->view, clock_boot_ns());
		break;
	case REQUEST_FLUSH:
		return show_dialog(a, err);
	case REQUEST_ACT:
		a->next_scan_ns = 0;
		return app_act_begin(&a->act, &a->view, a->record.adopting, err);
	case REQUEST_SNAPSHOT:
		return app_act_snapshot(&a->act, &a->view, err);
	case REQUEST_RUN:
		a->next_scan_ns = 0;
		return app_record_run(&a->record, &a->view, err);
	case REQUEST_OPEN_RUN:
		return app_record_open(&a->record, a->view.runs_at, APP_OPEN_ASKED, &a->view, err);
	case REQUEST_RUNS:
		app_load_runs(&a->load, &a->view, false, clock_boot_ns());
		break;
	case REQUEST_EVENTS:
		app_load_events(&a->load, &a->view, clock_boot_ns());
		break;
	case REQUEST_EXPORT:
		app_load_export(&a->load, &a->view, clock_boot_ns());
		break;
	case REQUEST_NOTE:
		return app_record_note(&a->record, &a->view, err);
	case REQUEST_NONE:
		break;
	}
	return 0;
}

/*
 * What scans are to look at besides: who holds the pipes of the run in view, which are
 * asked of its root here, whom its members speak with, and whether those that matter
 * were moved to another cgroup.
 */
static int watch(struct app *a, struct err *err)
{
	struct run *run = a->view.has_run ? &a->view.run : NULL;
	struct look_wanted wanted;
	struct identity *ids;
	ssize_t n;
	int r;

	if (a->o->source.replay)
		return 0;
	if (run && !run->ends_asked) {
		ends_ask(run);
		a->next_scan_ns = 0;
	}
	look_wanted(&a->tracker, &wanted);
	n = look_watched(&a->tracker, &ids);
	r = n < 0 ? -ENOMEM : scanner_watch(a->scanner, &wanted, ids, (size_t)n);
	free(ids);
	return r < 0 ? err_nomem(err) : 0;
}

/* --- the loop -------------------------------------------------------------- */

static int take_input(struct app *a, struct err *err)
{
	struct input in;
	int r = 0;

	while (!a->quit && !r && driver_read(a->driver, &in) == 1) {
		if (in.kind == INPUT_RESIZE)
			r = grid_resize(&a->grid, in.y, in.x, err);
		a->signalled |= in.kind == INPUT_END;
		if (!r)
			r = serve(a, view_update(&a->view, &in), err);
		a->dirty = true;
		if (!r && a->view.has_run && !a->view.run.ends_asked)
			r = watch(a, err);
		if (!r)
			r = listener_follow(a->listener, &a->tracker, err);
	}
	return r;
}

static int take_scan(struct app *a, struct err *err)
{
	struct table *scan = NULL;
	struct err why = {0};
	int r = scanner_take(a->scanner, &scan, &why);

	if (r == 0)
		return 0;
	a->dirty = true;
	if (r < 0) {
		view_scan_failed(&a->view, &why);
		return 0;
	}
	app_record_hear(&a->record, &a->view);
	r = tracker_fold(&a->tracker, scan, err);
	scanner_reuse(a->scanner, tracker_take_spare(&a->tracker));
	if (!r)
		r = listener_follow(a->listener, &a->tracker, err);
	if (!r)
		r = watch(a, err);
	if (!r) {
		r = app_record_look(&a->record, &a->view, err);
		app_load_again(&a->load, &a->view, clock_boot_ns());
	}
	if (!r)
		r = view_scanned(&a->view, err);
	if (!r)
		r = app_read_contacts(&a->read, &a->view, clock_boot_ns(), err);
	if (!r && !a->act.held)
		app_act_hold(&a->act, &a->view);
	if (!r && a->view.dialog.open && !a->view.dialog.drawn) /* it asks again */
		r = show_dialog(a, err);
	return r;
}

static int take_readings(struct app *a, struct err *err)
{
	int r = app_read_take(&a->read, &a->view, clock_boot_ns(), err);

	a->dirty |= app_load_take(&a->load, &a->view);
	a->dirty |= r == 1;
	return r < 0 ? r : 0;
}

/* What is on the disk, or was done, by now. */
static int take_desk(struct app *a, struct err *err)
{
	int r = app_desk_take(&a->desk, &a->view, err);

	a->dirty |= app_desk_tell(&a->desk, &a->view, clock_boot_ns());
	if (r == 1) {
		a->dirty = true;
		app_load_again(&a->load, &a->view, clock_boot_ns());
	}
	if (a->record.wants_scan || a->act.wants_scan)
		a->next_scan_ns = 0;
	a->record.wants_scan = a->act.wants_scan = false;
	a->quit |= a->view.leaving && !app_desk_busy(&a->desk);
	return r < 0 ? r : 0;
}

/* The act's own descriptor comes and goes; epoll forgets a closed one by itself. */
static int follow_act(struct app *a, struct err *err)
{
	int r = app_act_step(&a->act, clock_boot_ns(), err), fd = app_act_fd(&a->act);

	if (r < 0)
		return r;
	if (fd == a->act_fd)
		return 0;
	if (a->act_fd >= 0)
		epoll_ctl(a->epoll, EPOLL_CTL_DEL, a->act_fd, NULL);
	a->act_fd = fd;
	return watch_fd(a, fd, err);
}

/* Without a TARGET: the recorded run that most needs eyes, where one does. */
static int choose_default(struct app *a, struct err *err)
{
	if (!a->view.runs.eyes[0])
		return 0;
	return app_record_open(&a->record, a->view.runs.eyes, APP_OPEN_DEFAULT, &a->view, err);
}

static int choose_target(struct app *a, struct err *err)
{
	const struct selector *t = a->o->target;

	if (!t)
		return choose_default(a, err);
	return t->kind == SELECT_RUN
		       ? app_record_open(&a->record, t->name, APP_OPEN_TARGET, &a->view, err)
		       : view_choose(&a->view, t, err);
}

/* Who asks for some processes only has said what to show. */
static bool wants_default(const struct app *a)
{
	return !a->o->target && !a->o->next && !a->o->source.replay && !a->o->user && !a->o->n_pids;
}

/* What is done while the first screen is waited for. */
static int wait_first(struct app *a, struct err *err)
{
	struct epoll_event e;
	int r;

	if (epoll_wait(a->epoll, &e, 1, CHECK_MS) < 0 && errno != EINTR)
		return err_errno(err, errno, "epoll");
	scanner_check(a->scanner, clock_boot_ns());
	r = take_input(a, err);
	if (!r)
		r = take_desk(a, err);
	if (!r && a->dirty)
		draw(a);
	if (!r)
		r = take_scan(a, err);
	if (!r)
		r = take_readings(a, err);
	if (!r && a->view.trouble[0])
		return err_set(err, ENODATA, "%s", a->view.trouble);
	return r;
}

static int first_scan(struct app *a, struct err *err)
{
	uint64_t until = clock_boot_ns() + FIRST_ASKS_NS;
	int r = 0;

	scanner_request(a->scanner);
	if (a->o->next)
		r = app_record_await(&a->record, err);
	if (wants_default(a))
		app_load_runs(&a->load, &a->view, true, clock_boot_ns());
	draw(a);
	/*
	 * The first screen is in the order of who is connected, and stays so.  How long the first
	 * look may take is for who waits to say: a host in trouble has little time for it.
	 */
	while (!r && !a->quit &&
	       (!a->tracker.now || ((app_read_asks(&a->read) || app_load_awaits_runs(&a->load)) &&
				    clock_boot_ns() < until)))
		r = wait_first(a, err);
	if (!r && !a->quit)
		r = choose_target(a, err);
	until = clock_boot_ns() + FIRST_RUN_NS;
	while (!r && !a->quit && a->record.opening && clock_boot_ns() < until)
		r = wait_first(a, err);
	view_find_waiting(&a->view);
	if (!r)
		r = listener_follow(a->listener, &a->tracker, err);
	return r ? r : watch(a, err);
}

static int wait_ms(const struct app *a, uint64_t now)
{
	int ms = driver_wait_ms(a->driver);
	uint64_t left = a->next_scan_ns > now ? (a->next_scan_ns - now) / MS + 1 : 0;

	uint64_t act = app_act_wakes_at(&a->act);

	if (ms < 0 || ms > CHECK_MS)
		ms = CHECK_MS;
	if (act != UINT64_MAX && (act > now ? (act - now) / MS + 1 : 0) < (uint64_t)ms)
		ms = act > now ? (int)((act - now) / MS) + 1 : 0;
	if (!a->view.paused && !scanner_busy(a->scanner) && left < (uint64_t)ms)
		ms = (int)left;
	return ms;
}

static void scan_when_due(struct app *a, uint64_t now)
{
	if (listener_wants_scan(a->listener) && a->next_scan_ns > now + LISTENER_RESCAN_NS)
		a->next_scan_ns = now + LISTENER_RESCAN_NS;
	if (now < a->next_scan_ns || a->view.paused || scanner_busy(a->scanner))
		return;
	scanner_request(a->scanner);
	a->next_scan_ns = now + a->o->delay_ms * MS;
}

static int loop(struct app *a, struct err *err)
{
	struct epoll_event e[WAITED_MAX];
	int r = first_scan(a, err);

	a->next_scan_ns = clock_boot_ns() + a->o->delay_ms * MS;
	draw(a);
	while (!r && !a->quit) {
		uint64_t now = clock_boot_ns();

		scan_when_due(a, now);
		if (epoll_wait(a->epoll, e, WAITED_MAX, wait_ms(a, now)) < 0 && errno != EINTR)
			return err_errno(err, errno, "epoll");
		scanner_check(a->scanner, clock_boot_ns());
		app_record_hear(&a->record, &a->view);
		r = take_input(a, err);
		if (!r)
			r = take_desk(a, err);
		if (!r)
			r = take_scan(a, err);
		if (!r)
			r = take_readings(a, err);
		if (!r)
			r = follow_act(a, err);
		if (a->dirty && !r)
			draw(a);
	}
	return r;
}

int app_run(const struct app_options *options, struct err *err)
{
	struct app a = {.o = options,
			.epoll = -1,
			.act_fd = -1,
			.act = {.state_dir = options->state_dir, .fd = -1},
			.record.o = {options->state_dir,
				     options->readonly || options->source.replay,
				     options->delay_ms}};
	struct view_options v = {
		.readonly = options->readonly,
		.source = options->source_words,
		.user = options->user,
		.pids = options->pids,
		.n_pids = options->n_pids,
	};
	int r;

	tracker_init(&a.tracker);
	view_init(&a.view, &v, &a.tracker);
	r = listener_open(options->listen, &a.listener, err);
	a.record.listener = a.listener;
	a.record.desk = a.act.desk = &a.desk;
	if (!r)
		r = app_desk_open(&a.desk, err);
	if (!r)
		r = scanner_open(&options->source, &a.scanner, err);
	if (!r)
		r = app_read_open(&a.read, &options->source, err);
	if (!r)
		r = app_load_open(&a.load, options->state_dir, options->source.replay, err);
	if (!r)
		r = open_all(&a, err);
	if (!r)
		r = loop(&a, err);
	close_all(&a);
	return r;
}
