#include "engine/warden_door.h"

#include "base/file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { WORD_YES = 'y', WORD_DONE = 'd' };

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
	const char yes = WORD_YES;
	int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return -EAGAIN;
	if (is_welcome(fd, who) && send(fd, &yes, 1, MSG_NOSIGNAL) == 1)
		return fd;
	close(fd);
	return -EPERM;
}

int door_hear(int visitor, enum run_state *closed_as)
{
	unsigned char word[2];
	ssize_t n = recv(visitor, word, sizeof(word), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	if (n != 2 || word[0] != WORD_DONE || word[1] >= RUN_STATES)
		return -EPIPE;
	*closed_as = (enum run_state)word[1];
	return 1;
}

int door_knock(int dir, struct err *err)
{
	struct sockaddr_un at;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r = 0;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char word = 0;

	if (fd < 0)
		return err_errno(err, errno, RUNDIR_SOCKET);
	address(dir, &at);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		r = err_errno(err, errno, RUNDIR_SOCKET);
	else if (poll(&p, 1, DOOR_WAIT_MS) <= 0)
		r = err_set(err, ETIMEDOUT, "the warden of the run does not answer");
	else if (recv(fd, &word, 1, MSG_DONTWAIT) != 1 || word != WORD_YES)
		r = err_set(err, ECONNREFUSED, "the warden of the run is ending it, or refuses");
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

void door_done(int visit, enum run_state closed_as)
{
	const unsigned char word[] = {WORD_DONE, (unsigned char)closed_as};

	if (visit >= 0) /* where it is gone it is none of ours */
		send(visit, word, sizeof(word), MSG_NOSIGNAL);
}
