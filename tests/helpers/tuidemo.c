/*
 * A small view on the real driver: shows that a terminal is taken, drawn on,
 * read from and given back as tui/driver.h says.
 *
 *	tuidemo [--ascii] [--mono] [--mouse]
 *
 * It shows a few rows in every role and the last events.  Keys: q quits, ^C
 * too, ^Z suspends, ^L redraws, / types, d flushes input as a dialog does
 * (after half a second of not reading), ! aborts, % crashes, H hangs without
 * reading.  An error is one line on stderr, and status 2.
 */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/draw.h"
#include "tui/driver.h"
#include "tui/lineedit.h"

#define LIFE_S 120 /* nothing is left behind if a test loses it */
#define EVENTS 4

struct demo {
	struct driver *driver;
	struct grid grid;
	struct lineedit line;
	bool typing;
	int selected;
	long count;
	char events[EVENTS][INPUT_TEXT_MAX + 64];
};

static const struct {
	enum style style;
	const char *flags, *text;
} rows[] = {
	{STYLE_NORMAL, "RS---a", "4160 sh upload.sh            forked by 4155 sh, gone 14:02:41"},
	{STYLE_MEMBER, "------", "4162 make -j2                a member, nothing wrong"},
	{STYLE_SUSPECT, "R-----", "4131 sh -c ./deploy.sh …     parent gone, login closed"},
	{STYLE_DETACHED, "-S----", "4171 └ python3 worker.py     detached"},
	{STYLE_SURVIVOR, "----X-", "4172 └ worker --ignore-term  survived TERM, 5.0 s"},
	{STYLE_AUTHORITY, "-----A", "4173 └ curl -T dump.sql      ⇄ 198.51.100.9:443"},
	{STYLE_TAGGED, "*-----", "4174 tail -f app.log         tagged"},
	{STYLE_DIM, "------", "4155 sh                      ghost"},
	{STYLE_ENDED, "------", "4180 cc1                     ended"},
	{STYLE_GOOD, "------", "世界 wide, e\xcc\x81 combining"},
	{STYLE_WARNING, "------", "not known: anything before 14:11:02"},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static void draw_rows(struct demo *demo, const struct area *all)
{
	struct area list = draw_part(all, 3, 0, ROWS, all->cols);
	int x;

	for (int i = 0; i < ROWS; i++) {
		x = draw_text(&list, i, 0, STYLE_NORMAL, i == demo->selected ? " > " : "   ");
		x = draw_format(&list, i, x, rows[i].style, "%-7s", rows[i].flags);
		draw_text(&list, i, x, rows[i].style, rows[i].text);
	}
	draw_select(&list, demo->selected);
}

static void draw(struct demo *demo)
{
	struct area all;
	char size[32];
	int rows_n, cols, x;

	driver_size(demo->driver, &rows_n, &cols);
	if (grid_resize(&demo->grid, rows_n, cols, NULL) < 0)
		return;
	all = draw_whole(&demo->grid);
	snprintf(size, sizeof(size), "%dx%d ", rows_n, cols);
	draw_fill(&all, 0, 0, 1, cols, STYLE_TITLE, ' ');
	draw_text(&all, 0, 1, STYLE_TITLE, "web-01 · run-7f3c0a12 · DEMO");
	draw_right(&all, 0, cols, STYLE_TITLE, size);
	draw_text(&all, 2, 3, STYLE_HEADER, "FLAGS   PID COMMAND");
	draw_rows(demo, &all);
	draw_hline(&all, ROWS + 3, 1, cols - 2, STYLE_DIM);
	for (int i = 0; i < EVENTS; i++)
		draw_cut(&all, ROWS + 4 + i, 1, cols - 1, STYLE_NORMAL, demo->events[i]);
	x = draw_text(&all, rows_n - 1, 1, STYLE_KEY, demo->typing ? "/" : "q");
	if (demo->typing)
		lineedit_draw(&demo->line, &all, rows_n - 1, x + 1, 20);
	else
		draw_text(&all, rows_n - 1, x, STYLE_NORMAL, " quit");
	driver_flush(demo->driver, &demo->grid);
}

static void remember(struct demo *demo, const char *what)
{
	memmove(demo->events[1], demo->events[0], sizeof(demo->events[0]) * (EVENTS - 1));
	snprintf(demo->events[0], sizeof(demo->events[0]), "%ld. %s", ++demo->count, what);
}

/* Not for UBSan to catch: the signal is what is wanted. */
__attribute__((no_sanitize("undefined"))) static void crash(void)
{
	volatile int *nowhere = NULL;

	*nowhere = 1;
}

static void dialog(struct demo *demo)
{
	poll(NULL, 0, 500);
	driver_flush_input(demo->driver);
	remember(demo, "input flushed");
}

/* Returns -1 to go on, else the signal to end by, 0 for none. */
static int act(struct demo *demo, const struct input *in)
{
	char what[INPUT_TEXT_MAX + 16];

	input_format(in, what, sizeof(what));
	remember(demo, what);
	if (in->kind == INPUT_END)
		return in->y;
	if (demo->typing) {
		enum lineedit_result r = lineedit_input(&demo->line, in);

		demo->typing = r != LINEEDIT_DONE && r != LINEEDIT_CANCEL;
		return -1;
	}
	if (in->kind != INPUT_KEY)
		return -1;
	switch (in->key) {
	case 'q':
	case INPUT_CTRL('C'):
		return 0;
	case INPUT_CTRL('Z'):
		driver_suspend(demo->driver);
		break;
	case INPUT_CTRL('L'):
		driver_redraw(demo->driver);
		break;
	case INPUT_UP:
		demo->selected = (demo->selected + ROWS - 1) % ROWS;
		break;
	case INPUT_DOWN:
		demo->selected = (demo->selected + 1) % ROWS;
		break;
	case '/':
		demo->line = (struct lineedit){0};
		demo->typing = true;
		break;
	case 'd':
		dialog(demo);
		break;
	case 't':
		driver_title(demo->driver, "stray: tuidemo");
		driver_bell(demo->driver);
		break;
	case '!':
		abort();
	case '%':
		crash();
		break;
	case 'H':
		draw(demo);
		poll(NULL, 0, LIFE_S * 1000);
		break;
	}
	return -1;
}

static int loop(struct demo *demo)
{
	struct pollfd fds[] = {
		{.fd = driver_fd(demo->driver), .events = POLLIN},
		{.fd = driver_signal_fd(demo->driver), .events = POLLIN},
	};
	time_t end = time(NULL) + LIFE_S;
	struct input in;
	int r;

	while (time(NULL) < end) {
		draw(demo);
		r = driver_wait_ms(demo->driver);
		poll(fds, 2, r < 0 || r > 1000 ? 1000 : r);
		while (driver_read(demo->driver, &in)) {
			r = act(demo, &in);
			if (r >= 0)
				return r;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct driver_options options = {0};
	struct demo demo = {0};
	struct err err = {0};
	int signo;

	for (int i = 1; i < argc; i++) {
		options.ascii |= strcmp(argv[i], "--ascii") == 0;
		options.mono |= strcmp(argv[i], "--mono") == 0;
		options.mouse |= strcmp(argv[i], "--mouse") == 0;
	}
	setlocale(LC_CTYPE, "");
	if (driver_open(&options, &demo.driver, &err) < 0) {
		fprintf(stderr, "tuidemo: %s\n", err.text);
		return 2;
	}
	demo.grid.ascii = driver_ascii(demo.driver);
	signo = loop(&demo);
	driver_close(demo.driver);
	grid_free(&demo.grid);
	if (signo > 0) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	printf("tuidemo: done\n");
	return 0;
}
