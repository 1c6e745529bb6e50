#include "source/netlink.h"

#include "base/clock.h"
#include "base/proc_stat.h"
#include "base/vec.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PIDNS_INIT_INO 0xEFFFFFFCU  /* include/linux/proc_ns.h */
#define USERNS_INIT_INO 0xEFFFFFFDU /* likewise */
#define BUFFER (16 << 20)           /* some 40,000 events, of which a drain leaves none */
#define BATCH 64
#define MESSAGE_MAX 256 /* 76 bytes, as of Linux 6.18 */
#define CPUS_MAX 8192   /* CONFIG_NR_CPUS of x86 */
#define ANSWER_MS 250   /* it is there when send(2) returns, if ever */

/* Of one CPU: the sequence number of its next message. */
struct expected {
	bool known;
	uint32_t next;
};

struct netlink {
	int fd;
	uint64_t to_boot_ns; /* added to CLOCK_MONOTONIC */
	bool overrun;        /* the queue's end is a gap: told when all before it was */
	uint64_t lost;
	uint64_t counted_ahead; /* of lost: for an overrun, before a gap said how many */
	VEC(struct expected) cpus;
	uint32_t ack; /* the answer that is waited for */
	bool answered;
	uint32_t answer; /* errno */
	struct mmsghdr message[BATCH];
	struct iovec part[BATCH];
	struct sockaddr_nl from[BATCH];
	char (*bytes)[MESSAGE_MAX]; /* BATCH of them */
};

/* One who takes events: none while the subscription is waited for. */
struct taker {
	netlink_fn *fn;
	void *ctx;
};

static void give(const struct taker *to, const struct event *e)
{
	if (to->fn)
		to->fn(to->ctx, e);
}

static void tell_lost(struct netlink *n, uint64_t count, const struct taker *to)
{
	struct event e = {.kind = EVENT_LOST, .boot_ns = clock_boot_ns(), .lost = count};

	n->lost += count;
	give(to, &e);
}

/* The kernel numbers the messages of each CPU, of all kinds, before it delivers them:
 * drivers/connector/cn_proc.c, send_msg(). */
static void count(struct netlink *n, uint32_t cpu, uint32_t seq, const struct taker *to)
{
	struct expected *of;
	uint64_t gap;

	while (cpu < CPUS_MAX && cpu >= n->cpus.n)
		if (!VEC_PUSH(&n->cpus, (struct expected){0}))
			return;
	if (cpu >= CPUS_MAX)
		return;
	of = &n->cpus.v[cpu];
	gap = of->known ? (uint32_t)(seq - of->next) : 0;
	*of = (struct expected){true, seq + 1};
	if (gap <= n->counted_ahead) {
		n->counted_ahead -= gap;
		return;
	}
	gap -= n->counted_ahead;
	n->counted_ahead = 0;
	tell_lost(n, gap, to);
}

static bool is_main(pid_t tid, pid_t pid)
{
	return tid == pid;
}

/* Whether pe makes an event, and which. */
static bool translate(const struct proc_event *pe, struct event *e)
{
	switch (pe->what) {
	case PROC_EVENT_FORK:
		e->kind = EVENT_FORK;
		e->pid = pe->event_data.fork.parent_tgid;
		e->child = pe->event_data.fork.child_tgid;
		return is_main(pe->event_data.fork.child_pid, e->child);
	case PROC_EVENT_EXEC:
		e->kind = EVENT_EXEC;
		e->pid = pe->event_data.exec.process_tgid;
		return true;
	case PROC_EVENT_SID:
		e->kind = EVENT_SID;
		e->pid = pe->event_data.sid.process_tgid;
		return true;
	case PROC_EVENT_EXIT:
		e->pid = pe->event_data.exit.process_tgid;
		e->kind = is_main(pe->event_data.exit.process_pid, e->pid) ? EVENT_EXIT
									   : EVENT_THREAD;
		e->status = (int)pe->event_data.exit.exit_code;
		return true;
	default:
		return false;
	}
}

/* Its message as a proc_event; false where it is none. */
static bool unpack(const char *bytes, size_t len, struct cn_msg *cn, struct proc_event *pe)
{
	struct nlmsghdr h;
	size_t size;

	memset(pe, 0, sizeof(*pe));
	if (len < NLMSG_LENGTH(sizeof(*cn)))
		return false;
	memcpy(&h, bytes, sizeof(h));
	memcpy(cn, bytes + NLMSG_HDRLEN, sizeof(*cn));
	if (h.nlmsg_type != NLMSG_DONE || h.nlmsg_len > len || cn->id.idx != CN_IDX_PROC ||
	    cn->id.val != CN_VAL_PROC || cn->len > len - NLMSG_LENGTH(sizeof(*cn)))
		return false;
	size = cn->len < sizeof(*pe) ? cn->len : sizeof(*pe); /* newer kernels may say more */
	if (size < offsetof(struct proc_event, event_data) + sizeof(pe->event_data.ack))
		return false;
	memcpy(pe, bytes + NLMSG_LENGTH(sizeof(*cn)), size);
	return true;
}

static void take(struct netlink *n, const char *bytes, size_t len, const struct taker *to)
{
	struct proc_event pe;
	struct cn_msg cn;
	struct event e = {0};

	if (!unpack(bytes, len, &cn, &pe))
		return;
	if (pe.what == PROC_EVENT_NONE && cn.ack == n->ack + 1) {
		n->answered = true;
		n->answer = pe.event_data.ack.err;
	}
	count(n, pe.cpu, cn.seq, to);
	if (!translate(&pe, &e))
		return;
	e.boot_ns = pe.timestamp_ns + n->to_boot_ns;
	give(to, &e);
}

/* Suspend moves one clock and not the other.  Rather late than early by the time between two
 * calls: no event precedes the start of its process. */
static void compare_clocks(struct netlink *n)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	n->to_boot_ns =
		clock_boot_ns() - (uint64_t)ts.tv_sec * CLOCK_NS_PER_S - (uint64_t)ts.tv_nsec;
}

/* Takes what waits, a batch at most: how many messages, 0: nothing waits, or -errno. */
static int take_batch(struct netlink *n, const struct taker *to)
{
	int got;

	for (size_t i = 0; i < BATCH; i++)
		n->message[i].msg_hdr.msg_namelen = sizeof(n->from[i]);
	got = recvmmsg(n->fd, n->message, BATCH, MSG_DONTWAIT, NULL);
	if (got < 0 && errno == ENOBUFS) {
		n->overrun = true; /* said before what waits since before it */
		return 1;
	}
	if (got < 0)
		return errno == EAGAIN ? 0 : errno == EINTR ? 1 : -errno;
	for (int i = 0; i < got; i++)
		if (n->from[i].nl_pid == 0) /* the kernel */
			take(n, n->bytes[i], n->message[i].msg_len, to);
	return got;
}

/* From an overrun on nothing is delivered until the queue was emptied (netlink(7)). */
static void tell_overrun(struct netlink *n, const struct taker *to)
{
	n->overrun = false;
	if (n->counted_ahead)
		return;
	n->counted_ahead = 1;
	tell_lost(n, 1, to);
}

static int drain(struct netlink *n, size_t max, const struct taker *to)
{
	int got = 1;

	compare_clocks(n);
	for (size_t all = 0; got > 0 && all < max; all += (size_t)got)
		got = take_batch(n, to);
	if (got == 0 && n->overrun)
		tell_overrun(n, to);
	return got > 0 ? 1 : got;
}

int netlink_drain(struct netlink *n, size_t max, netlink_fn *fn, void *ctx, struct err *err)
{
	int r = drain(n, max, &(struct taker){.fn = fn, .ctx = ctx});

	return r < 0 ? err_errno(err, -r, "process connector: read") : r;
}

/* --- opening --- */

/* The kernel is silent then: drivers/connector/cn_proc.c, cn_proc_mcast_ctl(). */
static int refuse_namespace(const char *path, ino_t initial, const char *what, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_errno(err, errno, "process connector: %s", path);
	if (st.st_ino != initial)
		return err_set(err, EXDEV,
			       "process connector: it tells PIDs of the host, to its own, and this "
			       "is another %s namespace",
			       what);
	return 0;
}

static int refused(struct err *err, const char *what, int code)
{
	switch (code) {
	case EPERM:
		return err_set(err, code, "process connector: for root only before Linux 6.6");
	case EPROTONOSUPPORT:
		return err_set(err, code, "process connector: this kernel has none");
	case ECONNREFUSED:
		return err_set(err, code,
			       "process connector: not to be reached from this network namespace");
	default:
		return err_errno(err, code, "process connector: %s", what);
	}
}

static int bind_socket(struct netlink *n, struct err *err)
{
	struct sockaddr_nl self = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
	int size = BUFFER;

	n->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	if (n->fd < 0)
		return refused(err, "socket", errno);
	if (setsockopt(n->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(n->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(n->fd, (struct sockaddr *)&self, sizeof(self)) < 0)
		return refused(err, "bind", errno);
	return 0;
}

/* The old form of the request, without a filter of kinds: with one the kernel numbers what it
 * does not deliver, too, and a loss can no longer be told from that. */
static int subscribe(struct netlink *n, struct err *err)
{
	enum proc_cn_mcast_op op = PROC_CN_MCAST_LISTEN;
	struct nlmsghdr h = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(op)),
			     .nlmsg_type = NLMSG_DONE};
	struct cn_msg cn = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof(op), .ack = n->ack};
	char bytes[NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(op))] = {0};

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + NLMSG_HDRLEN, &cn, sizeof(cn));
	memcpy(bytes + NLMSG_LENGTH(sizeof(cn)), &op, sizeof(op));
	if (send(n->fd, bytes, sizeof(bytes), 0) < 0)
		return refused(err, "subscribe", errno);
	return 0;
}

static int wait_for_answer(struct netlink *n, struct err *err)
{
	uint64_t until = clock_boot_ns() + ANSWER_MS * 1000000ULL;
	struct pollfd p = {.fd = n->fd, .events = POLLIN};
	int r = 0;

	while (r >= 0 && !n->answered) {
		if (clock_boot_ns() >= until)
			return err_set(err, ETIMEDOUT, "process connector: the kernel is silent");
		if (poll(&p, 1, ANSWER_MS / 10) < 0 && errno != EINTR)
			return err_errno(err, errno, "process connector: poll");
		r = drain(n, NETLINK_DRAIN_ALL, &(struct taker){0});
	}
	if (r < 0)
		return err_errno(err, -r, "process connector: read");
	n->lost = n->counted_ahead = 0; /* what was lost before is nobody's */
	return n->answer ? refused(err, "subscribe", (int)n->answer) : 0;
}

static struct netlink *made(void)
{
	struct netlink *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->fd = -1;
	n->ack = (uint32_t)getpid() ^ (uint32_t)clock_boot_ns();
	n->bytes = malloc(BATCH * sizeof(*n->bytes));
	if (!n->bytes) {
		netlink_close(n);
		return NULL;
	}
	for (size_t i = 0; i < BATCH; i++) {
		n->part[i] = (struct iovec){n->bytes[i], MESSAGE_MAX};
		n->message[i].msg_hdr = (struct msghdr){
			.msg_iov = &n->part[i], .msg_iovlen = 1, .msg_name = &n->from[i]};
	}
	return n;
}

int netlink_open(struct netlink **out, struct err *err)
{
	struct netlink *n = NULL;
	int r = refuse_namespace("/proc/self/ns/pid", PIDNS_INIT_INO, "PID", err);

	*out = NULL;
	if (r == 0)
		r = refuse_namespace("/proc/self/ns/user", USERNS_INIT_INO, "user", err);
	if (r < 0)
		return r;
	n = made();
	if (!n)
		return err_nomem(err);
	r = bind_socket(n, err);
	if (r == 0)
		r = subscribe(n, err);
	if (r == 0)
		r = wait_for_answer(n, err);
	if (r < 0) {
		netlink_close(n);
		return r;
	}
	*out = n;
	return 0;
}

void netlink_close(struct netlink *n)
{
	if (!n)
		return;
	if (n->fd >= 0)
		close(n->fd); /* ends the subscription, too */
	free(n->cpus.v);
	free(n->bytes);
	free(n);
}

int netlink_fd(const struct netlink *n)
{
	return n->fd;
}

uint64_t netlink_lost(const struct netlink *n)
{
	return n->lost;
}

/* --- what /proc says beside an event --- */

static uint64_t start_of(pid_t pid)
{
	struct proc_stat st;

	return !proc_is_gone(pid) && proc_stat_read(pid, &st) == 0 ? st.start : 0;
}

/* A dead main thread with living ones beside it is a living process. */
static uint64_t start_if_alive(pid_t pid)
{
	struct proc_stat st;

	if (proc_is_gone(pid) || proc_stat_read(pid, &st) < 0)
		return 0;
	return proc_stat_dead(&st) ? 0 : st.start;
}

void netlink_complete(struct event *e, bool forker)
{
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t latest;

	switch (e->kind) {
	case EVENT_FORK:
		latest = e->boot_ns / (CLOCK_NS_PER_S / ticks);
		e->child_start = start_of(e->child);
		e->start_read = e->child_start && e->child_start <= latest;
		if (!e->start_read)
			e->child_start = latest;
		e->pid_start = forker ? start_of(e->pid) : 0;
		break;
	case EVENT_EXIT:
	case EVENT_THREAD:
		e->alive_start = start_if_alive(e->pid);
		break;
	default:
		break;
	}
}
