#include "record/anchor.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define PRIORITY (13 << 3 | 5) /* log audit, notice: RFC 5424, section 6.2.1 */

static int send_line(const char *socket_path, const char *text, size_t len)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (strlen(socket_path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	memcpy(to.sun_path, socket_path, strlen(socket_path) + 1);
	/* never waits: a log that is full has no anchor */
	return sendto(fd, text, len, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof(to)) < 0 ? -errno
											   : 0;
}

/* "<PRIORITY>TIME stray[PID]: " */
static int begin_line(char *text, size_t size)
{
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%b %e %H:%M:%S", &tm);
	return snprintf(text, size, "<%d>%s stray[%d]: ", PRIORITY, when, (int)getpid());
}

int anchor_try(const char *socket_path, struct err *err)
{
	char text[128];
	int n = begin_line(text, sizeof(text)), r;

	snprintf(text + n, sizeof(text) - (size_t)n, "a trial by stray doctor");
	r = send_line(socket_path, text, strlen(text));
	return r < 0 ? err_errno(err, -r, "%.100s", socket_path) : 0;
}

int anchor(struct journal *j, const char *run, const char *socket_path, bool sync, struct err *err)
{
	uint64_t seq = journal_seq(j);
	char head[CHAIN_HEX], text[320];
	struct jw *w;
	int n, r;

	memcpy(head, journal_head(j), sizeof(head));
	n = begin_line(text, sizeof(text));
	snprintf(text + n, sizeof(text) - (size_t)n, "run %s event %" PRIu64 " head %s", run, seq,
		 head);
	r = send_line(socket_path, text, strlen(text));
	if (r < 0)
		return err_errno(err, -r, "%.100s: the head is not anchored", socket_path);
	w = journal_begin(j, run, "anchored", KNOWN_SEEN);
	if (w) {
		jw_str(w, "to", "syslog");
		jw_uint(w, "anchored_seq", seq);
		jw_str(w, "anchored_head", head);
	}
	return journal_commit(j, sync, err);
}
