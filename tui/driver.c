#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

#include "tui/driver.h"

#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/text.h"
#include "tui/decode.h"
#include "tui/rescue.h"
#include "tui/sequences.h"
#include "tui/style.h"
#include "tui/tty.h"

#define ESCAPE_DELAY_MS 25
#define FLUSH_QUIET_MS 20
#define FLUSH_LIMIT_MS 250
#define TITLE_MAX 256

/*
 * Our keys and marks by the numbers that ncurses is told for them: beyond its
 * own, and those it gives to the extended keys of a description.
 */
#define CODE_FIRST 4096
#define CODE(key) (CODE_FIRST + (int)((key)-INPUT_UP))

struct driver {
	struct tty tty;
	SCREEN *screen;
	WINDOW *keys; /* reading from stdscr would refresh it */
	enum style_depth depth;
	bool ascii, mouse;
	bool titled;  /* the terminal has a title */
	bool gone;    /* hung up */
	bool redrawn; /* the screen was lost: an INPUT_RESIZE is due */
	bool valid;   /* shown is what the terminal shows */
	char undo[RESCUE_SEQUENCE_MAX];
	size_t undo_len;
	char title[TITLE_MAX];
	struct decode decode;
	struct grid shown;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Whether the terminal's description is there and can do what a screen needs. */
static int check_term(const struct driver *d, struct err *err)
{
	const char *term = getenv("TERM");
	char safe[40];
	int found = 0;
	char *move;

	if (!term || !term[0])
		return err_set(err, EINVAL, "TERM is not set" TTY_INSTEAD);
	if (strcmp(term, "dumb") == 0 || strcmp(term, "unknown") == 0)
		return err_set(err, EINVAL, "TERM is %s: no live view there" TTY_INSTEAD, term);
	text_safe(safe, sizeof(safe), term, strlen(term), true);
	if (setupterm(term, fileno(d->tty.out), &found) != OK || found != 1)
		return err_set(err, EINVAL, "TERM=%s is not known here" TTY_INSTEAD, safe);
	move = tigetstr("cup");
	del_curterm(cur_term);
	if (!move || move == (char *)-1)
		return err_set(err, EINVAL, "TERM=%s cannot move its cursor" TTY_INSTEAD, safe);
	return 0;
}

static void add_undo(struct driver *d, const char *s)
{
	if (!s || s == (const char *)-1)
		return;
	while (*s && d->undo_len < sizeof(d->undo)) {
		/* Padding, "$<2>": not for the terminal (terminfo(5)). */
		if (s[0] == '$' && s[1] == '<' && strchr(s, '>'))
			s = strchr(s, '>') + 1;
		else
			d->undo[d->undo_len++] = *s++;
	}
}

/* What restores the screen without ncurses. */
static void store_undo(struct driver *d)
{
	const char *main_screen = tigetstr("rmcup");

	d->undo_len = 0;
	add_undo(d, tigetstr("sgr0"));
	add_undo(d, tigetstr("cnorm"));
	add_undo(d, tigetstr("rmkx"));
	if (d->mouse)
		add_undo(d, SEQUENCE_MOUSE_OFF);
	add_undo(d, SEQUENCE_PASTE_OFF);
	if (d->titled)
		add_undo(d, SEQUENCE_TITLE_POP);
	if (main_screen && main_screen != (const char *)-1)
		add_undo(d, main_screen);
	else
		add_undo(d, "\r\n");
}

/* XT: XTerm's title sequences (ncurses' user_caps(5)); tmux and screen lack the flag. */
static bool has_title(void)
{
	const char *term = termname();

	return tigetflag("XT") > 0 || strncmp(term, "tmux", 4) == 0 ||
	       strncmp(term, "screen", 6) == 0;
}

static void send_title(struct driver *d)
{
	if (!d->titled || !d->title[0])
		return;
	tty_write(&d->tty, SEQUENCE_TITLE);
	tty_write(&d->tty, d->title);
	tty_write(&d->tty, SEQUENCE_TITLE_END);
}

/* On the alternate screen now: what ncurses knows nothing of. */
static void enter(struct driver *d)
{
	if (d->titled)
		tty_write(&d->tty, SEQUENCE_TITLE_PUSH);
	tty_write(&d->tty, SEQUENCE_PASTE_ON);
	send_title(d);
	rescue_arm(&d->tty.shell, d->undo, d->undo_len);
}

static void leave(struct driver *d)
{
	tty_write(&d->tty, SEQUENCE_PASTE_OFF);
	if (d->titled)
		tty_write(&d->tty, SEQUENCE_TITLE_POP);
	endwin();
	rescue_disarm();
}

static short pair_number(enum style role, bool selected)
{
	return (short)(1 + 2 * (int)role + (selected ? 1 : 0));
}

static void set_colors(struct driver *d, const struct driver_options *options)
{
	bool own;

	d->depth = STYLE_MONO;
	if (options->mono || !has_colors() || start_color() == ERR || COLORS < 8 ||
	    COLOR_PAIRS <= 2 * STYLE_COUNT)
		return;
	d->depth = COLORS >= 256 ? STYLE_COLOR256 : STYLE_COLOR8;
	own = use_default_colors() == OK;
	for (int i = 0; i < 2 * STYLE_COUNT; i++) {
		struct style_look look = style_look((enum style)(i / 2), i % 2 == 1, d->depth);

		if (!own && look.fg < 0)
			look.fg = COLOR_WHITE;
		if (!own && look.bg < 0)
			look.bg = COLOR_BLACK;
		init_pair(pair_number((enum style)(i / 2), i % 2 == 1), look.fg, look.bg);
	}
}

static void define_keys(void)
{
	const struct sequence *key;

	for (size_t i = 0; (key = sequence_usual(i)); i++)
		define_key(key->bytes, CODE(key->code));
	/* What the description says comes last: it holds. */
	for (size_t i = 0; (key = sequence_capability(i)); i++) {
		const char *bytes = tigetstr(key->bytes);

		if (bytes && bytes != (const char *)-1)
			define_key(bytes, CODE(key->code));
	}
}

static int set_keys(struct driver *d)
{
	raw();
	noecho();
	nonl();
	typeahead(-1);
	set_escdelay(ESCAPE_DELAY_MS);
	d->keys = newpad(1, 1);
	if (!d->keys)
		return -ENOMEM;
	keypad(d->keys, TRUE);
	nodelay(d->keys, TRUE);
	define_keys();
	if (d->mouse) {
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	} else {
		define_key(NULL, KEY_MOUSE);
	}
	return 0;
}

static void resize(struct driver *d)
{
	int rows = LINES, cols = COLS;

	tty_size(&d->tty, &rows, &cols);
	if (rows != LINES || cols != COLS)
		resize_term(rows, cols);
	driver_redraw(d);
}

static int open_screen(struct driver *d, const struct driver_options *options, struct err *err)
{
	int r;

	use_env(FALSE);
	use_tioctl(TRUE);
	d->screen = newterm(NULL, d->tty.out, d->tty.in);
	if (!d->screen)
		return err_set(err, EINVAL, "the terminal cannot be set up" TTY_INSTEAD);
	set_term(d->screen);
	d->titled = has_title();
	store_undo(d);
	rescue_arm(&d->tty.shell, d->undo, d->undo_len);
	set_colors(d, options);
	r = set_keys(d);
	if (r < 0) {
		leave(d);
		return err_nomem(err);
	}
	resize(d);
	refresh();
	enter(d);
	return 0;
}

static void free_driver(struct driver *d)
{
	if (d->keys)
		delwin(d->keys);
	if (d->screen)
		delscreen(d->screen);
	tty_close(&d->tty);
	grid_free(&d->shown);
	free(d);
}

int driver_open(const struct driver_options *options, struct driver **driver, struct err *err)
{
	struct driver *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_nomem(err);
	d->ascii = options->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	d->mouse = options->mouse;
	r = tty_open(&d->tty, err);
	if (r == 0)
		r = check_term(d, err);
	if (r == 0)
		r = rescue_open(fileno(d->tty.out), err);
	if (r == 0) {
		r = open_screen(d, options, err);
		if (r < 0)
			rescue_close();
	}
	if (r < 0) {
		free_driver(d);
		return r;
	}
	*driver = d;
	return 0;
}

void driver_close(struct driver *d)
{
	if (!d)
		return;
	/* In the background the shell has the terminal back already. */
	if (rescue_foreground())
		leave(d);
	rescue_close();
	free_driver(d);
}

int driver_fd(const struct driver *d)
{
	return fileno(d->tty.in);
}

int driver_signal_fd(const struct driver *d)
{
	(void)d;
	return rescue_fd();
}

int driver_wait_ms(const struct driver *d)
{
	uint64_t ns = decode_timeout(&d->decode, now_ns());

	return ns == UINT64_MAX ? -1 : (int)(ns / 1000000 + 1);
}

bool driver_ascii(const struct driver *d)
{
	return d->ascii;
}

void driver_size(const struct driver *d, int *rows, int *cols)
{
	(void)d;
	*rows = LINES;
	*cols = COLS;
}

static attr_t attributes(unsigned attr)
{
	attr_t a = A_NORMAL;

	if (attr & STYLE_BOLD)
		a |= A_BOLD;
	if (attr & STYLE_FAINT)
		a |= A_DIM;
	if (attr & STYLE_REVERSE)
		a |= A_REVERSE;
	if (attr & STYLE_UNDERLINE)
		a |= A_UNDERLINE;
	return a;
}

/* One character; where the C library's width differs from ours, a stand-in of our width. */
static int make_cchar(const struct driver *d, const struct cell *c, cchar_t *out)
{
	struct style_look look = style_look(c->style, c->selected, d->depth);
	short pair = look.fg < 0 && look.bg < 0 ? 0 : pair_number(c->style, c->selected);
	wchar_t text[2 + CELL_MARKS] = {(wchar_t)c->cp};
	int n = 1, width = c->width;

	if (wcwidth(text[0]) != width) {
		text[0] = '?';
		width = 1;
	} else {
		for (int i = 0; i < CELL_MARKS && c->marks[i]; i++) {
			if (wcwidth((wchar_t)c->marks[i]) == 0)
				text[n++] = (wchar_t)c->marks[i];
		}
	}
	text[n] = L'\0';
	setcchar(out, text, attributes(look.attr), pair, NULL);
	return width;
}

static void put_row(const struct driver *d, const struct grid *grid, int y, cchar_t *line)
{
	static const struct cell blank = {.cp = ' ', .width = 1};
	int n = 0, x = 0;

	while (x < COLS) {
		const struct cell *c = grid_at(grid, y, x);
		struct cell half;

		if (!c)
			c = &blank;
		if (c->width == 0 || x + c->width > COLS) {
			half = blank;
			half.style = c->style;
			half.selected = c->selected;
			c = &half;
		}
		x += make_cchar(d, c, &line[n++]);
	}
	mvwadd_wchnstr(stdscr, y, 0, line, n);
}

static bool same_row(const struct driver *d, const struct grid *grid, int y)
{
	return d->valid && memcmp(grid_at(grid, y, 0), grid_at(&d->shown, y, 0),
				  (size_t)grid->cols * sizeof(struct cell)) == 0;
}

/* Keeps what is shown now; where there is no memory for it, all is sent the next time. */
static void keep(struct driver *d, const struct grid *grid)
{
	size_t size = (size_t)grid->rows * (size_t)grid->cols * sizeof(struct cell);

	d->valid = grid_resize(&d->shown, grid->rows, grid->cols, NULL) == 0;
	if (d->valid)
		memcpy(d->shown.cells, grid->cells, size);
}

void driver_flush(struct driver *d, const struct grid *grid)
{
	cchar_t *line;

	/* Stopped and continued: driver_read() sets the terminal up first. */
	if (d->gone || rescue_shaken())
		return;
	line = calloc((size_t)COLS + 1, sizeof(*line));
	if (!line)
		return;
	if (d->shown.rows != grid->rows || d->shown.cols != grid->cols)
		d->valid = false;
	for (int y = 0; y < LINES && y < grid->rows; y++) {
		if (!same_row(d, grid, y))
			put_row(d, grid, y, line);
	}
	free(line);
	keep(d, grid);
	if (grid->cursor_y >= 0 && grid->cursor_y < LINES && grid->cursor_x < COLS) {
		move(grid->cursor_y, grid->cursor_x);
		curs_set(1);
	} else {
		curs_set(0);
	}
	refresh();
}

void driver_redraw(struct driver *d)
{
	d->valid = false;
	erase();
	clearok(curscr, TRUE);
}

/* The terminal is ours again, in whatever state. */
static void resume(struct driver *d)
{
	reset_prog_mode(); /* stops us here where we are in the background */
	resize(d);
	refresh();
	enter(d);
	d->redrawn = true;
}

static void suspend(struct driver *d, bool whole)
{
	leave(d);
	rescue_stop(whole);
	/* The shell may have changed its modes meanwhile. */
	tty_note_modes(&d->tty);
	resume(d);
}

void driver_suspend(struct driver *d)
{
	suspend(d, true);
}

/* Stopped without being asked: the modes are gone, and the screen with them. */
static void reclaim(struct driver *d)
{
	reset_prog_mode();
	leave(d);
	resume(d);
}

static bool read_mouse(struct input *in)
{
	MEVENT ev;

	if (getmouse(&ev) != OK)
		return false;
	*in = (struct input){.kind = INPUT_CLICK, .y = ev.y, .x = ev.x};
	if (ev.bstate & BUTTON1_PRESSED)
		return true;
	in->kind = INPUT_WHEEL;
	if (ev.bstate & BUTTON4_PRESSED)
		in->key = INPUT_UP;
	else if (ev.bstate & BUTTON5_PRESSED)
		in->key = INPUT_DOWN;
	else
		return false;
	return true;
}

/* The next event that was typed, pasted or clicked. */
static int read_keys(struct driver *d, struct input *in)
{
	wint_t code;
	int r;

	for (;;) {
		r = wget_wch(d->keys, &code);
		if (r == ERR)
			break;
		if (r == KEY_CODE_YES && code == KEY_MOUSE) {
			if (d->decode.state != DECODE_PASTE && read_mouse(in))
				return 1;
			continue;
		}
		if (r == KEY_CODE_YES)
			code = code >= CODE_FIRST ? INPUT_UP + (code - CODE_FIRST) : DECODE_UNKNOWN;
		if (decode_feed(&d->decode, code, now_ns(), in))
			return 1;
	}
	return decode_pause(&d->decode, now_ns(), in);
}

static struct input size_event(void)
{
	return (struct input){.kind = INPUT_RESIZE, .y = LINES, .x = COLS};
}

int driver_read(struct driver *d, struct input *in)
{
	int signo;

	if (rescue_take(RESCUE_END, &signo)) {
		*in = (struct input){.kind = INPUT_END, .y = signo};
		return 1;
	}
	if (rescue_take(RESCUE_STOP, NULL))
		suspend(d, false);
	if (rescue_take(RESCUE_CONTINUED, NULL))
		reclaim(d);
	if (rescue_take(RESCUE_RESIZED, NULL)) {
		resize(d);
		d->redrawn = true;
	}
	if (d->redrawn) {
		d->redrawn = false;
		*in = size_event();
		return 1;
	}
	if (read_keys(d, in))
		return 1;
	if (d->gone || !tty_hung_up(&d->tty))
		return 0;
	d->gone = true;
	*in = (struct input){.kind = INPUT_END};
	return 1;
}

void driver_flush_input(struct driver *d)
{
	uint64_t limit = now_ns() + FLUSH_LIMIT_MS * 1000000ULL;
	struct input dropped;

	do {
		while (read_keys(d, &dropped) && now_ns() < limit)
			;
	} while (now_ns() < limit && tty_wait(&d->tty, FLUSH_QUIET_MS));
	decode_discard(&d->decode);
}

void driver_title(struct driver *d, const char *safe)
{
	size_t n = 0;

	/* Whoever made it safe, no control character may end the sequence early. */
	for (; *safe && n + 1 < sizeof(d->title); safe++) {
		if ((unsigned char)*safe >= ' ' && *safe != 0x7f)
			d->title[n++] = *safe;
	}
	d->title[n] = '\0';
	send_title(d);
}

void driver_bell(struct driver *d)
{
	tty_write(&d->tty, "\007");
}
