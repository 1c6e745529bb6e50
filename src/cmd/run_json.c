#include "cmd/run_json.h"

#include "base/clock.h"
#include "record/process_json.h"

#include <string.h>
#include <sys/wait.h>

/* One that went, and the unit that it was of. */
static void write_removed(struct jw *j, const struct host *host, const struct process *p)
{
	const struct process_json_options options = {.host = host};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct jw *one = out ? jw_open(out, false) : NULL;

	if (one) {
		process_json(one, NULL, p, &options, NULL);
		jw_close(one);
	}
	if (out)
		fclose(out);
	while (len && text[len - 1] == '\n')
		len--;
	jw_object(j, NULL);
	jw_str(j, "ended_by", "unknown");
	jw_bytes(j, "unit", &p->origin_name);
	if (text && len > 2)
		jw_members(j, text, len);
	jw_object_end(j);
	free(text);
}

static void write_elsewhere(struct jw *j, const struct baseline_diff *d)
{
	if (!d->removed) {
		jw_null(j, "removed_processes");
		jw_null(j, "restarted_processes");
		jw_null(j, "other_added");
		jw_null(j, "other_removed");
		return;
	}
	jw_array(j, "removed_processes");
	for (size_t i = 0; i < d->removed->procs.n; i++)
		if (baseline_is_removed(d, &d->removed->procs.v[i]))
			write_removed(j, &d->removed->host, &d->removed->procs.v[i]);
	jw_array_end(j);
	jw_array(j, "restarted_processes");
	for (size_t i = 0; i < d->n_restarted; i++) {
		const struct process_json_options options = {.host = &d->removed->host};

		jw_object(j, NULL);
		process_json(j, "before", d->restarted[i].before, &options, NULL);
		process_json(j, "after", d->restarted[i].after, &options, NULL);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_uint(j, "other_added", d->other_added);
	jw_uint(j, "other_removed", d->other_removed);
}

/* What only the warden knew, which was killed. */
static void write_unknown(struct jw *j, const struct launch_result *r)
{
	static const char *const names[] = {"cannot_hold", "added_processes", "survivors",
					    "signals",     "detached",        "detach_denied",
					    "handed_off",  "counts",          "coverage"};

	jw_str(j, "containment", unit_kind_name(r->unit));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		jw_null(j, names[i]);
	jw_str(j, "record_lost", r->record_lost.code ? r->record_lost.text : NULL);
}

int run_json(FILE *out, const struct launch_result *r, struct err *err)
{
	struct jw *j = jw_open(out, false);
	bool exited = r->own_status && WIFEXITED(r->wait_status);
	bool signalled = r->own_status && WIFSIGNALED(r->wait_status);
	char seconds[32];
	int rc;

	if (!j)
		return err_nomem(err);
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.run/1");
	jw_str(j, "run_id", r->id);
	if (exited)
		jw_int(j, "exit_code", WEXITSTATUS(r->wait_status));
	else
		jw_null(j, "exit_code");
	jw_str(j, "signal", signalled ? sigabbrev_np(WTERMSIG(r->wait_status)) : NULL);
	jw_int(j, "status", r->status);
	snprintf(seconds, sizeof(seconds), "%.3f", (double)r->elapsed_ns / 1e9);
	jw_raw(j, "elapsed_seconds", seconds, strlen(seconds));
	jw_str(j, "state", run_state_name(r->state));
	if (r->members_len > 2)
		jw_members(j, r->members, r->members_len);
	else
		write_unknown(j, r);
	write_elsewhere(j, &r->elsewhere);
	jw_object_end(j);
	rc = jw_close(j);
	return rc < 0 ? err_errno(err, -rc, "the result") : 0;
}
