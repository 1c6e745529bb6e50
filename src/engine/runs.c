#include "engine/runs.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

void runs_clear(struct runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		recorded_close(&r->v[i].recorded);
	free(r->v);
	*r = (struct runs){0};
}

/* Who of it is alive, found as members are found. */
static int count_alive(struct runs_item *item, struct tracker *k, struct err *err)
{
	int r = tracker_set_run(k, &item->recorded.run, err);

	for (size_t i = 0; !r && i < k->now->procs.n; i++)
		item->alive +=
			run_is_member(&k->now->procs.v[i]) && !process_is_dead(&k->now->procs.v[i]);
	if (!r)
		item->state = recorded_state(&item->recorded, k->now);
	return r;
}

static int load_one(const char *state_dir, const char *id, struct tracker *k,
		    struct runs_item *item, struct err *err)
{
	int r;

	snprintf(item->id, sizeof(item->id), "%s", id);
	r = recorded_open(state_dir, id, false, &item->recorded, &item->err);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r && r != -EBADMSG)
		return 0;
	item->state = recorded_state(&item->recorded, NULL);
	item->watched = rundir_is_watched(&item->recorded.dir);
	item->here = k && recorded_is_here(&item->recorded, &k->now->host);
	r = item->here ? count_alive(item, k, err) : 0;
	recorded_release(&item->recorded); /* of a thousand runs none stays open */
	return r;
}

/* What is asked for. */
struct asked {
	struct tracker *k;
	runs_known_fn *known;
	void *ctx;
	bool others;
};

/* Whether it is past, as far as a glance shows, and known. */
static int is_known(const char *state_dir, const char *id, const struct asked *a, bool *known,
		    uint64_t *bytes, struct err *err)
{
	struct runs_item item = {0};
	struct recorded *rec = &item.recorded;
	int r = recorded_glance(state_dir, id, rec, NULL);
	bool past = false;

	*bytes = r ? 0 : rundir_journal_bytes(&rec->dir); /* before it is read */
	if (!r && !recorded_is_here(rec, &a->k->now->host)) {
		past = true;
	} else if (!r && (rec->story.state == RUN_FINISHED || rec->story.state == RUN_ENDED)) {
		r = count_alive(&item, a->k, err);
		past = !r && !item.alive && rundir_is_watched(&rec->dir) != 1;
	}
	*known = past && a->known(a->ctx, id, a->others, *bytes);
	recorded_close(rec);
	return r == -ENOMEM ? err_nomem(err) : 0; /* else it is read, and said what is wrong */
}

static int newest_first(const void *a, const void *b)
{
	const struct runs_item *x = a, *y = b;
	uint64_t s = x->recorded.story.record.host.wall_ns;
	uint64_t t = y->recorded.story.record.host.wall_ns;

	return s != t ? (s < t) - (s > t) : strcmp(x->id, y->id);
}

static int load_all(const char *state_dir, const struct rundir_list *ids, const struct asked *a,
		    struct runs *out, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < ids->n; i++) {
		struct runs_item item = {0};
		bool known = false;

		item.others = a->others;
		if (a->known && a->k)
			r = is_known(state_dir, ids->v[i], a, &known, &item.bytes, err);
		if (r || known)
			continue;
		r = load_one(state_dir, ids->v[i], a->k, &item, err);
		if (!r && !VEC_PUSH(out, item))
			r = err_nomem(err);
		if (r)
			recorded_close(&item.recorded);
	}
	return r;
}

/* The runs of one state directory; one that is not there holds none. */
static int load_dir(const char *state_dir, const struct asked *a, struct runs *out, struct err *err)
{
	struct rundir_list ids;
	int r = recorded_list(state_dir, &ids, err);

	if (!r)
		r = load_all(state_dir, &ids, a, out, err);
	rundir_list_clear(&ids);
	return r;
}

/* The state directory of who became root by sudo(8), owned; NULL: there is none such. */
static char *callers_dir(void)
{
	const char *text = getenv("SUDO_UID"), *own = getenv("STRAY_STATE_DIR");
	struct statedir_env env = {0};
	const struct passwd *pw;
	char *end, *path = NULL;
	unsigned long uid;

	if (geteuid() != 0 || !text || !*text || (own && *own))
		return NULL;
	uid = strtoul(text, &end, 10);
	pw = *end || !uid ? NULL : getpwuid((uid_t)uid);
	if (!pw)
		return NULL;
	env.euid = (uid_t)uid;
	env.home = pw->pw_dir;
	return statedir_choose(&env, &path, NULL) == 0 ? path : NULL;
}

int runs_load(const char *state_dir, struct tracker *k, runs_known_fn *known, void *ctx,
	      struct runs *out, struct err *err)
{
	struct asked a = {.k = k, .known = known, .ctx = ctx};
	struct run *in_view = k ? k->run : NULL;
	char *callers = state_dir ? NULL : callers_dir();
	int r, restored;

	*out = (struct runs){0};
	r = load_dir(state_dir, &a, out, err);
	a.others = true;
	if (!r && callers && load_dir(callers, &a, out, NULL) == -ENOMEM)
		r = err_nomem(err);
	free(callers);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), newest_first);
	if (!k)
		return r;
	restored = tracker_set_run(k, in_view, r ? NULL : err);
	return r ? r : restored;
}

bool runs_past(void *ctx, const char *id, bool others, uint64_t bytes)
{
	(void)ctx;
	(void)id;
	(void)others;
	(void)bytes;
	return true;
}

const struct runs_item *runs_needing_eyes(const struct runs *r)
{
	const struct runs_item *best = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct runs_item *item = &r->v[i];

		if (!item->here || !item->alive || item->others)
			continue;
		if (!best || run_state_rank(item->state) > run_state_rank(best->state))
			best = item;
	}
	return best;
}
