#include "tui/app_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/contacts.h"

/* --- the details of one process -------------------------------------------- */

struct detail_ask {
	struct source_options options;
	struct identity id;
	struct detail *found;
	int result;
	struct err err;
};

static void detail_run(void *ctx)
{
	struct detail_ask *ask = ctx;
	struct source *source = NULL;

	ask->result = source_open(&ask->options, &source, &ask->err);
	if (!ask->result)
		ask->result = source_detail(source, ask->id, DETAIL_ALL, &ask->found, &ask->err);
	source_close(source);
}

static void detail_drop(void *ctx)
{
	struct detail_ask *ask = ctx;

	if (!ask)
		return;
	detail_unref(ask->found);
	free(ask);
}

void app_read_detail(struct app_read *r, struct view *v, uint64_t boot_ns)
{
	struct detail_ask *ask;
	struct err err = {0};
	struct errand_job job = {detail_run, detail_drop, NULL};

	if (r->source->replay) /* all that was recorded is in the table */
		return;
	job.ctx = ask = calloc(1, sizeof(*ask));
	if (!ask) {
		view_detail(v, READING_FAILED, NULL);
		return;
	}
	ask->options = *r->source;
	ask->id = v->why_of;
	if (errand_start(r->detail, &job, boot_ns, &err) < 0) {
		view_detail(v, READING_FAILED, NULL);
		view_say(v, STYLE_WARNING, "%s", err.text);
	}
}

static bool take_detail(struct app_read *r, struct view *v, uint64_t boot_ns)
{
	const struct detail_ask *late = errand_late(r->detail, boot_ns, ERRAND_HANG_NS);
	struct detail_ask *ask = errand_take(r->detail);

	if (ask) {
		if (identity_same(ask->id, v->why_of))
			view_detail(v, ask->result < 0 ? READING_FAILED : READING_DONE, ask->found);
		detail_drop(ask);
		return true;
	}
	if (!late)
		return false;
	view_detail(v, READING_LATE, NULL);
	errand_leave(r->detail);
	return true;
}

/* --- who is connected ------------------------------------------------------ */

int app_read_contacts(struct app_read *r, struct view *v, uint64_t boot_ns, struct err *err)
{
	struct errand_job job = {contacts_ask_run, contacts_ask_free, NULL};
	struct contacts_ask *ask;
	int rc;

	if (r->source->replay || errand_busy(r->contacts))
		return 0;
	rc = contacts_ask_new(v->k, view_process(v), r->avoid.v, r->avoid.n, &ask, err);
	if (rc < 0)
		return rc;
	job.ctx = ask;
	errand_start(r->contacts, &job, boot_ns, NULL); /* without a thread they stay not known */
	return 0;
}

bool app_read_asks(const struct app_read *r)
{
	return errand_busy(r->contacts);
}

/* Whom it hung on is not asked again, and its row says that. */
static int give_up(struct app_read *r, struct view *v, struct identity id, struct err *err)
{
	struct process *p = table_find(v->k->now, id);

	errand_leave(r->contacts);
	if (!identity_known(id))
		return 0;
	if (p) {
		p->reach_known = true;
		p->reach_error = ETIMEDOUT;
	}
	return VEC_PUSH(&r->avoid, id) ? 0 : err_nomem(err);
}

static int take_contacts(struct app_read *r, struct view *v, uint64_t boot_ns, struct err *err)
{
	const struct contacts_ask *late = errand_late(r->contacts, boot_ns, ERRAND_HANG_NS);
	struct contacts_ask *ask = errand_take(r->contacts);
	int rc;

	if (!ask && !late)
		return 0;
	rc = ask ? contacts_ask_apply(ask, v->k, err) : give_up(r, v, contacts_ask_at(late), err);
	contacts_ask_free(ask);
	if (!rc)
		view_contacts(v);
	return rc < 0 ? rc : 1;
}

/* --- both ------------------------------------------------------------------ */

int app_read_open(struct app_read *r, const struct source_options *source, struct err *err)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->source = source;
	rc = errand_open(&r->detail, err);
	return rc ? rc : errand_open(&r->contacts, err);
}

void app_read_close(struct app_read *r)
{
	errand_close(r->detail);
	errand_close(r->contacts);
	free(r->avoid.v);
	memset(r, 0, sizeof(*r));
}

int app_read_take(struct app_read *r, struct view *v, uint64_t boot_ns, struct err *err)
{
	bool changed = take_detail(r, v, boot_ns);
	int rc = take_contacts(r, v, boot_ns, err);

	return rc < 0 ? rc : rc || changed;
}
