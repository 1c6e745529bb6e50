#include "cmd/end_print.h"

#include "base/clock.h"
#include "base/json_write.h"

#include <errno.h>
#include <string.h>

static void print_items(struct line *o, const struct table *t, const char *word, enum role role,
			const struct plan_item *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct process *p = table_find(t, v[i].id);

		line_put(o, role, "%-12s %7d  ", word, v[i].id.pid);
		if (v[i].useless)
			line_put(o, ROLE_SURVIVOR, "(%s)  ", v[i].useless);
		if (p)
			cmd_line_command(o, ROLE_NORMAL, p);
		line_end(o);
	}
}

void end_print_plan(struct line *o, const struct table *t, const struct plan *p)
{
	print_items(o, t, "would hit", ROLE_SUSPECT, p->hit.v, p->hit.n);
	print_items(o, t, "not hit", ROLE_NORMAL, p->not_hit.v, p->not_hit.n);
	print_items(o, t, "spared", ROLE_NORMAL, p->own.v, p->own.n);
	print_items(o, t, "no member", ROLE_NORMAL, p->strangers.v, p->strangers.n);
	print_items(o, t, "dead", ROLE_DIM, p->dead.v, p->dead.n);
}

static const char *result_words(const struct act_item *i, enum role *role)
{
	*role = ROLE_NORMAL;
	switch (i->result) {
	case ACT_RESULT_GONE:
		*role = ROLE_GOOD;
		return "gone";
	case ACT_RESULT_ALIVE:
		*role = ROLE_SURVIVOR;
		return "ALIVE";
	case ACT_RESULT_FROZEN:
		return "frozen";
	case ACT_RESULT_THAWED:
		return "thawed";
	case ACT_RESULT_NOT_AIMED:
		return "not aimed at";
	case ACT_RESULT_APPEARED:
		*role = ROLE_SURVIVOR;
		return "NEW SINCE";
	case ACT_RESULT_PENDING:
		break;
	}
	return "not known";
}

#define COMMAND_CELLS_MIN 24 /* of a command whose outcome stands behind it */
#define OUTCOME_CELLS 56     /* what stands around it */

static void put_command(struct line *o, const struct bytes *command)
{
	size_t len = command->data ? command->len : 0;
	int room = o->columns - OUTCOME_CELLS;

	if (o->columns && len > (size_t)(room > COMMAND_CELLS_MIN ? room : COMMAND_CELLS_MIN))
		len = (size_t)(room > COMMAND_CELLS_MIN ? room : COMMAND_CELLS_MIN);
	line_safe(o, ROLE_NORMAL, command->data ? command->data : "", len);
}

static void print_item(struct line *o, const struct act_item *i)
{
	const char *of = i->died_of ? sigabbrev_np(i->died_of) : NULL;
	enum role role;
	const char *words = result_words(i, &role);

	line_put(o, role, "%-12s %7d  ", words, i->id.pid);
	put_command(o, &i->command);
	if (i->result == ACT_RESULT_GONE && i->last_signal)
		line_put(o, ROLE_NORMAL, "  after %.2f s%s%s", (double)i->after_ns / 1e9,
			 of ? ", died of " : "", of ? of : "");
	if (i->why)
		line_put(o, ROLE_SURVIVOR, "  %s", i->why);
	else if (i->result == ACT_RESULT_ALIVE && i->error)
		line_put(o, ROLE_SURVIVOR, "  not sent: %s", strerror(i->error));
	line_end(o);
}

void end_print_outcome(struct line *o, const struct act_outcome *outcome)
{
	line_put(o, ROLE_HEAD, "%s: %zu hit, %zu gone, %zu alive", outcome->title, outcome->hit,
		 outcome->gone, outcome->alive);
	line_end(o);
	for (size_t i = 0; i < outcome->items.n; i++)
		print_item(o, &outcome->items.v[i]);
	if (outcome->dir[0]) {
		line_put(o, ROLE_NORMAL, "record: ");
		line_safe(o, ROLE_NORMAL, outcome->dir, strlen(outcome->dir));
		line_end(o);
	}
}

static void json_identity(struct jw *j, const char *key, struct identity id)
{
	jw_object(j, key);
	jw_int(j, "pid", id.pid);
	jw_uint(j, "start_ticks", id.start);
	jw_object_end(j);
}

static void json_why(struct jw *j, const struct act_item *item)
{
	jw_str(j, "why", item->why);
	jw_str(j, "errno", item->error ? err_name(item->error) : NULL);
}

static void json_items(struct jw *j, const char *key, const struct act_outcome *o,
		       enum act_result which)
{
	jw_array(j, key);
	for (size_t i = 0; i < o->items.n; i++) {
		const struct act_item *item = &o->items.v[i];

		if (item->result != which)
			continue;
		jw_object(j, NULL);
		jw_int(j, "pid", item->id.pid);
		jw_uint(j, "start_ticks", item->id.start);
		jw_bytes(j, "cmdline", &item->command);
		if (which == ACT_RESULT_GONE) {
			jw_uint(j, "after_ns", item->after_ns);
			jw_str(j, "died_of", item->died_of ? sigabbrev_np(item->died_of) : NULL);
		}
		if (which == ACT_RESULT_ALIVE || which == ACT_RESULT_APPEARED)
			json_why(j, item);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void json_sent(struct jw *j, const struct act_sent *s)
{
	char name[16], at[CLOCK_RFC3339_MAX];
	const char *known = sigabbrev_np(s->signal);

	snprintf(name, sizeof(name), "%d", s->signal); /* a real-time one */
	clock_rfc3339(s->wall_ns, at);
	jw_object(j, NULL);
	jw_str(j, "name", known ? known : name);
	jw_array(j, "to");
	for (size_t i = 0; i < s->n; i++)
		json_identity(j, NULL, s->to[i]);
	jw_array_end(j);
	jw_str(j, "at", at);
	jw_object_end(j);
}

static void json_outcome(struct jw *j, const struct act_outcome *o)
{
	json_items(j, "gone", o, ACT_RESULT_GONE);
	json_items(j, "survivors", o, ACT_RESULT_ALIVE);
	json_items(j, "not_aimed_at", o, ACT_RESULT_NOT_AIMED);
	json_items(j, "appeared", o, ACT_RESULT_APPEARED);
	json_items(j, "frozen", o, ACT_RESULT_FROZEN);
	json_items(j, "thawed", o, ACT_RESULT_THAWED);
	jw_bool(j, "interrupted", o->interrupted);
}

static int json_planned(struct jw *j, const char *key, const struct table *t,
			const struct plan_item *v, size_t n)
{
	jw_array(j, key);
	for (size_t i = 0; i < n; i++) {
		const struct process *p = table_find(t, v[i].id);
		struct bytes command = {0};

		if (p && process_command(p, &command) < 0) {
			bytes_free(&command);
			return -ENOMEM;
		}
		jw_object(j, NULL);
		jw_int(j, "pid", v[i].id.pid);
		jw_uint(j, "start_ticks", v[i].id.start);
		jw_bytes(j, "cmdline", &command);
		jw_str(j, "useless", v[i].useless);
		jw_object_end(j);
		bytes_free(&command);
	}
	jw_array_end(j);
	return 0;
}

static int json_plan(struct jw *j, const struct table *t, const struct plan *p)
{
	int r = json_planned(j, "would_hit", t, p->hit.v, p->hit.n);

	if (!r)
		r = json_planned(j, "not_hit", t, p->not_hit.v, p->not_hit.n);
	if (!r)
		r = json_planned(j, "spared", t, p->own.v, p->own.n);
	return r ? r : json_planned(j, "no_member", t, p->strangers.v, p->strangers.n);
}

static int write_end(struct jw *j, const char *target, const struct table *t,
		     const struct plan *plan, const struct act_outcome *o)
{
	int r = 0;

	jw_object(j, NULL);
	jw_str(j, "schema", "stray.end/1");
	jw_str(j, "target", target);
	jw_str(j, "act", o ? o->title : NULL);
	jw_array(j, "signals");
	for (size_t i = 0; o && i < o->sent.n; i++)
		json_sent(j, &o->sent.v[i]);
	jw_array_end(j);
	if (o)
		json_outcome(j, o);
	else
		r = json_plan(j, t, plan);
	jw_array(j, "refused");
	if (!o && plan->refused[0]) {
		jw_object(j, NULL);
		jw_str(j, "reason", plan->refused);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_str(j, "record", o && o->dir[0] ? o->dir : NULL);
	jw_object_end(j);
	return r;
}

int end_json(const char *target, const struct table *t, const struct plan *plan,
	     const struct act_outcome *outcome, struct err *err)
{
	struct jw *j = jw_open(stdout, false);
	int r;

	if (!j)
		return err_nomem(err);
	r = write_end(j, target, t, plan, outcome);
	if (r < 0) {
		jw_discard(j);
		return err_nomem(err);
	}
	r = jw_close(j);
	return r < 0 ? err_errno(err, -r, "stdout") : 0;
}
