/* What is done at the desk of recorded runs: in its thread, by what the job owns alone. */
#include "tui/app_record_parts.h"

#include <stdlib.h>
#include <string.h>

void record_heard_clear(struct app_heards *h)
{
	for (size_t i = 0; i < h->n; i++)
		detail_unref(h->v[i].detail);
	free(h->v);
	*h = (struct app_heards){0};
}

void record_shown_free(struct vigil *g)
{
	if (g)
		vigil_close(g, "");
	free(g);
}

void record_job_drop(struct app_job *job)
{
	struct record_job *j = (struct record_job *)job;

	tracker_copy_free(&j->k);
	record_heard_clear(&j->heard);
	rundir_list_clear(&j->known);
	record_shown_free(j->shown);
	free(j->text);
	free(j);
}

struct record_job *record_job_new(struct app_record *r, const struct app_job_kind *kind,
				  struct err *err)
{
	struct record_job *j = calloc(1, sizeof(*j));

	if (!j) {
		err_nomem(err);
		return NULL;
	}
	j->job = (struct app_job){kind, r};
	j->o = r->o;
	j->chosen = r->chosen;
	return j;
}

/* What it shows now. */
static void show(struct record_job *j, const struct vigil *g)
{
	j->stamp = vigil_stamp(g);
	j->shown = calloc(1, sizeof(*j->shown));
	if (j->shown && vigil_copy(j->shown, g) == 0)
		return;
	free(j->shown);
	j->shown = NULL;
	j->result = err_nomem(&j->err);
}

static void let_go(struct desk *d, const char *reason)
{
	if (!d->vigil)
		return;
	vigil_close(d->vigil, vigil_is_over(d->vigil) ? "over" : reason);
	free(d->vigil);
	d->vigil = NULL;
}

/* Takes g, which is open, as the one at the desk. */
static void put(struct desk *d, struct vigil *g)
{
	let_go(d, "asked");
	d->vigil = g;
}

void record_run_adopt(struct desk *d, struct app_job *job)
{
	struct record_job *j = (struct record_job *)job;
	struct vigil *g = calloc(1, sizeof(*g));

	j->result = g ? vigil_adopt(g, &j->o, &j->k, &j->err) : err_nomem(&j->err);
	if (j->result < 0) {
		free(g);
		return;
	}
	put(d, g);
	show(j, g);
}

void record_run_open(struct desk *d, struct app_job *job)
{
	struct record_job *j = (struct record_job *)job;
	struct vigil *g = calloc(1, sizeof(*g));

	j->result =
		g ? vigil_open(g, &j->o, j->text, &j->k.now->host, &j->err) : err_nomem(&j->err);
	if (j->result < 0) {
		free(g);
		return;
	}
	put(d, g);
	show(j, g);
}

static bool is_at(const struct desk *d, const struct record_job *j)
{
	return d->vigil && strcmp(d->vigil->recorded.dir.id, j->name) == 0;
}

void record_run_look(struct desk *d, struct app_job *job)
{
	struct record_job *j = (struct record_job *)job;
	struct vigil_stamp now;

	if (!is_at(d, j))
		return;
	for (size_t i = 0; i < j->heard.n; i++)
		vigil_hear(d->vigil, &j->heard.v[i].change, j->heard.v[i].detail);
	vigil_not_heard(d->vigil, j->heard.more);
	vigil_look(d->vigil, &j->k);
	now = vigil_stamp(d->vigil);
	if (!vigil_stamp_same(&j->stamp, &now)) /* else nothing is to be shown anew */
		show(j, d->vigil);
}

void record_run_note(struct desk *d, struct app_job *job)
{
	struct record_job *j = (struct record_job *)job;

	if (is_at(d, j))
		j->result = vigil_note(d->vigil, j->text, j->member, &j->err);
	else
		j->result = err_set(&j->err, ESRCH, "%s is no longer in view", j->name);
}

void record_run_leave(struct desk *d, struct app_job *job)
{
	let_go(d, ((struct record_job *)job)->reason);
}

void record_run_list(struct desk *d, struct app_job *job)
{
	struct record_job *j = (struct record_job *)job;
	struct statedir *s = NULL;

	(void)d;
	j->result = recorded_state_dir(j->o.state_dir, STATEDIR_READ, &s, &j->err);
	if (!j->result)
		j->result = rundir_list(s, &j->known, &j->err);
	statedir_close(s);
}

void record_run_newcomer(struct desk *d, struct app_job *job)
{
	struct record_job *j = (struct record_job *)job;

	(void)d;
	j->result = vigil_newcomer(j->o.state_dir, &j->known, j->name, &j->err);
	j->found = j->result == 1;
}
