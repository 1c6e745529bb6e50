#include "record/export_parts.h"

#include "base/clock.h"

#include <string.h>

const char *event_str(const json_t *event, const char *key)
{
	const char *text = NULL;

	json_get_str(event, key, &text, NULL);
	return text;
}

uint64_t event_uint(const json_t *event, const char *key)
{
	uint64_t n = 0;

	json_get_uint(event, key, &n, NULL, NULL);
	return n;
}

uint64_t event_time(const json_t *event, const char *key)
{
	const char *text = event_str(event, key);
	uint64_t wall_ns = 0;

	if (text)
		clock_parse_rfc3339(text, &wall_ns);
	return wall_ns;
}

bool event_is(const json_t *event, const char *name)
{
	const char *text = event_str(event, "event");

	return text && strcmp(text, name) == 0;
}

bool events_add(struct events *l, const json_t *event)
{
	json_t *kept = json_incref((json_t *)event);

	if (VEC_PUSH(l, kept))
		return true;
	json_decref(kept);
	return false;
}

void events_clear(struct events *l)
{
	for (size_t i = 0; i < l->n; i++)
		json_decref(l->v[i]);
	free(l->v);
	*l = (struct events){0};
}

const json_t *export_fact(const struct export_member *m, const char *key)
{
	const json_t *v = json_object_get(m->leftover, key);

	if (!v || json_is_null(v))
		v = json_object_get(m->came, key);
	return json_is_null(v) ? NULL : v;
}

/* Which of n names a list of texts holds, as bits. */
static unsigned bits_of(const json_t *texts, const char *(*name)(unsigned), unsigned n)
{
	const json_t *v;
	unsigned bits = 0;
	size_t i;

	json_array_foreach(texts, i, v) for (unsigned b = 0; json_is_string(v) && b < n;
					     b++) if (strcmp(json_string_value(v), name(1u << b)) ==
						      0) bits |= 1u << b;
	return bits;
}

unsigned export_evidence(const struct export *x, size_t member)
{
	const json_t *left = json_object_get(x->members.v[member].leftover, "evidence");

	return x->story.members.v[member].evidence | bits_of(left, evidence_name, EVIDENCE_COUNT);
}

bool export_moved(const struct export_member *m, const char *event)
{
	for (size_t i = 0; i < m->moves.n; i++)
		if (event_is(m->moves.v[i], event))
			return true;
	return false;
}

bool export_has_flag(const struct export_member *m, const char *flag)
{
	const json_t *v;
	size_t i;

	json_array_foreach(export_fact(m, "flags"), i, v)
	{
		if (json_is_string(v) && strcmp(json_string_value(v), flag) == 0)
			return true;
	}
	return false;
}

const json_t *export_survivor(const struct export_member *m)
{
	return m->survivals.n ? m->survivals.v[m->survivals.n - 1] : NULL;
}

/* As whoever looked last had them, and what the journal tells since. */
unsigned export_classes(const struct export *x, size_t member)
{
	const struct export_member *m = &x->members.v[member];
	unsigned c = bits_of(export_fact(m, "classes"), class_name, CLASS_COUNT);

	if (m->survivals.n)
		c |= CLASS_SURVIVED;
	if (export_moved(m, "setsid") || export_moved(m, "setpgid") ||
	    export_moved(m, "left_cgroup"))
		c |= CLASS_DETACHED;
	if (c & (CLASS_SURVIVED | CLASS_DETACHED))
		c &= ~(unsigned)CLASS_LEFT;
	return c;
}

struct identity event_identity(const json_t *process)
{
	struct identity id = {0};
	int64_t pid = 0;

	json_get_int(process, "pid", 0, INT32_MAX, &pid, NULL, NULL);
	json_get_uint(process, "start_ticks", &id.start, NULL, NULL);
	id.pid = (pid_t)pid;
	return id;
}

/* Whether the list has that process, as one that was sent to. */
static bool was_sent(const json_t *list, struct identity id)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		const char *result = event_str(v, "result");

		if (identity_same(event_identity(v), id) &&
		    (!result || strcmp(result, "sent") == 0))
			return true;
	}
	return false;
}

struct export_fate export_fate(const struct export *x, const struct export_act *act,
			       struct identity id)
{
	const struct story_member *m = story_member(&x->story, id);
	struct export_fate f = {0};

	for (size_t i = 0; i < act->events.n; i++) {
		const json_t *e = act->events.v[i];

		if (!f.sent_wall_ns && event_is(e, "signal_sent") &&
		    was_sent(json_object_get(e, "to"), id)) {
			f.sent_wall_ns = event_time(e, "at");
			f.sent_mono_ns = event_uint(e, "mono_ns");
		}
		if (event_is(e, "survivor") && identity_same(story_identity(e, "process"), id))
			f.survivor = e;
	}
	if (m)
		f.exited = x->members.v[m - x->story.members.v].exited;
	f.later = event_str(f.exited, "act");
	if (f.later && strcmp(f.later, act->name) != 0) {
		f.exited = NULL; /* frozen by one act, ended by the next */
		return f;
	}
	f.later = NULL;
	f.after_ns = event_uint(f.exited, "after_ns"); /* who acted knows it best */
	if (!f.after_ns && f.exited && f.sent_mono_ns &&
	    event_uint(f.exited, "mono_ns") > f.sent_mono_ns)
		f.after_ns = event_uint(f.exited, "mono_ns") - f.sent_mono_ns;
	return f;
}

bool export_is_own(const struct export *x, const struct export_act *act)
{
	return x->story.record.launched && strcmp(act->name, EXPORT_OWN_ACT) == 0;
}

const json_t *export_act_operator(const struct export_act *act)
{
	for (size_t i = 0; i < act->events.n; i++)
		if (json_is_object(json_object_get(act->events.v[i], "operator")))
			return act->events.v[i];
	return NULL;
}
