#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/run_json.h"
#include "contain/signal.h"
#include "engine/launch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REMOVED_SAID_MAX 5 /* on the terminal; the result has all */

enum {
	OPT_LEFTOVER = 300,
	OPT_ID,
	OPT_ON_EXPIRE,
	OPT_CUT,
	OPT_DETACH,
	OPT_APPROVED,
	OPT_SETTLE,
	OPT_JSON,
	OPT_DIE,
	OPT_SESSION,
	OPT_MAX,
	OPT_KEEP,
	OPT_CAPTURE,
	OPT_NO_RECORD,
	OPT_PRESERVE,
};

static const struct cmd_option options[] = {
	{'t', "deadline", "DUR", "end it after this long: 30, 30s, 5m, 1h; 0: never"},
	{'k', "grace", "DUR", "between TERM and KILL (5s); 0: KILL right after TERM"},
	{OPT_LEFTOVER, "leftover", "WHAT", "what it leaves: report (exit 123), end or keep"},
	{OPT_KEEP, "keep", "RULE", "exe=PATH or args=TEXT: a leftover that is spared"},
	{OPT_SETTLE, "settle", "DUR", "how long members get when it has ended (200ms)"},
	{OPT_ON_EXPIRE, "on-expire", "CMD", "run by sh when the deadline has passed, before TERM"},
	{OPT_CUT, "cut-at-expiry", NULL, "cut its connections first: not yet in this version"},
	{OPT_DETACH, "detach", "WHAT", "allow, or deny: setsid and setpgid fail in it"},
	{OPT_DIE, "die-with-parent", "[PID]", "end it when who started stray, or PID, dies"},
	{OPT_SESSION, "session", NULL, "a session of its own, also on a terminal"},
	{OPT_ID, "id", "ID", "the run's id (run- and 8 hex digits)"},
	{OPT_APPROVED, "approved-by", "TEXT", "who answers for it"},
	{OPT_JSON, "json", "[FILE]", "the result as JSON, to FILE or stderr"},
	{OPT_PRESERVE, "preserve-status", NULL, "its own status in place of 123 and 124"},
	{OPT_CAPTURE, "capture", "HOW", "how events are caught: auto, netlink or none"},
	{OPT_MAX, "journal-max", "SIZE", "process events beyond it are counted (64M); 0: no limit"},
	{OPT_NO_RECORD, "no-record", NULL, "run it although nothing is recorded"},
	{'q', "quiet", NULL, "say nothing of your own"},
	{'v', "verbose", NULL, "say what holds it"},
	{0, NULL, NULL, NULL},
};

struct run_cmd {
	struct cmd_common common;
	struct launch_options o;
	VEC(struct keep_rule) keep;
	bool json, quiet;
	const char *json_file;
	const char *id;
};

static int parse_duration(const char *name, const char *arg, uint64_t *ns, struct err *err)
{
	char plain[32];
	size_t n = strlen(arg);

	/* as sleep(1), and milliseconds */
	if (n > 2 && n < sizeof(plain) && strcmp(arg + n - 2, "ms") == 0) {
		snprintf(plain, sizeof(plain), "%.*s", (int)(n - 2), arg);
		if (clock_parse_duration(plain, ns) == 0 && isdigit((unsigned char)plain[n - 3])) {
			*ns /= 1000;
			return 0;
		}
	} else if (clock_parse_duration(arg, ns) == 0) {
		return 0;
	}
	return err_set(err, EINVAL, "run: %s: not a duration '%.40s': try 30s, 5m or 200ms", name,
		       arg);
}

static int parse_size(const char *arg, uint64_t *bytes, struct err *err)
{
	static const char units[] = "KMGT";
	char *end;
	const char *unit;

	errno = 0;
	*bytes = strtoull(arg, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (!isdigit((unsigned char)*arg) || errno || (*end && (!unit || end[1])))
		return err_set(err, EINVAL, "run: --journal-max: not a size '%.40s': try 64M", arg);
	if (unit && *bytes > UINT64_MAX >> (10 * (unit - units + 1)))
		return err_set(err, ERANGE, "run: --journal-max: too large '%.40s'", arg);
	if (unit)
		*bytes <<= 10 * (unit - units + 1);
	return 0;
}

/* One of words, which end with NULL: its index, or -EINVAL. */
static int parse_word(const char *name, const char *arg, const char *const *words, struct err *err)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(arg, words[i]) == 0)
			return i;
	return err_set(err, EINVAL, "run: %s: not '%.40s': see stray run --help", name, arg);
}

static int parse_keep(struct run_cmd *c, const char *arg, struct err *err)
{
	struct keep_rule k = {.what = KEEP_EXE};

	if (strncmp(arg, "exe=", 4) == 0 && arg[4] == '/')
		k.text = arg + 4;
	else if (strncmp(arg, "args=", 5) == 0 && arg[5])
		k = (struct keep_rule){.what = KEEP_ARGS, .text = arg + 5};
	else
		return err_set(err, EINVAL,
			       "run: --keep: exe=PATH, from the root on, or args=TEXT, not '%.40s'",
			       arg);
	return VEC_PUSH(&c->keep, k) ? 0 : err_nomem(err);
}

/* By pidfd, from here on: who has died before is no parent to wait for. */
static int parse_die_with(struct run_cmd *c, const char *arg, struct err *err)
{
	char *end = NULL;
	long pid = arg ? strtol(arg, &end, 10) : getppid();

	if (pid < 1 || pid > INT32_MAX || (arg && (end == arg || *end)))
		return err_set(err, EINVAL, "run: --die-with-parent: not a PID '%.40s'",
			       arg ? arg : "0");
	c->o.die_with_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (c->o.die_with_fd < 0)
		return err_errno(err, errno, "run: --die-with-parent: process %ld", pid);
	if (!arg && getppid() != (pid_t)pid)
		return err_set(err, ESRCH, "run: --die-with-parent: who started it has died");
	return 0;
}

static int set_option(void *ctx, int id, const char *arg, struct err *err)
{
	static const char *const leftovers[] = {"report", "end", "keep", NULL};
	static const char *const detaches[] = {"allow", "deny", NULL};
	static const char *const captures[] = {"auto", "netlink", "none", NULL};
	struct run_cmd *c = ctx;
	int r = 0;

	switch (id) {
	case 't':
		return parse_duration("-t", arg, &c->o.deadline_ns, err);
	case 'k':
		return parse_duration("-k", arg, &c->o.grace_ns, err);
	case OPT_SETTLE:
		return parse_duration("--settle", arg, &c->o.settle_ns, err);
	case OPT_LEFTOVER:
		r = parse_word("--leftover", arg, leftovers, err);
		c->o.leftover = r < 0 ? LEFTOVER_REPORT : (enum leftover_rule)r;
		return r < 0 ? r : 0;
	case OPT_DETACH:
		r = parse_word("--detach", arg, detaches, err);
		c->o.deny_detach = r == 1;
		return r < 0 ? r : 0;
	case OPT_CUT:
		return err_set(err, ENOTSUP, "run: --cut-at-expiry: not yet in this version");
	case OPT_CAPTURE:
		if (strcmp(arg, "bpf") == 0)
			return err_set(err, ENOTSUP,
				       "run: --capture=bpf: not yet in this version: auto, "
				       "netlink or none");
		r = parse_word("--capture", arg, captures, err);
		c->o.no_events = r == 2;
		c->o.needs_events = r == 1;
		return r < 0 ? r : 0;
	case OPT_KEEP:
		return parse_keep(c, arg, err);
	case OPT_ID:
		c->o.id = arg;
		return 0;
	case OPT_ON_EXPIRE:
		c->o.on_expire = arg;
		return 0;
	case OPT_APPROVED:
		c->o.approved_by = arg;
		return 0;
	case OPT_MAX:
		return parse_size(arg, &c->o.journal_max, err);
	case OPT_DIE:
		return parse_die_with(c, arg, err);
	case OPT_JSON:
		c->json = true;
		c->json_file = arg;
		return 0;
	case OPT_SESSION:
		c->o.own_session = true;
		return 0;
	case OPT_NO_RECORD:
		c->o.no_record = true;
		return 0;
	case OPT_PRESERVE:
		c->o.preserve_status = true;
		return 0;
	case 'q':
		c->quiet = true;
		return 0;
	default:
		c->o.verbose = true;
		return 0;
	}
}

/* A line of the run's own, while it runs and at its end. */
static void say(void *ctx, const char *text)
{
	const struct run_cmd *c = ctx;
	char safe[2400];

	if (c->quiet)
		return;
	text_safe(safe, sizeof(safe), text, strlen(text), !cmd_is_utf8());
	fprintf(stderr, "stray: %s\n", safe);
}

/*
 * A service's, or where no systemd names them a daemon by its parent and its session: its going is
 * news, a passer-by's is not.
 */
static bool is_service(const struct host *host, const struct process *p)
{
	if (host->systemd)
		return p->origin == ORIGIN_SERVICE;
	return p->ppid == 1 && p->sid == p->id.pid;
}

static void say_removed(const struct run_cmd *c, const struct baseline_diff *d)
{
	struct line o;
	size_t n = 0;

	if (c->quiet || !d->removed || !d->removed->procs.n)
		return; /* nor is the locale read for it */
	cmd_line_init_stderr(&o);
	for (size_t i = 0; i < d->removed->procs.n; i++) {
		const struct process *p = &d->removed->procs.v[i];

		if (!baseline_is_removed(d, p) || !is_service(&d->removed->host, p) ||
		    n++ >= REMOVED_SAID_MAX)
			continue;
		line_put(&o, ROLE_SURVIVOR, "stray: went while it ran, by whom is not known: ");
		line_put(&o, ROLE_NORMAL, "%d ", p->id.pid);
		cmd_line_command(&o, ROLE_NORMAL, p);
		line_end(&o);
	}
	if (n > REMOVED_SAID_MAX) {
		line_put(&o, ROLE_SURVIVOR, "stray: and %zu more went while it ran",
			 n - REMOVED_SAID_MAX);
		line_end(&o);
	}
	line_free(&o);
}

/* To FILE, which is made new or emptied, else on stderr: stdout is the command's. */
static int print_json(const struct run_cmd *c, FILE *file, const struct launch_result *r,
		      struct err *err)
{
	return c->json ? run_json(file ? file : stderr, r, err) : 0;
}

/* Before anything is started: what cannot be written then is trouble now. */
static int open_json(const struct run_cmd *c, FILE **out, struct err *err)
{
	int fd;

	if (!c->json_file)
		return 0;
	fd = open(c->json_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	*out = fd < 0 ? NULL : fdopen(fd, "w");
	return *out ? 0 : err_errno(err, errno, "--json=%.200s", c->json_file);
}

/* As the command did, so that a shell's loop ends as it would without stray. */
static void die_of(int sig)
{
	fflush(NULL);
	signal_die_of(sig);
}

static int launch(struct run_cmd *c)
{
	struct launch_result result;
	struct err err = {0};
	FILE *file = NULL;
	bool warden;
	int status;

	if (open_json(c, &file, &err) < 0) {
		cmd_trouble(&err);
		return STATUS_FAILED;
	}
	if (launch_run(&c->o, say, c, &result, &warden, &err) == LAUNCH_NOT_STARTED) {
		if (!warden)
			cmd_trouble(&err);
	} else if (!warden) {
		say_removed(c, &result.elsewhere);
		if (print_json(c, file, &result, &err) < 0)
			cmd_trouble(&err);
	}
	if (file)
		fclose(file);
	status = result.status;
	if (!warden && result.die_of)
		die_of(result.die_of);
	launch_result_clear(&result);
	return status;
}

/* --source is every command's; what is run is run here. */
static int take_source(struct run_cmd *c, struct err *err)
{
	const char *s = c->common.source;

	if (!s || strcmp(s, "auto") == 0)
		return 0;
	c->o.no_events = strcmp(s, "proc") == 0;
	c->o.needs_events = strcmp(s, "netlink") == 0;
	return c->o.no_events || c->o.needs_events
		       ? 0
		       : err_set(err, EINVAL, "run: --source: auto, netlink or proc, not '%.100s'",
				 s);
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct run_cmd c = {.o = {.grace_ns = LAUNCH_GRACE_NS,
				  .settle_ns = LAUNCH_SETTLE_NS,
				  .journal_max = LAUNCH_JOURNAL_MAX,
				  .die_with_fd = -1}};
	struct err err = {0};
	int rest, status;
	enum parsed parsed = cmd_parse(cmd, argc, argv, &c.common, set_option, &c, &rest);

	if (parsed != PARSED_RUN)
		return parsed == PARSED_DONE ? STATUS_OK : STATUS_FAILED;
	if (rest >= argc) {
		cmd_troublef("run: no command: stray run [OPTIONS] -- CMD...");
		return STATUS_FAILED;
	}
	if (take_source(&c, &err) < 0) {
		cmd_trouble(&err);
		free(c.keep.v);
		return STATUS_FAILED;
	}
	c.o.argv = argv + rest;
	c.o.state_dir = c.common.state_dir;
	c.o.keep = c.keep.v;
	c.o.n_keep = c.keep.n;
	status = launch(&c);
	free(c.keep.v);
	return status;
}

const struct cmd cmd_run = {
	.name = "run",
	.args = "-- CMD [ARG...]",
	.summary = "run a command as a run: contained, watched, ended at its deadline, recorded",
	.example = "stray run -t 30s -- make -j4",
	.options = options,
	.run = run,
	.takes_command = true,
};
