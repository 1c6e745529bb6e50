#include "contain/deny.h"

#include "base/file.h"

#include <errno.h>
#include <poll.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int deny_open(struct deny *d, struct err *err)
{
	int ends[2];

	*d = (struct deny){-1, -1, -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_errno(err, errno, "--detach=deny");
	d->child_end = ends[0];
	d->our_end = ends[1];
	return 0;
}

void deny_close(struct deny *d)
{
	file_close_fd(&d->child_end);
	file_close_fd(&d->our_end);
	file_close_fd(&d->listener);
	*d = (struct deny){-1, -1, -1};
}

static int add_rules(scmp_filter_ctx filter, uint32_t action)
{
	int r = seccomp_rule_add(filter, action, SCMP_SYS(setsid), 0);

	return r < 0 ? r : seccomp_rule_add(filter, action, SCMP_SYS(setpgid), 0);
}

/* The ABIs that a program may switch to: without them the filter would be a door with a gap. */
static void add_other_abis(scmp_filter_ctx filter)
{
#ifdef __x86_64__
	seccomp_arch_add(filter, SCMP_ARCH_X86);
	seccomp_arch_add(filter, SCMP_ARCH_X32);
#else
	(void)filter;
#endif
}

/* Loads it; *listener: -1 where action has none. */
static int load(uint32_t action, int *listener)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	*listener = -1;
	if (!filter)
		return -ENOMEM;
	add_other_abis(filter);
	/* root's needs none, and sudo goes on working */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, geteuid() != 0);
	r = add_rules(filter, action);
	if (!r)
		r = seccomp_load(filter);
	if (r < 0 && geteuid() == 0) { /* root without CAP_SYS_ADMIN */
		seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 1);
		r = seccomp_load(filter);
	}
	if (!r && action == SCMP_ACT_NOTIFY)
		*listener = seccomp_notify_fd(filter);
	seccomp_release(filter);
	return r;
}

static int send_listener(int socket, int listener)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	char byte = listener >= 0;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (listener >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &listener, sizeof(int));
	}
	return sendmsg(socket, &msg, MSG_NOSIGNAL) < 0 ? errno : 0;
}

int deny_install(void *ctx)
{
	struct deny *d = ctx;
	int listener, r = load(SCMP_ACT_NOTIFY, &listener);

	if (r < 0) /* -EBUSY: an outer filter listens; or the kernel knows no listeners */
		r = load(SCMP_ACT_ERRNO(EPERM), &listener);
	if (r < 0)
		return -r;
	r = send_listener(d->child_end, listener);
	file_close_fd(&listener);
	return r;
}

int deny_take(struct deny *d, struct err *err)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.buf,
			     .msg_controllen = sizeof(control.buf)};
	const struct cmsghdr *c;

	file_close_fd(&d->child_end);
	d->child_end = -1;
	if (recvmsg(d->our_end, &msg, MSG_CMSG_CLOEXEC) <= 0)
		return err_errno(err, errno ? errno : EPIPE, "--detach=deny");
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&d->listener, CMSG_DATA(c), sizeof(int));
	return 0;
}

/* Receives one; 1, 0 or -errno. */
static int receive(int listener, struct seccomp_notif *req)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};

	if (poll(&p, 1, 0) <= 0)
		return 0;
	if (!(p.revents & POLLIN))
		return -EPIPE;
	if (seccomp_notify_receive(listener, req) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : -errno; /* it was killed meanwhile */
	return 1;
}

int deny_next(struct deny *d, struct denied *out)
{
	struct seccomp_notif *req = NULL;
	struct seccomp_notif_resp *resp = NULL;
	int r;

	if (d->listener < 0)
		return -EPIPE;
	if (seccomp_notify_alloc(&req, &resp) < 0)
		return -ENOMEM;
	r = receive(d->listener, req);
	if (r > 0) {
		*out = (struct denied){
			.pid = (pid_t)req->pid,
			.setsid = req->data.nr !=
				  seccomp_syscall_resolve_name_arch(req->data.arch, "setpgid"),
			.args = {(pid_t)req->data.args[0], (pid_t)req->data.args[1]},
		};
		resp->id = req->id;
		resp->error = -EPERM;
		seccomp_notify_respond(d->listener, resp);
	}
	seccomp_notify_free(req, resp);
	return r;
}
