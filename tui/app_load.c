#include "tui/app_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/look.h"
#include "engine/recorded.h"
#include "record/export.h"
#include "record/journal_read.h"
#include "record/outfile.h"

static char *copy_dir(const char *dir)
{
	return dir ? strdup(dir) : NULL;
}

/* --- all runs -------------------------------------------------------------- */

struct runs_ask {
	char *state_dir;
	bool replay;
	bool living;                 /* none that is past is wanted */
	struct runlist before, kept; /* as they were last, and still are */
	struct runlist list;
};

/* Whether there is any: else the host need not be looked at. */
static bool any_run(const char *state_dir)
{
	struct rundir_list ids = {0};
	struct statedir *s = NULL;
	bool any = true;

	if (recorded_state_dir(state_dir, STATEDIR_READ, &s, NULL) == -ENOENT)
		return false;
	if (s && rundir_list(s, &ids, NULL) == 0)
		any = ids.n > 0;
	rundir_list_clear(&ids);
	statedir_close(s);
	return any;
}

/* One that is past, and as it was. */
static bool is_known(void *ctx, const char *id, bool others, uint64_t bytes)
{
	struct runs_ask *ask = ctx;

	if (ask->living)
		return true;
	for (size_t i = 0; i < ask->before.n; i++) {
		const struct runlist_item *b = &ask->before.v[i];

		if (b->bytes == bytes && b->others == others && strcmp(b->id, id) == 0)
			return VEC_PUSH(&ask->kept, *b);
	}
	return false;
}

/* A look of its own: no process record is shared between threads. */
static void runs_run(void *ctx)
{
	const struct source_options o = {.details = DETAIL_CGROUP | DETAIL_LOGIN | DETAIL_ENVIRON};
	struct runs_ask *ask = ctx;
	struct look look = {0};
	struct runs runs = {0};
	struct err err = {0};
	int r = 0;

	if (!any_run(ask->state_dir))
		return;
	if (!ask->replay)
		r = look_open(&look, &o, &err);
	if (!r && !ask->replay)
		r = look_again(&look, &err);
	if (!r)
		r = runs_load(ask->state_dir, ask->replay ? NULL : &look.tracker, is_known, ask,
			      &runs, &err);
	if (!r && runlist_take(&ask->list, &runs, &ask->kept) < 0)
		r = err_nomem(&err);
	if (r < 0)
		text_safe(ask->list.trouble, sizeof(ask->list.trouble), err.text, strlen(err.text),
			  false);
	runs_clear(&runs);
	if (look.reader)
		look_close(&look);
}

static void runs_drop(void *ctx)
{
	struct runs_ask *ask = ctx;

	if (!ask)
		return;
	runlist_free(&ask->list);
	runlist_free(&ask->before);
	runlist_free(&ask->kept);
	free(ask->state_dir);
	free(ask);
}

void app_load_runs(struct app_load *l, const struct view *v, bool living, uint64_t boot_ns)
{
	struct errand_job job = {runs_run, runs_drop, NULL};
	struct runs_ask *ask;

	if (errand_busy(l->runs))
		return;
	job.ctx = ask = calloc(1, sizeof(*ask));
	if (!ask)
		return;
	ask->state_dir = copy_dir(l->state_dir);
	ask->replay = l->replay;
	ask->living = living;
	l->runs_read_ns = living ? 0 : boot_ns;     /* the others are due at once */
	runlist_copy(&ask->before, &v->runs);       /* without it all are read */
	errand_start(l->runs, &job, boot_ns, NULL); /* without a thread it is tried again */
}

bool app_load_awaits_runs(const struct app_load *l)
{
	return errand_busy(l->runs);
}

/* --- a journal ------------------------------------------------------------- */

struct events_ask {
	char *state_dir;
	char id[RUN_ID_MAX + 1];
	uint64_t size; /* as it was read before */
	bool same;     /* it has not grown since */
	struct events events;
	char trouble[300];
};

static int take_event(void *ctx, const json_t *event, struct err *err)
{
	struct events_ask *ask = ctx;

	return events_take(&ask->events, event) < 0 ? err_nomem(err) : 0;
}

static int read_events(struct events_ask *ask, const struct statedir *s, struct err *err)
{
	struct journal_reading reading = {
		.name = RUNDIR_JOURNAL, .schema = JOURNAL_SCHEMA, .fn = take_event, .ctx = ask};
	struct journal_verdict verdict = {0};
	struct rundir dir = {.fd = -1, .watch = -1};
	AUTO_FD fd = -1;
	struct stat st;
	int r = rundir_open(s, ask->id, false, &dir, err);

	if (!r)
		r = journal_open_read(dir.fd, RUNDIR_JOURNAL, &fd, err);
	if (!r && fstat(fd, &st) < 0)
		r = err_errno(err, errno, "%s", RUNDIR_JOURNAL);
	if (!r) {
		ask->same = (uint64_t)st.st_size == ask->size;
		ask->size = (uint64_t)st.st_size;
	}
	if (!r && !ask->same)
		r = journal_read(fd, &reading, &verdict, err);
	rundir_close(&dir);
	if (!r && verdict.fault != JOURNAL_HOLDS)
		snprintf(ask->trouble, sizeof(ask->trouble),
			 "it does not hold, and what follows proves nothing: %s", verdict.why);
	return r;
}

static void events_run(void *ctx)
{
	struct events_ask *ask = ctx;
	struct statedir *s = NULL;
	struct err err = {0};
	int r = recorded_state_dir(ask->state_dir, STATEDIR_READ, &s, &err);

	if (!r)
		r = read_events(ask, s, &err);
	if (r < 0)
		snprintf(ask->trouble, sizeof(ask->trouble), "%s", err.text);
	statedir_close(s);
}

static void events_drop(void *ctx)
{
	struct events_ask *ask = ctx;

	if (!ask)
		return;
	events_free(&ask->events);
	free(ask->state_dir);
	free(ask);
}

void app_load_events(struct app_load *l, struct view *v, uint64_t boot_ns)
{
	struct errand_job job = {events_run, events_drop, NULL};
	struct events_ask *ask;

	if (errand_busy(l->events))
		return;
	job.ctx = ask = calloc(1, sizeof(*ask));
	if (!ask)
		return;
	ask->state_dir = copy_dir(l->state_dir);
	memcpy(ask->id, v->events_of, sizeof(ask->id));
	if (v->events_known && strcmp(l->events_id, v->events_of) == 0)
		ask->size = l->events_size;
	errand_start(l->events, &job, boot_ns, NULL);
}

static bool take_events(struct app_load *l, struct view *v)
{
	struct events_ask *ask = errand_take(l->events);
	bool told = false;

	if (ask && !ask->same && strcmp(ask->id, v->events_of) == 0) {
		l->events_size = ask->size;
		memcpy(l->events_id, ask->id, sizeof(l->events_id));
		view_events_loaded(v, &ask->events, ask->trouble);
		told = true;
	}
	events_drop(ask);
	return told;
}

/* --- an export ------------------------------------------------------------- */

struct export_ask {
	char *state_dir;
	char id[RUN_ID_MAX + 1];
	char *path; /* of what was written, owned */
	struct err err;
};

static int write_export(struct export_ask *ask, const struct statedir *s, const struct export *x,
			uint64_t now_ns, struct err *err)
{
	char when[CLOCK_RFC3339_MAX], name[RUN_ID_MAX + CLOCK_RFC3339_MAX + 8];
	struct outfile f = {0};
	AUTO_FD dir = -1;
	int n = 0, r = statedir_subdir(s, "exports", &dir, err);

	clock_rfc3339(now_ns, when);
	for (const char *c = when; *c && *c != '.'; c++) /* as the directories of acts are named */
		if (*c != '-' && *c != ':')
			when[n++] = *c;
	snprintf(name, sizeof(name), "%s-%.*sZ.md", ask->id, n, when);
	if (!r)
		r = outfile_create(dir, name, &f, err);
	if (!r)
		r = export_markdown(f.stream, x, err);
	if (!r)
		r = outfile_finish(&f, err);
	outfile_discard(&f);
	if (!r && asprintf(&ask->path, "%s/exports/%s", statedir_path(s), name) < 0) {
		ask->path = NULL;
		r = err_nomem(err);
	}
	return r;
}

static void export_run(void *ctx)
{
	struct export_ask *ask = ctx;
	struct statedir *s = NULL;
	struct export *x = NULL;
	uint64_t now = clock_wall_ns();
	int r = recorded_state_dir(ask->state_dir, STATEDIR_WRITE, &s, &ask->err);

	if (!r)
		r = export_read(s, ask->id, now, &x, &ask->err);
	if (!r)
		write_export(ask, s, x, now, &ask->err);
	export_free(x);
	statedir_close(s);
}

static void export_drop(void *ctx)
{
	struct export_ask *ask = ctx;

	if (!ask)
		return;
	free(ask->state_dir);
	free(ask->path);
	free(ask);
}

void app_load_export(struct app_load *l, struct view *v, uint64_t boot_ns)
{
	struct errand_job job = {export_run, export_drop, NULL};
	struct export_ask *ask;
	struct err err = {0};

	if (errand_busy(l->export)) {
		view_say(v, STYLE_DIM, "an export is under way");
		return;
	}
	job.ctx = ask = calloc(1, sizeof(*ask));
	if (!ask)
		return;
	ask->state_dir = copy_dir(l->state_dir);
	snprintf(ask->id, sizeof(ask->id), "%s",
		 v->screen == SCREEN_EVENTS ? v->events_of : v->vigil->recorded.dir.id);
	if (errand_start(l->export, &job, boot_ns, &err) < 0)
		view_say(v, STYLE_WARNING, "not exported: %s", err.text);
	else
		view_say(v, STYLE_DIM, "exporting");
}

static bool take_export(struct app_load *l, struct view *v)
{
	struct export_ask *ask = errand_take(l->export);

	if (!ask)
		return false;
	if (ask->path)
		view_say(v, STYLE_GOOD, "exported: %s", ask->path);
	else
		view_say(v, STYLE_WARNING, "not exported: %s", ask->err.text);
	export_drop(ask);
	return true;
}

/* --- all three ------------------------------------------------------------- */

int app_load_open(struct app_load *l, const char *state_dir, bool replay, struct err *err)
{
	int r;

	memset(l, 0, sizeof(*l));
	l->state_dir = state_dir;
	l->replay = replay;
	r = errand_open(&l->runs, err);
	if (!r)
		r = errand_open(&l->events, err);
	return r ? r : errand_open(&l->export, err);
}

void app_load_close(struct app_load *l)
{
	errand_close(l->runs);
	errand_close(l->events);
	errand_close(l->export);
	memset(l, 0, sizeof(*l));
}

/* Whether the runs are shown, or how many there are, and may be others by now. */
static bool runs_are_due(const struct app_load *l, const struct view *v, uint64_t boot_ns)
{
	uint64_t age = boot_ns - l->runs_read_ns;

	if (v->screen == SCREEN_RUNS)
		return age > APP_LOAD_EVERY_NS;
	if (v->screen != SCREEN_LIST || v->has_run || l->replay)
		return false;
	return age > (v->runs_known ? APP_LOAD_COUNT_NS : APP_LOAD_EVERY_NS);
}

void app_load_again(struct app_load *l, struct view *v, uint64_t boot_ns)
{
	if (runs_are_due(l, v, boot_ns))
		app_load_runs(l, v, false, boot_ns);
	if (v->screen == SCREEN_EVENTS)
		app_load_events(l, v, boot_ns);
}

bool app_load_take(struct app_load *l, struct view *v)
{
	struct runs_ask *ask = errand_take(l->runs);
	bool told = ask != NULL;

	if (ask && ask->living)
		memcpy(v->runs.eyes, ask->list.eyes, sizeof(v->runs.eyes));
	else if (ask)
		view_runs_loaded(v, &ask->list);
	runs_drop(ask);
	told |= take_events(l, v);
	return take_export(l, v) || told;
}
