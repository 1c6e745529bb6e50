/* What a command that never acts without a TARGET says where none is given. */
#include "cmd/cmd.h"
#include "engine/look.h"
#include "model/suspect.h"
#include "model/tree.h"

#define CANDIDATES_MAX 10

static bool is_suspect(void *ctx, const struct process *p)
{
	(void)ctx;
	return p->suspect;
}

static unsigned rank(void *ctx, const struct process *p)
{
	(void)ctx;
	return suspect_weight(p);
}

/* The groups of what looks left behind, the gravest first, by one process each. */
static void print_groups(struct line *o, const struct tree *tree)
{
	size_t n = 0;
	pid_t last = 0;

	for (size_t i = 0; i < tree->rows.n; i++) {
		const struct process *p = tree->rows.v[i].p;

		if (tree->rows.v[i].kind != TREE_PROCESS || !p || p->pgid == last)
			continue;
		if (n++ == CANDIDATES_MAX) {
			line_put(o, ROLE_NORMAL, "  and more: stray list --suspects");
			line_end(o);
			return;
		}
		last = p->pgid;
		line_put(o, ROLE_NORMAL, "  pgid:%-8d ", p->pgid);
		cmd_line_command(o, ROLE_NORMAL, p);
		line_end(o);
	}
}

/* Without a TARGET nothing is ever ended: say what there is. */
void cmd_say_candidates(const struct cmd *cmd, const struct cmd_common *common)
{
	struct tree_options want = {.want = is_suspect, .rank = rank};
	struct source_options options;
	struct look look = {0};
	struct tree tree;
	struct line o;
	int r = cmd_source_options(common, NULL, &options, NULL);

	cmd_troublef("%s: a TARGET is needed: PID, pgid:N, sid:N, audit:N, env:NAME[=VALUE] or "
		     "cgroup:PATH; candidates: stray list --suspects",
		     cmd->name);
	if (!r)
		r = look_open(&look, &options, NULL);
	if (!r)
		r = look_again(&look, NULL);
	if (!r)
		r = tree_build(look.tracker.now, &want, &tree, NULL);
	if (!r) {
		cmd_line_init_stderr(&o);
		print_groups(&o, &tree);
		line_free(&o);
		tree_free(&tree);
	}
	look_close(&look);
}
