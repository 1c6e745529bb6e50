#include "reach/diag.h"

#include "base/file.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define ANSWER_MAX 32768 /* what the kernel puts into one datagram of a dump at most */
#define WAIT_S 2
#define REQUEST_MAX 128

static int open_diag(struct err *err)
{
	const struct timeval wait = {.tv_sec = WAIT_S};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return err_errno(err, errno, "sock_diag");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fd;
}

static int send_request(int fd, const void *request, size_t len, unsigned flags, struct err *err)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct {
		struct nlmsghdr h;
		char payload[REQUEST_MAX];
	} m = {.h = {.nlmsg_type = SOCK_DIAG_BY_FAMILY}};

	if (len > sizeof(m.payload))
		return err_set(err, EMSGSIZE, "sock_diag: request too long");
	memcpy(m.payload, request, len);
	m.h.nlmsg_len = (unsigned)NLMSG_LENGTH(len);
	m.h.nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags);
	if (sendto(fd, &m, m.h.nlmsg_len, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return err_errno(err, errno, "sock_diag");
	return 0;
}

/* Reads one datagram.  0: there is more; 1: that was all; else an error or what fn returned. */
static int take(int fd, unsigned flags, diag_fn *fn, void *ctx, struct err *err)
{
	char buf[ANSWER_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct sockaddr_nl from = {0};
	socklen_t from_len = sizeof(from);
	ssize_t got = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &from_len);
	int left = (int)got;

	if (got < 0)
		return errno == EINTR ? 0 : err_errno(err, errno, "sock_diag");
	if (from.nl_pid != 0) /* not the kernel */
		return 0;
	for (struct nlmsghdr *h = (struct nlmsghdr *)buf; NLMSG_OK(h, left);
	     h = NLMSG_NEXT(h, left)) {
		int r = 0;

		if (h->nlmsg_flags & NLM_F_DUMP_INTR)
			return err_set(err, EAGAIN, "sock_diag: the table changed while read");
		if (h->nlmsg_type == NLMSG_DONE)
			return 1;
		if (h->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *e = NLMSG_DATA(h);

			if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*e)) || !e->error)
				return 1;
			return err_errno(err, -e->error, "sock_diag");
		}
		if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			r = fn(ctx, NLMSG_DATA(h), NLMSG_PAYLOAD(h, 0));
		if (r || !(flags & NLM_F_DUMP))
			return r ? r : 1;
	}
	return 0;
}

int diag_ask(const void *request, size_t len, unsigned flags, diag_fn *fn, void *ctx,
	     struct err *err)
{
	AUTO_FD fd = open_diag(err);
	int r = fd < 0 ? fd : send_request(fd, request, len, flags, err);

	while (r == 0)
		r = take(fd, flags, fn, ctx, err);
	return r == 1 ? 0 : r;
}
