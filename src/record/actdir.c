#include "record/actdir.h"

#include "base/file.h"
#include "record/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SAME_SECOND_MAX 1000 /* acts on one group within one second */
#define FILES_MAX 64         /* looks after it, and the five others */
#define NAME_SIZE 64

struct actdir {
	char *path; /* owned */
	int acts;   /* STATE/acts */
	int fd;
	char name[NAME_SIZE];
	char files[FILES_MAX][24];
	size_t n_files;
	unsigned afters;
	char after[24]; /* the last of them */
};

/* What one of the files holds, written to out. */
typedef int write_fn(const void *ctx, FILE *out, struct err *err);

static int write_file(struct actdir *a, const char *name, write_fn *fn, const void *ctx,
		      struct err *err)
{
	struct outfile f;
	int r;

	if (a->n_files >= FILES_MAX)
		return err_set(err, EMFILE, "%.150s: holds %d files already", a->path, FILES_MAX);
	r = outfile_create(a->fd, name, &f, err);
	if (r < 0)
		return r;
	r = fn(ctx, f.stream, err);
	if (r < 0)
		outfile_discard(&f);
	else
		r = outfile_finish(&f, err);
	if (!r)
		snprintf(a->files[a->n_files++], sizeof(a->files[0]), "%s", name);
	return r;
}

static int write_intent(const void *ctx, FILE *out, struct err *err)
{
	return intent_json(out, ctx, err);
}

static int make_unique(struct actdir *a, const struct intent *i, struct err *err)
{
	pid_t number = i->number || !i->n_aimed ? i->number : i->aimed[0].id.pid;
	time_t s = (time_t)(i->wall_ns / 1000000000);
	char when[20];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(a->name, sizeof(a->name), "%s-%d", when, (int)number);
	for (int n = 2; mkdirat(a->acts, a->name, 0700) < 0; n++) {
		if (errno != EEXIST || n > SAME_SECOND_MAX)
			return err_errno(err, errno, "acts/%s: cannot be made", a->name);
		snprintf(a->name, sizeof(a->name), "%s-%d-%d", when, (int)number, n);
	}
	return 0;
}

static int make(struct actdir *a, const struct statedir *s, const struct intent *i, struct err *err)
{
	int r = statedir_subdir(s, "acts", &a->acts, err);

	if (!r)
		r = make_unique(a, i, err);
	if (r < 0)
		return r;
	if (asprintf(&a->path, "%s/acts/%s", statedir_path(s), a->name) < 0) {
		a->path = NULL;
		r = err_nomem(err);
	}
	if (!r)
		a->fd = openat(a->acts, a->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!r && (a->fd < 0 || fsync(a->acts) < 0))
		r = err_errno(err, errno, "%.150s", a->path);
	if (!r)
		r = write_file(a, "intent.json", write_intent, i, err);
	if (r < 0)
		unlinkat(a->acts, a->name, AT_REMOVEDIR);
	return r;
}

int actdir_open(const struct statedir *s, const struct intent *i, struct actdir **out,
		struct err *err)
{
	struct actdir *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return err_nomem(err);
	a->acts = a->fd = -1;
	r = make(a, s, i, err);
	if (r < 0)
		actdir_close(a);
	else
		*out = a;
	return r;
}

const char *actdir_path(const struct actdir *a)
{
	return a->path;
}

int actdir_fd(const struct actdir *a)
{
	return a->fd;
}

int actdir_journal(struct actdir *a, struct journal **out, struct err *err)
{
	int r = journal_create(a->fd, "journal.jsonl", JOURNAL_SCHEMA, out, err);

	if (r < 0)
		return r;
	r = file_sync(a->fd);
	if (r < 0) {
		journal_close(*out);
		*out = NULL;
		return err_errno(err, -r, "%.150s", a->path);
	}
	snprintf(a->files[a->n_files++], sizeof(a->files[0]), "journal.jsonl");
	return 0;
}

struct part {
	const struct table *t;
	const struct identity *members;
	size_t n_members;
	const struct process_json_options *process;
};

static int write_part(const void *ctx, FILE *out, struct err *err)
{
	const struct part *p = ctx;
	struct snapshot_options options = {.pretty = true};

	if (p->process)
		options.process = *p->process;
	return snapshot_write(out, p->t, p->members, p->n_members, &options, err);
}

int actdir_before(struct actdir *a, const struct table *t, const struct identity *members,
		  size_t n_members, const struct process_json_options *options, struct err *err)
{
	const struct part part = {t, members, n_members, options};

	return write_file(a, "before.json", write_part, &part, err);
}

static void after_name(unsigned n, char *name, size_t size)
{
	if (n > 1)
		snprintf(name, size, "after-%u.json", n);
	else
		snprintf(name, size, "after.json");
}

const char *actdir_after_name(const struct actdir *a)
{
	return a->after;
}

int actdir_after(struct actdir *a, const struct table *t, const struct identity *members,
		 size_t n_members, const struct process_json_options *options, struct err *err)
{
	const struct part part = {t, members, n_members, options};
	int r;

	after_name(a->afters + 1, a->after, sizeof(a->after));
	r = write_file(a, a->after, write_part, &part, err);
	if (!r)
		a->afters++;
	return r;
}

struct comparison {
	const struct diff *d;
	const struct process_json_options *process;
};

static int write_comparison(const void *ctx, FILE *out, struct err *err)
{
	const struct comparison *c = ctx;
	struct diff_json_options options = {.pretty = true};

	if (c->process)
		options.process = *c->process;
	return diff_json(out, c->d, &options, err);
}

int actdir_diff(struct actdir *a, const struct diff *d, const struct process_json_options *options,
		struct err *err)
{
	const struct comparison c = {d, options};

	return write_file(a, "diff.json", write_comparison, &c, err);
}

struct summary {
	const struct report *report;
	struct report_file files[FILES_MAX];
	size_t n_files;
};

static int write_summary(const void *ctx, FILE *out, struct err *err)
{
	const struct summary *s = ctx;

	return report_write(out, s->report, s->files, s->n_files, err);
}

int actdir_report(struct actdir *a, const struct report *report, struct err *err)
{
	struct summary s = {.report = report, .n_files = a->n_files};

	for (size_t i = 0; i < a->n_files; i++) {
		int r;

		s.files[i].name = a->files[i];
		r = digest_file(a->fd, a->files[i], s.files[i].sha256, &s.files[i].size, err);
		if (r < 0)
			return r;
	}
	return write_file(a, "record.md", write_summary, &s, err);
}

void actdir_close(struct actdir *a)
{
	if (!a)
		return;
	file_close_fd(&a->fd);
	file_close_fd(&a->acts);
	free(a->path);
	free(a);
}

void actdir_abandon(struct actdir *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_files; i++)
		unlinkat(a->fd, a->files[i], 0);
	unlinkat(a->acts, a->name, AT_REMOVEDIR);
	fsync(a->acts);
	actdir_close(a);
}
