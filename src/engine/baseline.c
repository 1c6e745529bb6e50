#include "engine/baseline.h"

#include "base/clock.h"
#include "base/vec.h"
#include "engine/reader.h"
#include "model/origin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BASELINE_DETAILS (DETAIL_COMM | DETAIL_CMDLINE | DETAIL_EXE | DETAIL_CWD | DETAIL_CGROUP)

#define HANG_NS 250000000ull /* for which one process may hold up the command's begin */
#define HALF_MIN 256         /* processes that another thread is worth while for: some 10 ms */

struct baseline {
	struct reader *reader; /* the second scan reads the details of new ones only */
	struct table *before;
};

void baseline_free(struct baseline *b)
{
	if (!b)
		return;
	reader_close(b->reader);
	table_free(b->before);
	free(b);
}

static int open_reader(struct reader **out, struct err *err)
{
	const struct source_options o = {.details = BASELINE_DETAILS, .lean = true};

	int r = reader_open(&o, out, err);

	if (!r)
		reader_patience(*out, HANG_NS);
	return r;
}

/* Adds what `from` has to b->before, and frees it. */
static int take_over(struct baseline *b, struct table *from, struct err *err)
{
	bool ok = true;

	for (size_t i = 0; ok && i < from->procs.n; i++)
		ok = table_add(b->before, &from->procs.v[i]);
	table_free(from);
	return ok ? 0 : err_nomem(err);
}

/* The command waits for it: where there are many processes two threads read them. */
static int scan(struct baseline *b, struct err *err)
{
	struct pid_list all = {0};
	struct reader *other = NULL;
	struct table *rest = NULL;
	int r = source_list(reader_source(b->reader, err), &all, err); /* it was opened just now */
	size_t first = all.n < 2 * HALF_MIN ? all.n : all.n / 2;

	if (!r && first < all.n)
		r = open_reader(&other, err);
	if (!r && other)
		r = reader_begin(other, all.v + first, all.n - first, err);
	if (!r)
		r = reader_begin(b->reader, all.v, first, err);
	if (!r)
		r = reader_await(b->reader, &b->before, err);
	if (!r && other)
		r = reader_await(other, &rest, err);
	if (!r && other)
		r = take_over(b, rest, err);
	reader_close(other);
	free(all.v);
	return r;
}

int baseline_take(struct baseline **out, struct err *err)
{
	struct baseline *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return err_nomem(err);
	r = open_reader(&b->reader, err);
	if (!r)
		r = scan(b, err);
	if (r < 0)
		baseline_free(b);
	else
		*out = b;
	return r;
}

static bool is_ours(const struct baseline_known *known, struct identity id)
{
	return known->n_ours &&
	       bsearch(&id, known->ours, known->n_ours, sizeof(id), identity_order);
}

static bool is_old(const struct table *t, const struct process *p)
{
	uint64_t ticks = host_now_ticks(&t->host);
	uint64_t age = ticks > p->id.start ? ticks - p->id.start : 0;

	return age * (CLOCK_NS_PER_S / (uint64_t)t->host.ticks_per_second) >= BASELINE_AGE_NS;
}

/* The same file run the same way from the same place. */
static bool is_same_work(const struct process *a, const struct process *b)
{
	const struct detail *x = a->detail, *y = b->detail;

	return x && y && x->exe.data && x->cmdline.data && x->cwd.data &&
	       bytes_same(&x->exe, &y->exe) && bytes_same(&x->cmdline, &y->cmdline) &&
	       bytes_same(&x->cwd, &y->cwd);
}

static bool copy_into(struct table *to, const struct process *p)
{
	struct process copy;

	return process_copy(&copy, p) && table_add(to, &copy);
}

static bool is_among(const pid_t *pids, size_t n, pid_t pid)
{
	return n && bsearch(&pid, pids, n, sizeof(pid), pid_order);
}

/* Those of `in` that are alive and not in `other`. */
static int collect(const struct table *in, const struct table *other,
		   const struct baseline_known *known, struct table *to)
{
	for (size_t i = 0; i < in->procs.n; i++) {
		const struct process *p = &in->procs.v[i];
		const struct process *q = table_find(other, p->id);

		if (process_is_kthread(p) || process_is_dead(p) || is_ours(known, p->id))
			continue;
		if (known->others_known && !is_among(known->others, known->n_others, p->id.pid))
			continue;
		if (q && !process_is_dead(q))
			continue;
		if (identity_same(p->id, in->host.self))
			continue;
		if (!copy_into(to, p))
			return -ENOMEM;
	}
	return 0;
}

/* One that went and one that came: moved to the end of their tables, as pairs. */
static int pair(const struct baseline *b, struct baseline_diff *d)
{
	size_t n = d->removed->procs.n;
	bool *taken = calloc(d->added->procs.n + 1, sizeof(*taken));

	d->restarted = calloc(n + 1, sizeof(*d->restarted));
	if (!taken || !d->restarted) {
		free(taken);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		struct process *p = &d->removed->procs.v[i];
		bool found = false;

		for (size_t k = 0; !found && k < d->added->procs.n; k++) {
			struct process *q = &d->added->procs.v[k];

			found = !taken[k] && is_same_work(p, q);
			if (found) {
				taken[k] = true;
				d->restarted[d->n_restarted].before = p;
				d->restarted[d->n_restarted++].after = q;
			}
		}
		if (!found && !is_old(b->before, p))
			d->other_removed++;
	}
	d->other_added = d->added->procs.n - d->n_restarted;
	free(taken);
	return 0;
}

/* What started each of those that went. */
static int name_units(const struct baseline *b, struct baseline_diff *d)
{
	origin_note_init(&d->removed->host, table_pid(b->before, 1));
	for (size_t i = 0; i < d->removed->procs.n; i++)
		if (origin_judge_one(&d->removed->host, &d->removed->procs.v[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int begin_diff(struct baseline_diff *out, struct err *err)
{
	*out = (struct baseline_diff){.removed = table_new(), .added = table_new()};
	if (out->removed && out->added)
		return 0;
	baseline_diff_clear(out);
	return err_nomem(err);
}

int baseline_compare(struct baseline *b, const struct baseline_known *known,
		     struct baseline_diff *out, struct err *err)
{
	struct table *now = NULL;
	int r;

	memset(out, 0, sizeof(*out));
	if (known->others_known && !known->n_others)
		return begin_diff(out, err);
	r = reader_begin(b->reader, known->others_known ? known->others : NULL, known->n_others,
			 err);
	if (!r)
		r = reader_await(b->reader, &now, err);
	if (!r)
		r = begin_diff(out, err);
	if (r) {
		table_free(now);
		return r;
	}
	if (collect(b->before, now, known, out->removed) < 0 ||
	    collect(now, b->before, known, out->added) < 0 || pair(b, out) < 0)
		r = err_nomem(err);
	if (!r) {
		out->removed->host = b->before->host;
		memset(&out->removed->host.logins, 0, sizeof(out->removed->host.logins));
		out->added->host = out->removed->host;
		if (name_units(b, out) < 0)
			r = err_nomem(err);
	}
	table_free(now);
	if (r < 0)
		baseline_diff_clear(out);
	return r;
}

bool baseline_is_removed(const struct baseline_diff *d, const struct process *p)
{
	for (size_t i = 0; i < d->n_restarted; i++)
		if (d->restarted[i].before == p)
			return false;
	return is_old(d->removed, p);
}

void baseline_diff_clear(struct baseline_diff *d)
{
	table_free(d->removed);
	table_free(d->added);
	free(d->restarted);
	memset(d, 0, sizeof(*d));
}
