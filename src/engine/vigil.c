#include "engine/vigil.h"

#include "base/clock.h"
#include "base/mask.h"
#include "record/process_json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void start(struct vigil *g, const struct vigil_options *o)
{
	memset(g, 0, sizeof(*g));
	g->state_dir = o->state_dir;
	g->interval_ms = o->interval_ms;
}

/* Since when nobody watches; 0: never known, or somebody does. */
static uint64_t unwatched_since(const struct story *s)
{
	return identity_known(s->watcher) ? s->last_wall_ns : s->unwatched_wall_ns;
}

/* Takes the run over where it can be. */
static int begin(struct vigil *g, const struct tracker *k, struct err *err)
{
	uint64_t since = unwatched_since(&g->recorded.story), now = k->now->host.wall_ns;
	bool lost = identity_known(g->recorded.story.watcher);
	int r = chronicle_open(&g->recorded, k, g->interval_ms, &g->chronicle, err);

	if (r == -EBUSY) {
		g->other = true;
		err_clear(err);
		return 0;
	}
	g->other = false;
	if (r < 0)
		return r;
	if (since && now > since + VIGIL_GAP_NS && !g->gap_to_ns) {
		g->gap_from_ns = since;
		g->gap_to_ns = now;
		g->gap_lost = lost;
	}
	return 0;
}

int vigil_adopt(struct vigil *g, const struct vigil_options *o, const struct tracker *k,
		struct err *err)
{
	struct adoption how = {.state_dir = o->state_dir};
	int r;

	start(g, o);
	r = recorded_adopt(&how, k, &g->recorded, err);
	if (r < 0) {
		recorded_close(&g->recorded);
		return r;
	}
	g->open = g->writes = true;
	journal_patience(g->recorded.dir.journal, VIGIL_PATIENCE_NS);
	vigil_look(g, k);
	return 0;
}

static int open_either(struct vigil *g, const struct vigil_options *o, const char *name,
		       struct err *err)
{
	struct err why = {0};
	int r = -EROFS;

	if (!o->readonly)
		r = recorded_open(o->state_dir, name, true, &g->recorded, &why);
	if (r == 0)
		g->writes = true;
	if (r == 0 || r == -EBADMSG) {
		g->damage = why;
		return 0;
	}
	/* what can be read is shown, though it cannot be watched */
	recorded_close(&g->recorded);
	g->trouble = why;
	err_clear(&why);
	r = recorded_open(o->state_dir, name, false, &g->recorded, &why);
	if (r < 0 && r != -EBADMSG)
		return err_set(err, why.code, "%s", why.text);
	g->damage = why;
	return 0;
}

int vigil_open(struct vigil *g, const struct vigil_options *o, const char *name,
	       const struct host *host, struct err *err)
{
	const struct host *then = &g->recorded.story.record.host;
	int r;

	start(g, o);
	r = open_either(g, o, name, err);
	if (!r && !recorded_is_here(&g->recorded, host))
		r = err_set(err, ESRCH,
			    "run %s is of another %s: nothing of it can be looked for "
			    "here; stray export %s tells what is known",
			    g->recorded.dir.id,
			    strcmp(then->boot_id, host->boot_id) != 0 ? "boot" : "PID namespace",
			    g->recorded.dir.id);
	if (r < 0) {
		recorded_close(&g->recorded);
		return r;
	}
	g->open = true;
	g->state = g->recorded.story.state;
	if (g->writes)
		journal_patience(g->recorded.dir.journal, VIGIL_PATIENCE_NS);
	return 0;
}

/* Without a journal to be written to the whole run is read again where it has grown. */
static int read_again(struct vigil *g, struct err *err)
{
	struct recorded again;
	struct stat st;
	int r;

	if (fstatat(g->recorded.dir.fd, RUNDIR_JOURNAL, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "%.200s", g->recorded.dir.path);
	if ((uint64_t)st.st_size == g->recorded.seen_end)
		return 0;
	r = recorded_open(g->state_dir, g->recorded.dir.id, false, &again, err);
	if (r < 0 && r != -EBADMSG) {
		recorded_close(&again);
		return r;
	}
	recorded_close(&g->recorded);
	g->recorded = again;
	g->recorded.seen_end = (uint64_t)st.st_size;
	g->other = rundir_is_watched(&g->recorded.dir) == 1;
	return r;
}

static int look(struct vigil *g, const struct tracker *k, struct err *err)
{
	int r;

	if (!g->writes)
		return read_again(g, err);
	if (g->chronicle)
		return chronicle_fold(g->chronicle, k, err);
	r = recorded_refresh(&g->recorded, err);
	return r < 0 ? r : begin(g, k, err);
}

void vigil_look(struct vigil *g, const struct tracker *k)
{
	struct err why = {0};
	int r;

	if (!g->open)
		return;
	r = look(g, k, &why);
	if (r == -EBADMSG)
		g->damage = why;
	else if (g->writes || r < 0)
		g->trouble = why;
	g->state = recorded_state(&g->recorded, k->now);
}

void vigil_hear(struct vigil *g, const struct kin_change *c, struct detail *detail)
{
	if (g->chronicle)
		chronicle_hear(g->chronicle, c, detail);
}

void vigil_not_heard(struct vigil *g, uint64_t n)
{
	if (g->chronicle)
		chronicle_not_heard(g->chronicle, n);
}

int vigil_copy(struct vigil *to, const struct vigil *from)
{
	*to = *from;
	to->chronicle = NULL;
	return recorded_copy(&to->recorded, &from->recorded);
}

struct vigil_stamp vigil_stamp(const struct vigil *g)
{
	return (struct vigil_stamp){.seq = g->recorded.seen_seq,
				    .end = g->recorded.seen_end,
				    .gap_to_ns = g->gap_to_ns,
				    .state = g->state,
				    .story_state = g->recorded.story.state,
				    .trouble = g->trouble.code,
				    .damage = g->damage.code,
				    .writes = g->writes,
				    .other = g->other};
}

bool vigil_stamp_same(const struct vigil_stamp *a, const struct vigil_stamp *b)
{
	return a->seq == b->seq && a->end == b->end && a->gap_to_ns == b->gap_to_ns &&
	       a->state == b->state && a->story_state == b->story_state &&
	       a->trouble == b->trouble && a->damage == b->damage && a->writes == b->writes &&
	       a->other == b->other;
}

void vigil_close(struct vigil *g, const char *reason)
{
	chronicle_close(g->chronicle, reason);
	recorded_close(&g->recorded);
	memset(g, 0, sizeof(*g));
}

bool vigil_is_over(const struct vigil *g)
{
	return g->state == RUN_ENDED || g->state == RUN_FINISHED;
}

int vigil_note(struct vigil *g, const char *text, struct identity member, struct err *err)
{
	struct operator o = operator_current();
	struct bytes masked = {0};
	struct jw *j;
	int r;

	if (!g->writes)
		return err_set(err, EROFS, "the journal of %s is not written to from here",
			       g->recorded.dir.id);
	if (mask_text(text, strlen(text), &masked, NULL) < 0)
		return err_nomem(err);
	j = recorded_begin(&g->recorded, "note", KNOWN_STATED);
	if (j) {
		operator_json(j, "operator", &o);
		jw_bytes(j, "text", &masked);
		if (identity_known(member))
			process_json_identity(j, "process", member);
		else
			jw_null(j, "process");
	}
	r = recorded_commit(&g->recorded, true, err);
	if (!r)
		g->recorded.story.notes++;
	bytes_free(&masked);
	return r;
}

static bool has(const struct rundir_list *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], id) == 0)
			return true;
	return false;
}

int vigil_newcomer(const char *state_dir, const struct rundir_list *known,
		   char id[static RUN_ID_MAX + 1], struct err *err)
{
	struct rundir_list now;
	int r = recorded_list(state_dir, &now, err);

	for (size_t i = 0; r == 0 && i < now.n; i++) {
		if (has(known, now.v[i]))
			continue;
		snprintf(id, RUN_ID_MAX + 1, "%s", now.v[i]);
		r = 1;
	}
	rundir_list_clear(&now);
	return r;
}
