#include "tui/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define GONE (POLLHUP | POLLERR | POLLNVAL)

static FILE *reopen(int fd, int flags, const char *mode)
{
	char path[32];
	FILE *stream;
	int own;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, flags | O_NOCTTY | O_CLOEXEC);
	/* Another user's terminal (after su), or no /proc. */
	if (own < 0)
		own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return NULL;
	stream = fdopen(own, mode);
	if (!stream)
		close(own);
	return stream;
}

int tty_open(struct tty *tty, struct err *err)
{
	*tty = (struct tty){0};
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, ENOTTY, "no terminal to show the live view on" TTY_INSTEAD);
	tty->in = reopen(STDIN_FILENO, O_RDONLY, "r");
	tty->out = reopen(STDOUT_FILENO, O_RDWR, "w");
	if (tty->in && tty->out && tcgetattr(fileno(tty->in), &tty->shell) == 0)
		return 0;
	err_errno(err, errno, "the terminal");
	tty_close(tty);
	return -EIO;
}

void tty_close(struct tty *tty)
{
	if (tty->in)
		fclose(tty->in);
	if (tty->out)
		fclose(tty->out);
	tty->in = tty->out = NULL;
}

void tty_write(const struct tty *tty, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = write(fileno(tty->out), text, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

bool tty_size(const struct tty *tty, int *rows, int *cols)
{
	struct winsize ws;

	if (ioctl(fileno(tty->out), TIOCGWINSZ, &ws) < 0 || !ws.ws_row || !ws.ws_col)
		return false;
	*rows = ws.ws_row;
	*cols = ws.ws_col;
	return true;
}

void tty_note_modes(struct tty *tty)
{
	struct termios now;

	if (tcgetattr(fileno(tty->in), &now) == 0 && (now.c_lflag & ICANON))
		tty->shell = now;
}

static short events(const struct tty *tty, int ms)
{
	struct pollfd p = {.fd = fileno(tty->in), .events = POLLIN};

	return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

bool tty_wait(const struct tty *tty, int ms)
{
	short r = events(tty, ms);

	return (r & POLLIN) && !(r & GONE);
}

bool tty_hung_up(const struct tty *tty)
{
	return events(tty, 0) & GONE;
}
