#include "engine/warden_door.h"

#include "base/file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* A path of a socket has 108 bytes at most: through the descriptor it is short. */
static void address(int dir, struct sockaddr_un *out)
{
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(out->sun_path, sizeof(out->sun_path), "/proc/self/fd/%d/" RUNDIR_SOCKET, dir);
}

int door_open(int dir, struct err *err)
{
	struct sockaddr_un at;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	address(dir, &at);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 4) < 0) {
		err_errno(err, errno, RUNDIR_SOCKET);
		file_close_fd(&fd);
		return err && err->code ? -err->code : -EIO;
	}
	fchmodat(dir, RUNDIR_SOCKET, 0600, 0);
	return fd;
}

static bool is_welcome(int fd, pid_t *who)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	*who = peer.pid;
	return peer.uid == 0 || peer.uid == geteuid();
}

int door_let_in(int door, pid_t *who)
{
	int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return -EAGAIN;
	if (is_welcome(fd, who))
		return fd;
	close(fd);
	return -EPERM;
}

int door_hear(int visitor, struct door_word *word)
{
	ssize_t n = recv(visitor, word, sizeof(*word), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	if (n != sizeof(*word) || word->state >= RUN_STATES)
		return -EPIPE;
	word->action[sizeof(word->action) - 1] = '\0';
	return 1;
}

int door_say(int visitor, const struct door_word *word)
{
	return send(visitor, word, sizeof(*word), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int await(int fd, struct door_word *answer, struct err *err)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, DOOR_WAIT_MS) <= 0)
		return err_set(err, ETIMEDOUT, "the warden of the run does not answer");
	if (door_hear(fd, answer) <= 0)
		return err_set(err, ECONNREFUSED, "the warden of the run refuses");
	return 0;
}

int door_visit(int dir, const struct door_word *word, struct door_word *answer, struct err *err)
{
	struct sockaddr_un at;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;

	if (fd < 0)
		return err_errno(err, errno, RUNDIR_SOCKET);
	address(dir, &at);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		r = err_errno(err, errno, RUNDIR_SOCKET);
	else
		r = door_say(fd, word);
	if (!r)
		r = await(fd, answer, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}
