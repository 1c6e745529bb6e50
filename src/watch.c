/* stray watch: parses like a command of cmd/, runs the view of tui/. */
#include "watch.h"

#include "cmd/cmd.h"
#include "tui/app.h"
#include "watch_batch.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_READONLY = 300, OPT_BATCH, OPT_NEXT };

#define DELAY_DEFAULT_MS 1000
#define PIDS_MAX 256

static const struct cmd_option options[] = {
	{'d', "delay", "TENTHS", "tenths of a second between two looks (10)"},
	{'u', "user", "USER", "only this user's processes"},
	{'p', "pid", "PID,...", "only these processes"},
	{'M', "no-mouse", NULL, "leave the mouse to the terminal"},
	{'U', "no-unicode", NULL, "draw with ASCII only"},
	{OPT_BATCH, "batch", NULL, "watch a recorded run off a terminal, and print its events"},
	{OPT_NEXT, "next", NULL, "wait for the next run to be recorded"},
	{OPT_READONLY, "readonly", NULL, "acts are absent"},
	{0, NULL, NULL, NULL},
};

struct watch {
	struct app_options app;
	pid_t pids[PIDS_MAX];
	bool batch;
};

static int parse_delay(const char *arg, unsigned *ms, struct err *err)
{
	char *end;
	long tenths = strtol(arg, &end, 10);

	if (end == arg || *end || tenths < 1 || tenths > 36000)
		return err_set(err, EINVAL, "-d: tenths of a second, 1 to 36000, not '%s'", arg);
	*ms = (unsigned)tenths * 100;
	return 0;
}

static int parse_pids(struct watch *w, const char *arg, struct err *err)
{
	const char *at = arg;
	char *end;

	do {
		long pid = strtol(at, &end, 10);

		if (end == at || pid < 1 || pid > INT32_MAX || (*end && *end != ','))
			return err_set(err, EINVAL, "-p: PIDs with commas between, not '%s'", arg);
		if (w->app.n_pids == PIDS_MAX)
			return err_set(err, EINVAL, "-p: at most %d PIDs", PIDS_MAX);
		w->pids[w->app.n_pids++] = (pid_t)pid;
		at = end + 1;
	} while (*end);
	w->app.pids = w->pids;
	return 0;
}

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct watch *w = ctx;

	switch (id) {
	case 'd':
		return parse_delay(arg, &w->app.delay_ms, err);
	case 'u':
		w->app.user = arg;
		return 0;
	case 'p':
		return parse_pids(w, arg, err);
	case 'M':
		w->app.mouse = false;
		return 0;
	case 'U':
		w->app.ascii = true;
		return 0;
	case OPT_READONLY:
		w->app.readonly = true;
		return 0;
	case OPT_BATCH:
		w->batch = true;
		return 0;
	case OPT_NEXT:
		w->app.next = true;
		return 0;
	default:
		return err_set(err, EINVAL, "unknown option");
	}
}

static int batch(const struct watch *w, const struct cmd_common *common,
		 const struct selector *target, struct err *err)
{
	struct batch_options o = {
		.common = common,
		.source = &w->app.source,
		.listen = w->app.listen,
		.next = w->app.next,
		.delay_ms = w->app.delay_ms,
	};

	if (w->app.source.replay)
		return err_set(err, EINVAL, "watch --batch: a replayed file does not go on");
	if (w->app.user || w->app.n_pids || w->app.readonly)
		return err_set(err, EINVAL,
			       "watch --batch: -u, -p and --readonly are the live view's");
	if (target->kind != SELECT_RUN && target->kind != SELECT_NONE)
		return err_set(err, EINVAL,
			       "watch --batch: only a recorded run is watched: stray adopt makes "
			       "one of it first");
	o.name = target->kind == SELECT_RUN ? target->name : NULL;
	return batch_run(&o, err);
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct watch w = {.app = {.mouse = true, .delay_ms = DELAY_DEFAULT_MS}};
	struct cmd_common common;
	struct selector target = {0};
	struct err err = {0};
	const char *no_color = getenv("NO_COLOR");
	int rest, r = 0;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &common, set_option, &w, &rest);

	setlocale(LC_CTYPE, ""); /* for ncurses; what programs read has no comma in its numbers */
	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest > 1)
		return cmd_troublef("watch: one TARGET at most: see stray watch --help");
	if (common.json && !w.batch)
		return cmd_troublef("watch: there is no JSON of a live view: see stray list --json "
				    "and stray watch --batch --json");
	if (w.app.next && argc > rest)
		return cmd_troublef("watch --next: waits for a run that has no name yet");
	if (argc > rest)
		r = selector_parse(argv[rest], &target, &err);
	if (!r)
		r = cmd_source_options(&common, &target, &w.app.source, &err);
	w.app.listen = cmd_listener_how(&common);
	w.app.target = argc > rest ? &target : NULL;
	w.app.state_dir = common.state_dir;
	w.app.source_words = w.app.source.replay ? common.source : "/proc";
	w.app.mono = common.color == COLOR_NEVER ||
		     (common.color == COLOR_AUTO && no_color && *no_color);
	if (!r)
		r = w.batch ? batch(&w, &common, &target, &err) : app_run(&w.app, &err);
	selector_free(&target);
	return r < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_watch = {
	.name = "watch",
	.args = "[TARGET]",
	.summary = "the live view (needs a terminal; --batch does not)",
	.example = "stray watch -u op",
	.options = options,
	.run = run,
};
