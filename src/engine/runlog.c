#include "engine/runlog.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "contain/prompt.h"
#include "engine/heads.h"
#include "record/digest_cache.h"
#include "record/ledger.h"
#include "record/outfile.h"
#include "record/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define QUEUE_BYTES_MAX (64u << 20) /* a disk that hangs while a storm goes on */
#define BATCH_MAX 512

/* A snapshot that is to be made, and the event of it. */
struct look {
	struct table *table;
	struct run run;         /* whose members are in it */
	const char *act, *what; /* of its event: literals */
};

struct entry {
	struct journal_event event; /* ended */
	enum runlog_class class;
	bool sync;
	bool hash; /* digests of programs are to be made, and the event of them */
	enum run_state to;
	struct look *look; /* owned; NULL: none.  Apart: of process events there are thousands */
};

struct runlog {
	/* The thread's alone. */
	struct recorded r;
	struct heads *heads; /* NULL: not begun, or no room for them: the ledger is told here */
	uint64_t told;       /* of those that could not be written, in the journal */
	bool unsynced;       /* what the last change of state has added is not on the disk */

	struct runlog_options options;
	pthread_t thread;
	bool started; /* there is a thread */
	bool alone;   /* there will be none */
	pthread_mutex_t lock;
	pthread_cond_t work, done;

	/* Under the lock. */
	VEC(struct entry) queue;
	size_t queued_bytes;
	uint64_t first_ns; /* when the oldest in it was queued */
	bool urgent, closing, left;
	bool ended;               /* the thread has nothing more to do */
	uint64_t posted, written; /* entries, ever */
	int last_error;           /* of the last that was written */
	struct err lost;
	uint64_t counted;
	uint64_t unwritten; /* events that could not be, ever */

	/* The caller's alone. */
	struct journal_event next;
	uint64_t bytes[RUNLOG_CLASSES]; /* that were begun, of each */
	bool unhashed;
	bool late; /* a wait was given up: the next event says so */
};

static void look_free(struct look *look)
{
	if (!look)
		return;
	table_free(look->table);
	run_clear(&look->run);
	free(look);
}

static void entry_clear(struct entry *e)
{
	journal_event_clear(&e->event);
	look_free(e->look);
}

/* n events are not in the journal; 0: they are, but perhaps not on the disk. */
static void note_lost(struct runlog *l, const struct err *why, size_t n)
{
	pthread_mutex_lock(&l->lock);
	if (!l->lost.code)
		l->lost = *why;
	l->unwritten += n;
	pthread_mutex_unlock(&l->lock);
}

/* --- in the thread --- */

/* Writes the file, and puts together the event that names it with its digest. */
static int write_snapshot(struct runlog *l, struct entry *e, struct err *err)
{
	const struct look *look = e->look;
	const struct snapshot_options options = {
		.pretty = true, .process = {.run = &look->run, .run_id = look->run.id}};
	char name[32], sha256[DIGEST_HEX], path[RUN_ID_MAX + 64];
	struct outfile f = {0};
	struct jw *j;
	int r;

	snprintf(name, sizeof(name), "%s.json", look->what);
	r = outfile_create(l->r.dir.fd, name, &f, err);
	if (!r)
		r = snapshot_write(f.stream, look->table, NULL, 0, &options, err);
	if (!r)
		r = outfile_finish(&f, err);
	outfile_discard(&f);
	if (!r)
		r = digest_file(l->r.dir.fd, name, sha256, NULL, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "runs/%s/%s", l->r.dir.id, name);
	j = journal_event_begin(&e->event, "snapshot", KNOWN_SCANNED);
	if (j) {
		if (look->act)
			jw_str(j, "act", look->act);
		jw_str(j, "what", look->what);
		jw_str(j, "file", path);
		jw_str(j, "sha256", sha256);
	}
	return journal_event_end(&e->event, err);
}

static void write_digest(struct runlog *l, struct jw *j, int proc, const char *link,
			 const char *key)
{
	char hex[DIGEST_HEX];

	jw_str(j, key, digest_cache_make(l->r.state, proc, link, hex, NULL) == 0 ? hex : NULL);
}

/* What the run record lacks, since the command was not to wait for it. */
static int hash_programs(struct runlog *l, struct entry *e, struct err *err)
{
	const struct run_record *r = &l->r.story.record;
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[32];
	struct jw *j = journal_event_begin(&e->event, "hashed", KNOWN_SEEN);

	if (j) {
		write_digest(l, j, proc, "self/exe", "stray_sha256");
		snprintf(link, sizeof(link), "%d/exe",
			 r->requested_by.n ? (int)r->requested_by.v[0].id.pid : 0);
		write_digest(l, j, proc, link, "requester_sha256");
	}
	return journal_event_end(&e->event, err);
}

/* The event of those that could not be written since it was told last.  How many; 0: none. */
static uint64_t begin_loss(struct runlog *l, struct journal_event *e)
{
	uint64_t n = runlog_unwritten(l) - l->told;
	struct err lost = runlog_lost(l);
	struct jw *j = n ? journal_event_begin(e, "events_lost", KNOWN_SEEN) : NULL;

	if (j) {
		jw_uint(j, "count", n);
		jw_str(j, "source", "journal");
		jw_str(j, "error", lost.text);
	}
	if (!n || journal_event_end(e, NULL) < 0) {
		journal_event_clear(e); /* the next batch tells */
		return 0;
	}
	return n;
}

/* Appends v[0..n) under one lock, behind what tells of those that are missing before them. */
static int write_batch(struct runlog *l, struct entry *v, size_t n)
{
	struct journal_event events[1 + BATCH_MAX] = {0};
	uint64_t missing = begin_loss(l, &events[0]);
	size_t first = missing ? 0 : 1, written;
	struct err why = {0};
	int r;

	for (size_t i = 0; i < n; i++)
		events[1 + i] = v[i].event;
	r = recorded_append(&l->r, events + first, n + 1 - first, v[n - 1].sync, &written, &why);
	written += first;
	if (written)
		l->told += missing;
	if (r < 0)
		note_lost(l, &why, n - (written ? written - 1 : 0));
	journal_event_clear(&events[0]);
	return r;
}

static void announce(struct runlog *l, size_t n, int error)
{
	pthread_mutex_lock(&l->lock);
	l->written += n;
	l->last_error = error;
	pthread_cond_broadcast(&l->done);
	pthread_mutex_unlock(&l->lock);
}

static bool is_plain(const struct entry *e)
{
	return !e->sync && !e->look && !e->hash;
}

/* The head of a change of state, where a later cut cannot take it away.  A signal may be due: with
 * heads this waits for no disk and for nobody else's lock.  The ledger gets the head that is on the
 * disk, not the line behind it. */
static void make_known(struct runlog *l, const char *event, enum run_state to)
{
	const struct journal *j = l->r.dir.journal;

	if (l->heads)
		heads_note(l->heads, event, journal_seq(j), journal_head(j), to);
	else
		ledger_note(l->r.state, l->r.dir.id, event, journal_seq(j), journal_head(j), to,
			    to != RUN_FINISHED, NULL);
	l->unsynced = recorded_changed(&l->r, to) || l->unsynced;
}

/* Writes v[0..n), as many at once as belong together. */
static void write_all(struct runlog *l, struct entry *v, size_t n)
{
	struct err why = {0};

	for (size_t i = 0, m; i < n; i += m) {
		int r = 0;

		for (m = 1; i + m < n && m < BATCH_MAX && is_plain(&v[i + m - 1]) &&
			    !v[i + m].look && !v[i + m].hash;)
			m++;
		if (v[i].look)
			r = write_snapshot(l, &v[i], &why);
		else if (v[i].hash)
			r = hash_programs(l, &v[i], &why);
		if (r < 0)
			note_lost(l, &why, m);
		else
			r = write_batch(l, &v[i], m);
		announce(l, m, r);
		if (!r && v[i + m - 1].to != RUN_UNKNOWN)
			make_known(l, v[i + m - 1].event.name, v[i + m - 1].to);
	}
	for (size_t i = 0; i < n; i++)
		entry_clear(&v[i]);
}

/* Waits for work that is due; false: there will be none. */
static bool take(struct runlog *l, struct entry **v, size_t *n)
{
	bool more;

	pthread_mutex_lock(&l->lock);
	while (!l->closing && !l->urgent) {
		uint64_t now = clock_boot_ns(), due = l->first_ns + RUNLOG_LAG_NS;
		struct timespec at;

		if (!l->queue.n) {
			pthread_cond_wait(&l->work, &l->lock);
			continue;
		}
		if (now >= due)
			break;
		clock_gettime(CLOCK_MONOTONIC, &at);
		at.tv_nsec += (long)(due - now);
		at.tv_sec += at.tv_nsec / (long)CLOCK_NS_PER_S;
		at.tv_nsec %= (long)CLOCK_NS_PER_S;
		pthread_cond_timedwait(&l->work, &l->lock, &at);
	}
	*v = l->queue.v;
	*n = l->queue.n;
	l->queue.v = NULL;
	l->queue.n = l->queue.cap = l->queued_bytes = 0;
	l->urgent = false;
	more = *n || !l->closing;
	pthread_mutex_unlock(&l->lock);
	return more;
}

static void runlog_free(struct runlog *l, uint64_t until_ns)
{
	if (l->unsynced)
		journal_sync(l->r.dir.journal);
	heads_close(l->heads, until_ns);
	recorded_close(&l->r);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->work);
	pthread_cond_destroy(&l->done);
	free(l);
}

static void *write_on(void *ctx)
{
	struct runlog *l = ctx;
	struct entry *v = NULL;
	bool left;
	size_t n;

	while (take(l, &v, &n)) {
		write_all(l, v, n);
		free(v);
	}
	pthread_mutex_lock(&l->lock);
	l->written = l->posted;
	l->ended = true;
	left = l->left;
	pthread_cond_broadcast(&l->done);
	pthread_mutex_unlock(&l->lock);
	if (left)
		runlog_free(l, 0);
	return NULL;
}

/* --- the caller's --- */

int runlog_open(struct recorded *r, const struct runlog_options *options, struct runlog **out,
		struct err *err)
{
	struct runlog *l = calloc(1, sizeof(*l));
	pthread_condattr_t mono;

	if (!l)
		return err_nomem(err);
	l->r = *r;
	l->unhashed = !r->story.record.stray_sha256[0] || !r->story.record.requester_sha256[0];
	l->options = *options;
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&mono);
	pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
	pthread_cond_init(&l->work, &mono);
	pthread_cond_init(&l->done, &mono);
	pthread_condattr_destroy(&mono);
	*r = (struct recorded){0};
	*out = l;
	return 0;
}

static int start(struct runlog *l, struct err *err)
{
	int rc = thread_start(&l->thread, write_on, l);

	l->started = rc == 0;
	l->alone = rc != 0;
	return rc ? err_errno(err, rc, "no thread for the record") : 0;
}

int runlog_start(struct runlog *l, struct err *err)
{
	if (!l || l->started || l->alone)
		return 0;
	heads_open(l->r.state, l->r.dir.id, &l->heads, NULL);
	return start(l, err);
}

struct jw *runlog_begin(struct runlog *l, const char *event, enum known known)
{
	struct jw *j;

	if (!l)
		return NULL;
	j = journal_event_begin(&l->next, event, known);
	if (j && l->late) {
		jw_bool(j, "durable", false); /* what it rests on is not on the disk yet */
		l->late = false;
	}
	return j;
}

/* Without a thread what is queued is written here and now. */
static void write_here(struct runlog *l)
{
	struct entry *v = NULL;
	size_t n;

	l->urgent = true;
	take(l, &v, &n);
	write_all(l, v, n);
	free(v);
}

/* Puts e into the queue, which takes it; returns its number, 0 where it was not taken. */
static uint64_t post(struct runlog *l, struct entry *e)
{
	size_t size = e->event.len;
	uint64_t number = 0;

	pthread_mutex_lock(&l->lock);
	if (e->class != RUNLOG_FACT && l->queued_bytes + size > QUEUE_BYTES_MAX) {
		l->counted++;
	} else if (VEC_PUSH(&l->queue, *e)) {
		if (l->queue.n == 1)
			l->first_ns = clock_boot_ns();
		l->queued_bytes += size;
		l->urgent = l->urgent || e->sync || e->look;
		number = ++l->posted;
		if (l->queue.n == 1 || l->urgent)
			pthread_cond_signal(&l->work);
	} else {
		l->unwritten++;
		if (!l->lost.code)
			err_nomem(&l->lost);
	}
	pthread_mutex_unlock(&l->lock);
	if (!number)
		entry_clear(e);
	else if (!l->started && !l->alone && (e->sync || e->look))
		start(l, NULL); /* that is waited for, with a limit */
	if (number && l->alone)
		write_here(l);
	return number;
}

static int end_next(struct runlog *l, struct entry *e)
{
	struct err why = {0};
	int r = journal_event_end(&l->next, &why);

	if (r < 0) {
		note_lost(l, &why, 1);
		journal_event_clear(&l->next);
		return r;
	}
	e->event = l->next;
	l->next = (struct journal_event){0};
	return 0;
}

void runlog_add(struct runlog *l, enum runlog_class class)
{
	struct entry e = {.class = class};

	if (!l || end_next(l, &e) < 0)
		return;
	l->bytes[class] += e.event.len;
	if (class == RUNLOG_FACT || !l->options.process_bytes_max ||
	    l->bytes[class] <= l->options.process_bytes_max) {
		post(l, &e);
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->counted++;
	pthread_mutex_unlock(&l->lock);
	entry_clear(&e);
}

/* A moment of CLOCK_BOOTTIME by the clock that a condition waits by. */
static struct timespec mono_at(uint64_t until_ns)
{
	uint64_t now = clock_boot_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += (time_t)(left / CLOCK_NS_PER_S);
	at.tv_nsec += (long)(left % CLOCK_NS_PER_S);
	at.tv_sec += at.tv_nsec / (long)CLOCK_NS_PER_S;
	at.tv_nsec %= (long)CLOCK_NS_PER_S;
	return at;
}

/* Until the entry of that number is written; 0, -ETIMEDOUT, or the error that it met. */
static int wait_for(struct runlog *l, uint64_t number, uint64_t until_ns)
{
	struct timespec at = mono_at(until_ns);
	int r = 0;

	pthread_mutex_lock(&l->lock);
	while (!r && l->written < number)
		r = pthread_cond_timedwait(&l->done, &l->lock, &at);
	if (l->written >= number)
		r = -l->last_error;
	pthread_mutex_unlock(&l->lock);
	return -r;
}

/* Until the thread has nothing more to do: 0; -ETIMEDOUT: it is left behind, and frees l. */
static int await_end(struct runlog *l, uint64_t until_ns)
{
	struct timespec at = mono_at(until_ns);
	int r = 0;

	pthread_mutex_lock(&l->lock);
	while (!r && !l->ended)
		r = pthread_cond_timedwait(&l->done, &l->lock, &at);
	l->left = !l->ended;
	r = l->ended ? 0 : -ETIMEDOUT;
	pthread_mutex_unlock(&l->lock);
	return r;
}

/* Queues what was begun, to be on the disk at once.  0 or -errno. */
static int push(struct runlog *l, enum run_state to, uint64_t *number)
{
	struct entry e = {.class = RUNLOG_FACT, .sync = true, .to = to};
	int r = end_next(l, &e);

	if (r < 0)
		return r;
	*number = post(l, &e);
	return *number ? 0 : -ENOMEM;
}

int runlog_sync(struct runlog *l, enum run_state to, uint64_t until_ns, struct err *err)
{
	uint64_t number;
	int r;

	if (!l)
		return 0;
	r = push(l, to, &number);
	if (!r)
		r = wait_for(l, number, until_ns);
	l->late = l->late || r == -ETIMEDOUT;
	return r < 0 ? err_errno(err, -r, "the record") : 0;
}

void runlog_push(struct runlog *l, enum run_state to)
{
	uint64_t number;

	if (l)
		push(l, to, &number); /* what cannot be written is noted as lost */
}

void runlog_snapshot(struct runlog *l, const char *act, const char *what, const struct table *t,
		     const struct run *run)
{
	struct entry e = {.class = RUNLOG_FACT};
	struct err why = {0};

	if (!l)
		return;
	e.look = calloc(1, sizeof(*e.look));
	if (e.look)
		*e.look = (struct look){.table = table_clone(t), .act = act, .what = what};
	if (e.look && e.look->table && run_copy(&e.look->run, run)) {
		post(l, &e);
		return;
	}
	err_nomem(&why);
	note_lost(l, &why, 1);
	look_free(e.look);
}

void runlog_hurry(struct runlog *l)
{
	if (l && l->started)
		prompt_thread(l->thread);
}

bool runlog_hash(struct runlog *l)
{
	struct entry e = {.class = RUNLOG_FACT, .hash = true};

	if (!l || !l->unhashed)
		return false;
	post(l, &e);
	return true;
}

struct err runlog_lost(struct runlog *l)
{
	struct err lost = {0};

	if (!l)
		return lost;
	pthread_mutex_lock(&l->lock);
	lost = l->lost;
	pthread_mutex_unlock(&l->lock);
	return lost;
}

static uint64_t read_count(struct runlog *l, const uint64_t *count)
{
	uint64_t n;

	pthread_mutex_lock(&l->lock);
	n = *count;
	pthread_mutex_unlock(&l->lock);
	return n;
}

uint64_t runlog_counted(struct runlog *l)
{
	return l ? read_count(l, &l->counted) : 0;
}

uint64_t runlog_unwritten(struct runlog *l)
{
	return l ? read_count(l, &l->unwritten) : 0;
}

int runlog_close(struct runlog *l, uint64_t until_ns)
{
	pthread_t thread;

	if (!l)
		return 0;
	thread = l->thread;
	journal_event_clear(&l->next);
	pthread_mutex_lock(&l->lock);
	l->closing = true;
	pthread_cond_signal(&l->work);
	pthread_mutex_unlock(&l->lock);
	if (!l->started) {
		write_here(l);
	} else if (await_end(l, until_ns) < 0) {
		pthread_detach(thread);
		return -ETIMEDOUT;
	} else {
		pthread_join(thread, NULL);
	}
	runlog_free(l, until_ns);
	return 0;
}
