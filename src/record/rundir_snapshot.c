#include "record/rundir.h"

#include "record/digest.h"
#include "record/outfile.h"

#include <errno.h>
#include <string.h>

#define BEFORE "before"
#define AFTER "after"
#define SAME_KIND_MAX 1000 /* a run is closed once, or once for each act on what is left */

/* "after.json", "after-2.json" ... */
static void name_nth(const char *kind, unsigned n, char *name, size_t size)
{
	if (n > 1)
		snprintf(name, size, "%s-%u.json", kind, n);
	else
		snprintf(name, size, "%s.json", kind);
}

bool rundir_is_snapshot(const char *name)
{
	char expected[sizeof(((struct rundir_file *)0)->name)];
	unsigned n = 1;

	if (strcmp(name, BEFORE ".json") == 0)
		return true;
	sscanf(name, AFTER "-%u", &n);
	name_nth(AFTER, n, expected, sizeof(expected));
	return strcmp(name, expected) == 0;
}

static int write_nth(const struct rundir *d, const char *kind, unsigned n, const struct table *t,
		     const struct identity *members, size_t n_members,
		     const struct snapshot_options *options, struct rundir_file *out,
		     struct err *err)
{
	struct outfile f;
	int r;

	name_nth(kind, n, out->name, sizeof(out->name));
	r = outfile_create(d->fd, out->name, &f, err);
	if (r < 0)
		return r;
	r = snapshot_write(f.stream, t, members, n_members, options, err);
	if (r < 0)
		outfile_discard(&f);
	else
		r = outfile_finish(&f, err);
	return r ? r : digest_file(d->fd, out->name, out->sha256, NULL, err);
}

int rundir_before(const struct rundir *d, const struct table *t, const struct identity *members,
		  size_t n_members, const struct process_json_options *options,
		  struct rundir_file *out, struct err *err)
{
	const struct snapshot_options o = {.pretty = true, .process = *options};

	return write_nth(d, BEFORE, 1, t, members, n_members, &o, out, err);
}

int rundir_after(const struct rundir *d, const struct table *t, const struct identity *members,
		 size_t n_members, const struct process_json_options *options,
		 struct rundir_file *out, struct err *err)
{
	const struct snapshot_options o = {.pretty = true, .process = *options};
	int r = -EEXIST;

	for (unsigned n = 1; r == -EEXIST && n <= SAME_KIND_MAX; n++) {
		struct err why = {0};

		r = write_nth(d, AFTER, n, t, members, n_members, &o, out, &why);
		if (r < 0 && r != -EEXIST)
			return err_set(err, why.code, "%s", why.text);
	}
	return r ? err_set(err, EMFILE, "%.150s: holds %d files " AFTER "-N.json already", d->path,
			   SAME_KIND_MAX)
		 : 0;
}
