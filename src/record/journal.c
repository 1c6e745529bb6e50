#include "record/journal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_read.h"
#include "record/journal_tail.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_POLL_NS 2000000 /* a line takes some 1 ms with its sync */
#define WRITE_BYTES 65536    /* at once, of a batch */
#define DIRTY_BYTES 131072   /* of which a sync is a millisecond */

struct journal {
	int fd;
	char *name;         /* of the file, for the text of an error */
	const char *schema; /* a literal */
	uint64_t patience_ns;
	struct journal_tail tail; /* where the last line that holds ends */
	uint64_t begun;           /* up to where the disk was told to begin with it */

	struct journal_event event; /* that is being put together */
	char run[80];               /* as JSON: "\"run-7f3c0a12\"" or "null" */
};

/* The letters of an id need no escape: model/selector.h. */
static void name_run(struct journal *j, const char *run)
{
	if (run)
		snprintf(j->run, sizeof(j->run), "\"%.70s\"", run);
	else
		snprintf(j->run, sizeof(j->run), "null");
}

static int fail(const struct journal *j, int code, struct err *err)
{
	return err_errno(err, code, "%.150s", j->name);
}

static int open_file(int dirfd, const char *name, const char *schema, int flags,
		     struct journal **out, struct err *err)
{
	struct journal *j = calloc(1, sizeof(*j));
	int r = 0;

	if (j)
		j->name = strdup(name);
	if (!j || !j->name) {
		free(j);
		return err_nomem(err);
	}
	j->schema = schema;
	j->patience_ns = JOURNAL_PATIENCE_NS;
	/* not to hang on a FIFO in its place */
	j->fd = openat(dirfd, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags,
		       0600);
	if (j->fd < 0)
		r = fail(j, errno, err);
	if (!r) /* who could change a file that we add to could change what it says */
		r = file_check_ours(j->fd, j->name, err);
	if (r < 0)
		journal_close(j);
	else
		*out = j;
	return r;
}

int journal_create(int dirfd, const char *name, const char *schema, struct journal **out,
		   struct err *err)
{
	return open_file(dirfd, name, schema, O_CREAT | O_EXCL, out, err);
}

int journal_open(int dirfd, const char *name, const char *schema, struct journal **out,
		 struct err *err)
{
	return open_file(dirfd, name, schema, 0, out, err);
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	journal_cancel(j);
	file_close_fd(&j->fd);
	free(j->name);
	free(j);
}

void journal_patience(struct journal *j, uint64_t ns)
{
	j->patience_ns = ns;
}

const char *journal_head(const struct journal *j)
{
	return j->tail.hash;
}

uint64_t journal_seq(const struct journal *j)
{
	return j->tail.seq;
}

uint64_t journal_end(const struct journal *j)
{
	return j->tail.end;
}

uint64_t journal_size(const struct journal *j)
{
	struct stat st;

	return fstat(j->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

int journal_check_there(const struct journal *j, struct err *err)
{
	struct stat st;

	if (fstat(j->fd, &st) < 0)
		return fail(j, errno, err);
	return st.st_nlink
		       ? 0
		       : err_set(err, ESTALE,
				 "%.150s: the file was removed: nothing can be recorded", j->name);
}

void journal_cancel(struct journal *j)
{
	journal_event_clear(&j->event);
}

struct jw *journal_begin(struct journal *j, const char *run, const char *event, enum known known)
{
	assert(!j->event.name);
	name_run(j, run);
	return journal_event_begin(&j->event, event, known);
}

static int lock(const struct journal *j, struct err *err)
{
	const struct timespec pause = {.tv_nsec = LOCK_POLL_NS};
	uint64_t until = clock_boot_ns() + j->patience_ns;

	while (flock(j->fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fail(j, errno, err);
		if (clock_boot_ns() >= until)
			return err_set(err, ETIMEDOUT,
				       "%.150s: another writer has held its lock for %.1f s",
				       j->name, (double)j->patience_ns / 1e9);
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* *done: how many bytes are in the file, in any case. */
static int write_all(const struct journal *j, const char *data, size_t len, size_t *done,
		     struct err *err)
{
	*done = 0;
	while (*done < len) {
		ssize_t n = write(j->fd, data + *done, len - *done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(j, errno, err);
		*done += (size_t)n;
	}
	return 0;
}

/* Lines that are sealed and not written yet. */
struct batch {
	char *v; /* owned */
	size_t n, cap;
	size_t lead;              /* bytes before the first of them */
	size_t written;           /* lines that are in the file, also of those before them */
	struct journal_tail tail; /* once they are written */
};

static bool make_room(struct batch *b, size_t more)
{
	size_t cap = 2 * b->cap > b->n + more ? 2 * b->cap : b->n + more;
	char *grown;

	if (b->v && b->n + more <= b->cap)
		return true;
	grown = realloc(b->v, cap);
	if (!grown)
		return false;
	b->v = grown;
	b->cap = cap;
	return true;
}

/* Seals a line behind `lead`; members: "{…}\n" or "{…}" of which the braces are left off. */
static int add_line(const struct journal *j, struct batch *b, const char *lead, const char *event,
		    const char *members, size_t len, struct err *err)
{
	AUTO_FREE char *body = NULL;
	AUTO_FREE char *line = NULL;
	char at[CLOCK_RFC3339_MAX];
	const char *end = memrchr(members, '}', len);
	struct chain_seal seal;
	size_t line_len, lead_len = strlen(lead);
	int n, r;

	clock_rfc3339(clock_wall_ns(), at);
	n = asprintf(&body,
		     "{\"schema\":\"%s\",\"seq\":%" PRIu64 ",\"at\":\"%s\",\"mono_ns\":%" PRIu64
		     ",\"run\":%s,\"event\":\"%s\",%.*s",
		     j->schema, b->tail.seq + 1, at, clock_boot_ns(), j->run, event,
		     (int)(end - members - 1), members + 1);
	if (n < 0) {
		body = NULL;
		return err_nomem(err);
	}
	r = chain_seal(body, (size_t)n, b->tail.hash, &line, &line_len, &seal, err);
	if (r < 0)
		return r;
	if (!make_room(b, lead_len + line_len))
		return err_nomem(err);
	memcpy(b->v + b->n, lead, lead_len);
	memcpy(b->v + b->n + lead_len, line, line_len);
	b->n += lead_len + line_len;
	memcpy(b->tail.hash, seal.hash, sizeof(seal.hash));
	b->tail.seq++;
	b->tail.end += lead_len + line_len;
	return 0;
}

/* In one write(2), so that no other reader sees half of a line but where the machine dies. */
static int write_batch(struct journal *j, struct batch *b, struct err *err)
{
	size_t done;
	int r = write_all(j, b->v, b->n, &done, err);

	for (size_t i = b->lead; i < done; i++)
		b->written += b->v[i] == '\n';
	if (!r)
		j->tail = b->tail;
	b->n = b->lead = 0;
	return r;
}

/* Says what stands behind the last line that holds, and what bytes it is. */
static int close_torn(struct journal *j, struct err *err)
{
	char members[160];
	int n = snprintf(members, sizeof(members),
			 "{\"known\":\"scanned\",\"bytes\":%" PRIu64 ",\"sha256\":\"%s\"}",
			 j->tail.torn_bytes, j->tail.torn_sha256);
	const char *lead = j->tail.torn_closed ? "" : CHAIN_CLOSER;
	struct batch b = {.tail = j->tail};
	int r;

	b.tail.end += b.tail.torn_bytes + (b.tail.torn_closed ? sizeof(CHAIN_CLOSER) - 1 : 0);
	r = add_line(j, &b, lead, "torn_tail", members, (size_t)n, err);
	if (!r)
		r = write_batch(j, &b, err);
	free(b.v);
	return r;
}

/* Makes ready for a line more, under the lock; lead: what is to stand before it. */
static int find_end(struct journal *j, const char **lead, struct err *err)
{
	struct stat st;
	int r;

	*lead = "";
	if (fstat(j->fd, &st) < 0)
		return fail(j, errno, err);
	r = journal_check_there(j, err);
	if (r < 0)
		return r;
	r = journal_tail_find(j->fd, (uint64_t)st.st_size, j->name, &j->tail, err);
	if (!r && !j->begun)
		j->begun = j->tail.end; /* what was there before is others' to sync */
	if (!r && j->tail.torn_bytes)
		r = close_torn(j, err);
	else if (!r && j->tail.newline_missing)
		*lead = "\n";
	/* mended once: the next line of ours finds nothing of it */
	j->tail.torn_bytes = 0;
	j->tail.torn_closed = j->tail.newline_missing = false;
	return r;
}

static int append_all(struct journal *j, const struct journal_event *v, size_t n, size_t *written,
		      struct err *err)
{
	const char *lead;
	struct batch b = {0};
	int r = find_end(j, &lead, err);

	b.tail = j->tail;
	b.lead = strlen(lead);
	for (size_t i = 0; !r && i < n; i++) {
		r = add_line(j, &b, lead, v[i].name, v[i].text, v[i].len, err);
		lead = "";
		if (!r && (b.n >= WRITE_BYTES || i + 1 == n))
			r = write_batch(j, &b, err);
	}
	free(b.v);
	*written = b.written;
	if (r < 0)
		j->tail = (struct journal_tail){0}; /* what is there is looked for again */
	return r;
}

int journal_sync(struct journal *j)
{
	return fdatasync(j->fd) < 0 && errno != EINVAL ? -1 : 0;
}

struct guard {
	journal_guard_fn *fn; /* NULL: none */
	void *ctx;
};

/* Under the lock. */
static int append_guarded(struct journal *j, const struct journal_event *v, size_t n,
			  const struct guard *g, size_t *written, struct err *err)
{
	int r = g->fn ? g->fn(g->ctx, j->fd, journal_size(j), err) : 0;

	return r ? r : append_all(j, v, n, written, err);
}

/* Of a storm's megabytes the sync that a signal waits for finds the last few.  Not under the lock:
 * a busy disk may hold it up. */
static void begin_writing(struct journal *j)
{
	if (j->begun > j->tail.end)
		j->begun = 0;
	if (j->tail.end - j->begun < DIRTY_BYTES)
		return;
	sync_file_range(j->fd, (off_t)j->begun, 0, SYNC_FILE_RANGE_WRITE);
	j->begun = j->tail.end;
}

/* Of the run that was named last. */
static int append(struct journal *j, const struct journal_event *v, size_t n, bool sync,
		  const struct guard *g, size_t *written, struct err *err)
{
	int r = 0;

	*written = 0;
	for (size_t i = 0; !r && i < n; i++)
		if (v[i].len > JOURNAL_LINE_MAX / 2)
			r = err_set(err, EFBIG, "%.150s: an event of %zu bytes is too large",
				    j->name, v[i].len);
	if (!r)
		r = lock(j, err);
	if (!r) {
		r = append_guarded(j, v, n, g, written, err);
		flock(j->fd, LOCK_UN);
	}
	if (!r && sync && journal_sync(j) < 0)
		r = fail(j, errno, err);
	else if (!r && !sync)
		begin_writing(j);
	return r;
}

int journal_append(struct journal *j, const char *run, const struct journal_event *v, size_t n,
		   bool sync, size_t *written, struct err *err)
{
	name_run(j, run);
	return append(j, v, n, sync, &(struct guard){0}, written, err);
}

int journal_commit(struct journal *j, bool sync, struct err *err)
{
	return journal_commit_if(j, sync, NULL, NULL, err);
}

int journal_commit_if(struct journal *j, bool sync, journal_guard_fn *guard, void *ctx,
		      struct err *err)
{
	const struct guard g = {guard, ctx};
	size_t written;
	int r;

	assert(j->event.name);
	r = journal_event_end(&j->event, err);
	if (!r)
		r = append(j, &j->event, 1, sync, &g, &written, err);
	journal_cancel(j);
	return r;
}
