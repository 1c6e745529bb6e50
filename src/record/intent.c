#include "record/intent.h"

#include "record/host_json.h"
#include "record/process_json.h"

#include "config.h"

#include <string.h>

static void write_processes(struct jw *j, const char *key, const struct intent_process *v, size_t n,
			    bool why)
{
	jw_array(j, key);
	for (size_t i = 0; i < n; i++) {
		jw_object(j, NULL);
		jw_int(j, "pid", v[i].id.pid);
		jw_uint(j, "start_ticks", v[i].id.start);
		if (why)
			jw_str(j, "why", v[i].why);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_plan(struct jw *j, const struct intent *i)
{
	jw_str(j, "kind", i->kind);
	jw_str(j, "title", i->title);
	jw_str(j, "target", i->target);
	jw_str(j, "unit", i->unit);
	if (i->number)
		jw_int(j, "number", i->number);
	else
		jw_null(j, "number");
	jw_array(j, "signals");
	for (size_t k = 0; k < i->n_signals; k++)
		jw_str(j, NULL, sigabbrev_np(i->signals[k]));
	jw_array_end(j);
	jw_uint(j, "grace_ns", i->grace_ns);
	jw_bool(j, "freeze_first", i->freeze_first);
	write_processes(j, "aimed", i->aimed, i->n_aimed, false);
	write_processes(j, "not_aimed", i->spared, i->n_spared, true);
}

int intent_json(FILE *out, const struct intent *i, struct err *err)
{
	struct jw *j = jw_open(out, true);
	int r;

	if (!j)
		return err_nomem(err);
	jw_object(j, NULL);
	jw_str(j, "schema", INTENT_SCHEMA);
	time_json(j, "at", i->wall_ns);
	jw_uint(j, "boottime_ns", i->boot_ns);
	write_plan(j, i);
	operator_json(j, "operator", &i->operator);
	jw_object(j, "looked_at");
	host_json(j, i->host);
	jw_object_end(j);
	jw_str(j, "stray", PACKAGE_VERSION);
	jw_object_end(j);
	r = jw_close(j);
	return r < 0 ? err_errno(err, -r, "the intent cannot be written") : 0;
}
