#include "tui/app_act.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "record/outfile.h"
#include "record/snapshot.h"
#include "record/statedir.h"

void app_act_free(struct app_act *a)
{
	act_free(a->act);
	table_free(a->held);
	a->act = NULL;
	a->held = NULL;
}

static int open_state(const struct app_act *a, struct statedir **out, struct err *err)
{
	struct statedir_env env = statedir_env_current(a->state_dir);
	char *path = NULL;
	int r = statedir_choose(&env, &path, err);

	if (!r)
		r = statedir_open(path, STATEDIR_WRITE, out, err);
	free(path);
	return r;
}

int app_act_probe(const struct app_act *a, struct err *err)
{
	struct statedir *state = NULL;
	int r = open_state(a, &state, err);

	if (!r)
		r = statedir_probe_writable(state, err);
	statedir_close(state);
	return r;
}

void app_act_begin(struct app_act *a, struct view *v)
{
	struct act_options options = v->dialog.act;
	struct act *act = NULL;
	struct err err = {0};
	int r;

	options.state_dir = a->state_dir;
	r = act_start(v->k->now, v->has_run ? &v->run : NULL, &v->dialog.plan, &options, &act,
		      &err);
	if (r < 0) {
		view_act_failed(v, r == -EAGAIN, &err);
		return;
	}
	view_acted(v, act_outcome(act), NULL); /* lets go of the one before */
	act_free(a->act);
	a->act = act;
}

bool app_act_step(struct app_act *a, struct view *v, uint64_t boot_ns)
{
	struct err err = {0};

	if (!a->act || act_outcome(a->act)->done)
		return false;
	if (act_step(a->act, boot_ns, &err) == 0 && !err.code)
		return false;
	view_acted(v, act_outcome(a->act), err.code ? &err : NULL);
	return true;
}

int app_act_fd(const struct app_act *a)
{
	return a->act ? act_fd(a->act) : -1;
}

uint64_t app_act_wakes_at(const struct app_act *a)
{
	return a->act && !act_outcome(a->act)->done ? act_wakes_at(a->act) : UINT64_MAX;
}

void app_act_hold(struct app_act *a, struct view *v)
{
	struct table *copy = table_clone(v->k->now);

	if (!copy)
		return;
	table_free(a->held);
	a->held = copy;
	v->held_wall_ns = copy->host.wall_ns;
}

/* "20260724T141109Z": as the directories of acts are named. */
static void stamp(uint64_t wall_ns, char out[static CLOCK_RFC3339_MAX])
{
	char full[CLOCK_RFC3339_MAX];
	size_t n = 0;

	clock_rfc3339(wall_ns, full);
	for (const char *c = full; *c && *c != '.'; c++)
		if (*c != '-' && *c != ':')
			out[n++] = *c;
	out[n++] = 'Z';
	out[n] = '\0';
}

static int write_held(const struct app_act *a, const struct view *v, int dir, const char *name,
		      struct err *err)
{
	struct identity *members = NULL;
	struct outfile f = {0};
	size_t n = 0;
	int r = 0;

	if (v->has_run) {
		members = calloc(a->held->procs.n + 1, sizeof(*members));
		if (!members)
			return err_nomem(err);
		for (size_t i = 0; i < a->held->procs.n; i++)
			if (run_is_member(&a->held->procs.v[i]))
				members[n++] = a->held->procs.v[i].id;
	}
	r = outfile_create(dir, name, &f, err);
	if (!r)
		r = snapshot_write(f.stream, a->held, members, n, NULL, err);
	if (!r)
		r = outfile_finish(&f, err);
	outfile_discard(&f);
	free(members);
	return r;
}

void app_act_snapshot(struct app_act *a, struct view *v)
{
	char name[CLOCK_RFC3339_MAX + 8], when[CLOCK_RFC3339_MAX], safe[320];
	struct statedir *state = NULL;
	struct err err = {0};
	AUTO_FD dir = -1;
	int r;

	if (!a->held)
		return;
	stamp(a->held->host.wall_ns, when);
	snprintf(name, sizeof(name), "%s.json", when);
	r = open_state(a, &state, &err);
	if (!r)
		r = statedir_subdir(state, "marks", &dir, &err);
	if (!r)
		r = write_held(a, v, dir, name, &err);
	if (r < 0) {
		text_safe(safe, sizeof(safe), err.text, strlen(err.text), v->o.ascii);
		view_say(v, STYLE_WARNING, "not written: %s", safe);
	} else {
		text_safe(safe, sizeof(safe), statedir_path(state), strlen(statedir_path(state)),
			  v->o.ascii);
		view_say(v, STYLE_GOOD, "written: %s/marks/%s; stray diff compares it with now",
			 safe, name);
		app_act_hold(a, v);
	}
	statedir_close(state);
}
