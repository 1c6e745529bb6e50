#include "record/journal_read.h"

#include "base/file.h"
#include "base/vec.h"
#include "record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 65536
#define LOCK_POLL_NS 1000000 /* a line takes some 10 us, with its sync 1 ms */
#define LOCK_POLLS 200

struct reader {
	int fd;
	const struct journal_reading *what;
	struct journal_verdict *v;
	bool *found;           /* of what->heads, those that were come across */
	VEC(char) line;        /* without its newline */
	bool ended;            /* with a newline */
	uint64_t n;            /* lines so far */
	uint64_t offset, size; /* what is behind size was not whole when the reading began */
	size_t at, filled;
	char *chunk; /* of CHUNK bytes, or the whole of a smaller file */

	VEC(uint64_t) hashes; /* first digits of the hash of each event, by seq - 1 */

	/* What stands between two lines that hold. */
	uint64_t torn_line; /* number of its first line; 0: nothing does */
	uint64_t torn_bytes;
	bool torn_changed; /* a line of it was ended by who closes no torn tail */
	crypto_hash_sha256_state torn_hash;
};

static void fault(struct journal_verdict *v, enum journal_fault fault, uint64_t line,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void fault(struct journal_verdict *v, enum journal_fault fault, uint64_t line,
		  const char *fmt, ...)
{
	va_list ap;

	if (v->fault != JOURNAL_HOLDS)
		return;
	v->fault = fault;
	v->line = line;
	va_start(ap, fmt);
	vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
}

const char *journal_fault_name(enum journal_fault f)
{
	static const char *const names[] = {"holds",     "changed",   "missing", "doubled",
					    "reordered", "rewritten", "other",   "cut"};

	return names[f];
}

/* Adds to the line; of one that is too long its beginning will do. */
static bool add(struct reader *r, const char *from, size_t n)
{
	if (r->line.n + n > JOURNAL_LINE_MAX)
		n = JOURNAL_LINE_MAX - r->line.n;
	while (r->line.n + n > r->line.cap)
		if (!vec_grow((void **)&r->line.v, r->line.cap, &r->line.cap, 1))
			return false;
	if (n)
		memcpy(r->line.v + r->line.n, from, n);
	r->line.n += n;
	return true;
}

/* More of the file into r->chunk, which is used up; 0 or -errno. */
static int fill(struct reader *r, struct err *err)
{
	size_t want = r->size - r->offset < CHUNK ? (size_t)(r->size - r->offset) : CHUNK;
	ssize_t n;

	do
		n = pread(r->fd, r->chunk, want, (off_t)r->offset);
	while (n < 0 && errno == EINTR);
	r->at = 0;
	r->filled = n > 0 ? (size_t)n : 0;
	r->offset += r->filled;
	return n < 0 ? err_errno(err, errno, "%.150s", r->what->name) : 0;
}

/* The next line into r->line: 1, 0 at the end of the file, or -errno. */
static int next_line(struct reader *r, struct err *err)
{
	r->line.n = 0;
	for (;;) {
		const char *from = r->chunk + r->at;
		size_t left = r->filled - r->at;
		const char *nl = left ? memchr(from, '\n', left) : NULL;
		int ret;

		if (!add(r, from, nl ? (size_t)(nl - from) : left))
			return err_nomem(err);
		r->ended = nl != NULL;
		if (nl) {
			r->at = (size_t)(nl - r->chunk) + 1;
			break;
		}
		ret = fill(r, err);
		if (ret < 0)
			return ret;
		if (!r->filled && !r->line.n)
			return 0;
		if (!r->filled)
			break;
	}
	r->n++;
	return 1;
}

static uint64_t hash_digits(const char *hash)
{
	char first[17];

	memcpy(first, hash, 16);
	first[16] = '\0';
	return strtoull(first, NULL, 16);
}

/*
 * What a writer left unfinished has no newline, or the closer of one that did
 * not come to write more; what ends in a whole seal and one byte more, or in a
 * newline of another kind, was changed.
 */
static void add_torn(struct reader *r)
{
	struct chain_seal seal;
	size_t n = r->line.n;

	if (!r->torn_line) {
		r->torn_line = r->n;
		r->torn_bytes = 0;
		crypto_hash_sha256_init(&r->torn_hash);
	} else {
		/* the closer before it turned out to be torn text itself */
		crypto_hash_sha256_update(&r->torn_hash, (const unsigned char *)CHAIN_CLOSER,
					  sizeof(CHAIN_CLOSER) - 1);
		r->torn_bytes += sizeof(CHAIN_CLOSER) - 1;
	}
	if (r->ended ? !n || r->line.v[n - 1] != CHAIN_CLOSER[0]
		     : n && chain_check(r->line.v, n - 1, &seal))
		r->torn_changed = true;
	else if (r->ended)
		n--;
	if (n)
		crypto_hash_sha256_update(&r->torn_hash, (const unsigned char *)r->line.v, n);
	r->torn_bytes += n;
}

/* Whether e closes what stands before it. */
static bool closes_torn(struct reader *r, const json_t *e)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char hex[CHAIN_HEX];
	const char *event = NULL, *sha = NULL;
	uint64_t bytes = 0;

	crypto_hash_sha256_final(&r->torn_hash, digest);
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	return !r->torn_changed && json_get_str(e, "event", &event, NULL) == 0 && event &&
	       strcmp(event, "torn_tail") == 0 &&
	       json_get_uint(e, "bytes", &bytes, NULL, NULL) == 0 &&
	       json_get_str(e, "sha256", &sha, NULL) == 0 && sha && bytes == r->torn_bytes &&
	       strcmp(sha, hex) == 0;
}

static void end_torn(struct reader *r, const json_t *e)
{
	if (!r->torn_line)
		return;
	if (e && closes_torn(r, e))
		r->v->torn_closed++;
	else
		fault(r->v, JOURNAL_CHANGED, r->torn_line,
		      "line %" PRIu64 " is not what was written, or only a part of it",
		      r->torn_line);
	r->torn_line = 0;
	r->torn_changed = false;
}

/* Whether the line with that number and hash was handed over before. */
static bool was_before(const struct reader *r, uint64_t seq, const char *hash)
{
	return seq > 0 && seq <= r->hashes.n && r->hashes.v[seq - 1] == hash_digits(hash);
}

/* Whether an event with that number comes later: out of order then, not missing. */
static bool comes_later(struct reader *r, uint64_t seq)
{
	struct chain_seal seal;

	while (next_line(r, NULL) > 0) {
		json_t *e = NULL;
		uint64_t got = 0;
		bool found = chain_check(r->line.v, r->line.n, &seal) &&
			     json_read_line(r->line.v, r->line.n, &e, NULL) == 0 &&
			     json_get_uint(e, "seq", &got, NULL, NULL) == 0 && got == seq;

		json_decref(e);
		if (found)
			return true;
	}
	return false;
}

static void tell_break(struct reader *r, uint64_t seq, const struct chain_seal *seal)
{
	struct journal_verdict *v = r->v;
	uint64_t line = r->n, want = v->seq + 1;

	if (was_before(r, seq, seal->hash))
		fault(v, JOURNAL_DOUBLED, line, "line %" PRIu64 " is event %" PRIu64 " once more",
		      line, seq);
	else if (seq == want)
		fault(v, JOURNAL_REWRITTEN, line,
		      "line %" PRIu64 " does not continue the one before it: one of the two was "
		      "written anew",
		      line);
	else if (comes_later(r, want))
		fault(v, JOURNAL_REORDERED, line,
		      "line %" PRIu64 " is event %" PRIu64 ", and event %" PRIu64 " comes later",
		      line, seq, want);
	else if (seq > want)
		fault(v, JOURNAL_MISSING, line,
		      "before line %" PRIu64 " %" PRIu64 " event%s missing, from number %" PRIu64
		      " on",
		      line, seq - want, seq - want == 1 ? " is" : "s are", want);
	else
		fault(v, JOURNAL_REWRITTEN, line,
		      "line %" PRIu64 " has number %" PRIu64 " again, with other content", line,
		      seq);
}

static void note_anchor(struct journal_verdict *v, const json_t *e)
{
	const char *event = NULL;

	if (json_get_str(e, "event", &event, NULL) == 0 && event && strcmp(event, "anchored") == 0)
		json_get_uint(e, "anchored_seq", &v->anchored_seq, NULL, NULL);
}

static void check_heads(struct reader *r, uint64_t seq, const char *hash)
{
	for (size_t i = 0; i < r->what->n_heads; i++) {
		const struct journal_head *h = &r->what->heads[i];
		bool same = strcmp(h->hash, hash) == 0;

		r->found[i] = r->found[i] || same;
		if (h->seq == seq && !same)
			fault(r->v, JOURNAL_REWRITTEN, r->n,
			      "line %" PRIu64 " is not the event %" PRIu64
			      " that %s knows: it was written anew",
			      r->n, seq, h->from);
	}
}

/* At the end of one that holds: a head that was not come across was cut off. */
static void check_length(struct reader *r)
{
	for (size_t i = 0; i < r->what->n_heads; i++) {
		const struct journal_head *h = &r->what->heads[i];

		if (r->found[i])
			continue;
		if (h->seq)
			fault(r->v, JOURNAL_CUT, 0,
			      "it ends with event %" PRIu64 ", but %s knows of event %" PRIu64
			      ": its end was cut off",
			      r->v->seq, h->from, h->seq);
		else
			fault(r->v, JOURNAL_CUT, 0,
			      "%s is not in it: its end was cut off, or it is another journal",
			      h->from);
	}
}

static int hand_over(const struct reader *r, const json_t *e, struct err *err)
{
	int ret = 0;

	if (r->what->line)
		ret = r->what->line(r->what->ctx, r->line.v, r->line.n, err);
	return !ret && r->what->fn ? r->what->fn(r->what->ctx, e, err) : ret;
}

/* A line whose seal holds. */
static int take_event(struct reader *r, const struct chain_seal *seal, json_t *e, struct err *err)
{
	struct journal_verdict *v = r->v;
	const char *schema = NULL;
	uint64_t seq = 0;

	json_get_str(e, "schema", &schema, NULL);
	json_get_uint(e, "seq", &seq, NULL, NULL);
	if (!schema || strcmp(schema, r->what->schema) != 0) {
		fault(v, JOURNAL_OTHER, r->n,
		      "line %" PRIu64 " is of schema '%.40s', which this stray does not read: it "
		      "reads %s",
		      r->n, schema ? schema : "", r->what->schema);
		return 0;
	}
	end_torn(r, seq == v->seq + 1 && strcmp(seal->prev, v->head) == 0 ? e : NULL);
	if (v->fault != JOURNAL_HOLDS)
		return 0;
	if (seq != v->seq + 1 || strcmp(seal->prev, v->head) != 0) {
		tell_break(r, seq, seal);
		return 0;
	}
	v->seq = seq;
	memcpy(v->head, seal->hash, sizeof(v->head));
	if (!VEC_PUSH(&r->hashes, hash_digits(seal->hash)))
		return err_nomem(err);
	note_anchor(v, e);
	check_heads(r, seq, seal->hash);
	if (v->fault != JOURNAL_HOLDS)
		return 0;
	return hand_over(r, e, err);
}

static int take_line(struct reader *r, struct err *err)
{
	struct chain_seal seal;
	json_t *e = NULL;
	int ret = 0;

	if (chain_check(r->line.v, r->line.n, &seal))
		ret = json_read_line(r->line.v, r->line.n, &e, NULL);
	if (ret == -ENOMEM)
		return err_nomem(err);
	if (!e) {
		add_torn(r);
		return 0;
	}
	ret = take_event(r, &seal, e, err);
	json_decref(e);
	return ret;
}

/* The file's last bytes hold no event. */
static void end_of_file(struct reader *r)
{
	if (r->torn_changed)
		end_torn(r, NULL);
	else if (r->torn_line)
		r->v->torn_bytes = r->torn_bytes;
}

static int read_lines(struct reader *r, struct err *err)
{
	for (;;) {
		int ret = next_line(r, err);

		if (ret < 0)
			return ret;
		if (!ret)
			break;
		ret = take_line(r, err);
		if (ret)
			return ret;
		if (r->v->fault != JOURNAL_HOLDS)
			return 0;
	}
	end_of_file(r);
	check_length(r);
	return 0;
}

/*
 * How long the file is at a moment at which nobody writes to it: half a line of a
 * writer that is at it just now is no torn tail.  Who holds the lock and stands
 * still is not waited for.
 */
static int settled_size(struct reader *r, struct err *err)
{
	const struct timespec pause = {.tv_nsec = LOCK_POLL_NS};
	bool locked = false;
	struct stat st;
	int ret;

	for (int n = 0; n < LOCK_POLLS && !locked; n++) {
		locked = flock(r->fd, LOCK_SH | LOCK_NB) == 0;
		if (!locked)
			nanosleep(&pause, NULL);
	}
	ret = fstat(r->fd, &st) < 0 ? err_errno(err, errno, "%.150s", r->what->name) : 0;
	r->size = ret ? 0 : (uint64_t)st.st_size;
	if (locked)
		flock(r->fd, LOCK_UN);
	return ret;
}

int journal_read(int fd, const struct journal_reading *what, struct journal_verdict *verdict,
		 struct err *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int ret = 0;

	*verdict = (struct journal_verdict){.head = CHAIN_START};
	if (r)
		r->found = calloc(what->n_heads + 1, sizeof(*r->found));
	if (!r || !r->found)
		ret = err_nomem(err);
	else if (sodium_init() < 0)
		ret = err_set(err, EIO, "libsodium cannot be used");
	if (!ret) {
		r->fd = fd;
		r->what = what;
		r->v = verdict;
		ret = settled_size(r, err);
		r->chunk = malloc(r->size < CHUNK ? (size_t)r->size + 1 : CHUNK);
		if (!ret)
			ret = r->chunk ? read_lines(r, err) : err_nomem(err);
		free(r->chunk);
		free(r->line.v);
		free(r->hashes.v);
	}
	if (r)
		free(r->found);
	free(r);
	return ret;
}

int journal_read_end(int fd, const struct journal_reading *what, bool *holds, struct err *err)
{
	char buf[JOURNAL_END_BYTES], before[CHAIN_HEX] = "";
	const char *line = buf, *end, *nl;
	struct stat st;
	ssize_t got;
	off_t from;
	int r = 0;

	*holds = false;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "%.150s", what->name);
	from = st.st_size > (off_t)sizeof(buf) ? st.st_size - (off_t)sizeof(buf) : 0;
	got = pread(fd, buf, sizeof(buf), from);
	if (got < 0)
		return err_errno(err, errno, "%.150s", what->name);
	end = buf + got;
	nl = from ? memchr(line, '\n', (size_t)got) : NULL;
	if (nl) /* of the first only its end is there */
		line = nl + 1;
	for (; !r && (nl = memchr(line, '\n', (size_t)(end - line))); line = nl + 1) {
		size_t len = (size_t)(nl - line);
		struct chain_seal seal;
		json_t *event = NULL;

		*holds = chain_check(line, len, &seal) &&
			 (!*before || strcmp(seal.prev, before) == 0) &&
			 json_read_line(line, len, &event, NULL) == 0;
		if (*holds)
			r = what->fn(what->ctx, event, err);
		json_decref(event);
		if (!*holds)
			return 0;
		memcpy(before, seal.hash, sizeof(before));
	}
	*holds &= line == end;
	return r;
}

int journal_open_read(int dirfd, const char *name, int *fd, struct err *err)
{
	int at = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), r = 0;
	struct stat st;

	if (at < 0)
		return err_errno(err, errno, "%.150s", name);
	if (fstat(at, &st) < 0)
		r = err_errno(err, errno, "%.150s", name);
	else if (!S_ISREG(st.st_mode))
		r = err_set(err, EINVAL, "%.150s: not a regular file", name);
	if (r < 0)
		close(at);
	else
		*fd = at;
	return r;
}
