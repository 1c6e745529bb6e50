#include "tui/app_record_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reach/ends.h"

static int hand_over(struct app_record *r, struct record_job *j, struct err *err)
{
	return app_desk_do(r->desk, &j->job, err);
}

/* --- what came of it ------------------------------------------------------- */

/* Takes what is shown of the run from the job. */
static void take_shown(struct app_record *r, struct record_job *j)
{
	record_shown_free(r->shown);
	r->shown = j->shown;
	r->stamp = j->stamp;
	j->shown = NULL;
}

/* Who came to the run while it was being recorded stays a member. */
static int keep_members(struct run *run, const struct table *t)
{
	size_t known = run->kept.n;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];
		struct run_kept k = {p->id, p->evidence};

		if (!p->evidence || process_is_dead(p) ||
		    (known && bsearch(&k.id, run->kept.v, known, sizeof(k), identity_order)))
			continue;
		if (!VEC_PUSH(&run->kept, k))
			return -ENOMEM;
	}
	run_keep_sort(run);
	return 0;
}

static int done_adopt(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_record *r = to;
	struct record_job *j = (struct record_job *)job;
	int rc;

	if (j->chosen != r->chosen)
		return 0; /* it was let go since */
	r->adopting = false;
	if (j->result == -ENOMEM)
		return err_nomem(err);
	if (j->result < 0) {
		record_heard_clear(&r->heard);
		view_say(v, STYLE_WARNING, "%s is in memory only, not recorded: %s", v->run.id,
			 j->err.text);
		return 0;
	}
	take_shown(r, j);
	if (keep_members(&r->shown->recorded.run, v->k->now) < 0)
		return err_nomem(err);
	rc = view_adopted(v, r->shown, err);
	if (!rc)
		rc = listener_follow(r->listener, v->k, err);
	if (rc < 0)
		return rc;
	view_say(v, STYLE_GOOD, "recorded: %s", r->shown->recorded.dir.path);
	view_recorded(v);
	return 0;
}

static int open_failed(const struct record_job *j, struct view *v, struct err *err)
{
	if (j->result == -ENOMEM)
		return err_nomem(err);
	if (j->why == APP_OPEN_TARGET)
		return err_set(err, j->err.code, "%s", j->err.text);
	view_say(v, STYLE_WARNING, "%s%s",
		 j->why == APP_OPEN_NEXT ? "the next run is not shown: " : "", j->err.text);
	return 0;
}

static int look(struct app_record *r, struct view *v, struct err *err);

static int done_open(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_record *r = to;
	struct record_job *j = (struct record_job *)job;
	int rc;

	r->opening--;
	if (j->chosen != r->chosen)
		return 0; /* it was let go since */
	if (j->result < 0)
		return open_failed(j, v, err);
	v->vigil = NULL;
	take_shown(r, j);
	record_heard_clear(&r->heard);
	r->wants_scan = true;
	rc = view_record(v, r->shown, err);
	if (!rc)
		rc = listener_follow(r->listener, v->k, err);
	if (!rc)
		rc = look(r, v, err);
	if (rc < 0)
		return rc;
	view_recorded(v);
	if (j->why == APP_OPEN_ASKED && v->screen == SCREEN_RUNS)
		v->screen = SCREEN_LIST;
	if (j->why == APP_OPEN_DEFAULT)
		view_say(v, STYLE_NORMAL,
			 "%s needs eyes; o: what looks left behind on this host, R: all runs",
			 r->shown->recorded.dir.id);
	return 0;
}

static int done_look(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_record *r = to;
	struct record_job *j = (struct record_job *)job;

	if (j->result == -ENOMEM)
		return err_nomem(err);
	if (!j->shown || !v->vigil || strcmp(v->vigil->recorded.dir.id, j->name) != 0)
		return 0;
	take_shown(r, j);
	return view_record_again(v, r->shown, err);
}

static int done_note(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct record_job *j = (struct record_job *)job;

	(void)to;
	(void)err;
	if (j->result < 0)
		view_say(v, STYLE_WARNING, "no note written: %s", j->err.text);
	else if (j->member.pid)
		view_say(v, STYLE_GOOD, "noted of %d in the journal of %s", j->member.pid, j->name);
	else
		view_say(v, STYLE_GOOD, "noted in the journal of %s", j->name);
	return 0;
}

static int done_leave(void *to, struct app_job *job, struct view *v, struct err *err)
{
	(void)to;
	(void)job;
	(void)v;
	(void)err;
	return 0;
}

static int done_list(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_record *r = to;
	struct record_job *j = (struct record_job *)job;

	if (j->result < 0 && j->result != -ENOENT) /* there need not be one yet */
		return err_set(err, j->err.code, "%s", j->err.text);
	r->known = j->known;
	j->known = (struct rundir_list){0};
	v->waiting = true;
	return 0;
}

static int done_newcomer(void *to, struct app_job *job, struct view *v, struct err *err)
{
	struct app_record *r = to;
	struct record_job *j = (struct record_job *)job;

	if (j->result == 0 || !v->waiting || v->has_run) {
		rundir_list_clear(&r->known);
		r->known = j->known;
		j->known = (struct rundir_list){0};
		return 0;
	}
	v->waiting = false;
	if (j->found)
		return app_record_open(r, j->name, APP_OPEN_NEXT, v, err);
	j->why = APP_OPEN_NEXT;
	return open_failed(j, v, err);
}

static const struct app_job_kind kind_adopt = {"recording the run", record_run_adopt, done_adopt,
					       record_job_drop};
static const struct app_job_kind kind_open = {"opening the record", record_run_open, done_open,
					      record_job_drop};
static const struct app_job_kind kind_look = {"the last look into the journal", record_run_look,
					      done_look, record_job_drop};
static const struct app_job_kind kind_note = {"the note", record_run_note, done_note,
					      record_job_drop};
static const struct app_job_kind kind_leave = {"that nobody watches any more", record_run_leave,
					       done_leave, record_job_drop};
static const struct app_job_kind kind_list = {"looking for runs", record_run_list, done_list,
					      record_job_drop};
static const struct app_job_kind kind_newcomer = {"looking for runs", record_run_newcomer,
						  done_newcomer, record_job_drop};

/* --- what is asked for ----------------------------------------------------- */

static int leave(struct app_record *r, const char *reason, struct err *err)
{
	struct record_job *j = record_job_new(r, &kind_leave, err);

	if (!j)
		return -ENOMEM;
	j->reason = reason;
	return hand_over(r, j, err);
}

/* As stray adopt: who runs this view is no run to be recorded by it. */
static int refuse(const struct view *v, struct err *err)
{
	const struct process *root = table_find(v->k->now, v->run.root);

	if (root && run_is_own(v->k->now, root))
		return err_set(err, EPERM, "it holds the shell of this terminal");
	return 0;
}

static int adopt(struct app_record *r, struct view *v, struct err *err)
{
	struct record_job *j = record_job_new(r, &kind_adopt, err);
	int rc = j ? tracker_copy(v->k, &j->k, err) : -ENOMEM;

	if (rc < 0) {
		if (j)
			record_job_drop(&j->job);
		return rc;
	}
	r->adopting = true;
	view_say(v, STYLE_DIM, "recording %s ...", v->run.id);
	return hand_over(r, j, err);
}

int app_record_run(struct app_record *r, struct view *v, struct err *err)
{
	struct err why = {0};
	int rc;

	r->chosen++;
	r->adopting = false;
	record_heard_clear(&r->heard);
	rc = leave(r, "asked", err);
	if (rc < 0 || !v->has_run || !view_may_record(v))
		return rc;
	ends_ask(&v->run); /* what the record is to hold of its pipes */
	rc = listener_follow(r->listener, v->k, err);
	if (rc < 0)
		return rc;
	if (refuse(v, &why) == 0)
		return adopt(r, v, err);
	view_say(v, STYLE_WARNING, "%s is in memory only, not recorded: %s", v->run.id, why.text);
	return 0;
}

int app_record_open(struct app_record *r, const char *name, enum app_open why, struct view *v,
		    struct err *err)
{
	struct record_job *j = record_job_new(r, &kind_open, err);
	int rc = j ? tracker_copy(v->k, &j->k, err) : -ENOMEM;

	if (!rc && !(j->text = strdup(name)))
		rc = err_nomem(err);
	if (rc < 0) {
		if (j)
			record_job_drop(&j->job);
		return rc;
	}
	j->why = why;
	r->opening++;
	return hand_over(r, j, err);
}

int app_record_await(struct app_record *r, struct err *err)
{
	struct record_job *j = record_job_new(r, &kind_list, err);

	return j ? hand_over(r, j, err) : -ENOMEM;
}

static int ask_newcomer(struct app_record *r, struct err *err)
{
	struct record_job *j = record_job_new(r, &kind_newcomer, err);

	if (!j)
		return -ENOMEM;
	j->known = r->known;
	r->known = (struct rundir_list){0};
	return hand_over(r, j, err);
}

/* Whether anything is to be told of what is heard. */
static bool listens(const struct app_record *r, const struct view *v)
{
	return r->adopting || (r->shown && v->vigil == r->shown);
}

static void take_heard(void *ctx, const struct kin_change *c, struct detail *detail)
{
	struct app_record *r = ctx;
	struct app_heard h = {.change = *c};

	if (r->heard.n >= CHRONICLE_HEARD_MAX || !VEC_PUSH(&r->heard, h))
		r->heard.more++;
	else
		r->heard.v[r->heard.n - 1].detail = detail ? detail_ref(detail) : NULL;
}

void app_record_hear(struct app_record *r, struct view *v)
{
	listener_drain(r->listener, v->k, listens(r, v) ? take_heard : NULL, r);
}

/* What k shows now, and what was heard, into the journal of the run in view. */
static int look(struct app_record *r, struct view *v, struct err *err)
{
	struct record_job *j = record_job_new(r, &kind_look, err);
	int rc = j ? tracker_copy(v->k, &j->k, err) : -ENOMEM;

	if (rc < 0) {
		if (j)
			record_job_drop(&j->job);
		return rc;
	}
	snprintf(j->name, sizeof(j->name), "%s", r->shown->recorded.dir.id);
	j->stamp = r->stamp;
	j->heard = r->heard;
	r->heard = (struct app_heards){0};
	return hand_over(r, j, err);
}

int app_record_look(struct app_record *r, struct view *v, struct err *err)
{
	if (v->leaving || app_desk_busy(r->desk))
		return 0;
	if (v->waiting && !v->has_run)
		return ask_newcomer(r, err);
	return r->shown && v->vigil == r->shown ? look(r, v, err) : 0;
}

int app_record_note(struct app_record *r, struct view *v, struct err *err)
{
	struct record_job *j = record_job_new(r, &kind_note, err);

	if (!j)
		return -ENOMEM;
	snprintf(j->name, sizeof(j->name), "%s", v->vigil->recorded.dir.id);
	j->member = v->note_of;
	j->text = strdup(v->edit.text);
	if (!j->text) {
		record_job_drop(&j->job);
		return err_nomem(err);
	}
	return hand_over(r, j, err);
}

void app_record_leave(struct app_record *r, bool by_signal)
{
	leave(r, by_signal ? "signal" : "asked", NULL);
}

void app_record_close(struct app_record *r)
{
	record_shown_free(r->shown);
	record_heard_clear(&r->heard);
	rundir_list_clear(&r->known);
	r->shown = NULL;
}
