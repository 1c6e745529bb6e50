#include "cmd/subject.h"

#include "base/clock.h"
#include "engine/runs.h"

#include <errno.h>
#include <string.h>

void subject_clear(struct subject *s)
{
	run_clear(&s->run);
	recorded_close(&s->recorded);
	memset(s, 0, sizeof(*s));
}

static int find_recorded(struct subject *s, const struct cmd_common *common, const char *name,
			 struct look *look, struct err *err)
{
	const struct host *here = &look->tracker.now->host;
	struct err why = {0};
	int r = recorded_open(common->state_dir, name, false, &s->recorded, &why);

	if (r == -EBADMSG)
		s->damage = why;
	else if (r < 0)
		return err_set(err, why.code, "%s", why.text);
	if (!recorded_is_here(&s->recorded, here))
		return err_set(err, ESRCH,
			       "run %s is of another %s: nothing of it can be looked for here; "
			       "stray export %s tells what is known",
			       s->recorded.dir.id,
			       strcmp(s->recorded.story.record.host.boot_id, here->boot_id) != 0
				       ? "boot"
				       : "PID namespace",
			       s->recorded.dir.id);
	s->is_recorded = true;
	s->in_view = &s->recorded.run;
	return look_set_run(look, s->in_view, err);
}

int subject_find(struct subject *s, const struct cmd_common *common, const struct selector *target,
		 struct look *look, struct err *err)
{
	struct err missing = {0};
	int r;

	memset(s, 0, sizeof(*s));
	if (target->kind == SELECT_RUN)
		return find_recorded(s, common, target->name, look, err);
	r = run_choose(&s->run, target, look->tracker.now, &missing);
	if (r < 0)
		return cmd_no_target(look->tracker.now, target, &missing, err);
	s->in_view = &s->run;
	return look_set_run(look, s->in_view, err);
}

bool subject_default(const struct cmd_common *common, struct look *look,
		     char id[static RUN_ID_MAX + 1])
{
	const struct runs_item *item = NULL;
	struct runs runs;

	if (runs_load(common->state_dir, &look->tracker, runs_past, NULL, &runs, NULL) == 0)
		item = runs_needing_eyes(&runs);
	if (item)
		snprintf(id, RUN_ID_MAX + 1, "%s", item->id);
	runs_clear(&runs);
	return item != NULL;
}

void subject_print(struct line *o, const struct subject *s, const struct table *now)
{
	enum run_state state;
	char when[9];

	if (!s->is_recorded)
		return;
	state = recorded_state(&s->recorded, now);
	line_put(o, ROLE_HEAD, "run %s", s->recorded.dir.id);
	line_put(o, state == RUN_SURVIVED || state == RUN_LEFTOVER ? ROLE_SURVIVOR : ROLE_NORMAL,
		 "%s%s", cmd_dot(), run_state_name(state));
	if (s->recorded.story.over_wall_ns) {
		clock_hms(s->recorded.story.over_wall_ns, when);
		line_put(o, ROLE_NORMAL, ", over since %s UTC", when);
	}
	line_end(o);
	if (!s->damage.code)
		return;
	line_put(o, ROLE_SURVIVOR, "%s", s->damage.text);
	line_end(o);
}
