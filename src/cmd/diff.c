#include "cmd/cmd.h"

#include "base/clock.h"
#include "engine/look.h"
#include "record/diff_json.h"

#include <errno.h>
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

static void print_command(const struct process *p, int columns)
{
	struct bytes command = {0};

	if (process_command(p, &command) == 0)
		cmd_print_safe(stdout, command.data, command.len, columns);
	bytes_free(&command);
	putchar('\n');
}

static void print_value(const struct process *p, int field)
{
	const struct detail *d = p->detail;
	const struct bytes *b = NULL;
	char tty[32];

	switch (field) {
	case DIFF_PPID:
		printf("%d", p->ppid);
		return;
	case DIFF_PGID:
		printf("%d", p->pgid);
		return;
	case DIFF_SID:
		printf("%d", p->sid);
		return;
	case DIFF_STATE:
		printf("%c", p->state);
		return;
	case DIFF_TTY:
		fputs(tty_name(p->tty_nr, tty) ? tty : "none", stdout);
		return;
	case DIFF_UID:
		printf("%d", d ? (int)d->uid : -1);
		return;
	case DIFF_EXE:
		b = &d->exe;
		break;
	case DIFF_CWD:
		b = &d->cwd;
		break;
	case DIFF_CGROUP:
		b = &d->cgroup;
		break;
	default:
		print_command(p, 100);
		return;
	}
	cmd_print_safe(stdout, b->data, b->len, 0);
}

static void print_changed(const struct diff_pair *pair, int columns)
{
	printf("~ changed   %7d  ", pair->after->id.pid);
	print_command(pair->after, columns);
	for (int f = 0; f < DIFF_FIELDS; f++) {
		if (!(pair->fields & 1u << f))
			continue;
		printf("                     %s: ", diff_field_name(f));
		print_value(pair->before, f);
		printf(" -> ");
		print_value(pair->after, f);
		putchar('\n');
	}
}

static void print_text(const struct diff *d)
{
	int columns = cmd_columns() ? cmd_columns() - 22 : 0;
	char before[CLOCK_RFC3339_MAX], after[CLOCK_RFC3339_MAX];

	clock_rfc3339(d->before->host.wall_ns, before);
	clock_rfc3339(d->after->host.wall_ns, after);
	printf("before %s  after %s\n", before, after);
	printf("%zu gone, %zu new, %zu changed, %zu restarted, %zu the same\n", d->removed.n,
	       d->added.n, d->changed.n, d->restarted.n, d->same);
	for (size_t i = 0; i < d->removed.n; i++) {
		printf("- gone      %7d  ", d->removed.v[i]->id.pid);
		print_command(d->removed.v[i], columns);
	}
	for (size_t i = 0; i < d->added.n; i++) {
		printf("+ new       %7d  ", d->added.v[i]->id.pid);
		print_command(d->added.v[i], columns);
	}
	for (size_t i = 0; i < d->changed.n; i++)
		print_changed(&d->changed.v[i], columns);
	for (size_t i = 0; i < d->restarted.n; i++) {
		printf("= restarted %7d  now %d  ", d->restarted.v[i].before->id.pid,
		       d->restarted.v[i].after->id.pid);
		print_command(d->restarted.v[i].after, columns);
	}
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
			print_text(&d);
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
