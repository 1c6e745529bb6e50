#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "engine/act.h"
#include "engine/look.h"
#include "model/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { OPT_SIGNAL = 300, OPT_ONLY, OPT_DRY_RUN, OPT_YES, OPT_POSSIBLE, OPT_NO_RECORD };

#define COMMON_ROWS                                                                         \
	{OPT_ONLY, "only", "UNIT", "group, session, run, process or members"},              \
		{OPT_DRY_RUN, "dry-run", NULL, "say what would be hit, send nothing"},      \
		{OPT_YES, "yes", NULL, "also hit what is no member of the target"},         \
		{OPT_POSSIBLE, "include-possible", NULL, "possible members too"},           \
		{OPT_NO_RECORD, "no-record", NULL, "act although nothing can be recorded"}, \
	{                                                                                   \
		0, NULL, NULL, NULL                                                         \
	}

static const struct cmd_option end_options[] = {
	{OPT_SIGNAL, "signal", "SIG", "the first signal (TERM)"},
	{'k', "grace", "DUR", "between it and KILL (5s; 0: at once)"},
	COMMON_ROWS,
};

static const struct cmd_option freeze_options[] = {COMMON_ROWS};

struct end {
	struct cmd_common common;
	enum act_kind kind;
	int signal;
	uint64_t grace_ns;
	const char *only;
	bool dry_run, yes, possible, no_record;
	struct look look;
	struct run run;
	struct plan plan;
};

static int parse_signal(const char *text)
{
	char *rest;
	long v = strtol(text, &rest, 10);

	if (*text && !*rest)
		return v >= 1 && v <= 64 ? (int)v : -1;
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	for (int sig = 1; sig < NSIG; sig++) {
		const char *name = sigabbrev_np(sig);

		if (name && strcasecmp(name, text) == 0)
			return sig;
	}
	return -1;
}

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	struct end *e = ctx;

	switch (id) {
	case OPT_SIGNAL:
		e->signal = parse_signal(arg);
		return e->signal > 0 ? 0
				     : err_set(err, EINVAL, "--signal: no such signal '%s'", arg);
	case 'k':
		return clock_parse_duration(arg, &e->grace_ns) == 0
			       ? 0
			       : err_set(err, EINVAL, "--grace: not a duration '%s': try 5s or 1m",
					 arg);
	case OPT_ONLY:
		e->only = arg;
		return 0;
	case OPT_DRY_RUN:
		e->dry_run = true;
		return 0;
	case OPT_YES:
		e->yes = true;
		return 0;
	case OPT_POSSIBLE:
		e->possible = true;
		return 0;
	default:
		e->no_record = true;
		return 0;
	}
}

/* Which processes --only means, as an aim at the run made of the target. */
static int make_plan(struct end *e, struct err *err)
{
	const struct table *t = e->look.tracker.now;
	const struct process *root = table_find(t, e->run.root);
	struct aim aim = {.scope = SCOPE_RUN, .signal = e->signal, .possible = e->possible};
	const char *only = e->only ? e->only : "run";

	if (strcmp(only, "group") == 0) {
		aim.scope = SCOPE_GROUP;
		aim.number = e->run.pgid;
	} else if (strcmp(only, "session") == 0) {
		aim.scope = SCOPE_SESSION;
		aim.number = e->run.sid;
	} else if (strcmp(only, "members") == 0) {
		aim.scope = SCOPE_MEMBERS;
	} else if (strcmp(only, "process") == 0) {
		aim.scope = SCOPE_PROCESS;
		aim.ids = root ? &root->id : NULL;
		aim.n_ids = root ? 1 : 0;
	} else if (strcmp(only, "run") != 0) {
		return err_set(err, EINVAL,
			       "--only: group, session, run, process or members, not '%s'", only);
	}
	return plan_make(t, &e->run, &aim, &e->plan, err);
}

static void print_command(const struct end *e, struct identity id)
{
	const struct process *p = table_find(e->look.tracker.now, id);
	struct bytes command = {0};
	int columns = cmd_columns();

	if (p && process_command(p, &command) == 0)
		cmd_print_safe(stdout, command.data, command.len, columns > 40 ? columns - 32 : 0);
	bytes_free(&command);
}

static void print_items(const struct end *e, const char *word, const struct plan_item *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		printf("%-12s %7d  ", word, v[i].id.pid);
		print_command(e, v[i].id);
		if (v[i].useless)
			printf("  (%s)", v[i].useless);
		putchar('\n');
	}
}

static void print_plan(const struct end *e)
{
	const struct plan *p = &e->plan;

	print_items(e, "would hit", p->hit.v, p->hit.n);
	print_items(e, "not hit", p->not_hit.v, p->not_hit.n);
	print_items(e, "spared", p->own.v, p->own.n);
	print_items(e, "no member", p->strangers.v, p->strangers.n);
	print_items(e, "dead", p->dead.v, p->dead.n);
}

/* More than members would be hit: --yes, or on a terminal the count typed. */
static int confirm(struct end *e, struct err *err)
{
	char answer[32];

	if (!e->plan.confirm || e->yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, EPERM, "%s: --yes is needed to hit it; nothing was sent",
			       e->plan.confirm_why[0] ? e->plan.confirm_why
						      : "more than members would be hit");
	print_plan(e);
	printf("%s. Type how many will be hit (anything else: nothing is sent): ",
	       e->plan.confirm_why);
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin) || strtoull(answer, NULL, 10) != e->plan.hit.n)
		return err_set(err, ECANCELED, "not confirmed: nothing was sent");
	return 0;
}

static const char *result_words(const struct act_item *i)
{
	switch (i->result) {
	case ACT_RESULT_GONE:
		return "gone";
	case ACT_RESULT_ALIVE:
		return "ALIVE";
	case ACT_RESULT_FROZEN:
		return "frozen";
	case ACT_RESULT_THAWED:
		return "thawed";
	case ACT_RESULT_NOT_AIMED:
		return "not aimed at";
	case ACT_RESULT_APPEARED:
		return "NEW SINCE";
	case ACT_RESULT_PENDING:
		break;
	}
	return "not known";
}

static void print_item(const struct act_item *i)
{
	const char *of = i->died_of ? sigabbrev_np(i->died_of) : NULL;
	int columns = cmd_columns();

	printf("%-12s %7d  ", result_words(i), i->id.pid);
	cmd_print_safe(stdout, i->command.data ? i->command.data : "", i->command.len,
		       columns > 60 ? columns - 56
		       : columns    ? 24
				    : 0);
	if (i->result == ACT_RESULT_GONE && i->last_signal)
		printf("  after %.2f s%s%s", (double)i->after_ns / 1e9, of ? ", died of " : "",
		       of ? of : "");
	if (i->why)
		printf("  %s", i->why);
	putchar('\n');
}

static void print_outcome(const struct act_outcome *o)
{
	printf("%s: %zu hit, %zu gone, %zu alive\n", o->title, o->hit, o->gone, o->alive);
	for (size_t i = 0; i < o->items.n; i++)
		print_item(&o->items.v[i]);
	if (o->dir[0])
		printf("record: %s\n", o->dir);
}

static void json_identity(struct jw *j, const char *key, struct identity id)
{
	jw_object(j, key);
	jw_int(j, "pid", id.pid);
	jw_uint(j, "start_ticks", id.start);
	jw_object_end(j);
}

static void json_items(struct jw *j, const char *key, const struct act_outcome *o,
		       enum act_result which)
{
	jw_array(j, key);
	for (size_t i = 0; i < o->items.n; i++) {
		const struct act_item *item = &o->items.v[i];

		if (item->result != which)
			continue;
		jw_object(j, NULL);
		jw_int(j, "pid", item->id.pid);
		jw_uint(j, "start_ticks", item->id.start);
		jw_bytes(j, "cmdline", &item->command);
		if (which == ACT_RESULT_GONE) {
			jw_uint(j, "after_ns", item->after_ns);
			jw_str(j, "died_of", item->died_of ? sigabbrev_np(item->died_of) : NULL);
		}
		if (which == ACT_RESULT_ALIVE)
			jw_str(j, "why", item->why);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static int print_json(const struct end *e, const struct act_outcome *o, const char *target)
{
	struct jw *j = jw_open(stdout, false);
	char at[CLOCK_RFC3339_MAX];

	if (!j)
		return -ENOMEM;
	jw_object(j, NULL);
	jw_str(j, "schema", "stray.end/1");
	jw_str(j, "target", target);
	jw_str(j, "act", o ? o->title : NULL);
	jw_array(j, "signals");
	if (o && o->sent_wall_ns) {
		clock_rfc3339(o->sent_wall_ns, at);
		jw_object(j, NULL);
		jw_str(j, "name", sigabbrev_np(e->signal));
		jw_array(j, "to");
		for (size_t i = 0; i < e->plan.hit.n; i++)
			json_identity(j, NULL, e->plan.hit.v[i].id);
		jw_array_end(j);
		jw_str(j, "at", at);
		jw_object_end(j);
	}
	jw_array_end(j);
	if (o) {
		json_items(j, "gone", o, ACT_RESULT_GONE);
		json_items(j, "survivors", o, ACT_RESULT_ALIVE);
		json_items(j, "not_aimed_at", o, ACT_RESULT_NOT_AIMED);
		json_items(j, "appeared", o, ACT_RESULT_APPEARED);
		json_items(j, "frozen", o, ACT_RESULT_FROZEN);
		json_items(j, "thawed", o, ACT_RESULT_THAWED);
	}
	jw_array(j, "refused");
	if (!o && e->plan.refused[0]) {
		jw_object(j, NULL);
		jw_str(j, "reason", e->plan.refused);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_str(j, "record", o && o->dir[0] ? o->dir : NULL);
	jw_object_end(j);
	return jw_close(j);
}

static int carry_out(struct end *e, const char *target, int *status, struct err *err)
{
	struct act_options options = {
		.kind = e->kind,
		.state_dir = e->common.state_dir,
		.no_record = e->no_record,
		.grace_ns = e->grace_ns,
	};
	struct act *act;
	const struct act_outcome *o;
	int r = act_start(e->look.tracker.now, &e->run, &e->plan, &options, &act, err);

	if (r < 0)
		return r;
	act_run(act, err);
	o = act_outcome(act);
	if (e->common.json)
		print_json(e, o, target);
	else
		print_outcome(o);
	*status = o->alive && e->kind == ACT_END ? STATUS_DIFFERS : STATUS_OK;
	act_free(act);
	if (err->code) { /* the record is incomplete: said, and the act stands */
		cmd_trouble(err);
		err_clear(err);
		*status = *status ? *status : STATUS_DIFFERS;
	}
	return 0;
}

#define LOOKS_MAX 40

/* Whether all that the target names is dead: zombies of a chain, perhaps. */
static bool run_is_dead(const struct look *look, const struct selector *target)
{
	const struct table *t = look->tracker.now;

	for (size_t i = 0; i < t->procs.n; i++)
		if (selector_matches(target, &t->procs.v[i]) && !process_is_dead(&t->procs.v[i]))
			return false;
	return true;
}

static bool churns(const struct table *t)
{
	if (t->coverage.vanished)
		return true;
	for (size_t i = 0; i < t->procs.n; i++)
		if (process_is_dead(&t->procs.v[i]) &&
		    t->host.boot_ns / (CLOCK_NS_PER_S / 100) < t->procs.v[i].id.start + 100)
			return true;
	return false;
}

/* Something may have that number all the same: the dead and the kernel's own are no targets. */
static int say_why_none(const struct table *t, const struct selector *target,
			const struct err *missing, struct err *err)
{
	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		if (!selector_matches(target, p))
			continue;
		if (process_is_kthread(p))
			return err_set(err, EPERM, "%d is a kernel thread: refused", p->id.pid);
		if (process_is_dead(p))
			return err_set(err, ESRCH, "%d is dead already: its parent %d must reap it",
				       p->id.pid, p->ppid);
	}
	return err_set(err, missing->code, "%s", missing->text);
}

/*
 * A target may live in generations of some milliseconds (fork, exit, fork):
 * where processes vanished while they were read it is looked for again.
 */
static int look_for_target(struct look *look, const struct selector *target, struct run *run,
			   struct err *err)
{
	for (int tries = 0;; tries++) {
		struct err missing = {0};
		int r = look_again(look, err);

		if (r < 0)
			return r;
		r = run_choose(run, target, look->tracker.now, &missing);
		if (r == 0 && !run_is_dead(look, target))
			return 0;
		if (tries < LOOKS_MAX && (r == -ESRCH || r == 0) && churns(look->tracker.now)) {
			if (!r)
				run_clear(run);
			continue;
		}
		return r < 0 ? say_why_none(look->tracker.now, target, &missing, err) : 0;
	}
}

static int end(struct end *e, const struct selector *target, const char *text, int *status,
	       struct err *err)
{
	struct source_options o;
	int r = cmd_source_options(&e->common, target, &o, err);

	if (!r && o.replay)
		r = err_set(err, EINVAL, "a replayed file cannot be signalled");
	if (!r)
		r = look_open(&e->look, &o, err);
	if (!r)
		r = look_for_target(&e->look, target, &e->run, err);
	if (!r)
		r = tracker_set_run(&e->look.tracker, &e->run, err);
	if (!r)
		r = make_plan(e, err);
	if (r)
		return r;
	if (e->plan.refused[0]) {
		if (e->common.json)
			print_json(e, NULL, text);
		return err_set(err, EPERM, "%s: refused: %s%s", text, e->plan.refused,
			       e->plan.own.n ? ": --only=members spares it and hits the rest" : "");
	}
	if (e->dry_run) {
		print_plan(e);
		return 0;
	}
	r = confirm(e, err);
	return r ? r : carry_out(e, text, status, err);
}

/* Without a TARGET nothing is ever ended: say what there is. */
static void print_candidates(const struct cmd *cmd)
{
	fprintf(stderr,
		"stray: %s: a TARGET is needed: PID, pgid:N, sid:N, audit:N, "
		"env:NAME[=VALUE] or cgroup:PATH; candidates: stray list --suspects\n",
		cmd->name);
}

static int run_kind(const struct cmd *cmd, int argc, char **argv, enum act_kind kind, int signal)
{
	struct end e = {.kind = kind, .signal = signal, .grace_ns = ACT_GRACE_NS};
	struct selector target = {0};
	struct err err = {0};
	int rest, r, status = STATUS_OK;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &e.common, set_option, &e, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest != 1) {
		print_candidates(cmd);
		return STATUS_TROUBLE;
	}
	r = selector_parse(argv[rest], &target, &err);
	if (!r)
		r = end(&e, &target, argv[rest], &status, &err);
	plan_clear(&e.plan);
	look_close(&e.look);
	run_clear(&e.run);
	selector_free(&target);
	return r < 0 ? cmd_trouble(&err) : status;
}

static int run_end(const struct cmd *cmd, int argc, char **argv)
{
	return run_kind(cmd, argc, argv, ACT_END, SIGTERM);
}

static int run_freeze(const struct cmd *cmd, int argc, char **argv)
{
	return run_kind(cmd, argc, argv, ACT_FREEZE, SIGSTOP);
}

static int run_thaw(const struct cmd *cmd, int argc, char **argv)
{
	return run_kind(cmd, argc, argv, ACT_THAW, SIGCONT);
}

const struct cmd cmd_end = {
	.name = "end",
	.args = "TARGET",
	.summary = "TERM, grace, KILL, look again; says who survived and why",
	.example = "stray end pgid:4160",
	.options = end_options,
	.run = run_end,
};

const struct cmd cmd_freeze = {
	.name = "freeze",
	.args = "TARGET",
	.summary = "stop it without erasing anything",
	.example = "stray freeze sid:4102",
	.options = freeze_options,
	.run = run_freeze,
};

const struct cmd cmd_thaw = {
	.name = "thaw",
	.args = "TARGET",
	.summary = "let go on what freeze stopped",
	.example = "stray thaw sid:4102",
	.options = freeze_options,
	.run = run_thaw,
};
