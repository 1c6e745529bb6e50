#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/list_json.h"
#include "cmd/subject.h"
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
	{'a', "all", NULL, "the whole host, also where a recorded run needs eyes"},
	{OPT_SUSPECTS, "suspects", NULL, "only what looks left behind, with reasons"},
	{0, NULL, NULL, NULL},
};

struct list {
	struct cmd_common common;
	bool suspects;
	struct look look;
	struct subject subject;
	bool all;
	struct line line;
};

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct list *l = ctx;

	(void)arg;
	(void)err;
	if (id == OPT_SUSPECTS)
		l->suspects = true;
	else
		l->all = true;
	return 0;
}

static bool wanted(void *ctx, const struct process *p)
{
	const struct list *l = ctx;

	if (l->suspects && !p->suspect)
		return false;
	return !l->subject.in_view || p->evidence;
}

static unsigned rank(void *ctx, const struct process *p)
{
	(void)ctx;
	return suspect_weight(p);
}

static void print_session(struct list *l, const struct tree_row *row)
{
	struct line *o = &l->line;
	char tty[32];

	if (row->kind == TREE_SESSION) {
		line_put(o, ROLE_HEAD, "session %d", row->sid);
		if (row->one_group)
			line_put(o, ROLE_HEAD, " = group %d", row->pgid);
		if (row->sid == 0)
			line_put(o, ROLE_NORMAL, " (led outside this PID namespace)");
		if (row->p && tty_name(row->p->tty_nr, tty))
			line_put(o, ROLE_NORMAL, "%s%s", cmd_dot(), tty);
		if (row->p && row->p->origin_name.len) {
			line_put(o, ROLE_NORMAL, "%s", cmd_dot());
			line_safe(o, ROLE_NORMAL, row->p->origin_name.data,
				  row->p->origin_name.len);
		}
	} else {
		line_put(o, ROLE_HEAD, "  group %d", row->pgid);
	}
	if (row->leader_gone)
		line_put(o, ROLE_SUSPECT, "%sleader gone", cmd_dot());
	if (row->orphaned && row->sid > 0)
		line_put(o, ROLE_SUSPECT, "%sorphaned", cmd_dot());
	line_end(o);
}

static uint64_t start_wall_ns(const struct host *host, const struct process *p)
{
	uint64_t boot_wall = host->wall_ns - host->boot_ns;

	return boot_wall + p->id.start * (CLOCK_NS_PER_S / (uint64_t)host->ticks_per_second);
}

static void print_reasons(struct list *l, const struct process *p, bool one_group)
{
	const char *mark = suspect_mark(p), *mux = suspect_multiplexer(p);
	struct line *o = &l->line;
	const char *sep = "";

	line_put(o, ROLE_NORMAL, "%s       ", one_group ? "  " : "    ");
	for (unsigned i = 0; i < SUSPECT_COUNT; i++) {
		if (!(p->suspect & 1u << i))
			continue;
		line_put(o, ROLE_NORMAL, "%s%s", sep, suspect_reason(1u << i));
		sep = ", ";
		if (1u << i == SUSPECT_MARK && mark)
			line_put(o, ROLE_NORMAL, " (%s)", mark);
	}
	if (mux)
		line_put(o, ROLE_NORMAL, "%s%s", sep, mux);
	if (p->remote.data) {
		line_put(o, ROLE_NORMAL, ", ");
		line_put(o, ROLE_AUTHORITY, "connected to %s", p->remote.data);
	}
	line_end(o);
}

static enum role role_of(const struct process *p)
{
	if (process_is_dead(p))
		return ROLE_DIM;
	return p->survived ? ROLE_SURVIVOR : p->suspect ? ROLE_SUSPECT : ROLE_NORMAL;
}

#define WIDE 80   /* below, when it started and whose it is give way to the command */
#define NARROW 50 /* below, the parent's number too */

static void print_process(struct list *l, const struct tree_row *row, bool one_group)
{
	const struct table *t = l->look.tracker.now;
	const struct process *p = row->p;
	struct line *o = &l->line;
	char flags[7], when[9];

	run_flags(l->subject.in_view, p, flags);
	clock_hms(start_wall_ns(&t->host, p), when);
	line_put(o, role_of(p), "%s%s %7d ", one_group ? "  " : "    ", flags, p->id.pid);
	if (!o->columns || o->columns >= NARROW)
		line_put(o, role_of(p), "%7d ", p->ppid);
	line_put(o, role_of(p), "%c ", p->state);
	if (!o->columns || o->columns >= WIDE) {
		char user[9];
		const struct detail *d = p->detail;

		snprintf(user, sizeof(user), "%.8s", d && d->user.data ? d->user.data : "?");
		line_put(o, ROLE_NORMAL, "%s ", when);
		line_safe(o, ROLE_NORMAL, user, strlen(user));
		line_put(o, ROLE_NORMAL, "%*s", 9 - (int)strlen(user), "");
	}
	for (int d = 1; d < row->depth; d++)
		line_put(o, ROLE_DIM, "%s", !(row->bars & 1u << d) ? "  " : o->ascii ? "| " : "│ ");
	if (row->depth > 0)
		line_put(o, ROLE_DIM, "%s", o->ascii ? "`-" : row->last ? "└ " : "├ ");
	cmd_line_command(o, role_of(p), p);
	line_end(o);
	if (l->suspects)
		print_reasons(l, p, one_group);
}

static void print_head(struct list *l, const struct tree *tree)
{
	const struct tracker *k = &l->look.tracker;
	unsigned sessions = 0;

	for (size_t i = 0; i < tree->rows.n; i++)
		sessions += tree->rows.v[i].kind == TREE_SESSION;
	if (!l->suspects)
		return;
	if (k->suspects)
		line_put(&l->line, ROLE_HEAD, "%zu %s in %u %s, %zu processes", k->suspects,
			 k->suspects == 1 ? "suspect" : "suspects", sessions,
			 sessions == 1 ? "session" : "sessions", k->now->procs.n);
	else
		line_put(&l->line, ROLE_GOOD,
			 "no suspects: %zu processes, all accounted for or without a reason to "
			 "suspect them",
			 k->now->procs.n);
	line_end(&l->line);
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
		r = list_json(stdout, &l->look.tracker, &l->subject, &tree, err);
		tree_free(&tree);
		return r;
	}
	subject_print(&l->line, &l->subject, l->look.tracker.now);
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
	cmd_print_pipes(&l->line, l->look.tracker.run, l->look.tracker.now);
	cmd_print_coverage(&l->line, l->look.tracker.now);
	return 0;
}

/* Looks, and finds what is meant.  Without a TARGET a lean look comes first: the whole
 * host needs no more, and most often no recorded run needs eyes. */
static int look_at(struct list *l, const struct selector *target, struct err *err)
{
	struct source_options o;
	char id[RUN_ID_MAX + 1];
	struct selector found;
	int r = cmd_source_options(&l->common, target, &o, err);

	if (r < 0)
		return r;
	if (!l->common.json && !l->suspects && target->kind == SELECT_NONE)
		o.details = DETAIL_COMM | DETAIL_CMDLINE | DETAIL_CWD;
	r = look_open(&l->look, &o, err);
	if (!r)
		r = look_again(&l->look, err);
	if (!r && target->kind != SELECT_NONE)
		return subject_find(&l->subject, &l->common, target, &l->look, err);
	if (r || o.replay || l->suspects || l->all || !subject_default(&l->common, &l->look, id))
		return r;
	look_close(&l->look);
	found = (struct selector){.kind = SELECT_RUN, .name = id};
	return look_at(l, &found, err);
}

static int list(struct list *l, const struct selector *target, struct err *err)
{
	int r = look_at(l, target, err);

	if (!r)
		r = contacts_read(&l->look.tracker, NULL, err);
	if (r)
		return r;
	cmd_line_init(&l->common, &l->line);
	r = print_tree(l, err);
	return cmd_line_finish(&l->line, r ? NULL : err) < 0 && !r ? -ENOMEM : r;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct list l = {0};
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
	subject_clear(&l.subject);
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
