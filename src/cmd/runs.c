#include "cmd/cmd.h"

#include "base/clock.h"
#include "engine/look.h"
#include "engine/runs.h"

#include <errno.h>
#include <string.h>

enum { OPT_PRUNE = 300, OPT_OLDER };

static const struct cmd_option options[] = {
	{OPT_PRUNE, "prune", NULL, "remove those that are over (the ledger keeps their heads)"},
	{OPT_OLDER, "older-than", "DUR", "with --prune: over for longer than this (30d)"},
	{0, NULL, NULL, NULL},
};

#define OLDER_DEFAULT_NS (30ull * 24 * 3600 * CLOCK_NS_PER_S)

struct listing {
	struct cmd_common common;
	bool prune;
	uint64_t older_ns;
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct listing *l = ctx;

	if (id == OPT_PRUNE) {
		l->prune = true;
		return 0;
	}
	return clock_parse_duration(arg, &l->older_ns) == 0
		       ? 0
		       : err_set(err, EINVAL, "--older-than: not a duration '%s': try 30d or 12h",
				 arg);
}

static enum role role_of(enum run_state s)
{
	switch (s) {
	case RUN_SURVIVED:
	case RUN_LEFTOVER:
	case RUN_LOST:
		return ROLE_SURVIVOR;
	case RUN_EXPIRED:
	case RUN_ENDING:
		return ROLE_SUSPECT;
	case RUN_ENDED:
	case RUN_FINISHED:
		return ROLE_GOOD;
	default:
		return ROLE_NORMAL;
	}
}

static void print_age(struct line *o, uint64_t then_ns, uint64_t now_ns)
{
	char age[16] = "?";

	if (then_ns && now_ns >= then_ns)
		clock_age((now_ns - then_ns) / CLOCK_NS_PER_S, age);
	line_put(o, ROLE_NORMAL, "%7s ", age);
}

/* What it runs, as the record has it. */
static void print_command(struct line *o, const struct run_record *r)
{
	size_t at = 0;

	if (!r->args.len) {
		line_put(o, ROLE_DIM, "%s", r->target);
		return;
	}
	while (at < r->args.len) {
		size_t len = strnlen(r->args.data + at, r->args.len - at);

		line_safe(o, ROLE_NORMAL, r->args.data + at, len);
		line_put(o, ROLE_NORMAL, " ");
		at += len + 1;
	}
}

static void print_item(struct line *o, const struct runs_item *item, uint64_t now_ns)
{
	const struct story *s = &item->recorded.story;

	line_put(o, ROLE_HEAD, "%-14s ", item->id);
	if (item->err.code && item->err.code != EBADMSG) {
		line_put(o, ROLE_SURVIVOR, "not readable: %s", item->err.text);
		line_end(o);
		return;
	}
	line_put(o, role_of(item->state), "%-8s ", run_state_name(item->state));
	print_age(o, run_record_began(&s->record), now_ns);
	if (item->here)
		line_put(o, item->alive ? ROLE_NORMAL : ROLE_DIM, "%5zu ", item->alive);
	else
		line_put(o, ROLE_DIM, "%5s ", "?");
	line_put(o, ROLE_DIM, "%-7s ", item->watched > 0 ? "watched" : "");
	print_command(o, &s->record);
	if (item->others)
		line_put(o, ROLE_DIM, " (recorded by who called sudo)");
	if (!item->here)
		line_put(o, ROLE_DIM, " (of another boot or PID namespace)");
	line_end(o);
	if (item->err.code) {
		line_put(o, ROLE_SURVIVOR, "  %s", item->err.text);
		line_end(o);
	}
}

static int print_text(const struct listing *l, const struct runs *runs, struct err *err)
{
	uint64_t now = clock_wall_ns();
	struct line o;

	cmd_line_init(&l->common, &o);
	if (!runs->n)
		line_put(&o, ROLE_NORMAL, "no recorded runs: stray adopt makes one");
	else
		line_put(&o, ROLE_DIM, "%-14s %-8s %7s %5s %-7s %s", "RUN", "STATE", "AGE", "ALIVE",
			 "", "COMMAND");
	line_end(&o);
	for (size_t i = 0; i < runs->n; i++)
		print_item(&o, &runs->v[i], now);
	return cmd_line_finish(&o, err);
}

static void json_item(struct jw *j, const struct runs_item *item)
{
	const struct journal_verdict *v = &item->recorded.story.verdict;
	bool read = !item->err.code || item->err.code == EBADMSG;

	jw_object(j, NULL);
	jw_str(j, "run_id", item->id);
	if (read) {
		run_record_json(j, "record", &item->recorded.story.record);
		jw_str(j, "state", run_state_name(item->state));
	} else {
		jw_null(j, "record");
		jw_null(j, "state");
	}
	if (item->here)
		jw_uint(j, "alive", item->alive);
	else
		jw_null(j, "alive");
	if (item->watched < 0)
		jw_null(j, "watched");
	else
		jw_bool(j, "watched", item->watched);
	jw_str(j, "head", read && v->seq ? v->head : NULL);
	jw_uint(j, "seq", v->seq);
	jw_str(j, "error", item->err.code ? item->err.text : NULL);
	jw_object_end(j);
}

static int print_json(const struct runs *runs, struct err *err)
{
	struct jw *j = jw_open(stdout, false);
	int r;

	if (!j)
		return err_nomem(err);
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.runs/1");
	jw_array(j, "runs");
	for (size_t i = 0; i < runs->n; i++)
		json_item(j, &runs->v[i]);
	jw_array_end(j);
	jw_object_end(j);
	r = jw_close(j);
	return r < 0 ? err_errno(err, -r, "stdout") : 0;
}

static bool is_over(const struct runs_item *item, uint64_t before_ns)
{
	return !item->others && (item->state == RUN_ENDED || item->state == RUN_FINISHED) &&
	       !item->alive && item->watched == 0 && item->recorded.story.last_wall_ns &&
	       item->recorded.story.last_wall_ns < before_ns;
}

static int sweep(const struct listing *l, struct err *err)
{
	struct statedir *s = NULL;
	int r = recorded_state_dir(l->common.state_dir, STATEDIR_WRITE, &s, err);

	if (!r)
		r = rundir_sweep(s, err);
	statedir_close(s);
	return r;
}

static int prune(const struct listing *l, const struct runs *runs, struct err *err)
{
	uint64_t now = clock_wall_ns(), before = now > l->older_ns ? now - l->older_ns : 0;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; !r && i < runs->n; i++) {
		if (!is_over(&runs->v[i], before))
			continue;
		r = recorded_prune(l->common.state_dir, runs->v[i].id, err);
		n += !r;
	}
	if (!r && runs->n)
		r = sweep(l, err);
	if (!r)
		printf("%zu removed, %zu kept\n", n, runs->n - n);
	return r;
}

static int list(const struct listing *l, struct err *err)
{
	struct source_options o;
	struct look look = {0};
	struct runs runs = {0};
	int r = cmd_source_options(&l->common, NULL, &o, err);

	o.candidate_details = 0;
	o.details = DETAIL_CGROUP | DETAIL_LOGIN | DETAIL_ENVIRON;
	if (!r)
		r = look_open(&look, &o, err);
	if (!r)
		r = look_again(&look, err);
	if (!r)
		r = runs_load(l->common.state_dir, &look.tracker, NULL, NULL, &runs, err);
	if (!r)
		r = l->prune
			    ? prune(l, &runs, err)
			    : (l->common.json ? print_json(&runs, err) : print_text(l, &runs, err));
	runs_clear(&runs);
	look_close(&look);
	return r;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct listing l = {.older_ns = OLDER_DEFAULT_NS};
	struct err err = {0};
	int rest;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &l.common, set_option, &l, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc > rest)
		return cmd_troublef("runs: takes no TARGET: stray list run:ID shows one");
	return list(&l, &err) < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_runs = {
	.name = "runs",
	.args = "",
	.summary = "the recorded runs and their states",
	.example = "stray runs --prune --older-than 30d",
	.options = options,
	.run = run,
};
