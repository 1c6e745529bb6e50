#include "engine/launch_talk.h"

#include <errno.h>
#include <sys/socket.h>

int talk_send(int fd, const struct talk *t)
{
	ssize_t n;

	do
		n = send(fd, t, sizeof(*t), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int talk_receive(int fd, struct talk *t)
{
	ssize_t n;

	do
		n = recv(fd, t, sizeof(*t), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : errno == ECONNRESET ? -EPIPE : -errno;
	return n == sizeof(*t) ? 1 : -EPIPE;
}
