#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/end_print.h"
#include "cmd/subject.h"
#include "engine/chronicle.h"
#include "engine/act.h"
#include "engine/look.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
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
	enum scope only;
	bool dry_run, yes, possible, no_record;
	struct look look;
	struct subject recorded; /* where the target is a recorded run */
	struct run run;
	struct plan plan;
	char text[128]; /* of the target, without a value of the environment */
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

static int parse_only(const char *arg, enum scope *out, struct err *err)
{
	static const enum scope all[] = {SCOPE_GROUP, SCOPE_SESSION, SCOPE_RUN, SCOPE_PROCESS,
					 SCOPE_MEMBERS};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(arg, scope_name(all[i])) == 0) {
			*out = all[i];
			return 0;
		}
	return err_set(err, EINVAL, "--only: group, session, run, process or members, not '%s'",
		       arg);
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
		return parse_only(arg, &e->only, err);
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
	struct aim aim = {.scope = e->only, .signal = e->signal, .possible = e->possible};

	if (e->only == SCOPE_GROUP)
		aim.number = e->run.pgid;
	else if (e->only == SCOPE_SESSION)
		aim.number = e->run.sid;
	else if (e->only == SCOPE_PROCESS) {
		aim.ids = root ? &root->id : NULL;
		aim.n_ids = root ? 1 : 0;
	}
	return plan_make(t, &e->run, &aim, &e->plan, err);
}

/* Whether --only=members, where this is refused, would hit anybody. */
static bool members_help(const struct end *e)
{
	struct aim aim = {.scope = SCOPE_MEMBERS, .signal = e->signal, .possible = e->possible};
	struct plan members;
	bool helps;

	if (!e->plan.own.n || e->only == SCOPE_MEMBERS ||
	    plan_make(e->look.tracker.now, &e->run, &aim, &members, NULL) < 0)
		return false;
	helps = members.hit.n && !members.refused[0];
	plan_clear(&members);
	return helps;
}

static int print_plan(struct end *e, struct err *err)
{
	struct line o;

	cmd_line_init(&e->common, &o);
	end_print_plan(&o, e->look.tracker.now, &e->plan);
	cmd_print_pipes(&o, &e->run, e->look.tracker.now);
	return cmd_line_finish(&o, err);
}

/* More than members would be hit: --yes, or on a terminal the count typed. */
static int confirm(struct end *e, struct err *err)
{
	char answer[32];
	int r;

	if (!e->plan.confirm || e->yes)
		return 0;
	if (e->common.json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, EPERM, "%s: --yes is needed to hit it; nothing was sent",
			       e->plan.confirm_why[0] ? e->plan.confirm_why
						      : "more than members would be hit");
	r = print_plan(e, err);
	if (r < 0)
		return r;
	printf("%s. Type how many will be hit (anything else: nothing is sent): ",
	       e->plan.confirm_why);
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin) || strtoull(answer, NULL, 10) != e->plan.hit.n)
		return err_set(err, ECANCELED, "not confirmed: nothing was sent");
	return 0;
}

/*
 * While an act goes on these do not end us but it: nothing that it stopped may
 * stay so, and what was sent is to be said.  -1 where it cannot be: then they end us.
 */
static int catch_stops(sigset_t *old)
{
	static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2};
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		sigaddset(&set, stops[i]);
	sigprocmask(SIG_BLOCK, &set, old);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		sigprocmask(SIG_SETMASK, old, NULL);
	return fd;
}

/* Those that come from here on end us as ever. */
static void release_stops(int fd, const sigset_t *old)
{
	if (fd >= 0)
		close(fd);
	sigprocmask(SIG_SETMASK, old, NULL);
}

static void say_interrupted(int fd, bool left_to_warden)
{
	struct signalfd_siginfo info = {0};
	const char *name = NULL;

	if (read(fd, &info, sizeof(info)) == sizeof(info))
		name = sigabbrev_np((int)info.ssi_signo);
	cmd_troublef(
		"interrupted by %s: nothing more is sent%s, and what had been stopped goes on%s",
		name ? name : "a signal", left_to_warden ? " from here" : "",
		left_to_warden ? "; the run is ended all the same, its warden goes on" : "");
}

static int print_outcome(struct end *e, const struct act_outcome *outcome, struct err *err)
{
	struct line o;

	if (e->common.json)
		return end_json(e->text, e->look.tracker.now, &e->plan, outcome, err);
	cmd_line_init(&e->common, &o);
	end_print_outcome(&o, outcome);
	return cmd_line_finish(&o, err);
}

/* Those that were to stop, or to go on, and did not. */
static size_t missed(const struct act_outcome *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->items.n; i++)
		n += o->items.v[i].result == ACT_RESULT_ALIVE;
	return n;
}

static int status_of(const struct end *e, const struct act_outcome *o)
{
	if (e->kind == ACT_END)
		return o->alive || o->appeared ? STATUS_DIFFERS : STATUS_OK;
	if (missed(o))
		return cmd_troublef("%s: %zu of %zu %s", e->text, missed(o), o->hit,
				    e->kind == ACT_FREEZE ? "could not be stopped"
							  : "did not go on");
	return STATUS_OK;
}

static int carry_out(struct end *e, int *status, struct err *err)
{
	struct act_options options = {
		.kind = e->kind,
		.state_dir = e->common.state_dir,
		.no_record = e->no_record,
		.grace_ns = e->grace_ns,
	};
	struct err unprinted = {0};
	struct act *act;
	sigset_t old;
	int stops = catch_stops(&old);
	int r = act_start(e->look.tracker.now, &e->run, &e->plan, &options, &act, err);

	if (r < 0) {
		release_stops(stops, &old);
		return r;
	}
	act_run(act, stops, err);
	if (act_outcome(act)->interrupted)
		say_interrupted(stops, act_outcome(act)->left_to_warden);
	if (print_outcome(e, act_outcome(act), &unprinted) < 0)
		cmd_trouble(&unprinted);
	*status = status_of(e, act_outcome(act));
	act_free(act);
	if (err->code) { /* the record is incomplete: said, and the act stands */
		cmd_trouble(err);
		err_clear(err);
		*status = *status ? *status : STATUS_DIFFERS;
	}
	release_stops(stops, &old);
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
		return r < 0 ? cmd_no_target(look->tracker.now, target, &missing, err) : 0;
	}
}

/* A recorded run: its members are known, so none has to be caught alive. */
static int find_recorded(struct end *e, const struct selector *target, struct err *err)
{
	int r = look_again(&e->look, err);

	if (!r)
		r = subject_find(&e->recorded, &e->common, target, &e->look, err);
	if (!r && e->recorded.is_recorded && e->recorded.recorded.story.record_changed)
		return err_set(err, EBADMSG, "%s: nothing is sent", e->recorded.damage.text);
	if (!r && e->recorded.damage.code)
		cmd_trouble(&e->recorded.damage); /* said; it is acted on all the same */
	if (!r && !run_copy(&e->run, e->recorded.in_view))
		r = err_nomem(err);
	return r;
}

static bool none_alive(const struct end *e)
{
	const struct table *t = e->look.tracker.now;

	for (size_t i = 0; i < t->procs.n; i++)
		if (t->procs.v[i].evidence && !process_is_dead(&t->procs.v[i]))
			return false;
	return true;
}

/* The journal may not know it yet: who ended it may have died before it could say so. */
static int settle(struct end *e, struct err *err)
{
	struct recorded over;
	int r = recorded_open(e->common.state_dir, e->run.id, true, &over, err);

	if (!r)
		r = look_set_run(&e->look, &over.run, err);
	if (!r)
		r = chronicle_settle(&over, &e->look.tracker, err);
	look_set_run(&e->look, &e->run, NULL);
	recorded_close(&over);
	return r;
}

/* Nothing is left to be ended: that is what was asked for. */
static int say_over(struct end *e, struct err *err)
{
	struct act_outcome nothing = {.done = true};
	struct err unwritten = {0};

	if (e->kind == ACT_END && !e->dry_run && !e->no_record && settle(e, &unwritten) < 0)
		cmd_trouble(&unwritten);
	snprintf(nothing.title, sizeof(nothing.title), "%.80s: nothing is alive", e->run.id);
	return print_outcome(e, &nothing, err);
}

static int end(struct end *e, const struct selector *target, int *status, struct err *err)
{
	struct source_options o;
	int r = cmd_source_options(&e->common, target, &o, err);

	if (!r && o.replay)
		r = err_set(err, EINVAL, "a replayed file cannot be signalled");
	if (!r)
		r = look_open(&e->look, &o, err);
	if (!r)
		r = target->kind == SELECT_RUN ? find_recorded(e, target, err)
					       : look_for_target(&e->look, target, &e->run, err);
	if (!r)
		r = look_set_run(&e->look, &e->run, err);
	if (!r && target->kind == SELECT_RUN && none_alive(e))
		return say_over(e, err);
	if (!r)
		r = make_plan(e, err);
	if (r)
		return r;
	if (e->plan.refused[0]) {
		if (e->common.json)
			end_json(e->text, e->look.tracker.now, &e->plan, NULL, err);
		return err_set(err, EPERM, "%s: refused: %s%s", e->text, e->plan.refused,
			       members_help(e) ? ": --only=members spares it and hits the rest"
					       : "");
	}
	if (e->dry_run)
		return e->common.json ? end_json(e->text, e->look.tracker.now, &e->plan, NULL, err)
				      : print_plan(e, err);
	r = confirm(e, err);
	return r ? r : carry_out(e, status, err);
}

static int run_kind(const struct cmd *cmd, int argc, char **argv, enum act_kind kind, int signal)
{
	struct end e = {
		.kind = kind,
		.signal = signal,
		.grace_ns = ACT_GRACE_NS,
		.only = SCOPE_RUN,
	};
	struct selector target = {0};
	struct err err = {0};
	int rest, r, status = STATUS_OK;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &e.common, set_option, &e, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_TROUBLE;
	if (argc - rest > 1)
		return cmd_troublef("%s: one TARGET only: see stray %s --help", cmd->name,
				    cmd->name);
	if (argc == rest) {
		cmd_say_candidates(cmd, &e.common);
		return STATUS_TROUBLE;
	}
	r = selector_parse(argv[rest], &target, &err);
	if (!r) {
		selector_text(&target, e.text, sizeof(e.text));
		r = end(&e, &target, &status, &err);
	}
	plan_clear(&e.plan);
	look_close(&e.look);
	subject_clear(&e.recorded);
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
