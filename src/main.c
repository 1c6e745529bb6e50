#include "cmd/cmd.h"

#include "config.h"
#include "watch.h"

#include <locale.h>
#include <string.h>

static const struct cmd *const commands[] = {
	&cmd_watch,
	&cmd_list,
	&cmd_snap,
	&cmd_diff,
	&cmd_why,
	&cmd_end,
	&cmd_freeze,
	&cmd_thaw,
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

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "");
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
			return cmd_finish(commands[i]->run(commands[i], argc - 1, argv + 1));
	/* stray [watch] [TARGET] */
	return cmd_finish(cmd_watch.run(&cmd_watch, argc, argv));
}
