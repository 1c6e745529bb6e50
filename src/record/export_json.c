#include "record/export_parts.h"

#include "base/clock.h"
#include "record/host_json.h"

#include "config.h"

#include <errno.h>
#include <string.h>

#define EXPORT_SCHEMA "stray.export/1"

/* Of a value that strict JSON gave: as it was, on one line. */
void export_json_value(struct jw *j, const char *key, const json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (text)
		jw_raw(j, key, text, strlen(text));
	else
		jw_null(j, key);
	free(text);
}

static void write_gaps(struct jw *j, const struct export *x)
{
	jw_array(j, "not_known");
	for (size_t i = 0; i < x->gaps.n; i++) {
		const struct export_gap *g = &x->gaps.v[i];

		jw_object(j, NULL);
		jw_str(j, "kind", g->kind);
		time_json(j, "from", g->from_ns);
		time_json(j, "to", g->to_ns);
		jw_str(j, "text", g->text);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void write_remaining(struct jw *j, const struct export *x)
{
	time_json(j, "last_event_at", x->last_wall_ns);
	jw_array(j, "alive_as_last_known");
	for (size_t i = 0; i < x->members.n; i++) {
		const struct story_member *m = &x->story.members.v[i];

		if (m->gone)
			continue;
		jw_object(j, NULL);
		jw_int(j, "pid", m->id.pid);
		jw_uint(j, "start_ticks", m->id.start);
		jw_bytes(j, "comm", &m->comm);
		jw_object_end(j);
	}
	jw_array_end(j);
}

struct timeline {
	struct jw *j;
	uint64_t left; /* events that were read before */
};

static int take_line(void *ctx, const char *line, size_t len, struct err *err)
{
	struct timeline *t = ctx;

	(void)err;
	if (!t->left)
		return 1; /* came since */
	jw_raw(t->j, NULL, line, len);
	t->left--;
	return 0;
}

/* The lines as they are, so that what is sealed can be checked here, too. */
static int write_timeline(struct jw *j, const struct export *x, struct err *err)
{
	struct timeline t = {.j = j, .left = x->story.verdict.seq};
	struct journal_reading reading = {
		.name = RUNDIR_JOURNAL, .schema = JOURNAL_SCHEMA, .line = take_line, .ctx = &t};
	struct journal_verdict verdict;
	int r;

	jw_array(j, "timeline");
	r = journal_read(x->journal, &reading, &verdict, err);
	jw_array_end(j);
	if (r < 0)
		return r;
	return t.left ? err_set(err, EIO, RUNDIR_JOURNAL ": was changed while it was exported") : 0;
}

static int write_all(struct jw *j, const struct export *x, struct err *err)
{
	int r;

	jw_object(j, NULL);
	jw_str(j, "schema", EXPORT_SCHEMA);
	export_json_verification(j, x);
	jw_str(j, "run_id", x->dir.id);
	time_json(j, "exported_at", x->now_wall_ns);
	jw_str(j, "stray", PACKAGE_VERSION);
	jw_str(j, "state", run_state_name(x->story.state));
	time_json(j, "state_at", x->story.state_wall_ns);
	time_json(j, "over_at", x->over_wall_ns);
	if (x->record_text)
		jw_raw(j, "record", x->record_text, x->record_len);
	else
		jw_null(j, "record");
	export_json_files(j, &x->files);
	if (x->story.record.launched)
		export_json_launched(j, x);
	export_json_leftovers(j, x);
	export_json_acts(j, x);
	write_remaining(j, x);
	write_gaps(j, x);
	export_json_seqs(j, "notes", NULL, &x->notes);
	r = write_timeline(j, x, err);
	jw_object_end(j);
	return r;
}

int export_json(FILE *out, const struct export *x, struct err *err)
{
	struct jw *j = jw_open(out, true);
	int closed, r;

	if (!j)
		return err_nomem(err);
	r = write_all(j, x, err);
	closed = jw_close(j);
	if (!r && closed < 0)
		r = err_errno(err, -closed, "the export cannot be written");
	return r;
}
