/*
 * The commands: one file each, and what they have in common.
 *
 * A command parses its arguments, asks the engine, and prints; it returns the
 * exit status of the contract (doc/stray.1).  Only this folder prints, and
 * only main exits.
 */
#ifndef STRAY_CMD_CMD_H
#define STRAY_CMD_CMD_H

#include "base/err.h"
#include "cmd/line.h"
#include "model/run.h"
#include "model/selector.h"
#include "model/table.h"
#include "engine/listener.h"
#include "source/source.h"

#include <stdbool.h>
#include <stdio.h>

enum { STATUS_OK = 0, STATUS_DIFFERS = 1, STATUS_TROUBLE = 2 };

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* One option: a row of a command's table, ended by a row of zeros. */
struct cmd_option {
	int id;           /* the letter of its short form, or > 255: none */
	const char *name; /* long */
	const char *arg;  /* of the help: "DUR"; NULL: takes none; "[PID]": may be left out, and
			   * is given as --name=PID only */
	const char *help;
};

/* The options that every command takes, parsed. */
struct cmd_common {
	bool json;
	enum color color;
	const char *state_dir; /* NULL: by default */
	const char *source;    /* "auto", "netlink", "proc", "replay:FILE" */
	bool unmask;
};

struct cmd {
	const char *name;
	const char *args; /* "[TARGET]" */
	const char *summary;
	const char *example;
	const struct cmd_option *options; /* its own; NULL: none */
	int (*run)(const struct cmd *cmd, int argc, char **argv);
	bool takes_command; /* options end with the first operand: what follows has its own */
};

extern const struct cmd cmd_export;
extern const struct cmd cmd_list, cmd_why, cmd_snap, cmd_diff, cmd_end, cmd_freeze, cmd_thaw;
extern const struct cmd cmd_adopt, cmd_runs, cmd_note, cmd_check, cmd_verify, cmd_run;
extern const struct cmd cmd_doctor;

/* How a command's parsing went on. */
enum parsed { PARSED_RUN, PARSED_DONE /* help or version was printed */, PARSED_TROUBLE };

/*
 * Parses argv[1..] by the common options and cmd's own; own ones go to set
 * (returns 0, or -EINVAL with *err set).  *rest: index of the first operand.
 */
enum parsed cmd_parse(const struct cmd *cmd, int argc, char **argv, struct cmd_common *common,
		      int (*set)(void *ctx, int id, const char *arg, struct err *err), void *ctx,
		      int *rest);

/* "stray: text" on stderr, made safe; returns STATUS_TROUBLE. */
int cmd_trouble(const struct err *err);
int cmd_troublef(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Fills in the source's options from the common ones.  -EINVAL; what netlink_open() says where
 * that is asked for and does not work. */
int cmd_source_options(const struct cmd_common *common, const struct selector *target,
		       struct source_options *out, struct err *err);

/* Whether events are to be listened to. */
enum listener_how cmd_listener_how(const struct cmd_common *common);

/* A run's id without "run:" before it. */
const char *cmd_run_name(const char *arg);

/* For a command that never acts without a TARGET: says so, and what there is. */
void cmd_say_candidates(const struct cmd *cmd, const struct cmd_common *common);

/*
 * Why a target matches nothing: that number may be dead, the kernel's own, or
 * live on as a group or session.  Sets *err (from missing at least); -its code.
 */
int cmd_no_target(const struct table *t, const struct selector *target, const struct err *missing,
		  struct err *err);

bool cmd_is_utf8(void);
const char *cmd_dot(void); /* between two facts on a line: " · ", in ASCII " - " */
bool cmd_color(const struct cmd_common *common);

/* A line on stdout, as wide and as colourful as that may be.  line_free() in the end. */
void cmd_line_init(const struct cmd_common *common, struct line *l);

void cmd_line_init_stderr(struct line *l);

/* 0, or -ENOMEM where a line could not be put together. */
int cmd_line_finish(struct line *l, struct err *err);

/* The command line of p, or its name. */
void cmd_line_command(struct line *l, enum role role, const struct process *p);

/* What the answer does not cover, as "not known: ..." lines. */
void cmd_print_coverage(struct line *l, const struct table *t);

/* Who holds the other ends of the run's pipes, and what is not known of these; run: NULL: none. */
void cmd_print_pipes(struct line *l, const struct run *run, const struct table *t);

/* Ends the command: flushes stdout; a write error is trouble. */
int cmd_finish(int status);

#endif
