#include "tui/app_desk.h"

#include <stdlib.h>

#include "base/clock.h"

static void free_desk(void *own)
{
	struct desk *d = own;

	act_free(d->act);
	if (d->vigil)
		vigil_close(d->vigil, "asked");
	free(d->vigil);
	free(d);
}

int app_desk_open(struct app_desk *a, struct err *err)
{
	struct desk *d = calloc(1, sizeof(*d));

	*a = (struct app_desk){0};
	return d ? worker_open(d, free_desk, &a->worker, err) : err_nomem(err);
}

void app_desk_close(struct app_desk *a)
{
	worker_close(a->worker);
	a->worker = NULL;
}

int app_desk_fd(const struct app_desk *a)
{
	return worker_fd(a->worker);
}

static void run(void *own, void *ctx)
{
	struct app_job *job = ctx;

	job->kind->run(own, job);
}

static void drop(void *ctx)
{
	struct app_job *job = ctx;

	job->kind->drop(job);
}

int app_desk_do(struct app_desk *a, struct app_job *job, struct err *err)
{
	const struct worker_job w = {run, drop, job};

	return worker_add(a->worker, &w, clock_boot_ns(), err);
}

int app_desk_take(struct app_desk *a, struct view *v, struct err *err)
{
	struct app_job *job;
	int r = 0;

	while (r >= 0 && (job = worker_take(a->worker))) {
		r = job->kind->done(job->to, job, v, err);
		job->kind->drop(job);
		r = r < 0 ? r : 1;
	}
	return r;
}

bool app_desk_busy(struct app_desk *a)
{
	uint64_t since;

	return worker_first(a->worker, &since) != NULL;
}

bool app_desk_tell(struct app_desk *a, struct view *v, uint64_t boot_ns)
{
	const struct err *alone = worker_alone(a->worker);
	uint64_t since = boot_ns;
	const struct app_job *job = worker_first(a->worker, &since);
	const char *was = v->writing;
	unsigned was_s = v->writing_s;

	v->writing = job && boot_ns > since + APP_DESK_LATE_NS ? job->kind->what : NULL;
	v->writing_s = v->writing ? (unsigned)((boot_ns - since) / CLOCK_NS_PER_S) : 0;
	if (alone->code && !a->told_alone) {
		a->told_alone = true;
		view_say(v, STYLE_WARNING, "%s: keys wait for the disk", alone->text);
		return true;
	}
	return was != v->writing || was_s != v->writing_s;
}

void app_desk_wait(struct app_desk *a, uint64_t limit_ns)
{
	worker_wait(a->worker, clock_boot_ns() + limit_ns);
}
