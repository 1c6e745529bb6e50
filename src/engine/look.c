#include "engine/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int look_open(struct look *look, const struct source_options *options, struct err *err)
{
	memset(look, 0, sizeof(*look));
	look->recorded = options->replay != NULL;
	tracker_init(&look->tracker);
	return reader_open(options, &look->reader, err);
}

void look_close(struct look *look)
{
	tracker_free(&look->tracker);
	reader_close(look->reader);
	ends_reader_free(look->ends);
	look->reader = NULL;
	look->ends = NULL;
}

static bool is_watched(const struct process *p, bool member)
{
	return member ? p->evidence : p->suspect && !p->evidence;
}

/* Those that fit into room, others at each scan; returns how many. */
static size_t take_turn(const struct tracker *k, bool members, size_t room, struct identity *out)
{
	const struct table *t = k->now;
	size_t all = 0, n = 0, at = 0, skip;

	for (size_t i = 0; t && i < t->procs.n; i++)
		all += is_watched(&t->procs.v[i], members);
	skip = all > room ? k->scans * room % all : 0;
	for (size_t i = 0; n < room && n < all && i < t->procs.n; i++)
		if (is_watched(&t->procs.v[i], members) && (at++ + all - skip) % all < room)
			out[n++] = t->procs.v[i].id;
	return n;
}

ssize_t look_watched(const struct tracker *k, struct identity **out)
{
	size_t n;

	*out = malloc(LOOK_WATCH_MAX * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	n = take_turn(k, true, LOOK_WATCH_MAX, *out);
	n += take_turn(k, false, LOOK_WATCH_MAX - n, *out + n);
	return (ssize_t)n;
}

static int watch(const struct look *look, struct source *source)
{
	struct identity *ids;
	ssize_t n = look_watched(&look->tracker, &ids);
	int r = n < 0 ? -ENOMEM : source_watch(source, ids, (size_t)n);

	free(ids);
	return r;
}

void look_wanted(const struct tracker *k, struct look_wanted *out)
{
	out->ends = ends_wanted(k->run);
	spoken_wanted(k->run, k->now, k->scans, &out->spoken);
}

int look_read_wanted(struct ends_reader *r, const struct look_wanted *w, struct table *t)
{
	int rc = ends_read(r, &w->ends, t);

	return rc < 0 ? rc : spoken_read(&w->spoken, t);
}

/* Another look of the same run (an act's) may have read it already: seeded with that. */
static int read_ends(struct look *look, struct table *t)
{
	struct ends_wanted w = ends_wanted(look->tracker.run);

	if (look->recorded || !identity_known(w.root))
		return 0;
	if (!look->ends) {
		look->ends = ends_reader_new();
		if (!look->ends)
			return -ENOMEM;
		if (look->tracker.now && ends_reader_seed(look->ends, &w, look->tracker.now) < 0)
			return -ENOMEM;
	}
	return ends_read(look->ends, &w, t);
}

static int read_spoken(const struct look *look, struct table *t)
{
	struct spoken_wanted w;

	if (look->recorded)
		return 0;
	spoken_wanted(look->tracker.run, look->tracker.now, look->tracker.scans, &w);
	return spoken_read(&w, t);
}

int look_scan(struct look *look, struct table **scan, struct err *err)
{
	struct err why = {0};
	struct source *source = reader_source(look->reader, &why);
	int r = source ? 0 : err_set(err, why.code, "%s", why.text);

	if (r)
		return r;
	if (!look->recorded && watch(look, source) < 0)
		return err_nomem(err);
	source_reuse(source, tracker_take_spare(&look->tracker));
	r = reader_begin(look->reader, NULL, 0, err);
	if (!r)
		r = reader_await(look->reader, scan, err);
	if (r)
		return r;
	if (read_ends(look, *scan) < 0 || read_spoken(look, *scan) < 0) {
		table_free(*scan);
		return err_nomem(err);
	}
	return 0;
}

int look_fold(struct look *look, struct table *scan, struct err *err)
{
	return tracker_fold(&look->tracker, scan, err);
}

int look_again(struct look *look, struct err *err)
{
	struct table *scan;
	int r = look_scan(look, &scan, err);

	return r ? r : look_fold(look, scan, err);
}

int look_set_run(struct look *look, struct run *run, struct err *err)
{
	int r;

	look->tracker.run = run;
	if (run && !look->recorded && !run->ends_asked)
		ends_ask(run);
	if (read_ends(look, look->tracker.now) < 0)
		return err_nomem(err);
	r = tracker_set_run(&look->tracker, run, err);
	if (r < 0)
		return r;
	if (read_spoken(look, look->tracker.now) < 0) /* only now: who its members are is known */
		return err_nomem(err);
	return tracker_judge(&look->tracker, err);
}
