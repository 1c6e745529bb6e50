#include "cmd/cmd.h"

#include "base/clock.h"
#include "engine/look.h"
#include "record/diff_json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int load(const struct cmd_common *common, const char *file, unsigned details,
		struct look *look, struct err *err)
{
	struct source_options o;
	int r = cmd_source_options(common, NULL, &o, err);

	if (r < 0)
		return r;
	if (file)
		o.replay = file;
	o.details = details;
	o.candidate_details = 0;
	r = look_open(look, &o, err);
	return r ? r : look_again(look, err);
}

static void put_number(struct line *o, int64_t v)
{
	line_put(o, ROLE_NORMAL, "%" PRId64, v);
}

static void put_bytes(struct line *o, const struct bytes *b)
{
	if (b && b->data)
		line_safe(o, ROLE_NORMAL, b->data, b->len);
	else
		line_put(o, ROLE_DIM, "not known");
}

static void put_value(struct line *o, const struct process *p, int field)
{
	const struct detail *d = p->detail;
	char tty[32];

	switch (field) {
	case DIFF_PPID:
		put_number(o, p->ppid);
		break;
	case DIFF_PGID:
		put_number(o, p->pgid);
		break;
	case DIFF_SID:
		put_number(o, p->sid);
		break;
	case DIFF_STATE:
		line_put(o, ROLE_NORMAL, "%c", p->state);
		break;
	case DIFF_TTY:
		line_put(o, ROLE_NORMAL, "%s", tty_name(p->tty_nr, tty) ? tty : "none");
		break;
	case DIFF_UID:
		put_number(o, d ? (int64_t)d->uid : -1);
		break;
	case DIFF_EXE:
		put_bytes(o, d ? &d->exe : NULL);
		break;
	case DIFF_CWD:
		put_bytes(o, d ? &d->cwd : NULL);
		break;
	case DIFF_CGROUP:
		put_bytes(o, d ? &d->cgroup : NULL);
		break;
	default:
		cmd_line_command(o, ROLE_NORMAL, p);
		break;
	}
}

static void print_changed(struct line *o, const struct diff_pair *pair)
{
	line_put(o, ROLE_NORMAL, "~ changed   %7d  ", pair->after->id.pid);
	cmd_line_command(o, ROLE_NORMAL, pair->after);
	line_end(o);
	for (int f = 0; f < DIFF_FIELDS; f++) {
		if (!(pair->fields & 1u << f))
			continue;
		line_put(o, ROLE_DIM, "                     %s: ", diff_field_name(f));
		put_value(o, pair->before, f);
		line_put(o, ROLE_DIM, " -> ");
		put_value(o, pair->after, f);
		line_end(o);
	}
}

static void print_process(struct line *o, const char *word, enum role role, const struct process *p)
{
	line_put(o, role, "%s %7d  ", word, p->id.pid);
	cmd_line_command(o, ROLE_NORMAL, p);
	line_end(o);
}

static void print_text(struct line *o, const struct diff *d)
{
	char before[CLOCK_RFC3339_MAX], after[CLOCK_RFC3339_MAX];

	clock_rfc3339(d->before->host.wall_ns, before);
	clock_rfc3339(d->after->host.wall_ns, after);
	line_put(o, ROLE_HEAD, "before %s  after %s", before, after);
	line_end(o);
	line_put(o, ROLE_HEAD, "%zu gone, %zu new, %zu changed, %zu restarted, %zu the same",
		 d->removed.n, d->added.n, d->changed.n, d->restarted.n, d->same);
	line_end(o);
	for (size_t i = 0; i < d->removed.n; i++)
		print_process(o, "- gone     ", ROLE_DIM, d->removed.v[i]);
	for (size_t i = 0; i < d->added.n; i++)
		print_process(o, "+ new      ", ROLE_GOOD, d->added.v[i]);
	for (size_t i = 0; i < d->changed.n; i++)
		print_changed(o, &d->changed.v[i]);
	for (size_t i = 0; i < d->restarted.n; i++) {
		line_put(o, ROLE_NORMAL, "= restarted %7d  now %d  ",
			 d->restarted.v[i].before->id.pid, d->restarted.v[i].after->id.pid);
		cmd_line_command(o, ROLE_NORMAL, d->restarted.v[i].after);
		line_end(o);
	}
}

static int print_for_people(const struct cmd_common *common, const struct diff *d, struct err *err)
{
	struct line o;

	cmd_line_init(common, &o);
	print_text(&o, d);
	return cmd_line_finish(&o, err);
}

static int compare(const struct cmd_common *common, const char *before, const char *after,
		   bool *differs, struct err *err)
{
	struct look was = {0}, now = {0};
	struct diff d = {0};
	int r = load(common, before, 0, &was, err);

	if (!r)
		r = load(common, after, DETAIL_BASIC, &now, err);
	if (!r)
		r = diff_tables(was.tracker.now, now.tracker.now, NULL, &d, err);
	if (!r) {
		*differs = !diff_is_empty(&d);
		if (common->json)
			r = diff_json(stdout, &d, NULL, err);
		else
			r = print_for_people(common, &d, err);
		diff_clear(&d);
	}
	look_close(&was);
	look_close(&now);
	return r;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct cmd_common common;
	struct err err = {0};
	bool differs = false;
	int rest, r;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &common, NULL, NULL, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest < 1 || argc - rest > 2)
		return cmd_troublef("diff: BEFORE and, if not now, AFTER: see stray diff --help");
	r = compare(&common, argv[rest], argc - rest == 2 ? argv[rest + 1] : NULL, &differs, &err);
	return r < 0 ? cmd_trouble(&err) : differs ? STATUS_DIFFERS : STATUS_OK;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.args = "BEFORE [AFTER]",
	.summary = "what appeared, went and changed; AFTER defaults to now",
	.example = "stray diff before.json",
	.run = run,
};
