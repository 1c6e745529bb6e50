#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/pipes.h"
#include "source/netlink.h"

#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { OPT_JSON = 1000, OPT_COLOR, OPT_STATE_DIR, OPT_SOURCE, OPT_UNMASK, OPT_HELP, OPT_VERSION };

static const struct cmd_option common_options[] = {
	{OPT_JSON, "json", NULL, "print JSON"},
	{OPT_COLOR, "color", "WHEN", "auto, always or never"},
	{OPT_STATE_DIR, "state-dir", "DIR", "where records are kept"},
	{OPT_SOURCE, "source", "SOURCE", "auto, netlink, proc or replay:FILE"},
	{OPT_UNMASK, "unmask", NULL, "show secrets in arguments (on a terminal only)"},
	{OPT_HELP, "help", NULL, "this text"},
	{OPT_VERSION, "version", NULL, "the version"},
	{0, NULL, NULL, NULL},
};

#define N_COMMON (sizeof(common_options) / sizeof(common_options[0]))
#define OPTIONS_MAX 48

static bool is_optional(const struct cmd_option *o)
{
	return o->arg && o->arg[0] == '[';
}

/* Whether a command has an option of that name of its own. */
static bool is_own(const struct cmd *cmd, const char *name)
{
	for (const struct cmd_option *o = cmd->options; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return true;
	return false;
}

static void print_options(const struct cmd *cmd, const struct cmd_option *o)
{
	for (; o && o->name; o++) {
		char left[48];

		if (o >= common_options && o < common_options + N_COMMON && is_own(cmd, o->name))
			continue;
		snprintf(left, sizeof(left), "%s%c%s--%s%s%s", o->id < 256 ? "-" : " ",
			 o->id < 256 ? o->id : ' ', o->id < 256 ? ", " : "  ", o->name,
			 !o->arg          ? ""
			 : is_optional(o) ? "[="
					  : "=",
			 !o->arg ? "" : o->arg + is_optional(o));
		printf("  %-26s %s\n", left, o->help);
	}
}

static void print_help(const struct cmd *cmd)
{
	printf("usage: stray %s [OPTIONS] %s\n%s\n\n", cmd->name, cmd->args, cmd->summary);
	print_options(cmd, cmd->options);
	print_options(cmd, common_options);
	printf("\nexample: %s\n", cmd->example);
}

/* Rows of a table to getopt_long's; returns how many were added. */
static int to_getopt(const struct cmd_option *o, struct option *longs, char *shorts)
{
	int n = 0;

	for (; o && o->name; o++) {
		longs[n++] = (struct option){o->name,
					     is_optional(o) ? optional_argument
					     : o->arg       ? required_argument
							    : no_argument,
					     NULL, o->id};
		if (o->id < 256) {
			char s[3] = {(char)o->id, o->arg ? ':' : '\0', '\0'};

			strcat(shorts, s);
		}
	}
	return n;
}

static int set_common(struct cmd_common *c, int id, const char *arg, struct err *err)
{
	switch (id) {
	case OPT_JSON:
		c->json = true;
		return 0;
	case OPT_COLOR:
		if (strcmp(arg, "auto") == 0)
			c->color = COLOR_AUTO;
		else if (strcmp(arg, "always") == 0)
			c->color = COLOR_ALWAYS;
		else if (strcmp(arg, "never") == 0)
			c->color = COLOR_NEVER;
		else
			return err_set(err, EINVAL, "--color: auto, always or never, not '%s'",
				       arg);
		return 0;
	case OPT_STATE_DIR:
		if (!*arg)
			return err_set(err, EINVAL,
				       "--state-dir: the name of a directory is missing");
		c->state_dir = arg;
		return 0;
	case OPT_SOURCE:
		c->source = arg;
		return 0;
	case OPT_UNMASK:
		if (!isatty(STDOUT_FILENO))
			return err_set(
				err, EINVAL,
				"--unmask: only on a terminal, so that no secret lands in a file");
		c->unmask = true;
		return 0;
	default:
		return err_set(err, EINVAL, "unknown option");
	}
}

/* getopt_long(3): optopt is 0 for a long option that is unknown or could be several. */
static void say_bad_option(const struct cmd *cmd, int id, const char *word,
			   const struct option *longs)
{
	const char *what = id == ':' ? "option needs a value" : "unknown option";

	for (int i = 0; id == '?' && longs[i].name; i++)
		if (optopt && longs[i].val == optopt && longs[i].has_arg == no_argument)
			what = "option takes no value";
	cmd_troublef("%s: %s '%s': see stray %s --help", cmd->name, what, word, cmd->name);
}

/*
 * getopt_long() takes the beginning of a long option for it.  Scripts would come to rest on that,
 * and break with the next option that begins so.  word: as typed, with its value or without.
 */
static bool is_whole(const char *name, const char *word)
{
	size_t n = strlen(name);

	return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 &&
	       (word[2 + n] == '\0' || word[2 + n] == '=');
}

/* The word of the option that getopt_long() has just parsed: its value may be one of its own. */
static const char *parsed_word(char **argv)
{
	return optarg && optarg == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
}

enum parsed cmd_parse(const struct cmd *cmd, int argc, char **argv, struct cmd_common *common,
		      int (*set)(void *ctx, int id, const char *arg, struct err *err), void *ctx,
		      int *rest)
{
	struct option longs[OPTIONS_MAX] = {0};
	char shorts[2 * OPTIONS_MAX + 1] = "+:";
	int n, id, which = -1;
	struct err err = {0};

	if (!cmd->takes_command)
		strcpy(shorts, ":");
	n = to_getopt(cmd->options, longs, shorts);

	to_getopt(common_options, longs + n, shorts);
	memset(common, 0, sizeof(*common));
	optind = 1;
	for (; (id = getopt_long(argc, argv, shorts, longs, &which)) != -1; which = -1) {
		const char *name = which < 0 ? NULL : longs[which].name;
		int r;

		if (id == '?' || id == ':') {
			say_bad_option(cmd, id, argv[optind - 1], longs);
			return PARSED_TROUBLE;
		}
		if (name && !is_whole(name, parsed_word(argv))) {
			cmd_troublef("%s: unknown option '%s': is --%s meant?", cmd->name,
				     parsed_word(argv), name);
			return PARSED_TROUBLE;
		}
		if (id == OPT_HELP) {
			print_help(cmd);
			return PARSED_DONE;
		}
		if (id == OPT_VERSION) {
			puts(PACKAGE_STRING);
			return PARSED_DONE;
		}
		r = id >= OPT_JSON ? set_common(common, id, optarg, &err)
				   : set(ctx, id, optarg, &err);
		if (r < 0) {
			cmd_trouble(&err);
			return PARSED_TROUBLE;
		}
	}
	*rest = optind;
	return PARSED_RUN;
}

int cmd_trouble(const struct err *err)
{
	char safe[3 * sizeof(err->text)];

	fflush(stdout);
	text_safe(safe, sizeof(safe), err->text, strlen(err->text), !cmd_is_utf8());
	fprintf(stderr, "stray: %s\n", safe);
	return STATUS_TROUBLE;
}

int cmd_troublef(const char *fmt, ...)
{
	struct err err = {.code = EINVAL};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.text, sizeof(err.text), fmt, ap);
	va_end(ap);
	return cmd_trouble(&err);
}

/* What is there now is read from /proc in any case; events tell what happens beside that. */
static int probe_netlink(struct err *err)
{
	struct netlink *n;
	int r = netlink_open(&n, err);

	netlink_close(n);
	return r;
}

int cmd_source_options(const struct cmd_common *common, const struct selector *target,
		       struct source_options *out, struct err *err)
{
	const char *s = common->source;

	memset(out, 0, sizeof(*out));
	out->details = DETAIL_BASIC;
	out->candidate_details = DETAIL_BASIC | DETAIL_STDIO;
	out->unmask = common->unmask;
	if (target && target->kind == SELECT_ENV) {
		out->marks = (const char *const *)&target->name;
		out->n_marks = 1;
	}
	if (!s || strcmp(s, "auto") == 0 || strcmp(s, "proc") == 0)
		return 0;
	if (strncmp(s, "replay:", 7) == 0 && s[7]) {
		out->replay = s + 7;
		return 0;
	}
	if (strcmp(s, "netlink") == 0)
		return probe_netlink(err);
	return err_set(err, EINVAL, "--source: auto, netlink, proc or replay:FILE, not '%s'", s);
}

enum listener_how cmd_listener_how(const struct cmd_common *common)
{
	const char *s = common->source;

	if (!s || strcmp(s, "auto") == 0)
		return LISTENER_AUTO;
	return strcmp(s, "netlink") == 0 ? LISTENER_MUST : LISTENER_NEVER;
}

const char *cmd_run_name(const char *arg)
{
	return strncmp(arg, "run:", 4) == 0 ? arg + 4 : arg;
}

/* Asked when something is said: to read what is known of a locale takes a while. */
bool cmd_is_utf8(void)
{
	static int known = -1;
	locale_t l;

	if (known >= 0)
		return known;
	l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	known = l && strcmp(nl_langinfo_l(CODESET, l), "UTF-8") == 0;
	if (l)
		freelocale(l);
	return known;
}

const char *cmd_dot(void)
{
	return cmd_is_utf8() ? " · " : " - ";
}

bool cmd_color(const struct cmd_common *common)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (common->color != COLOR_AUTO)
		return common->color == COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

static int columns_of(int fd)
{
	struct winsize ws;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col ? ws.ws_col : 80;
}

int cmd_no_target(const struct table *t, const struct selector *target, const struct err *missing,
		  struct err *err)
{
	pid_t number = target->kind == SELECT_PID ? (pid_t)target->number : 0;
	bool group = false, session = false;

	for (size_t i = 0; i < t->procs.n; i++) {
		const struct process *p = &t->procs.v[i];

		group |= number && p->pgid == number && !process_is_dead(p);
		session |= number && p->sid == number && !process_is_dead(p);
		if (number && p->id.pid == number && !selector_matches(target, p))
			return err_set(err, ESRCH,
				       "%d@%" PRIu64 " has ended: %d is another process now",
				       number, target->start, number);
		if (!selector_matches(target, p))
			continue;
		if (process_is_kthread(p))
			return err_set(err, EPERM, "%d is a kernel thread: refused", p->id.pid);
		if (process_is_dead(p) && !group && !session)
			return err_set(err, ESRCH, "%d is dead already: its parent %d must reap it",
				       p->id.pid, p->ppid);
	}
	if (group || session)
		return err_set(err, ESRCH, "%d has ended, but its %s lives on: try %s:%d", number,
			       group ? "group" : "session", group ? "pgid" : "sid", number);
	return err_set(err, missing->code, "%s", missing->text);
}

void cmd_line_init_stderr(struct line *l)
{
	line_init(l, stderr, columns_of(STDERR_FILENO), false, !cmd_is_utf8());
}

void cmd_line_init(const struct cmd_common *common, struct line *l)
{
	line_init(l, stdout, columns_of(STDOUT_FILENO), cmd_color(common), !cmd_is_utf8());
}

int cmd_line_finish(struct line *l, struct err *err)
{
	bool failed = l->failed;

	line_free(l);
	return failed ? err_nomem(err) : 0;
}

void cmd_line_command(struct line *l, enum role role, const struct process *p)
{
	struct bytes command = {0};

	if (process_command(p, &command) < 0)
		l->failed = true;
	else
		line_safe(l, role, command.data, command.len);
	bytes_free(&command);
}

#define UNKNOWN(l, ...)                                           \
	do {                                                      \
		line_put(l, ROLE_DIM, "not known: " __VA_ARGS__); \
		line_end(l);                                      \
	} while (0)

void cmd_print_coverage(struct line *l, const struct table *t)
{
	const struct coverage *c = &t->coverage;
	char when[9];

	if (!(c->sources & 1u << SOURCE_REPLAY)) {
		clock_hms(c->first_scan_wall_ns, when);
		UNKNOWN(l, "anything that ended before %s UTC", when);
	}
	if (c->hidepid)
		UNKNOWN(l,
			"other users' processes, which /proc hides (hidepid): "
			"%zu visible of an unknown number",
			t->procs.n);
	for (unsigned i = 0; i < DETAIL_COUNT; i++)
		if (c->unreadable[i])
			UNKNOWN(l, "%s of %u %s, not readable%s", detail_name(1u << i),
				c->unreadable[i], c->unreadable[i] == 1 ? "process" : "processes",
				t->host.uid ? " (other users')" : "");
	if (c->skipped)
		UNKNOWN(l, "%u readings that hung were given up", c->skipped);
}

void cmd_print_pipes(struct line *l, const struct run *run, const struct table *t)
{
	char text[160];

	for (size_t i = 0; run && i < t->procs.n; i++) {
		pipes_words(pipes_peer(run, t, &t->procs.v[i]), text);
		if (!text[0])
			continue;
		line_put(l, ROLE_HEAD, "peer: ");
		line_put(l, ROLE_NORMAL, "%d ", t->procs.v[i].id.pid);
		cmd_line_command(l, ROLE_NORMAL, &t->procs.v[i]);
		line_put(l, ROLE_DIM, "%sholds the other end of its root's %s", cmd_dot(), text);
		line_end(l);
	}
	if (run && pipes_unknown(run, text, sizeof(text)))
		UNKNOWN(l, "%s", text);
}

int cmd_finish(int status)
{
	if (fflush(stdout) != 0)
		return cmd_troublef("stdout: %s", strerror(errno));
	/* an error before this: whoever met it has said so, or its errno is lost */
	if (ferror(stdout) && status == STATUS_OK)
		return cmd_troublef("stdout: not all of it could be written");
	return status;
}
