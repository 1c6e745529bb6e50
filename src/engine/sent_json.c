#include "engine/sent_json.h"

#include <string.h>

void sent_json_signal(struct jw *j, const char *key, int sig)
{
	const char *name = sigabbrev_np(sig);

	if (name)
		jw_str(j, key, name);
	else
		jw_strf(j, key, "%d", sig);
}

void sent_json_to(struct jw *j, struct identity id, enum target_result result, int error)
{
	jw_object(j, NULL);
	jw_int(j, "pid", id.pid);
	jw_uint(j, "start_ticks", id.start);
	jw_str(j, "result", target_result_name(result));
	jw_str(j, "errno", error ? err_name(error) : NULL);
	jw_object_end(j);
}
