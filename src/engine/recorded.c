#include "engine/recorded.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "engine/recorded_parts.h"
#include "record/anchor.h"
#include "record/ledger.h"
#include "source/hostinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LATE_NS 1000000000ull
#define UNSEEN_MAX (16u << 20) /* bytes of others' lines: more are read at leisure */

int recorded_state_dir(const char *option, enum statedir_use use, struct statedir **out,
		       struct err *err)
{
	struct statedir_env env = statedir_env_current(option);
	AUTO_FREE char *path = NULL;
	int r = statedir_choose(&env, &path, err);

	return r ? r : statedir_open(path, use, out, err);
}

int recorded_list(const char *option, struct rundir_list *out, struct err *err)
{
	struct statedir *s = NULL;
	struct err why = {0};
	int r = recorded_state_dir(option, STATEDIR_READ, &s, &why);

	*out = (struct rundir_list){0};
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_set(err, why.code, "%s", why.text);
	r = rundir_list(s, out, err);
	statedir_close(s);
	return r;
}

void recorded_release(struct recorded *r)
{
	if (r->state || r->dir.fd < 0) /* zeros were never opened */
		rundir_close(&r->dir);
	statedir_close(r->state);
	r->state = NULL;
}

void recorded_close(struct recorded *r)
{
	recorded_release(r);
	story_clear(&r->story);
	run_clear(&r->run);
	memset(r, 0, sizeof(*r));
}

int recorded_copy(struct recorded *to, const struct recorded *from)
{
	*to = (struct recorded){.dir = {.fd = -1, .watch = -1},
				.seen_seq = from->seen_seq,
				.seen_end = from->seen_end,
				.after = from->after};
	memcpy(to->dir.id, from->dir.id, sizeof(to->dir.id));
	to->dir.path = from->dir.path ? strdup(from->dir.path) : NULL;
	if ((!from->dir.path || to->dir.path) && run_copy(&to->run, &from->run) &&
	    story_copy(&to->story, &from->story) == 0)
		return 0;
	recorded_close(to);
	return -ENOMEM;
}

/* When it was over, in the ticks that start times are in. */
static uint64_t over_ticks(const struct story *s)
{
	return s->over_mono_ns / (CLOCK_NS_PER_S / (uint64_t)s->record.host.ticks_per_second);
}

static int add_kept(struct run *run, const struct story *s)
{
	for (size_t i = 0; i < s->members.n; i++) {
		const struct story_member *m = &s->members.v[i];
		struct run_kept k = {m->id, m->evidence};

		if (!m->gone && !VEC_PUSH(&run->kept, k))
			return -ENOMEM;
	}
	run_keep_sort(run);
	for (size_t i = 0; i < s->record.requested_by.n; i++)
		if (!VEC_PUSH(&run->never, s->record.requested_by.v[i].id))
			return -ENOMEM;
	if (s->record.launched &&
	    (!VEC_PUSH(&run->never, s->record.front) || !VEC_PUSH(&run->never, s->record.warden)))
		return -ENOMEM;
	return 0;
}

/* The run to look for: what the record says it is, and whom the journal knows. */
static int make_run(struct recorded *r, struct err *err)
{
	if (!run_copy(&r->run, &r->story.record.run))
		return err_nomem(err);
	r->run.recorded = true;
	snprintf(r->run.id, sizeof(r->run.id), "%s", r->dir.id);
	if (r->story.over_mono_ns)
		r->run.over_ticks = over_ticks(&r->story);
	for (size_t i = 0; i < r->story.members.n; i++)
		r->run.ended += r->story.members.v[i].gone;
	return add_kept(&r->run, &r->story) < 0 ? err_nomem(err) : 0;
}

static int read_story(struct recorded *r, struct err *err)
{
	int rc;

	story_clear(&r->story);
	r->seen_end = r->dir.journal ? journal_size(r->dir.journal) : 0;
	rc = story_read(&r->dir, &r->story, err);
	r->seen_seq = r->story.verdict.seq;
	return rc;
}

int recorded_refresh(struct recorded *r, struct err *err)
{
	int rc;

	rc = journal_check_there(r->dir.journal, err);
	if (rc || journal_size(r->dir.journal) == r->seen_end)
		return rc;
	rc = read_story(r, err);
	if (!rc && r->story.over_mono_ns)
		r->run.over_ticks = over_ticks(&r->story);
	return rc ? rc : 1;
}

/* After a line of our own: where others' came between, the story stays behind. */
static void note_own(struct recorded *r)
{
	if (journal_seq(r->dir.journal) != r->seen_seq + 1)
		return;
	r->seen_seq++;
	r->seen_end = journal_end(r->dir.journal);
}

int recorded_none(const char *name, struct err *err)
{
	return err_set(err, ENOENT,
		       "%.64s: no such run: nothing was recorded yet, and no target is named by "
		       "its command",
		       name);
}

int recorded_enter(const char *state_dir, const char *name, struct recorded *out, struct err *err)
{
	char id[RUN_ID_MAX + 1];
	int r;

	memset(out, 0, sizeof(*out));
	r = recorded_state_dir(state_dir, STATEDIR_READ, &out->state, err);
	if (!r)
		r = rundir_find(out->state, name, id, err);
	if (!r)
		r = rundir_open(out->state, id, false, &out->dir, err);
	if (r < 0) {
		statedir_close(out->state);
		out->state = NULL;
	}
	return r;
}

int recorded_glance(const char *state_dir, const char *name, struct recorded *out, struct err *err)
{
	int r = recorded_enter(state_dir, name, out, err);

	if (!r)
		r = story_glance(&out->dir, &out->story, err);
	return r ? r : make_run(out, err);
}

int recorded_open(const char *state_dir, const char *name, bool write, struct recorded *out,
		  struct err *err)
{
	char id[RUN_ID_MAX + 1];
	int r;

	memset(out, 0, sizeof(*out));
	r = recorded_state_dir(state_dir, STATEDIR_READ, &out->state, err);
	if (!r && write) { /* only now: what is not there is not made to look into it */
		statedir_close(out->state);
		out->state = NULL;
		r = recorded_state_dir(state_dir, STATEDIR_WRITE, &out->state, err);
	}
	if (r == -ENOENT && err) {
		err_clear(err);
		return recorded_none(name, err);
	}
	if (!r)
		r = rundir_find(out->state, name, id, err);
	if (r < 0) {
		statedir_close(out->state);
		out->state = NULL;
		return r;
	}
	r = rundir_open(out->state, id, write, &out->dir, err);
	if (!r)
		r = read_story(out, err);
	if (!r)
		r = make_run(out, err);
	if (!r && out->story.verdict.fault != JOURNAL_HOLDS)
		r = err_set(err, EBADMSG, "run %s: its journal does not hold: %s", id,
			    out->story.verdict.why);
	if (!r && out->story.record_changed)
		r = err_set(err, EBADMSG,
			    "run %s: " RUNDIR_RECORD " is not the one that its journal was opened "
			    "with",
			    id);
	return r;
}

bool recorded_is_here(const struct recorded *r, const struct host *now)
{
	const struct host *then = &r->story.record.host;

	return strcmp(then->boot_id, now->boot_id) == 0 && then->pid_ns == now->pid_ns;
}

struct jw *recorded_begin(struct recorded *r, const char *event, enum known known)
{
	return journal_begin(r->dir.journal, r->dir.id, event, known);
}

int recorded_commit(struct recorded *r, bool sync, struct err *err)
{
	int rc = journal_commit(r->dir.journal, sync, err);

	if (!rc)
		note_own(r);
	return rc;
}

/* What an event that the story does not know makes of its state. */
static enum run_state state_after(const struct recorded *r, enum run_state s, const json_t *event)
{
	const char *name = NULL, *closed = NULL;
	uint64_t seq = 0;

	json_get_uint(event, "seq", &seq, NULL, NULL);
	json_get_str(event, "event", &name, NULL);
	json_get_str(event, "state", &closed, NULL);
	if (!name || seq <= r->seen_seq)
		return s;
	return run_state_next(s, name, closed ? run_state_parse(closed) : RUN_UNKNOWN);
}

/* Nobody else writes meanwhile.  What cannot be told is a change. */
static int is_in_state(void *ctx, int fd, uint64_t size, struct err *err)
{
	const struct recorded *r = ctx;
	uint64_t len = size < r->seen_end ? 0 : size - r->seen_end;
	AUTO_FREE char *text = NULL;
	enum run_state s = r->story.state;

	if (size < r->seen_end || len > UNSEEN_MAX)
		return -EAGAIN;
	text = malloc(len + 1);
	if (!text)
		return err_nomem(err);
	if (pread(fd, text, len, (off_t)r->seen_end) != (ssize_t)len)
		return -EAGAIN;
	text[len] = '\0';
	for (char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + len - at)));
	     at = end + 1) {
		json_t *event = NULL;

		if (json_read_line(at, (size_t)(end - at), &event, NULL) == 0)
			s = state_after(r, s, event);
		json_decref(event);
	}
	return s == r->story.state ? 0 : -EAGAIN;
}

int recorded_commit_in_state(struct recorded *r, bool sync, struct err *err)
{
	int rc = journal_commit_if(r->dir.journal, sync, is_in_state, r, err);

	if (!rc)
		note_own(r);
	return rc;
}

static bool anchor_head(struct recorded *r, bool sync)
{
	if (anchor(r->dir.journal, r->dir.id, ANCHOR_SOCKET, sync, NULL) < 0)
		return false;
	note_own(r);
	return true;
}

void recorded_make_known(struct recorded *r, const char *event)
{
	const struct journal *j = r->dir.journal;

	anchor_head(r, true);
	ledger_note(r->state, r->dir.id, event, journal_seq(j), journal_head(j), r->story.state,
		    true, NULL);
}

static void set_state(struct recorded *r, enum run_state to)
{
	r->story.state = to;
	r->story.state_wall_ns = clock_wall_ns();
	if (to != RUN_ACTIVE && !r->story.over_wall_ns) {
		r->story.over_wall_ns = r->story.state_wall_ns;
		r->story.over_mono_ns = clock_boot_ns();
		r->run.over_ticks = over_ticks(&r->story);
	}
}

bool recorded_changed(struct recorded *r, enum run_state to)
{
	set_state(r, to);
	return anchor_head(r, false);
}

int recorded_change(struct recorded *r, const char *event, enum run_state to, struct err *err)
{
	int rc = recorded_commit(r, true, err);

	if (rc)
		return rc;
	set_state(r, to);
	recorded_make_known(r, event);
	return 0;
}

int recorded_append(struct recorded *r, const struct journal_event *v, size_t n, bool sync,
		    size_t *written, struct err *err)
{
	return journal_append(r->dir.journal, r->dir.id, v, n, sync, written, err);
}

/* Whether any certain or likely member is alive in now. */
static bool anyone_alive(const struct recorded *r, const struct table *now)
{
	for (size_t i = 0; i < r->story.members.n; i++) {
		const struct story_member *m = &r->story.members.v[i];
		const struct process *p = table_find(now, m->id);

		if (p && !process_is_dead(p) && evidence_weight(m->evidence) >= WEIGHT_LIKELY)
			return true;
	}
	for (size_t i = 0; i < now->procs.n; i++)
		if (run_is_member(&now->procs.v[i]) && !process_is_dead(&now->procs.v[i]))
			return true;
	return false;
}

static bool root_is_gone(const struct recorded *r, const struct table *now)
{
	const struct process *root = table_find(now, r->run.root);

	return identity_known(r->run.root) && (!root || process_is_dead(root));
}

/* A group or session whose leader was gone when it was adopted: what it was made for had
 * ended.  A mark or an audit session never had one leader. */
static bool was_left(const struct recorded *r)
{
	enum selector_kind kind = r->run.chosen.kind;

	return r->story.record.root_gone && (kind == SELECT_GROUP || kind == SELECT_SESSION);
}

/* Past its deadline, by the clock that this runs on, for longer than its warden takes to say so. */
static bool is_overdue(const struct story *s, uint64_t boot_ns)
{
	const struct run_record *d = &s->record;

	return d->deadline_wall_ns > d->host.wall_ns &&
	       boot_ns > d->host.boot_ns + (d->deadline_wall_ns - d->host.wall_ns) + LATE_NS;
}

/* Who holds it says what it is, unless it was stopped and says nothing. */
static enum run_state held_state(const struct story *s, uint64_t boot_ns)
{
	return s->state == RUN_ACTIVE && is_overdue(s, boot_ns) ? RUN_EXPIRED : s->state;
}

bool recorded_is_held(const struct recorded *r, enum run_state *state)
{
	const struct identity warden = r->story.record.warden;
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct coverage coverage;
	struct proc_stat st;
	struct host host;

	if (!r->story.record.launched || proc < 0)
		return false;
	hostinfo_read(proc, &host, &coverage);
	*state = held_state(&r->story, host.boot_ns);
	return recorded_is_here(r, &host) &&
	       proc_stat_read_same(warden.pid, warden.start, &st) == 0 && !proc_stat_dead(&st);
}

enum run_state recorded_state(const struct recorded *r, const struct table *now)
{
	const struct story *s = &r->story;
	enum run_state state = s->state;
	bool here = now && recorded_is_here(r, &now->host), alive;

	if (state == RUN_ACTIVE && s->record.deadline_wall_ns &&
	    (now ? now->host.wall_ns : clock_wall_ns()) >= s->record.deadline_wall_ns)
		state = RUN_EXPIRED;
	if (!here)
		return state;
	alive = anyone_alive(r, now);
	if (s->record.launched) {
		bool held = table_find(now, s->record.warden);

		if (held)
			return held_state(s, now->host.boot_ns);
		if (state == RUN_ACTIVE || state == RUN_EXPIRED || state == RUN_ENDING)
			state = RUN_LOST;
	}
	if (!alive && (state == RUN_EXPIRED || state == RUN_LEFTOVER || state == RUN_SURVIVED ||
		       state == RUN_LOST))
		return RUN_ENDED;
	if (state == RUN_ACTIVE && !alive)
		return RUN_FINISHED;
	if (state == RUN_ACTIVE && (root_is_gone(r, now) || was_left(r)))
		return RUN_LEFTOVER;
	if (state == RUN_ENDING && !table_find(now, s->ender))
		return alive ? RUN_SURVIVED : RUN_ENDED;
	return state;
}

int recorded_settle(struct recorded *r, struct err *err)
{
	int rc = read_story(r, err);

	run_clear(&r->run);
	return rc ? rc : make_run(r, err);
}

int recorded_prune(const char *state_dir, const char *id, struct err *err)
{
	struct recorded run;
	int r = recorded_open(state_dir, id, true, &run, err);

	if (!r)
		r = rundir_watch(&run.dir, err);
	if (r == 0)
		r = err_set(err, EBUSY, "run %s: a stray watches it", id);
	if (r > 0)
		r = rundir_is_ours(&run.dir, err);
	if (!r)
		r = ledger_note(run.state, id, "run_pruned", run.story.verdict.seq,
				run.story.verdict.head, run.story.state, true, err);
	if (!r)
		r = rundir_remove(run.state, &run.dir, err);
	recorded_close(&run);
	return r;
}
