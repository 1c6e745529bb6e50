#include "engine/sent_json.h"

#include "base/vec.h"
#include "record/process_json.h"

#include <string.h>

void sent_json_signal(struct jw *j, const char *key, int sig)
{
	const char *name = sigabbrev_np(sig);

	if (name)
		jw_str(j, key, name);
	else
		jw_strf(j, key, "%d", sig);
}

bool sent_add(struct sent_list *l, const struct target *t)
{
	struct sent s = {t->id, t->result, t->error};

	return VEC_PUSH(l, s);
}

void sent_json_intent(struct jw *j, const struct intent *i, int sig, const struct identity *to,
		      size_t n)
{
	operator_json(j, "operator", &i->operator);
	sent_json_signal(j, "signal", sig);
	jw_str(j, "unit", i->unit);
	if (i->number)
		jw_int(j, "number", i->number);
	else
		jw_null(j, "number");
	jw_uint(j, "grace_ns", i->grace_ns);
	jw_array(j, "to");
	for (size_t k = 0; k < n; k++)
		process_json_identity(j, NULL, to[k]);
	jw_array_end(j);
	jw_array(j, "not_aimed");
	for (size_t k = 0; k < i->n_spared; k++) {
		jw_object(j, NULL);
		jw_int(j, "pid", i->spared[k].id.pid);
		jw_uint(j, "start_ticks", i->spared[k].id.start);
		jw_str(j, "why", i->spared[k].why);
		jw_object_end(j);
	}
	jw_array_end(j);
}

void sent_json_sent(struct jw *j, int sig, const struct sent_list *l)
{
	sent_json_signal(j, "signal", sig);
	jw_array(j, "to");
	for (size_t i = 0; i < l->n; i++) {
		const struct sent *s = &l->v[i];

		jw_object(j, NULL);
		jw_int(j, "pid", s->id.pid);
		jw_uint(j, "start_ticks", s->id.start);
		jw_str(j, "result", target_result_name(s->result));
		jw_str(j, "errno", s->error ? err_name(s->error) : NULL);
		jw_object_end(j);
	}
	jw_array_end(j);
}

void sent_json_survivor(struct jw *j, struct identity id, int sig, const char *why, int error)
{
	process_json_identity(j, "process", id);
	sent_json_signal(j, "signal", sig);
	jw_str(j, "why", why);
	jw_str(j, "errno", error ? err_name(error) : NULL);
}
