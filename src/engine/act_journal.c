#include "engine/act_journal.h"

#include "base/clock.h"
#include "engine/chronicle.h"
#include "engine/sent_json.h"
#include "engine/warden_door.h"
#include "record/digest.h"
#include "record/operator.h"
#include "record/process_json.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* How long a signal may wait for another writer of the run's journal. */
#define PATIENCE_NS 500000000ull

struct act_journal {
	struct act_journal_request q;
	const char *name;    /* of the act: the last part of its directory's path */
	struct journal *own; /* in the act's directory */
	struct recorded run; /* where the run is recorded */
	bool has_run;
	int visit;  /* at the warden that holds the run (warden_door.h); -1: none */
	bool begun; /* a signal was announced: nothing stops the act any more */
	struct err lost;
	int sent_signal; /* of what waits to be written */
	struct sent_list sent;
	VEC(struct identity) dead; /* whose deaths were told */
};

/* The members of one event, the same in both journals. */
typedef void fill_fn(const struct act_journal *a, struct jw *j, const void *ctx);

static int tell_own(struct act_journal *a, const char *event, enum known known, fill_fn *fill,
		    const void *ctx, bool sync, struct err *err)
{
	struct jw *j = journal_begin(a->own, a->has_run ? a->run.dir.id : NULL, event, known);

	if (j) {
		jw_str(j, "act", a->name);
		fill(a, j, ctx);
	}
	return journal_commit(a->own, sync, err);
}

static int tell(struct act_journal *a, const char *event, enum known known, fill_fn *fill,
		const void *ctx, bool sync, struct err *err)
{
	struct jw *j;
	int r = tell_own(a, event, known, fill, ctx, sync, err);

	if (r || !a->has_run)
		return r;
	j = recorded_begin(&a->run, event, known);
	if (j) {
		jw_str(j, "act", a->name);
		fill(a, j, ctx);
	}
	return recorded_commit(&a->run, sync, err);
}

/* What is told after the fact: a failure is remembered. */
static void tell_after(struct act_journal *a, const char *event, enum known known, fill_fn *fill,
		       const void *ctx)
{
	tell(a, event, known, fill, ctx, false, &a->lost);
}

const struct err *act_journal_lost(const struct act_journal *a)
{
	return &a->lost;
}

void act_journal_close(struct act_journal *a)
{
	if (!a)
		return;
	journal_close(a->own);
	if (a->visit >= 0)
		close(a->visit);
	recorded_close(&a->run);
	free(a->sent.v);
	free(a->dead.v);
	free(a);
}

static void fill_file(const struct act_journal *a, struct jw *j, const void *ctx)
{
	const char *const *what = ctx; /* what, file, digest */
	char path[128];

	snprintf(path, sizeof(path), "acts/%s/%s", a->name, what[1]);
	jw_str(j, "what", what[0]);
	jw_str(j, "file", path);
	jw_str(j, "sha256", what[2]);
}

static int tell_file(struct act_journal *a, const char *what, const char *file, struct err *err)
{
	char sha256[DIGEST_HEX];
	const char *ctx[] = {what, file, sha256};
	int r = digest_file(actdir_fd(a->q.dir), file, sha256, NULL, err);

	return r ? r : tell(a, "snapshot", KNOWN_SEEN, fill_file, ctx, false, err);
}

void act_journal_file(struct act_journal *a, const char *what, const char *file)
{
	tell_file(a, what, file, &a->lost);
}

static void fill_end(const struct act_journal *a, struct jw *j, const void *ctx)
{
	(void)ctx;
	operator_json(j, "operator", &a->q.intent->operator);
	process_json_identity(j, "by", a->q.self);
	jw_uint(j, "grace_ns", a->q.intent->grace_ns);
}

static int tell_end_requested(struct act_journal *a, struct err *err)
{
	struct jw *j;
	int r = tell_own(a, "end_requested", KNOWN_SEEN, fill_end, NULL, true, err);

	if (r || !a->has_run)
		return r;
	j = recorded_begin(&a->run, "end_requested", KNOWN_SEEN);
	if (j) {
		jw_str(j, "act", a->name);
		fill_end(a, j, NULL);
	}
	return recorded_change(&a->run, "end_requested", RUN_ENDING, err);
}

/*
 * A journal that does not hold is no reason to leave a run alive: verify tells.  A record that
 * was changed names others, perhaps.
 */
static int open_run(struct act_journal *a, struct err *err)
{
	struct err why = {0};
	int r = recorded_open(a->q.state_dir, a->q.run->id, true, &a->run, &why);

	if (r == -EBADMSG && !a->run.story.record_changed)
		r = 0;
	if (r < 0)
		return err_set(err, why.code, "%s", why.text);
	journal_patience(a->run.dir.journal, PATIENCE_NS);
	a->has_run = true;
	return 0;
}

static bool is_end(const struct act_journal *a)
{
	return strcmp(a->q.intent->kind, "end") == 0;
}

/* A run that is held is ended by one of us: its warden waits.  Where none answers it is ended all
 * the same. */
static void knock(struct act_journal *a)
{
	const struct door_word word = {.kind = DOOR_END};
	struct door_word answer;

	if (a->has_run && a->run.story.record.launched &&
	    strcmp(a->q.intent->unit, scope_name(SCOPE_RUN)) == 0)
		a->visit = door_visit(a->run.dir.fd, &word, &answer, NULL);
}

int act_journal_open(struct act_journal **out, const struct act_journal_request *q, struct err *err)
{
	struct act_journal *a = calloc(1, sizeof(*a));
	const char *slash = strrchr(actdir_path(q->dir), '/');
	int r = 0;

	if (!a)
		return err_nomem(err);
	a->q = *q;
	a->name = slash + 1;
	a->visit = -1;
	if (q->run && q->run->recorded)
		r = open_run(a, err);
	if (!r)
		r = actdir_journal(q->dir, &a->own, err);
	if (!r)
		r = tell_file(a, "intent", "intent.json", err);
	if (!r)
		r = tell_file(a, "before", "before.json", err);
	if (!r && is_end(a)) {
		knock(a);
		r = tell_end_requested(a, err);
	}
	if (r < 0)
		act_journal_close(a);
	else
		*out = a;
	return r;
}

struct announced {
	int signal;
	const struct identity *to;
	size_t n;
};

static void fill_intent(const struct act_journal *a, struct jw *j, const void *ctx)
{
	const struct announced *s = ctx;

	sent_json_intent(j, a->q.intent, s->signal, s->to, s->n);
}

static void fill_sent(const struct act_journal *a, struct jw *j, const void *ctx)
{
	(void)ctx;
	sent_json_sent(j, a->sent_signal, &a->sent);
}

void act_journal_flush(struct act_journal *a)
{
	if (a->sent.n)
		tell_after(a, "signal_sent", KNOWN_SEEN, fill_sent, NULL);
	a->sent.n = 0;
}

void act_journal_sent(struct act_journal *a, int sig, const struct target *t)
{
	if (sig != a->sent_signal)
		act_journal_flush(a);
	a->sent_signal = sig;
	if (!sent_add(&a->sent, t))
		err_nomem(&a->lost);
}

int act_journal_intent(struct act_journal *a, int sig, const struct identity *to, size_t n,
		       struct err *err)
{
	const struct announced s = {sig, to, n};
	bool first = !a->begun;
	/* the STOPs on the way to a KILL are many, and undone if it does not come */
	bool sync = first || sig != SIGSTOP;
	int r;

	act_journal_flush(a);
	r = tell(a, "signal_intent", KNOWN_SEEN, fill_intent, &s, sync, first ? err : &a->lost);
	if (first && r < 0)
		return r;
	a->begun = true;
	return 0;
}

static void fill_exited(const struct act_journal *a, struct jw *j, const void *ctx)
{
	const struct act_item *item = ctx;

	(void)a;
	process_json_identity(j, "process", item->id);
	if (item->died_of)
		sent_json_signal(j, "signal", item->died_of);
	jw_uint(j, "after_ns", item->after_ns);
}

static void fill_survivor(const struct act_journal *a, struct jw *j, const void *ctx)
{
	const struct act_item *item = ctx;

	(void)a;
	sent_json_survivor(j, item->id, item->last_signal, item->why, item->error);
}

void act_journal_outlived(struct act_journal *a, const struct act_item *item)
{
	act_journal_flush(a);
	tell_after(a, "survivor", KNOWN_SCANNED, fill_survivor, item);
}

static void fill_these(const struct act_journal *a, struct jw *j, const void *ctx)
{
	const struct act_outcome *o = ctx;
	enum act_result want =
		strcmp(a->q.intent->kind, "freeze") == 0 ? ACT_RESULT_FROZEN : ACT_RESULT_THAWED;

	jw_array(j, "to");
	for (size_t i = 0; i < o->items.n; i++)
		if (o->items.v[i].result == want)
			process_json_identity(j, NULL, o->items.v[i].id);
	jw_array_end(j);
}

/* The connections before and after: what could act, and still can. */
static void fill_reach(const struct act_journal *a, struct jw *j, const void *ctx)
{
	const struct act_outcome *o = ctx;

	(void)a;
	jw_array(j, "connections");
	for (size_t i = 0; i < o->connections.n; i++) {
		const struct act_connection *c = &o->connections.v[i];

		jw_object(j, NULL);
		process_json_identity(j, "process", c->contact.id);
		jw_str(j, "local", c->contact.local);
		jw_str(j, "remote", c->contact.remote);
		jw_bool(j, "before", c->before);
		jw_bool(j, "after", c->after);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_uint(j, "processes_not_asked", o->unasked);
	jw_str(j, "errno", o->unasked_error ? err_name(o->unasked_error) : NULL);
}

/* Whether its death was told, by this act or by who watches the run. */
static bool told_dead(const struct act_journal *a, struct identity id)
{
	const struct story_member *m = a->has_run ? story_member(&a->run.story, id) : NULL;

	for (size_t i = 0; i < a->dead.n; i++)
		if (identity_same(a->dead.v[i], id))
			return true;
	return m && m->gone;
}

static void tell_dead(struct act_journal *a, const struct act_item *item)
{
	struct story_member *m = a->has_run ? story_member(&a->run.story, item->id) : NULL;

	if (a->visit < 0)
		tell_after(a, "exited", KNOWN_SEEN, fill_exited, item);
	else /* in the run's journal its warden tells it, with the status */
		tell_own(a, "exited", KNOWN_SEEN, fill_exited, item, false, &a->lost);
	if (m)
		story_gone(m, clock_wall_ns());
	if (!VEC_PUSH(&a->dead, item->id))
		err_nomem(&a->lost);
}

void act_journal_progress(struct act_journal *a, const struct act_outcome *o)
{
	act_journal_flush(a);
	if (o->gone <= a->dead.n)
		return; /* nobody died since */
	if (a->has_run)
		recorded_refresh(&a->run, &a->lost);
	for (size_t i = 0; i < o->items.n; i++)
		if (o->items.v[i].result == ACT_RESULT_GONE && !told_dead(a, o->items.v[i].id))
			tell_dead(a, &o->items.v[i]);
}

void act_journal_outcome(struct act_journal *a, const struct act_outcome *o)
{
	const char *kind = a->q.intent->kind;

	act_journal_progress(a, o);
	if (strcmp(kind, "freeze") == 0)
		tell_after(a, "frozen", KNOWN_SCANNED, fill_these, o);
	else if (strcmp(kind, "thaw") == 0)
		tell_after(a, "thawed", KNOWN_SCANNED, fill_these, o);
	if (o->connections.n || o->unasked)
		tell_after(a, "reach", KNOWN_SCANNED, fill_reach, o);
	for (size_t i = 0; i < o->items.n; i++)
		if (o->items.v[i].result == ACT_RESULT_ALIVE && o->items.v[i].last_signal)
			tell_after(a, "survivor", KNOWN_SCANNED, fill_survivor, &o->items.v[i]);
}

static void close_run(struct act_journal *a, const struct tracker *k)
{
	enum run_state to = story_alive(&a->run.story) ? RUN_SURVIVED : RUN_ENDED;

	recorded_over(&a->run, k, to, a->name, &a->lost);
}

/* Whether its warden sent us away, or goes on where we were interrupted: then it closes the run, or
 * has closed it. */
static bool is_left_to_warden(struct act_journal *a, bool interrupted)
{
	struct door_word word;
	enum run_state state;
	bool held;

	if (a->visit < 0 || (!interrupted && door_hear(a->visit, &word) >= 0))
		return false;
	close(a->visit);
	a->visit = -1;
	held = recorded_is_held(&a->run, &state);
	recorded_refresh(&a->run, &a->lost);
	return held || a->run.story.state != RUN_ENDING;
}

static void finish_run(struct act_journal *a, const struct tracker *k)
{
	if (a->visit < 0)
		chronicle_tell(&a->run, k, &a->lost);
	if (is_end(a) && a->run.story.state == RUN_ENDING)
		close_run(a, k);
	if (a->visit >= 0 &&
	    (a->run.story.state == RUN_ENDED || a->run.story.state == RUN_SURVIVED))
		door_say(a->visit,
			 &(struct door_word){.kind = DOOR_DONE, .state = a->run.story.state});
}

bool act_journal_finish(struct act_journal *a, const struct act_outcome *o, const struct tracker *k)
{
	bool left = a->has_run && is_left_to_warden(a, o->interrupted);

	if (a->has_run) {
		if (!left)
			finish_run(a, k);
		if (journal_sync(a->run.dir.journal) < 0)
			err_errno(&a->lost, errno, "%.150s", a->run.dir.path);
	}
	if (journal_sync(a->own) < 0)
		err_errno(&a->lost, errno, "%.150s", a->name);
	return left;
}
