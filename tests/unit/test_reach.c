#include "reach/reach.h"
#include "tests/helpers/made.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define TEST_LIFE_S 60

static bool own_net; /* these tests are in a network namespace of their own */

static struct identity identity_of(pid_t pid)
{
	return (struct identity){pid, made_start_ticks(pid)};
}

static void need_own_net(void)
{
	if (!own_net)
		skip_for("no network namespace of our own");
}

static void add_ipv4(int fd, const char *label, const char *addr)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct ifreq ifr = {0};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", label);
	inet_pton(AF_INET, addr, &in.sin_addr);
	memcpy(&ifr.ifr_addr, &in, sizeof(in));
	if (ioctl(fd, SIOCSIFADDR, &ifr) < 0)
		perror(addr);
}

static void add_ipv6(const char *addr)
{
	struct {
		struct in6_addr addr;
		uint32_t prefix_len;
		int index;
	} req = {.prefix_len = 128, .index = (int)if_nametoindex("lo")};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET6, addr, &req.addr);
	if (fd >= 0 && ioctl(fd, SIOCSIFADDR, &req) < 0)
		perror(addr);
	if (fd >= 0)
		close(fd);
}

/* Addresses of documentation (RFC 5737, RFC 3849) on a loopback that nothing else sees. */
static void enter_own_net(void)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK};
	int fd;

	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		return;
	add_ipv4(fd, "lo:1", "198.51.100.9");
	add_ipv4(fd, "lo:2", "198.51.100.10");
	add_ipv6("2001:db8::1");
	add_ipv6("2001:db8::2");
	close(fd);
	own_net = true;
}

static void a_connection_is_found_with_its_remote_end(void **state)
{
	static const struct {
		const char *to, *from;
		bool own; /* needs those addresses */
		unsigned outside, here;
		const char *form;
	} cases[] = {
		{"127.0.0.1", NULL, false, 0, 1, "127.0.0.1:"},
		{"127.0.0.2", NULL, false, 0, 1, "127.0.0.2:"},
		{"127.0.0.2", "127.0.0.3", false, 0, 1, "127.0.0.2:"},
		{"198.51.100.9", NULL, true, 0, 1, "198.51.100.9:"}, /* from the same address */
		{"198.51.100.9", "198.51.100.10", true, 1, 0, "198.51.100.9:"},
		{"::1", NULL, true, 0, 1, "[::1]:"},
		{"2001:db8::1", "2001:db8::2", true, 1, 0, "[2001:db8::1]:"},
		{"::ffff:198.51.100.9", "::ffff:198.51.100.10", true, 1, 0, "198.51.100.9:"},
		{"::ffff:127.0.0.1", NULL, true, 0, 1, "127.0.0.1:"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[SOCK_TEXT_MAX], got[SOCK_TEXT_MAX];
		struct identity ids[3];
		struct sock_table t;
		struct reach out[3];
		struct err err = {0};
		struct made m;

		if (cases[i].own && !own_net)
			continue;
		MADE(&m, "tcp", cases[i].to, cases[i].from);
		ids[0] = identity_of(made_pid(&m, "client", 0));
		ids[1] = identity_of(made_pid(&m, "server", 0));
		ids[2] = identity_of(m.maker); /* has none */
		if (sock_table_read(&t, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(reach_read(&t, ids, 3, out, NULL), 0);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(out[k].error, 0);
			assert_int_equal(out[k].outside, cases[i].outside);
			assert_int_equal(out[k].here, cases[i].here);
			assert_int_equal(out[k].n, 1);
			assert_false(out[k].partial);
		}
		snprintf(want, sizeof(want), "%s%d", cases[i].form, made_pid(&m, "port", 0));
		assert_true(reach_remote(&out[0], got));
		assert_string_equal(got, want);
		sock_local_text(&out[1].v[0].sock, got);
		assert_string_equal(got, want);
		assert_int_equal(out[2].error, 0);
		assert_int_equal(out[2].n, 0);
		assert_false(reach_remote(&out[2], got));
		for (int k = 0; k < 3; k++)
			reach_clear(&out[k]);
		sock_table_clear(&t);
		made_end(&m);
	}
}

/* A connected pair of TCP sockets; from NULL: the kernel chooses. */
static void tcp_pair(const char *to, const char *from, int pair[2])
{
	struct sockaddr_in sa = {.sin_family = AF_INET}, src = {.sin_family = AF_INET};
	socklen_t len = sizeof(sa);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, to, &sa.sin_addr);
	assert_int_equal(bind(l, (struct sockaddr *)&sa, len), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (struct sockaddr *)&sa, &len), 0);
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (from) {
		inet_pton(AF_INET, from, &src.sin_addr);
		assert_int_equal(bind(pair[0], (struct sockaddr *)&src, sizeof(src)), 0);
	}
	assert_int_equal(connect(pair[0], (struct sockaddr *)&sa, len), 0);
	pair[1] = accept(l, NULL, NULL);
	assert_true(pair[1] >= 0);
	close(l);
}

static void one_to_outside_comes_before_those_within_the_host(void **state)
{
	struct identity me = identity_of(getpid());
	char text[SOCK_TEXT_MAX];
	struct sock_table t;
	int a[2], b[2], again;
	struct reach out;

	(void)state;
	need_own_net();
	tcp_pair("127.0.0.1", NULL, a);
	tcp_pair("198.51.100.9", "198.51.100.10", b);
	again = fcntl(b[0], F_DUPFD_CLOEXEC, 50); /* one connection, two descriptors */
	assert_int_equal(sock_table_read(&t, NULL), 0);
	assert_int_equal(reach_read(&t, &me, 1, &out, NULL), 0);
	assert_int_equal(out.here, 2);
	assert_int_equal(out.outside, 2);
	assert_int_equal(out.n, 4);
	assert_int_equal(out.v[0].fd, b[0]);
	assert_int_equal(out.v[1].fd, b[1]);
	assert_int_equal(out.v[2].fd, a[0]);
	assert_true(reach_remote(&out, text));
	assert_memory_equal(text, "198.51.100.9:", 13);
	reach_clear(&out);
	sock_table_clear(&t);
	close(again);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}

static void what_is_not_known_is_said(void **state)
{
	struct identity ids[3];
	struct sock_table t;
	struct reach out[3];
	struct made m;

	(void)state;
	MADE(&m, "zombie");
	ids[0] = (struct identity){made_pid(&m, "parent", 0), 1}; /* another start time */
	ids[1] = identity_of(made_pid(&m, "zombie", 0));
	ids[2] = identity_of(made_pid(&m, "parent", 0));
	assert_int_equal(sock_table_read(&t, NULL), 0);
	assert_int_equal(reach_read(&t, ids, 3, out, NULL), 0);
	assert_int_equal(out[0].error, ESRCH);
	assert_int_not_equal(out[1].error, 0);
	assert_int_equal(out[2].error, 0);
	sock_table_clear(&t);
	made_end(&m);
}

static void another_network_namespace_is_not_known(void **state)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	enum reach_peer peer[3];
	struct sock_table t;
	struct identity id;
	struct reach out;
	struct made m;

	(void)state;
	MADE(&m, "tcp");
	id = identity_of(made_pid(&m, "client", 0));
	if (unshare(CLONE_NEWNET) < 0) {
		made_end(&m);
		need_own_net();
		fail();
	}
	assert_int_equal(sock_table_read(&t, NULL), 0);
	assert_int_equal(reach_read(&t, &id, 1, &out, NULL), 0);
	assert_int_equal(out.error, EXDEV);
	assert_int_equal(reach_stdio(&t, id, peer, NULL), -EXDEV);
	sock_table_clear(&t);
	assert_int_equal(setns(own, CLONE_NEWNET), 0);
	close(own);
	made_end(&m);
}

static int read_as_nobody(void *ctx)
{
	struct identity ids[2] = {identity_of(made_pid(ctx, "client", 0)), identity_of(getpid())};
	struct reach out[2];
	struct sock_table t;

	if (sock_table_read(&t, NULL) < 0 || t.n < 2) /* both ends are seen all the same */
		return 10;
	if (reach_read(&t, ids, 2, out, NULL) < 0)
		return 11;
	return out[0].error == EACCES && !out[0].outside && !out[0].here ? 0 : 12;
}

static void what_may_not_be_read_keeps_its_errno(void **state)
{
	struct made m;

	(void)state;
	MADE(&m, "tcp");
	assert_int_equal(as_nobody(read_as_nobody, &m), 0);
	made_end(&m);
}

static void stdio_whose_other_end_closed_is_told(void **state)
{
	enum { UNIX, SEQPACKET, TCP, PIPE, DGRAM };
	static const struct {
		int kind;
		bool close;
		enum reach_peer want;
	} cases[] = {
		{UNIX, false, REACH_PEER_OPEN},      {UNIX, true, REACH_PEER_CLOSED},
		{SEQPACKET, false, REACH_PEER_OPEN}, {SEQPACKET, true, REACH_PEER_CLOSED},
		{TCP, false, REACH_PEER_OPEN},       {TCP, true, REACH_PEER_CLOSED},
		{PIPE, false, REACH_PEER_UNKNOWN},   {PIPE, true, REACH_PEER_UNKNOWN},
		{DGRAM, false, REACH_PEER_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct identity me = identity_of(getpid());
		int pair[2], saved = dup(0);
		enum reach_peer peer[3];
		struct sock_table t;
		bool found = false;

		if (cases[i].kind == TCP)
			tcp_pair("127.0.0.1", NULL, pair);
		else if (cases[i].kind == PIPE)
			assert_int_equal(pipe(pair), 0);
		else
			assert_int_equal(socketpair(AF_UNIX,
						    cases[i].kind == UNIX        ? SOCK_STREAM
						    : cases[i].kind == SEQPACKET ? SOCK_SEQPACKET
										 : SOCK_DGRAM,
						    0, pair),
					 0);
		dup2(pair[0], 0);
		close(pair[0]);
		if (cases[i].close)
			close(pair[1]);
		for (int n = 0; n < 200 && !found; n++) { /* a FIN takes its way */
			assert_int_equal(sock_table_read(&t, NULL), 0);
			assert_int_equal(reach_stdio(&t, me, peer, NULL), 0);
			sock_table_clear(&t);
			found = peer[0] == cases[i].want;
			if (!found)
				usleep(10000);
		}
		dup2(saved, 0);
		close(saved);
		if (!cases[i].close)
			close(pair[1]);
		if (!found)
			fail_msg("case %zu: %d", i, peer[0]);
	}
}

static void a_half_closed_connection_is_no_established_one(void **state)
{
	struct identity me = identity_of(getpid());
	struct sock_table t;
	struct reach out;
	int pair[2];
	bool gone = false;

	(void)state;
	tcp_pair("127.0.0.1", NULL, pair);
	close(pair[1]);
	for (int n = 0; n < 200 && !gone; n++) {
		assert_int_equal(sock_table_read(&t, NULL), 0);
		assert_int_equal(reach_read(&t, &me, 1, &out, NULL), 0);
		gone = out.n == 0;
		reach_clear(&out);
		sock_table_clear(&t);
		if (!gone)
			usleep(10000);
	}
	assert_true(gone);
	close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_is_found_with_its_remote_end),
		cmocka_unit_test(one_to_outside_comes_before_those_within_the_host),
		cmocka_unit_test(what_is_not_known_is_said),
		cmocka_unit_test(another_network_namespace_is_not_known),
		cmocka_unit_test(what_may_not_be_read_keeps_its_errno),
		cmocka_unit_test(stdio_whose_other_end_closed_is_told),
		cmocka_unit_test(a_half_closed_connection_is_no_established_one),
	};

	alarm(TEST_LIFE_S);
	enter_own_net();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
