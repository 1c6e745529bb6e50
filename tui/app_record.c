#include "tui/app_record.h"

#include <errno.h>

#include "reach/ends.h"

static void let_go(struct app_record *r, const char *reason)
{
	vigil_close(&r->vigil, r->vigil.open && vigil_is_over(&r->vigil) ? "over" : reason);
}

/* As stray adopt: who runs this view is no run to be recorded by it. */
static int refuse(const struct view *v, struct err *err)
{
	const struct process *root = table_find(v->k->now, v->run.root);

	if (root && run_is_own(v->k->now, root))
		return err_set(err, EPERM, "it holds the shell of this terminal");
	return 0;
}

int app_record_run(struct app_record *r, struct view *v, struct err *err)
{
	struct err why = {0};
	int rc;

	let_go(r, "asked");
	if (!v->has_run || !view_may_record(v))
		return 0;
	ends_ask(&v->run); /* what the record is to hold of its pipes */
	rc = listener_follow(r->listener, v->k, err);
	if (rc < 0)
		return rc;
	rc = refuse(v, &why);
	if (!rc)
		rc = vigil_adopt(&r->vigil, &r->o, v->k, &why);
	if (rc == -ENOMEM)
		return err_nomem(err);
	if (rc < 0) {
		view_say(v, STYLE_WARNING, "%s is in memory only, not recorded: %s", v->run.id,
			 why.text);
		return 0;
	}
	rc = view_record(v, &r->vigil, err);
	if (!rc)
		rc = listener_follow(r->listener, v->k, err);
	if (rc < 0)
		return rc;
	view_say(v, STYLE_GOOD, "recorded: %s", r->vigil.recorded.dir.path);
	view_recorded(v);
	return 0;
}

int app_record_open(struct app_record *r, struct view *v, const char *name, struct err *err)
{
	struct vigil other;
	int rc = vigil_open(&other, &r->o, name, &v->k->now->host, err);

	if (rc < 0)
		return rc;
	v->vigil = NULL;
	let_go(r, "asked");
	r->vigil = other;
	rc = view_record(v, &r->vigil, err);
	if (!rc)
		rc = listener_follow(r->listener, v->k, err);
	if (rc < 0)
		return rc;
	vigil_look(&r->vigil, v->k);
	view_recorded(v);
	return 0;
}

int app_record_await(struct app_record *r, struct view *v, struct err *err)
{
	struct statedir *s = NULL;
	struct err why = {0};
	int rc = recorded_state_dir(r->o.state_dir, STATEDIR_READ, &s, &why);

	if (!rc)
		rc = rundir_list(s, &r->known, &why);
	statedir_close(s);
	if (rc < 0 && rc != -ENOENT) /* there need not be one yet */
		return err_set(err, why.code, "%s", why.text);
	v->waiting = true;
	return 0;
}

static int take_newcomer(struct app_record *r, struct view *v, struct err *err)
{
	char id[RUN_ID_MAX + 1];
	struct err why = {0};
	int rc = vigil_newcomer(r->o.state_dir, &r->known, id, &why);

	if (rc == 0)
		return 0;
	v->waiting = false;
	rundir_list_clear(&r->known);
	if (rc == 1)
		rc = app_record_open(r, v, id, &why);
	if (rc == -ENOMEM)
		return err_nomem(err);
	if (rc < 0)
		view_say(v, STYLE_WARNING, "the next run is not shown: %s", why.text);
	return 0;
}

static void take_heard(void *ctx, const struct kin_change *c, struct detail *detail)
{
	struct app_record *r = ctx;

	vigil_hear(&r->vigil, c, detail);
}

void app_record_hear(struct app_record *r, struct view *v)
{
	listener_drain(r->listener, v->k, take_heard, r);
}

int app_record_look(struct app_record *r, struct view *v, struct err *err)
{
	if (v->waiting && !v->has_run)
		return take_newcomer(r, v, err);
	if (!r->vigil.open || !v->vigil)
		return 0;
	vigil_look(&r->vigil, v->k);
	view_recorded(v);
	return 0;
}

void app_record_note(struct app_record *r, struct view *v)
{
	struct err err = {0};

	if (vigil_note(&r->vigil, v->edit.text, v->note_of, &err) < 0)
		view_say(v, STYLE_WARNING, "no note written: %s", err.text);
	else if (v->note_of.pid)
		view_say(v, STYLE_GOOD, "noted of %d in the journal of %s", v->note_of.pid,
			 r->vigil.recorded.dir.id);
	else
		view_say(v, STYLE_GOOD, "noted in the journal of %s", r->vigil.recorded.dir.id);
}

void app_record_close(struct app_record *r, bool by_signal)
{
	let_go(r, by_signal ? "signal" : "asked");
	rundir_list_clear(&r->known);
}
