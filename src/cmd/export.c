#include "cmd/cmd.h"

#include "base/clock.h"
#include "engine/recorded.h"
#include "record/export.h"
#include "record/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CANDIDATES_MAX 20 /* ids that are named where none was given */

enum { OPT_FORMAT = 256 };

static const struct cmd_option options[] = {
	{OPT_FORMAT, "format", "FORMAT", "md (Markdown, the default) or json"},
	{'o', "output", "FILE", "write to FILE, which must not exist (default: stdout)"},
	{0, NULL, NULL, NULL},
};

struct exporting {
	struct cmd_common common;
	const char *path;
	bool json;
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct exporting *e = ctx;

	if (id == 'o')
		e->path = arg;
	else if (strcmp(arg, "md") == 0 || strcmp(arg, "json") == 0)
		e->json = *arg == 'j';
	else
		return err_set(err, EINVAL, "--format: md or json, not '%s'", arg);
	return 0;
}

/* export never chooses by itself which run it tells of. */
static int name_candidates(const struct statedir *s, struct err *err)
{
	struct rundir_list l;
	int r = rundir_list(s, &l, err);

	if (r < 0)
		return r;
	r = err_set(err, EINVAL,
		    l.n ? "export: which RUN?" : "export: no run is recorded in %.200s",
		    statedir_path(s));
	cmd_trouble(err);
	for (size_t i = 0; i < l.n && i < CANDIDATES_MAX; i++)
		fprintf(stderr, "  %s\n", l.v[i]);
	if (l.n > CANDIDATES_MAX)
		fprintf(stderr, "  and %zu more\n", l.n - CANDIDATES_MAX);
	rundir_list_clear(&l);
	return r;
}

static int write_to(const struct exporting *e, FILE *out, const struct export *x, struct err *err)
{
	return e->json || e->common.json ? export_json(out, x, err) : export_markdown(out, x, err);
}

static int write_out(const struct exporting *e, const struct export *x, struct err *err)
{
	struct outfile file = {0};
	int r;

	if (!e->path)
		return write_to(e, stdout, x, err);
	r = outfile_create(AT_FDCWD, e->path, &file, err);
	if (!r)
		r = write_to(e, file.stream, x, err);
	if (!r)
		r = outfile_finish(&file, err);
	outfile_discard(&file);
	return r;
}

static int export_run(const struct exporting *e, const struct statedir *s, const char *run,
		      struct err *err)
{
	char id[RUN_ID_MAX + 1];
	struct export *x = NULL;
	int r = rundir_find(s, cmd_run_name(run), id, err);

	if (!r)
		r = export_read(s, id, clock_wall_ns(), &x, err);
	if (!r)
		r = write_out(e, x, err);
	if (!r && export_fault(x)) /* the file says so first, but who looks into it now? */
		cmd_troublef("export: THE JOURNAL DOES NOT HOLD, exported up to its fault: %s",
			     export_fault(x));
	export_free(x);
	return r;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct exporting e = {0};
	struct statedir *s = NULL;
	struct err err = {0};
	int rest, r;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &e.common, set_option, &e, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc > rest + 1)
		return cmd_troublef("export: one RUN at a time");
	r = recorded_state_dir(e.common.state_dir, STATEDIR_READ, &s, &err);
	if (r == -ENOENT && argc > rest) {
		err_clear(&err);
		r = recorded_none(argv[rest], &err);
	}
	if (r < 0)
		return cmd_trouble(&err);
	if (rest == argc) {
		r = name_candidates(s, &err);
		if (r != -EINVAL)
			cmd_trouble(&err);
	} else {
		r = export_run(&e, s, argv[rest], &err);
		if (r < 0)
			cmd_trouble(&err);
	}
	statedir_close(s);
	return r < 0 ? STATUS_TROUBLE : STATUS_OK;
}

const struct cmd cmd_export = {
	.name = "export",
	.args = "[--format md|json] [-o FILE] RUN",
	.summary = "the incident record of a recorded run",
	.example = "stray export run-7f3c0a12 -o incident.md",
	.options = options,
	.run = run,
};
