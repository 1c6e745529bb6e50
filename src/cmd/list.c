#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/list_json.h"
#include "engine/contacts.h"
#include "engine/look.h"
#include "model/lineage.h"
#include "model/suspect.h"
#include "model/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define OPT_SUSPECTS 300

static const struct cmd_option options[] = {
	{OPT_SUSPECTS, "suspects", NULL, "only what looks left behind, with reasons"},
	{0, NULL, NULL, NULL},
};

struct list {
	struct cmd_common common;
	bool suspects;
	struct look look;
	struct run run; /* where a TARGET was given */
	bool has_run;
	int columns;
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct list *l = ctx;

	(void)arg;
	(void)err;
	if (id == OPT_SUSPECTS)
		l->suspects = true;
	return 0;
}

static bool wanted(void *ctx, const struct process *p)
{
	const struct list *l = ctx;

	if (l->suspects && !p->suspect)
		return false;
	return !l->has_run || p->evidence;
}

static unsigned rank(void *ctx, const struct process *p)
{
	(void)ctx;
	return suspect_weight(p);
}

static void print_session(const struct list *l, const struct tree_row *row)
{
	char tty[32];

	if (row->kind == TREE_SESSION) {
		printf("session %d", row->sid);
		if (row->one_group)
			printf(" = group %d", row->pgid);
		if (row->sid == 0)
			printf(" (led outside this PID namespace)");
		if (row->p && tty_name(row->p->tty_nr, tty))
			printf("%s%s", cmd_dot(), tty);
		if (row->p && row->p->origin_name.len) {
			fputs(cmd_dot(), stdout);
			cmd_print_safe(stdout, row->p->origin_name.data, row->p->origin_name.len,
				       60);
		}
	} else {
		printf("  group %d", row->pgid);
	}
	if (row->leader_gone)
		printf("%sleader gone", cmd_dot());
	if (row->orphaned && row->sid > 0)
		printf("%sorphaned", cmd_dot());
	putchar('\n');
	(void)l;
}

static uint64_t start_wall_ns(const struct host *host, const struct process *p)
{
	uint64_t boot_wall = host->wall_ns - host->boot_ns;

	return boot_wall + p->id.start * (CLOCK_NS_PER_S / (uint64_t)host->ticks_per_second);
}

static void print_reasons(const struct process *p)
{
	const char *mark = suspect_mark(p), *mux = suspect_multiplexer(p);
	const char *sep = "";

	for (unsigned i = 0; i < SUSPECT_COUNT; i++) {
		if (!(p->suspect & 1u << i))
			continue;
		printf("%s%s", sep, suspect_reason(1u << i));
		sep = ", ";
		if (1u << i == SUSPECT_MARK && mark)
			printf(" (%s)", mark);
	}
	if (mux)
		printf("%s%s", sep, mux);
	if (p->remote.data)
		printf(", connected to %s", p->remote.data);
}

static void print_process(const struct list *l, const struct tree_row *row, bool one_group)
{
	const struct table *t = l->look.tracker.now;
	const struct process *p = row->p;
	struct bytes command = {0};
	bool utf8 = cmd_is_utf8();
	char flags[7], when[9];
	int used;

	run_flags(l->has_run ? &l->run : NULL, p, flags);
	clock_hms(start_wall_ns(&t->host, p), when);
	used = printf("%s%s %7d %7d %c %s ", one_group ? "  " : "    ", flags, p->id.pid, p->ppid,
		      p->state, when);
	used += printf("%-8.8s ", p->detail && p->detail->user.data ? p->detail->user.data : "?");
	for (int d = 1; d < row->depth; d++, used += 2)
		fputs(!(row->bars & 1u << d) ? "  " : utf8 ? "│ " : "| ", stdout);
	if (row->depth > 0) {
		fputs(!utf8 ? "`-" : row->last ? "└ " : "├ ", stdout);
		used += 2;
	}
	if (process_command(p, &command) < 0)
		return;
	if (l->columns)
		cmd_print_safe(stdout, command.data, command.len,
			       l->columns > used + 8 ? l->columns - used : 8);
	else
		cmd_print_safe(stdout, command.data, command.len, 0);
	bytes_free(&command);
	putchar('\n');
	if (l->suspects) {
		printf("%s       ", one_group ? "  " : "    ");
		print_reasons(p);
		putchar('\n');
	}
}

static void print_head(const struct list *l, const struct tree *tree)
{
	const struct tracker *k = &l->look.tracker;
	unsigned sessions = 0;

	for (size_t i = 0; i < tree->rows.n; i++)
		sessions += tree->rows.v[i].kind == TREE_SESSION;
	if (!l->suspects)
		return;
	if (k->suspects)
		printf("%zu %s in %u %s, %zu processes\n", k->suspects,
		       k->suspects == 1 ? "suspect" : "suspects", sessions,
		       sessions == 1 ? "session" : "sessions", k->now->procs.n);
	else
		printf("no suspects: %zu processes, all accounted for or without a reason to "
		       "suspect them\n",
		       k->now->procs.n);
}

static int print_tree(struct list *l, struct err *err)
{
	struct tree_options o = {.want = wanted, .rank = l->suspects ? rank : NULL, .ctx = l};
	struct tree tree;
	bool one_group = false;
	int r = tree_build(l->look.tracker.now, &o, &tree, err);

	if (r < 0)
		return r;
	if (l->common.json) {
		r = list_json(stdout, &l->look.tracker, &tree, err);
		tree_free(&tree);
		return r;
	}
	print_head(l, &tree);
	for (size_t i = 0; i < tree.rows.n; i++) {
		const struct tree_row *row = &tree.rows.v[i];

		if (row->kind == TREE_SESSION)
			one_group = row->one_group;
		if (row->kind == TREE_PROCESS)
			print_process(l, row, one_group);
		else
			print_session(l, row);
	}
	tree_free(&tree);
	cmd_print_coverage(stdout, l->look.tracker.now);
	return 0;
}

static int list(struct list *l, const struct selector *target, struct err *err)
{
	struct source_options o;
	int r = cmd_source_options(&l->common, target, &o, err);

	if (r < 0)
		return r;
	if (!l->common.json && !l->suspects && target->kind == SELECT_NONE)
		o.details = DETAIL_COMM | DETAIL_CMDLINE | DETAIL_CWD;
	r = look_open(&l->look, &o, err);
	if (!r)
		r = look_again(&l->look, err);
	if (!r && target->kind != SELECT_NONE) {
		r = run_choose(&l->run, target, l->look.tracker.now, err);
		l->has_run = !r;
		if (!r)
			r = tracker_set_run(&l->look.tracker, &l->run, err);
	}
	if (!r)
		r = contacts_read(&l->look.tracker, NULL, err);
	return r ? r : print_tree(l, err);
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct list l = {.columns = cmd_columns()};
	struct selector target = {0};
	struct err err = {0};
	int rest, r = 0;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &l.common, set_option, &l, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest > 1)
		return cmd_troublef("list: one TARGET at most: see stray list --help");
	if (argc > rest)
		r = selector_parse(argv[rest], &target, &err);
	if (!r)
		r = list(&l, &target, &err);
	look_close(&l.look);
	run_clear(&l.run);
	selector_free(&target);
	return r < 0 ? cmd_trouble(&err) : STATUS_OK;
}

const struct cmd cmd_list = {
	.name = "list",
	.args = "[TARGET]",
	.summary = "processes by session, group and tree; --suspects: what looks left behind",
	.example = "stray list --suspects",
	.options = options,
	.run = run,
};
