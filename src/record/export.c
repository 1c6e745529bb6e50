#include "record/export_parts.h"

#include "base/file.h"

#include <errno.h>
#include <string.h>

static void act_clear(struct export_act *a)
{
	events_clear(&a->events);
	json_decref(a->diff);
	free(a->files.v);
	free(a->aims.v);
	free(a->name);
}

static void member_clear(struct export_member *m)
{
	json_decref(m->came);
	json_decref(m->leftover);
	json_decref(m->exited);
	events_clear(&m->survivals);
	events_clear(&m->moves);
	events_clear(&m->explanations);
}

void export_free(struct export *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->members.n; i++)
		member_clear(&x->members.v[i]);
	for (size_t i = 0; i < x->acts.n; i++)
		act_clear(&x->acts.v[i]);
	for (size_t i = 0; i < x->gaps.n; i++)
		free(x->gaps.v[i].text);
	free(x->members.v);
	free(x->acts.v);
	free(x->gaps.v);
	events_clear(&x->notes);
	events_clear(&x->anchors);
	events_clear(&x->refusals);
	events_clear(&x->snapshots);
	events_clear(&x->handed_off);
	events_clear(&x->detach_denied);
	events_clear(&x->runner_lost);
	free(x->files.v);
	json_decref(x->opened);
	json_decref(x->command_exited);
	json_decref(x->hashed);
	json_decref(x->closed);
	json_decref(x->record);
	free(x->record_text);
	free(x->ledger.v);
	story_clear(&x->story);
	file_close_fd(&x->journal);
	rundir_close(&x->dir);
	free(x);
}

static int read_record(struct export *x, struct err *err)
{
	AUTO_FD fd = -1;
	ssize_t n;
	int r = journal_open_read(x->dir.fd, RUNDIR_RECORD, &fd, err);

	if (!r)
		r = run_record_read(fd, RUNDIR_RECORD, &x->story.record, err);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, errno, RUNDIR_RECORD);
	n = file_read_all_fd(fd, RUN_RECORD_MAX, &x->record_text);
	if (n < 0)
		return err_errno(err, (int)-n, RUNDIR_RECORD);
	while (n > 0 && x->record_text[n - 1] == '\n')
		n--;
	x->record_len = (size_t)n;
	return json_read_line(x->record_text, x->record_len, &x->record, err);
}

/* A run whose record is gone, or is none, has a journal still. */
static int take_record(struct export *x, struct err *err)
{
	struct err why = {0};
	int r = read_record(x, &why);

	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		run_record_clear(&x->story.record);
		free(x->record_text);
		x->record_text = NULL;
		snprintf(x->record_why, sizeof(x->record_why), "%s", why.text);
	}
	digest_file(x->dir.fd, RUNDIR_RECORD, x->record_sha256, NULL, NULL);
	return 0;
}

static int take_ledger(struct export *x, struct err *err)
{
	struct err why = {0};
	int r = ledger_heads(x->state, x->dir.id, &x->ledger, &x->ledger_verdict, &why);

	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		snprintf(x->ledger_why, sizeof(x->ledger_why), "%s", why.text);
	return 0;
}

static int take(void *ctx, const json_t *event, struct err *err)
{
	return export_fold(ctx, event, err);
}

/* The ledger comes first: it never knows of a head that is not in the journal yet. */
static int read_all(struct export *x, const char *id, struct err *err)
{
	struct journal_reading reading = {
		.name = RUNDIR_JOURNAL, .schema = JOURNAL_SCHEMA, .fn = take, .ctx = x};
	int r = rundir_open(x->state, id, false, &x->dir, err);

	if (!r)
		r = take_record(x, err);
	if (!r)
		r = take_ledger(x, err);
	if (!r)
		r = journal_open_read(x->dir.fd, RUNDIR_JOURNAL, &x->journal, err);
	reading.heads = x->ledger.v;
	reading.n_heads = x->ledger.n;
	if (!r)
		r = journal_read(x->journal, &reading, &x->story.verdict, err);
	if (!r)
		r = export_files(x, err);
	return r ? r : export_settle(x, err);
}

int export_read(const struct statedir *s, const char *id, uint64_t now_wall_ns, struct export **out,
		struct err *err)
{
	struct export *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return err_nomem(err);
	*x = (struct export){.state = s,
			     .dir = {.fd = -1, .watch = -1},
			     .journal = -1,
			     .now_wall_ns = now_wall_ns};
	r = read_all(x, id, err);
	if (r < 0)
		export_free(x);
	else
		*out = x;
	return r;
}

const char *export_fault(const struct export *x)
{
	return x->story.verdict.fault == JOURNAL_HOLDS ? NULL : x->story.verdict.why;
}
