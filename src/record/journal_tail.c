#include "record/journal_tail.h"

#include "base/file.h"
#include "base/json_read.h"

#include <errno.h>
#include <string.h>

#define WINDOW_FIRST 4096
#define WINDOW_MAX (64u << 20) /* four of the longest lines */

/* Reads [from, to) of fd into memory of its own. */
static char *read_window(int fd, uint64_t from, uint64_t to, const char *name, int *r,
			 struct err *err)
{
	size_t len = (size_t)(to - from), done = 0;
	char *buf = malloc(len + 1);

	if (!buf) {
		*r = err_nomem(err);
		return NULL;
	}
	while (done < len) {
		ssize_t n = pread(fd, buf + done, len - done, (off_t)(from + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int code = n < 0 ? errno : ESTALE; /* shortened while it was read */

			free(buf);
			*r = err_errno(err, code, "%.150s", name);
			return NULL;
		}
		done += (size_t)n;
	}
	buf[len] = '\0';
	return buf;
}

static bool line_holds(const char *line, size_t len, struct journal_tail *tail)
{
	struct chain_seal seal;
	json_t *o = NULL;
	uint64_t seq = 0;
	bool holds = chain_check(line, len, &seal) && json_read_line(line, len, &o, NULL) == 0 &&
		     json_get_uint(o, "seq", &seq, NULL, NULL) == 0 && seq > 0;

	json_decref(o);
	if (holds) {
		tail->seq = seq;
		memcpy(tail->hash, seal.hash, sizeof(tail->hash));
	}
	return holds;
}

/*
 * The last line that holds in buf, whose first byte begins a line where `whole`,
 * else is somewhere in one.  *end: behind its newline, in buf.  false: none does.
 */
static bool find_line(const char *buf, size_t len, bool whole, struct journal_tail *tail,
		      size_t *end)
{
	size_t stop = len;

	for (;;) {
		const char *nl = stop ? memrchr(buf, '\n', stop) : NULL;
		size_t start = nl ? (size_t)(nl - buf) + 1 : 0;

		if (!nl && !whole)
			return false;
		if (stop > start && line_holds(buf + start, stop - start, tail)) {
			tail->newline_missing = stop == len;
			*end = stop + (stop < len ? 1 : 0);
			return true;
		}
		if (!nl)
			return false;
		stop = start - 1;
	}
}

/* What stands behind the last line that holds. */
static int measure_torn(const char *torn, size_t len, struct journal_tail *tail, struct err *err)
{
	size_t closer = sizeof(CHAIN_CLOSER) - 1;

	if (!len)
		return 0;
	tail->torn_closed = len > closer && memcmp(torn + len - closer, CHAIN_CLOSER, closer) == 0;
	tail->torn_bytes = tail->torn_closed ? len - closer : len;
	return chain_digest(torn, (size_t)tail->torn_bytes, tail->torn_sha256, err);
}

static int find_in(int fd, uint64_t size, size_t window, const char *name,
		   struct journal_tail *tail, struct err *err)
{
	uint64_t from = size > window ? size - window : 0;
	int r = 0;
	AUTO_FREE char *buf = read_window(fd, from, size, name, &r, err);
	size_t end = 0;

	if (!buf)
		return r;
	if (!find_line(buf, (size_t)(size - from), from == 0, tail, &end) && from > 0)
		return -EAGAIN;
	tail->end = from + end;
	return measure_torn(buf + end, (size_t)(size - from) - end, tail, err);
}

int journal_tail_find(int fd, uint64_t size, const char *name, struct journal_tail *tail,
		      struct err *err)
{
	int r = -EAGAIN;

	if (tail->hash[0] && tail->end == size)
		return 0;
	for (size_t window = WINDOW_FIRST; r == -EAGAIN && window <= WINDOW_MAX; window *= 4) {
		*tail = (struct journal_tail){.hash = CHAIN_START};
		r = find_in(fd, size, window, name, tail, err);
	}
	if (r == -EAGAIN)
		return err_set(err, EFBIG, "%.150s: no line of its last %u MiB holds", name,
			       WINDOW_MAX >> 20);
	return r;
}
