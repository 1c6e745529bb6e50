#include "cmd/cmd.h"

#include "config.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cmd *const commands[] = {
	&cmd_watch,  &cmd_list,   &cmd_why,    &cmd_snap,   &cmd_diff, &cmd_end,
	&cmd_freeze, &cmd_thaw,   &cmd_run,    &cmd_adopt,  &cmd_runs, &cmd_check,
	&cmd_note,   &cmd_export, &cmd_verify, &cmd_doctor,
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	fputs("usage: stray [COMMAND] [OPTIONS] [TARGET]\n"
	      "Find, end and document the processes that a run of commands left behind.\n\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nWithout a command: the live view.  stray COMMAND --help tells the rest.\n", out);
}

/*
 * With one of 0 to 2 closed, a file that is opened later takes its number, and
 * what is meant for a person lands in a record.  Opened the wrong way round:
 * whoever writes to it still gets EBADF; and a command that we execute finds it closed.
 */
static void keep_stdio_numbers(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_NOCTTY | O_CLOEXEC);
}

/* A bare word is a run's id where a TARGET may stand; in front it is more likely a command. */
static bool is_unknown_command(const char *word)
{
	struct selector s = {0};
	bool bare = *word != '-' && selector_parse(word, &s, NULL) == 0 && s.kind == SELECT_RUN &&
		    strncmp(word, "run:", 4) != 0;

	selector_free(&s);
	return bare;
}

/*
 * What libraries do at exit(3) takes a twentieth of `stray run -- true`, and the kernel frees as
 * well.  A leak checker is one of them, and is to have its turn.
 */
static _Noreturn void leave(int status)
{
	status = cmd_finish(status);
#ifdef __SANITIZE_ADDRESS__
	exit(status);
#else
	_exit(status);
#endif
}

int main(int argc, char **argv)
{
	keep_stdio_numbers();
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		puts(PACKAGE_STRING);
		return cmd_finish(STATUS_OK);
	}
	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		print_usage(stdout);
		return cmd_finish(STATUS_OK);
	}
	for (size_t i = 0; argc > 1 && i < N_COMMANDS; i++)
		if (strcmp(argv[1], commands[i]->name) == 0)
			leave(commands[i]->run(commands[i], argc - 1, argv + 1));
	if (argc > 1 && is_unknown_command(argv[1]))
		return cmd_finish(cmd_troublef("%s: no command, or not yet in this version: see "
					       "stray --help",
					       argv[1]));
	/* stray [watch] [TARGET] */
	return cmd_finish(cmd_watch.run(&cmd_watch, argc, argv));
}
