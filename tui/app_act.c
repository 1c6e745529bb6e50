#include "tui/app_act.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "record/outfile.h"
#include "record/snapshot.h"
#include "record/statedir.h"

void app_act_free(struct app_act *a)
{
	act_free(a->act);
	act_outcome_free(a->seen);
	table_free(a->held);
	file_close_fd(&a->fd);
	a->fd = -1;
	a->act = NULL;
	a->seen = NULL;
	a->held = NULL;
}

static int open_state(const char *state_dir, struct statedir **out, struct err *err)
{
	struct statedir_env env = statedir_env_current(state_dir);
	char *path = NULL;
	int r = statedir_choose(&env, &path, err);

	if (!r)
		r = statedir_open(path, STATEDIR_WRITE, out, err);
	free(path);
	return r;
}

/* --- whether a record can be written --------------------------------------- */

struct probe_job {
	struct app_job job; /* first */
	const char *state_dir;
	struct err err;
};

static void run_probe(struct desk *d, struct app_job *job)
{
	struct probe_job *j = (struct probe_job *)job;
	struct statedir *state = NULL;

	(void)d;
	if (open_state(j->state_dir, &state, &j->err) == 0)
		statedir_probe_writable(state, &j->err);
	statedir_close(state);
}

static int done_probe(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_act *a = to;
	struct probe_job *j = (struct probe_job *)job;

	(void)err;
	a->probing = false;
	if (v->dialog.open && j->err.code)
		dialog_block(&v->dialog, j->err.text);
	return 0;
}

static void drop_probe(struct app_job *job)
{
	free(job);
}

static const struct app_job_kind kind_probe = {"trying whether a record can be written", run_probe,
					       done_probe, drop_probe};

int app_act_probe(struct app_act *a, struct err *err)
{
	struct probe_job *j;

	if (a->probing)
		return 0;
	j = calloc(1, sizeof(*j));
	if (!j)
		return err_nomem(err);
	j->job = (struct app_job){&kind_probe, a};
	j->state_dir = a->state_dir;
	a->probing = true;
	return app_desk_do(a->desk, &j->job, err);
}

/* --- an act ---------------------------------------------------------------- */

struct act_job {
	struct app_job job; /* first */
	struct table *now;  /* owned, as is what follows */
	struct run run;
	bool has_run, adopting;
	struct plan plan;
	struct act_options options;
	/* what came of it */
	int result;
	struct err err;
	struct act_outcome *seen; /* owned; NULL: it is done, or there is none */
	struct act *done;         /* owned: the act, over */
	int fd;                   /* owned */
	uint64_t wakes_ns;
};

static void drop_act(struct app_job *job)
{
	struct act_job *j = (struct act_job *)job;

	table_free(j->now);
	run_clear(&j->run);
	plan_clear(&j->plan);
	act_outcome_free(j->seen);
	act_free(j->done);
	file_close_fd(&j->fd);
	free(j);
}

/* Where it stands. */
static void report(struct desk *d, struct act_job *j)
{
	if (act_outcome(d->act)->done) {
		j->done = d->act;
		d->act = NULL;
		return;
	}
	j->seen = act_outcome_copy(d->act);
	j->wakes_ns = act_wakes_at(d->act);
	if (!j->seen)
		err_nomem(&j->err);
}

/* The run was being recorded when the act was asked for: what it is called by now. */
static void name_run(const struct desk *d, struct act_job *j)
{
	if (!j->adopting || !d->vigil)
		return;
	snprintf(j->run.id, sizeof(j->run.id), "%s", d->vigil->recorded.dir.id);
	j->run.recorded = true;
}

static void run_begin(struct desk *d, struct app_job *job)
{
	struct act_job *j = (struct act_job *)job;

	name_run(d, j);
	j->result = act_start(j->now, j->has_run ? &j->run : NULL, &j->plan, &j->options, &d->act,
			      &j->err);
	if (j->result < 0)
		return;
	if (act_fd(d->act) >= 0)
		j->fd = fcntl(act_fd(d->act), F_DUPFD_CLOEXEC,
			      0); /* without it by the clock alone */
	report(d, j);
}

static void run_step(struct desk *d, struct app_job *job)
{
	struct act_job *j = (struct act_job *)job;

	act_step(d->act, clock_boot_ns(), &j->err);
	report(d, j);
}

/* What it came to is on the screen from here on. */
static void tell(struct app_act *a, struct act_job *j, struct view *v)
{
	struct act_outcome *seen = a->seen;

	a->seen = j->seen;
	j->seen = NULL;
	a->wakes_ns = j->wakes_ns;
	if (j->done)
		view_acted(v, act_outcome(j->done), j->err.code ? &j->err : NULL);
	else if (a->seen)
		view_acted(v, a->seen, j->err.code ? &j->err : NULL);
	act_outcome_free(seen);
	if (!j->done)
		return;
	act_free(a->act);
	a->act = j->done;
	j->done = NULL;
	file_close_fd(&a->fd);
	a->fd = -1;
	a->wakes_ns = UINT64_MAX;
	a->wants_scan = true;
}

static int done_begin(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_act *a = to;
	struct act_job *j = (struct act_job *)job;

	a->stepping = false;
	if (j->result == -EAGAIN) {
		v->dialog.plan = j->plan;
		memset(&j->plan, 0, sizeof(j->plan));
	}
	if (j->result < 0) {
		view_act_failed(v, j->result == -EAGAIN, &j->err);
		return 0;
	}
	if (!j->seen && !j->done)
		return err_nomem(err);
	a->fd = j->fd;
	j->fd = -1;
	tell(a, j, v);
	return 0;
}

static int done_step(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_act *a = to;
	struct act_job *j = (struct act_job *)job;

	a->stepping = false;
	if (!j->seen && !j->done)
		return err_nomem(err);
	tell(a, j, v);
	return 0;
}

static const struct app_job_kind kind_begin = {"the intent, before anything is sent", run_begin,
					       done_begin, drop_act};
static const struct app_job_kind kind_step = {"what came of the signal", run_step, done_step,
					      drop_act};

static struct act_job *job_new(struct app_act *a, const struct app_job_kind *kind)
{
	struct act_job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->job = (struct app_job){kind, a};
	j->fd = -1;
	j->wakes_ns = UINT64_MAX;
	return j;
}

int app_act_begin(struct app_act *a, struct view *v, bool adopting, struct err *err)
{
	struct act_job *j = job_new(a, &kind_begin);

	if (!j)
		return err_nomem(err);
	j->options = v->dialog.act;
	j->options.state_dir = a->state_dir;
	j->adopting = adopting;
	j->has_run = v->has_run;
	j->now = table_clone(v->k->now);
	if (!j->now || (v->has_run && !run_copy(&j->run, &v->run))) {
		drop_act(&j->job);
		return err_nomem(err);
	}
	view_act_begins(v, &j->plan);
	a->stepping = true;
	return app_desk_do(a->desk, &j->job, err);
}

static bool is_due(const struct app_act *a, uint64_t boot_ns)
{
	struct pollfd p = {.fd = a->fd, .events = POLLIN};

	return boot_ns >= a->wakes_ns || (a->fd >= 0 && poll(&p, 1, 0) == 1);
}

int app_act_step(struct app_act *a, uint64_t boot_ns, struct err *err)
{
	struct act_job *j;

	if (a->stepping || !a->seen || !is_due(a, boot_ns))
		return 0;
	j = job_new(a, &kind_step);
	if (!j)
		return err_nomem(err);
	a->stepping = true;
	return app_desk_do(a->desk, &j->job, err);
}

int app_act_fd(const struct app_act *a)
{
	return a->stepping ? -1 : a->fd;
}

uint64_t app_act_wakes_at(const struct app_act *a)
{
	return a->stepping || !a->seen ? UINT64_MAX : a->wakes_ns;
}

/* --- a snapshot ------------------------------------------------------------ */

void app_act_hold(struct app_act *a, struct view *v)
{
	struct table *copy = table_clone(v->k->now);

	if (!copy)
		return;
	table_free(a->held);
	a->held = copy;
	v->held_wall_ns = copy->host.wall_ns;
}

/* "20260724T141109Z": as the directories of acts are named. */
static void stamp(uint64_t wall_ns, char out[static CLOCK_RFC3339_MAX])
{
	char full[CLOCK_RFC3339_MAX];
	size_t n = 0;

	clock_rfc3339(wall_ns, full);
	for (const char *c = full; *c && *c != '.'; c++)
		if (*c != '-' && *c != ':')
			out[n++] = *c;
	out[n++] = 'Z';
	out[n] = '\0';
}

struct save_job {
	struct app_job job; /* first */
	const char *state_dir;
	struct table *held; /* owned */
	bool has_run;
	struct err err;
	char path[360]; /* of what was written */
};

static int write_held(const struct save_job *j, int dir, const char *name, struct err *err)
{
	struct identity *members = NULL;
	struct outfile f = {0};
	size_t n = 0;
	int r = 0;

	if (j->has_run) {
		members = calloc(j->held->procs.n + 1, sizeof(*members));
		if (!members)
			return err_nomem(err);
		for (size_t i = 0; i < j->held->procs.n; i++)
			if (run_is_member(&j->held->procs.v[i]))
				members[n++] = j->held->procs.v[i].id;
	}
	r = outfile_create(dir, name, &f, err);
	if (!r)
		r = snapshot_write(f.stream, j->held, members, n, NULL, err);
	if (!r)
		r = outfile_finish(&f, err);
	outfile_discard(&f);
	free(members);
	return r;
}

static void run_save(struct desk *d, struct app_job *job)
{
	struct save_job *j = (struct save_job *)job;
	char name[CLOCK_RFC3339_MAX + 8], when[CLOCK_RFC3339_MAX];
	struct statedir *state = NULL;
	AUTO_FD dir = -1;
	int r;

	(void)d;
	stamp(j->held->host.wall_ns, when);
	snprintf(name, sizeof(name), "%s.json", when);
	r = open_state(j->state_dir, &state, &j->err);
	if (!r)
		r = statedir_subdir(state, "marks", &dir, &j->err);
	if (!r)
		r = write_held(j, dir, name, &j->err);
	if (!r)
		snprintf(j->path, sizeof(j->path), "%.280s/marks/%s", statedir_path(state), name);
	statedir_close(state);
}

static int done_save(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_act *a = to;
	struct save_job *j = (struct save_job *)job;
	const char *say = j->path[0] ? j->path : j->err.text;
	char safe[320];

	(void)err;
	a->saving = false;
	text_safe(safe, sizeof(safe), say, strlen(say), v->o.ascii);
	if (j->path[0]) {
		view_say(v, STYLE_GOOD, "written: %s; stray diff compares it with now", safe);
		app_act_hold(a, v);
	} else {
		view_say(v, STYLE_WARNING, "not written: %s", safe);
	}
	return 0;
}

static void drop_save(struct app_job *job)
{
	struct save_job *j = (struct save_job *)job;

	table_free(j->held);
	free(j);
}

static const struct app_job_kind kind_save = {"the snapshot", run_save, done_save, drop_save};

int app_act_snapshot(struct app_act *a, struct view *v, struct err *err)
{
	struct save_job *j;

	if (a->saving)
		view_say(v, STYLE_DIM, "a snapshot is being written");
	if (a->saving || !a->held)
		return 0;
	j = calloc(1, sizeof(*j));
	if (!j)
		return err_nomem(err);
	j->job = (struct app_job){&kind_save, a};
	j->state_dir = a->state_dir;
	j->has_run = v->has_run;
	j->held = table_clone(a->held);
	if (!j->held) {
		drop_save(&j->job);
		return err_nomem(err);
	}
	a->saving = true;
	return app_desk_do(a->desk, &j->job, err);
}
