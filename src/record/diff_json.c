#include "record/diff_json.h"

#include "record/host_json.h"

#include <errno.h>

struct writer {
	struct jw *j;
	const struct diff *d;
	struct process_json_options process;
	struct err *err;
};

static void write_side(struct writer *w, const char *key, const struct table *t)
{
	jw_object(w->j, key);
	host_json(w->j, &t->host);
	coverage_json(w->j, &t->coverage);
	jw_object_end(w->j);
}

/* Of the table t, whose clocks tell when it started. */
static int write_process(struct writer *w, const char *key, const struct process *p,
			 const struct table *t)
{
	w->process.host = &t->host;
	return process_json(w->j, key, p, &w->process, w->err);
}

static int write_list(struct writer *w, const char *key, const struct diff_list *list,
		      const struct table *t)
{
	int r = 0;

	jw_array(w->j, key);
	for (size_t i = 0; i < list->n && !r; i++)
		r = write_process(w, NULL, list->v[i], t);
	jw_array_end(w->j);
	return r;
}

static void write_value(struct writer *w, const char *key, const char *b64_key, int field,
			const struct process *p)
{
	const struct detail *d = p->detail;

	switch (field) {
	case DIFF_PPID:
		process_json_pid(w->j, key, p->ppid);
		break;
	case DIFF_PGID:
		process_json_pid(w->j, key, p->pgid);
		break;
	case DIFF_SID:
		process_json_pid(w->j, key, p->sid);
		break;
	case DIFF_TTY:
		process_json_tty(w->j, key, p->tty_nr);
		break;
	case DIFF_EXE:
		jw_bytes(w->j, key, &d->exe);
		break;
	case DIFF_ARGS:
		process_json_args(w->j, key, b64_key, &d->cmdline);
		break;
	case DIFF_CWD:
		jw_bytes(w->j, key, &d->cwd);
		break;
	case DIFF_UID:
		process_json_uid(w->j, key, d->uid);
		break;
	case DIFF_CGROUP:
		jw_bytes(w->j, key, &d->cgroup);
		break;
	case DIFF_STATE:
		process_json_state(w->j, key, p->state);
		break;
	}
}

static void write_change(struct writer *w, const struct diff_pair *change)
{
	static const struct bytes unknown;
	const struct detail *d = change->after->detail;

	jw_object(w->j, NULL);
	jw_int(w->j, "pid", change->before->id.pid);
	jw_uint(w->j, "start_ticks", change->before->id.start);
	jw_bytes(w->j, "comm", d ? &d->comm : &unknown);
	jw_object(w->j, "fields");
	for (int field = 0; field < DIFF_FIELDS; field++) {
		if (!(change->fields & 1u << field))
			continue;
		jw_object(w->j, diff_field_name(field));
		write_value(w, "from", "from_b64", field, change->before);
		write_value(w, "to", "to_b64", field, change->after);
		jw_object_end(w->j);
	}
	jw_object_end(w->j);
	jw_object_end(w->j);
}

static int write_restarts(struct writer *w)
{
	int r = 0;

	jw_array(w->j, "restarted");
	for (size_t i = 0; i < w->d->restarted.n && !r; i++) {
		jw_object(w->j, NULL);
		r = write_process(w, "before", w->d->restarted.v[i].before, w->d->before);
		if (!r)
			r = write_process(w, "after", w->d->restarted.v[i].after, w->d->after);
		jw_object_end(w->j);
	}
	jw_array_end(w->j);
	return r;
}

static void write_counts(struct writer *w)
{
	jw_uint(w->j, "same", w->d->same);
	jw_object(w->j, "kernel_threads");
	jw_uint(w->j, "before", w->d->kthreads_before);
	jw_uint(w->j, "after", w->d->kthreads_after);
	jw_object_end(w->j);
	if (!w->d->restricted) {
		jw_null(w->j, "elsewhere");
		return;
	}
	jw_object(w->j, "elsewhere");
	jw_uint(w->j, "added", w->d->elsewhere_added);
	jw_uint(w->j, "removed", w->d->elsewhere_removed);
	jw_object_end(w->j);
}

static int write_all(struct writer *w)
{
	int r;

	jw_str(w->j, "schema", DIFF_SCHEMA);
	write_side(w, "before", w->d->before);
	write_side(w, "after", w->d->after);
	r = write_list(w, "added", &w->d->added, w->d->after);
	if (!r)
		r = write_list(w, "removed", &w->d->removed, w->d->before);
	if (r)
		return r;
	jw_array(w->j, "changed");
	for (size_t i = 0; i < w->d->changed.n; i++)
		write_change(w, &w->d->changed.v[i]);
	jw_array_end(w->j);
	r = write_restarts(w);
	write_counts(w);
	return r;
}

int diff_json(FILE *out, const struct diff *d, const struct diff_json_options *options,
	      struct err *err)
{
	struct writer w = {.d = d, .err = err};
	int r;

	w.j = jw_open(out, options && options->pretty);
	if (!w.j)
		return err_nomem(err);
	if (options)
		w.process = options->process;
	jw_object(w.j, NULL);
	r = write_all(&w);
	if (r < 0) {
		jw_discard(w.j);
		return r;
	}
	jw_object_end(w.j);
	r = jw_close(w.j);
	return r < 0 ? err_errno(err, -r, "the diff cannot be written") : 0;
}
