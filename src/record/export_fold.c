#include "record/export_parts.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool keep(json_t **to, const json_t *event)
{
	json_decref(*to);
	*to = json_incref((json_t *)event);
	return true;
}

static struct export_member *member(const struct export *x, const json_t *event)
{
	const struct story_member *m = story_member(&x->story, story_identity(event, "process"));

	return m ? &x->members.v[m - x->story.members.v] : NULL;
}

/* Members that the story has learned of by this event. */
static bool grow(struct export *x, const json_t *event)
{
	while (x->members.n < x->story.members.n) {
		struct export_member fresh = {.came = json_incref((json_t *)event)};

		if (!VEC_PUSH(&x->members, fresh)) {
			json_decref(fresh.came);
			return false;
		}
	}
	return true;
}

/* A deadline that an operator stated may be long before the event that tells of it. */
static void note_over(struct export *x, const json_t *event)
{
	uint64_t wall_ns = event_time(event, "at"), deadline_ns = event_time(event, "deadline_at");

	if (x->over_seq || !x->story.over_wall_ns)
		return;
	x->over_seq = event_uint(event, "seq");
	x->over_wall_ns = x->story.over_wall_ns;
	if (event_is(event, "deadline_expired") && deadline_ns && deadline_ns < wall_ns)
		x->over_wall_ns = deadline_ns;
}

static struct export_act *act_of(struct export *x, const json_t *event)
{
	const char *name = event_str(event, "act");
	struct export_act fresh = {0};

	if (!name && x->story.record.launched)
		name = EXPORT_OWN_ACT;

	for (size_t i = 0; i < x->acts.n; i++)
		if (strcmp(x->acts.v[i].name, name ? name : "") == 0)
			return &x->acts.v[i];
	fresh.name = strdup(name ? name : "");
	if (!fresh.name || !VEC_PUSH(&x->acts, fresh)) {
		free(fresh.name);
		return NULL;
	}
	return &x->acts.v[x->acts.n - 1];
}

static bool add_aim(struct export_act *act, struct identity id)
{
	for (size_t i = 0; i < act->aims.n; i++)
		if (identity_same(act->aims.v[i], id))
			return true; /* KILL follows TERM to the same */
	return VEC_PUSH(&act->aims, id);
}

static bool note_aims(const struct export *x, struct export_act *act, const json_t *event)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(event, "to"), i, v)
	{
		struct identity id = event_identity(v);
		const struct story_member *m = story_member(&x->story, id);

		if (m)
			x->members.v[m - x->story.members.v].aimed = true;
		if (identity_known(id) && !add_aim(act, id))
			return false;
	}
	return true;
}

static bool is_of_act(const struct export *x, const json_t *event)
{
	static const char *const names[] = {"end_requested", "signal_intent", "signal_sent",
					    "frozen",        "thawed",        "survivor"};

	if (x->story.record.launched &&
	    (event_is(event, "deadline_expired") || event_is(event, "runner_lost")))
		return true;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (event_is(event, names[i]))
			return true;
	return event_str(event, "act");
}

static bool fold_act(struct export *x, const json_t *event)
{
	struct export_act *act;

	if (!is_of_act(x, event))
		return true;
	act = act_of(x, event);
	if (!act || !events_add(&act->events, event))
		return false;
	return !event_is(event, "signal_intent") || note_aims(x, act, event);
}

/* One that ended before the run was over, and that nobody aimed at, is of no interest
 * beyond the timeline: of a large build there are thousands. */
static void forget(struct export_member *m)
{
	json_decref(m->came);
	json_decref(m->exited);
	m->came = m->exited = NULL;
	events_clear(&m->moves);
	m->moves_left_off = 0;
}

static void fold_exit(const struct export *x, struct export_member *m, const json_t *event)
{
	m->exited_seq = event_uint(event, "seq");
	keep(&m->exited, event);
	if (!x->over_seq && !m->aimed && !m->explanations.n && !m->survivals.n && !m->leftover)
		forget(m);
}

static bool is_move(const json_t *event)
{
	return event_is(event, "setsid") || event_is(event, "setpgid") ||
	       event_is(event, "reparented") || event_is(event, "left_cgroup") ||
	       event_is(event, "execed");
}

static bool fold_member(struct export *x, const json_t *event)
{
	struct export_member *m = member(x, event);

	if (event_is(event, "note") && !m)
		return events_add(&x->notes, event);
	if (!m)
		return true;
	if (event_is(event, "kept") && !keep(&m->leftover, event))
		return false;
	if (event_is(event, "note") || event_is(event, "kept"))
		return events_add(&m->explanations, event);
	if (event_is(event, "exited"))
		fold_exit(x, m, event);
	else if (event_is(event, "leftover"))
		return keep(&m->leftover, event);
	else if (event_is(event, "survivor"))
		return events_add(&m->survivals, event);
	else if (!is_move(event))
		return true;
	else if (m->moves.n < EXPORT_MOVES_MAX)
		return events_add(&m->moves, event);
	else
		m->moves_left_off++;
	return true;
}

static bool fold_launched(struct export *x, const json_t *event)
{
	if (event_is(event, "exited") &&
	    identity_same(story_identity(event, "process"), x->story.record.run.root))
		return keep(&x->command_exited, event);
	if (event_is(event, "hashed"))
		return keep(&x->hashed, event);
	if (event_is(event, "run_closed"))
		return keep(&x->closed, event);
	if (event_is(event, "handed_off"))
		return events_add(&x->handed_off, event);
	if (event_is(event, "detach_denied"))
		return events_add(&x->detach_denied, event);
	if (event_is(event, "runner_lost"))
		return events_add(&x->runner_lost, event);
	return true;
}

static bool fold_run(struct export *x, const json_t *event)
{
	if (event_is(event, "run_opened"))
		return keep(&x->opened, event);
	if (event_is(event, "anchored"))
		return events_add(&x->anchors, event);
	if (event_is(event, "action_refused"))
		return events_add(&x->refusals, event);
	if (event_is(event, "snapshot") && !event_str(event, "act"))
		return events_add(&x->snapshots, event);
	return true;
}

/* From an end of watching, told or not, to this event. */
static int unwatched(struct export *x, uint64_t to_ns)
{
	char from[CLOCK_RFC3339_MAX], to[CLOCK_RFC3339_MAX];

	clock_rfc3339(x->watched ? x->last_wall_ns : x->unwatched_ns, from);
	clock_rfc3339(to_ns, to);
	if (x->watched)
		return export_gap(x, "unwatched", x->last_wall_ns, to_ns,
				  "the stray that watched ended without a word some time after %s, "
				  "and nobody watched from then on to %s: silence is not absence",
				  from, to);
	return export_gap(x, "unwatched", x->unwatched_ns, to_ns,
			  "nobody watched from %s to %s: silence is not absence", from, to);
}

static int fold_watch(struct export *x, const json_t *event)
{
	uint64_t at = event_time(event, "at");
	int r = 0;

	if (event_is(event, "run_opened")) {
		x->unwatched_ns = at;
	} else if (event_is(event, "watch_started")) {
		/* adopting and watching are two steps of one command */
		if (x->watched || x->ever_watched || at > x->unwatched_ns + CLOCK_NS_PER_S)
			r = unwatched(x, at);
		x->watched = x->ever_watched = true;
		if (!r)
			r = export_coverage(x, json_object_get(event, "coverage"), "watching");
	} else if (event_is(event, "watch_stopped")) {
		x->watched = false;
		x->unwatched_ns = at;
	} else if (event_is(event, "runner_lost") && x->watched) {
		r = unwatched(x, at);
		x->watched = false;
		x->unwatched_ns = at;
	}
	return r;
}

static int64_t offset(uint64_t wall_ns, uint64_t mono_ns)
{
	return (int64_t)(wall_ns - mono_ns);
}

/* Both clocks of two events that follow one another. */
static int fold_clocks(struct export *x, const json_t *event)
{
	uint64_t wall_ns = event_time(event, "at"), mono_ns = event_uint(event, "mono_ns");
	int64_t by_ns = offset(wall_ns, mono_ns) - offset(x->last_wall_ns, x->last_mono_ns);

	if (event_is(event, "clock_stepped") || !x->last_seq)
		return 0;
	if (mono_ns < x->last_mono_ns)
		return export_gap(x, "boot", x->last_wall_ns, wall_ns,
				  "the host was started anew between event %" PRIu64 " and %" PRIu64
				  ", or the directory was moved to another: what lived before "
				  "cannot live after",
				  x->last_seq, event_uint(event, "seq"));
	if (by_ns > -(int64_t)CLOCK_NS_PER_S && by_ns < (int64_t)CLOCK_NS_PER_S)
		return 0;
	return export_gap(x, "clock", x->last_wall_ns, wall_ns,
			  "the wall clock moved by %+.3f s against the time since boot between "
			  "event %" PRIu64 " and %" PRIu64
			  ": times before and after do not compare",
			  (double)by_ns / 1e9, x->last_seq, event_uint(event, "seq"));
}

static int fold_loss(struct export *x, const json_t *event)
{
	uint64_t at = event_time(event, "at");
	const char *source = event_str(event, "source");
	int64_t by_ns = 0;

	if (event_is(event, "events_lost") && event_str(event, "error"))
		return export_gap(x, "events_lost", 0, at,
				  "%" PRIu64 " events before event %" PRIu64
				  " could not be written: %.150s",
				  event_uint(event, "count"), event_uint(event, "seq"),
				  event_str(event, "error"));
	if (event_is(event, "events_lost"))
		return export_gap(x, "events_lost", 0, at, "%" PRIu64 " events of %.40s were lost",
				  event_uint(event, "count"), source ? source : "a source");
	if (event_is(event, "torn_tail"))
		return export_gap(x, "torn_tail", 0, at,
				  "a writer died while it wrote: %" PRIu64
				  " bytes before event %" PRIu64 " tell nothing",
				  event_uint(event, "bytes"), event_uint(event, "seq"));
	if (event_is(event, "run_closed") && event_str(event, "unread"))
		return export_gap(x, "unread", 0, at,
				  "who was alive when the run was over could not be read: %.200s",
				  event_str(event, "unread"));
	if (!event_is(event, "clock_stepped"))
		return 0;
	json_get_int(event, "by_ns", INT64_MIN, INT64_MAX, &by_ns, NULL, NULL);
	return export_gap(x, "clock", 0, at,
			  "the wall clock was stepped by %+.3f s: times before and after do not "
			  "compare",
			  (double)by_ns / 1e9);
}

int export_fold(struct export *x, const json_t *event, struct err *err)
{
	struct err odd = {0};
	enum run_state before = x->story.state;
	int r = story_event(&x->story, event, &odd);

	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		x->unread++;
	if (x->story.state != before)
		x->state_seq = event_uint(event, "seq");
	note_over(x, event);
	if (!grow(x, event) || !fold_act(x, event) || !fold_member(x, event) ||
	    !fold_run(x, event) || (x->story.record.launched && !fold_launched(x, event)))
		return err_nomem(err);
	r = fold_clocks(x, event);
	if (!r)
		r = fold_watch(x, event);
	if (!r)
		r = fold_loss(x, event);
	x->last_seq = event_uint(event, "seq");
	x->last_wall_ns = event_time(event, "at");
	x->last_mono_ns = event_uint(event, "mono_ns");
	return r < 0 ? err_nomem(err) : 0;
}
