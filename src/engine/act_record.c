#include "engine/act_record.h"

#include "base/clock.h"
#include "engine/act_journal.h"
#include "record/actdir.h"
#include "record/statedir.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define SIGNALS_MAX 16 /* batches told one by one in record.md; a storm's STOPs are many */

#define OUTLIVED_MAX 64 /* told one by one in record.md; the journal has all */

/* One that lived through the first signal. */
struct outlived {
	struct identity id;
	int signal;
	const char *why; /* a literal, or NULL */
};

struct act_record {
	struct statedir *state;
	struct actdir *dir;
	struct act_journal *journal;
	struct intent intent;
	struct intent_process *aimed, *spared; /* owned */
	char target[128];
	int signals[2];
	struct report_signal sent[SIGNALS_MAX];
	char sent_to[SIGNALS_MAX][48];
	size_t n_sent;
	struct outlived outlived[OUTLIVED_MAX];
	size_t n_outlived;
	bool outlived_told;
};

void act_record_free(struct act_record *r)
{
	if (!r)
		return;
	act_journal_close(r->journal);
	actdir_close(r->dir);
	statedir_close(r->state);
	free(r->aimed);
	free(r->spared);
	free(r);
}

static int open_state(struct act_record *r, const char *option, struct err *err)
{
	struct statedir_env env = statedir_env_current(option);
	char *path = NULL;
	int rc = statedir_choose(&env, &path, err);

	if (!rc)
		rc = statedir_open(path, STATEDIR_WRITE, &r->state, err);
	if (!rc)
		rc = statedir_probe_writable(r->state, err);
	free(path);
	return rc;
}

static int list_targets(struct act_record *r, const struct plan *plan, struct err *err)
{
	struct intent *i = &r->intent;

	r->aimed = calloc(plan->hit.n + 1, sizeof(*r->aimed));
	r->spared =
		calloc(plan->not_hit.n + plan->own.n + plan->strangers.n + 1, sizeof(*r->spared));
	if (!r->aimed || !r->spared)
		return err_nomem(err);
	for (size_t n = 0; n < plan->hit.n; n++)
		r->aimed[i->n_aimed++].id = plan->hit.v[n].id;
	for (size_t n = 0; n < plan->not_hit.n; n++)
		r->spared[i->n_spared++] =
			(struct intent_process){plan->not_hit.v[n].id, "a member outside the unit"};
	for (size_t n = 0; n < plan->own.n; n++)
		r->spared[i->n_spared++] = (struct intent_process){
			plan->own.v[n].id, "stray itself, or an ancestor of it"};
	for (size_t n = 0; n < plan->strangers.n; n++)
		r->spared[i->n_spared++] =
			(struct intent_process){plan->strangers.v[n].id, "no member"};
	i->aimed = r->aimed;
	i->spared = r->spared;
	return 0;
}

static void describe(struct act_record *r, const struct act_request *q)
{
	static const char *const kinds[] = {"signal", "end", "freeze", "thaw"};
	struct intent *i = &r->intent;

	i->kind = kinds[q->kind];
	i->title = q->title;
	if (q->run) {
		if (q->run->recorded)
			snprintf(r->target, sizeof(r->target), "run:%s", q->run->id);
		else
			selector_text(&q->run->chosen, r->target, sizeof(r->target));
		i->target = r->target;
	}
	i->unit = scope_name(q->plan->scope);
	i->number = q->plan->number;
	r->signals[i->n_signals++] = q->plan->signal;
	if (q->kind == ACT_END)
		r->signals[i->n_signals++] = SIGKILL;
	i->signals = r->signals;
	i->grace_ns = q->grace_ns;
	i->freeze_first = q->freeze_first;
	i->host = &q->before->host;
	i->operator= operator_current();
	i->wall_ns = clock_wall_ns();
	i->boot_ns = clock_boot_ns();
}

/* Those that the record shows: members, and what is aimed at or spared. */
static struct identity *concerned(const struct act_record *r, const struct table *t, size_t *n,
				  const struct act_outcome *outcome)
{
	size_t more = outcome ? outcome->items.n : 0;
	struct identity *ids = calloc(
		t->procs.n + r->intent.n_aimed + r->intent.n_spared + more + 1, sizeof(*ids));

	*n = 0;
	for (size_t i = 0; ids && i < t->procs.n; i++)
		if (t->procs.v[i].evidence)
			ids[(*n)++] = t->procs.v[i].id;
	for (size_t i = 0; ids && i < r->intent.n_aimed; i++)
		ids[(*n)++] = r->aimed[i].id;
	for (size_t i = 0; ids && i < r->intent.n_spared; i++)
		ids[(*n)++] = r->spared[i].id;
	for (size_t i = 0; ids && i < more; i++)
		ids[(*n)++] = outcome->items.v[i].id;
	return ids;
}

static int write_before(struct act_record *r, const struct act_request *q, struct err *err)
{
	struct process_json_options o = {.run = q->run, .suspects = true};
	size_t n;
	struct identity *ids = concerned(r, q->before, &n, NULL);
	int rc = ids ? actdir_before(r->dir, q->before, ids, n, &o, err) : err_nomem(err);

	free(ids);
	return rc;
}

static int open_journal(struct act_record *r, const struct act_request *q, struct err *err)
{
	const struct act_journal_request request = {
		.state_dir = q->state_dir,
		.dir = r->dir,
		.intent = &r->intent,
		.run = q->run,
		.self = q->before->host.self,
	};

	return act_journal_open(&r->journal, &request, err);
}

int act_record_open(struct act_record **out, const struct act_request *q, char *dir,
		    size_t dir_size, struct err *err)
{
	struct act_record *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_nomem(err);
	describe(r, q);
	rc = open_state(r, q->state_dir, err);
	if (!rc)
		rc = list_targets(r, q->plan, err);
	if (!rc)
		rc = actdir_open(r->state, &r->intent, &r->dir, err);
	if (!rc)
		rc = write_before(r, q, err);
	if (!rc)
		rc = open_journal(r, q, err);
	if (rc < 0) {
		actdir_abandon(r->dir);
		r->dir = NULL;
		act_record_free(r);
		return rc;
	}
	snprintf(dir, dir_size, "%s", actdir_path(r->dir));
	*out = r;
	return 0;
}

void act_record_sent(struct act_record *r, int sig, const struct target *t)
{
	act_journal_sent(r->journal, sig, t);
}

void act_record_progress(struct act_record *r, const struct act_outcome *outcome)
{
	act_journal_progress(r->journal, outcome);
}

/* For record.md. */
static void note_batch(struct act_record *r, int sig, const struct identity *to, size_t n)
{
	struct report_signal *s;

	if (r->n_sent == SIGNALS_MAX)
		return;
	s = &r->sent[r->n_sent];
	*s = (struct report_signal){
		.signal = sig,
		.to = r->sent_to[r->n_sent],
		.reached = n,
		.wall_ns = clock_wall_ns(),
	};
	if (n == 1)
		snprintf(r->sent_to[r->n_sent], sizeof(r->sent_to[0]), "%d@%llu", to->pid,
			 (unsigned long long)to->start);
	else
		snprintf(r->sent_to[r->n_sent], sizeof(r->sent_to[0]), "%zu processes", n);
	r->n_sent++;
}

void act_record_outlived(struct act_record *r, const struct act_outcome *outcome)
{
	for (size_t i = 0; !r->outlived_told && i < outcome->items.n; i++) {
		const struct act_item *item = &outcome->items.v[i];
		struct outlived o = {item->id, item->last_signal, item->why};

		if (item->result != ACT_RESULT_ALIVE || !item->last_signal)
			continue;
		act_journal_outlived(r->journal, item);
		if (r->n_outlived < OUTLIVED_MAX)
			r->outlived[r->n_outlived++] = o;
	}
	r->outlived_told = true;
}

int act_record_intent(struct act_record *r, int sig, const struct identity *to, size_t n,
		      struct err *err)
{
	int rc = act_journal_intent(r->journal, sig, to, n, err);

	if (!rc)
		note_batch(r, sig, to, n);
	return rc;
}

static enum report_result result_of(enum act_result r)
{
	switch (r) {
	case ACT_RESULT_GONE:
		return REPORT_GONE;
	case ACT_RESULT_FROZEN:
		return REPORT_FROZEN;
	case ACT_RESULT_THAWED:
		return REPORT_THAWED;
	case ACT_RESULT_NOT_AIMED:
		return REPORT_NOT_AIMED;
	case ACT_RESULT_APPEARED:
		return REPORT_APPEARED;
	default:
		return REPORT_ALIVE;
	}
}

static const struct process *last_seen(const struct act_outcome *o, struct identity id)
{
	const struct process *was = table_find(o->before, id);
	const struct process *now = o->after ? table_find(o->after, id) : NULL;

	return now && !process_is_dead(now) ? now : was ? was : now;
}

static void add_outlived(const struct act_record *r, struct report_item *item)
{
	for (size_t i = 0; i < r->n_outlived; i++)
		if (identity_same(r->outlived[i].id, item->process->id)) {
			item->outlived = r->outlived[i].signal;
			item->outlived_why = r->outlived[i].why;
		}
}

static int write_report(struct act_record *r, const struct act_outcome *o, const struct run *run,
			struct err *err)
{
	struct report_item *items = calloc(o->items.n + 1, sizeof(*items));
	struct report report = {
		.intent = &r->intent,
		.run = run,
		.items = items,
		.signals = r->sent,
		.n_signals = r->n_sent,
		.before = o->before,
		.after = o->after,
		.diff = o->diff,
		.ended_wall_ns = o->after ? o->after->host.wall_ns : clock_wall_ns(),
	};
	int rc;

	if (!items)
		return err_nomem(err);
	for (size_t i = 0; i < o->items.n; i++) {
		const struct act_item *it = &o->items.v[i];
		const struct process *p = last_seen(o, it->id);

		if (!p)
			continue;
		items[report.n_items++] = (struct report_item){
			.process = p,
			.result = result_of(it->result),
			.died_of = it->died_of,
			.last_signal = it->last_signal,
			.after_ns = it->after_ns,
			.why = it->why,
			.error = it->error,
		};
		add_outlived(r, &items[report.n_items - 1]);
	}
	rc = actdir_report(r->dir, &report, err);
	free(items);
	return rc;
}

int act_record_finish(struct act_record *r, struct act_outcome *outcome, const struct tracker *k,
		      struct err *err)
{
	struct process_json_options o = {.run = k->run, .suspects = true};
	const struct err *lost = act_journal_lost(r->journal);
	size_t n;
	struct identity *ids = concerned(r, outcome->after, &n, outcome);
	int rc = ids ? actdir_after(r->dir, outcome->after, ids, n, &o, err) : err_nomem(err);

	free(ids);
	if (!rc)
		rc = actdir_diff(r->dir, outcome->diff, &o, err);
	act_journal_outcome(r->journal, outcome);
	if (!rc) {
		act_journal_file(r->journal, "after", actdir_after_name(r->dir));
		act_journal_file(r->journal, "diff", "diff.json");
	}
	outcome->left_to_warden = act_journal_finish(r->journal, outcome, k);
	if (!rc)
		rc = write_report(r, outcome, k->run, err);
	if (!rc && lost->code)
		rc = err_set(err, lost->code, "%s", lost->text);
	return rc;
}
