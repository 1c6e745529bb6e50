#include "cmd/list_json.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "model/pipes.h"
#include "record/host_json.h"
#include "record/process_json.h"

#include <errno.h>

struct printer {
	struct jw *j;
	const struct tracker *k;
	struct process_json_options options;
	bool in_session, in_group;
};

static void end_group(struct printer *p)
{
	if (!p->in_group)
		return;
	jw_array_end(p->j);
	jw_object_end(p->j);
	p->in_group = false;
}

static void end_session(struct printer *p)
{
	end_group(p);
	if (!p->in_session)
		return;
	jw_array_end(p->j);
	jw_object_end(p->j);
	p->in_session = false;
}

static void begin_group(struct printer *p, const struct tree_row *row)
{
	end_group(p);
	jw_object(p->j, NULL);
	jw_int(p->j, "pgid", row->pgid);
	jw_bool(p->j, "orphaned", row->orphaned);
	jw_bool(p->j, "leader_gone", row->leader_gone);
	jw_array(p->j, "processes");
	p->in_group = true;
}

static int begin_session(struct printer *p, const struct tree_row *row, struct err *err)
{
	char tty[32];
	int r = 0;

	end_session(p);
	jw_object(p->j, NULL);
	jw_int(p->j, "sid", row->sid);
	jw_str(p->j, "tty", row->p && tty_name(row->p->tty_nr, tty) ? tty : NULL);
	if (row->p)
		r = process_json(p->j, "leader", row->p, &p->options, err);
	else
		jw_null(p->j, "leader");
	jw_bool(p->j, "leader_gone", row->leader_gone);
	jw_array(p->j, "groups");
	p->in_session = true;
	if (!r && row->one_group)
		begin_group(p, row);
	return r;
}

static int print_rows(struct printer *p, const struct tree *tree, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < tree->rows.n; i++) {
		const struct tree_row *row = &tree->rows.v[i];

		if (row->kind == TREE_SESSION)
			r = begin_session(p, row, err);
		else if (row->kind == TREE_GROUP)
			begin_group(p, row);
		else
			r = process_json(p->j, NULL, row->p, &p->options, err);
	}
	end_session(p);
	return r;
}

static void print_peers(struct jw *j, const struct run *run, const struct table *t)
{
	char unknown[160];

	jw_array(j, "peers");
	for (size_t i = 0; i < t->procs.n; i++) {
		unsigned ends = pipes_peer(run, t, &t->procs.v[i]);

		if (!ends)
			continue;
		jw_object(j, NULL);
		process_json_identity(j, "process", t->procs.v[i].id);
		jw_array(j, "of");
		for (int fd = 0; fd < RUN_ENDS; fd++)
			if (ends & 1u << fd)
				jw_str(j, NULL, pipes_name(fd));
		jw_array_end(j);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_str(j, "not_known", pipes_unknown(run, unknown, sizeof(unknown)) ? unknown : NULL);
}

static void print_run(struct jw *j, const struct tracker *k, const struct subject *s)
{
	if (!k->run) {
		jw_null(j, "run");
		return;
	}
	jw_object(j, "run");
	jw_str(j, "target", k->run->id);
	jw_bool(j, "recorded", s->is_recorded);
	if (s->is_recorded) {
		jw_str(j, "state", run_state_name(recorded_state(&s->recorded, k->now)));
		run_record_json(j, "record", &s->recorded.story.record);
	} else {
		jw_null(j, "state");
		jw_null(j, "record");
	}
	print_peers(j, k->run, k->now);
	jw_object_end(j);
}

int list_json(FILE *out, const struct tracker *k, const struct subject *s, const struct tree *tree,
	      struct err *err)
{
	struct printer p = {
		.k = k,
		.options = {.host = &k->now->host, .run = k->run, .suspects = true},
	};
	int r;

	p.j = jw_open(out, false);
	if (!p.j)
		return err_nomem(err);
	jw_object(p.j, NULL);
	jw_str(p.j, "schema", "stray.list/1");
	time_json(p.j, "taken_at", k->now->host.wall_ns);
	coverage_json(p.j, &k->now->coverage);
	print_run(p.j, k, s);
	jw_uint(p.j, "suspects", k->suspects);
	jw_uint(p.j, "processes_total", k->now->procs.n);
	jw_array(p.j, "sessions");
	r = print_rows(&p, tree, err);
	if (r < 0) {
		jw_discard(p.j);
		return r;
	}
	jw_array_end(p.j);
	jw_object_end(p.j);
	r = jw_close(p.j);
	return r < 0 ? err_errno(err, -r, "the list could not be written") : 0;
}
