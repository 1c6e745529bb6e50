#include "cmd/cmd.h"

#include "model/lineage.h"
#include "model/origin.h"
#include "record/outfile.h"
#include "record/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const struct cmd_option options[] = {
	{'o', "output", "FILE", "write to FILE, which must not exist (default: stdout)"},
	{0, NULL, NULL, NULL},
};

struct snap {
	struct cmd_common common;
	const char *path;
	FILE *out;
	struct snapshot_options options;
	struct snapshot *snapshot;
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct snap *s = ctx;

	(void)id;
	(void)err;
	s->path = arg;
	return 0;
}

/* One process goes to the file and is forgotten. */
static int write_process(void *ctx, const struct host *host, struct process *p, struct err *err)
{
	struct snap *s = ctx;

	if (!s->snapshot)
		s->snapshot = snapshot_begin(s->out, host, &s->options, err);
	if (!s->snapshot)
		return -ENOMEM;
	if (origin_judge_one(host, p) < 0)
		return err_nomem(err);
	return snapshot_add(s->snapshot, p, err);
}

static int stream(struct snap *s, struct source *source, struct err *err)
{
	struct host host = {0};
	struct coverage coverage;
	int r = source_each(source, write_process, s, &host, &coverage, err);

	if (!r && !s->snapshot)
		r = err_set(err, ENODATA, "/proc shows no process at all, not even this one");
	if (r) {
		snapshot_discard(s->snapshot);
	} else {
		coverage.first_scan_wall_ns = host.wall_ns;
		r = snapshot_end(s->snapshot, &coverage, err);
	}
	free(host.logins.v);
	return r;
}

static int snap(struct snap *s, struct err *err)
{
	struct source_options o;
	struct source *source = NULL;
	struct outfile file = {0};
	int r = cmd_source_options(&s->common, NULL, &o, err);

	o.details = DETAIL_ALL;
	o.candidate_details = 0;
	if (!r)
		r = source_open(&o, &source, err);
	if (!r && s->path)
		r = outfile_create(AT_FDCWD, s->path, &file, err);
	s->out = s->path ? file.stream : stdout;
	if (!r)
		r = stream(s, source, err);
	if (!r && s->path)
		r = outfile_finish(&file, err);
	outfile_discard(&file);
	source_close(source);
	return r;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct snap s = {0};
	struct err err = {0};
	int rest;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &s.common, set_option, &s, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc > rest)
		return cmd_troublef("snap: takes no TARGET: it holds the whole process table");
	return snap(&s, &err) < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_snap = {
	.name = "snap",
	.args = "[-o FILE]",
	.summary = "the whole process table as JSON",
	.example = "stray snap -o before.json",
	.options = options,
	.run = run,
};
