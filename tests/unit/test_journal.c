#include "record/journal.h"

#include "base/file.h"
#include "record/journal_read.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/helpers/skip.h"

#define WRITERS 200
#define EACH 5
#define WRITER_LIFE_S 100

static int open_dir(void **state)
{
	int fd = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Appends events named "note", each with a number, to a journal made if missing.  0 or -errno. */
static int try_append(void **state, unsigned n)
{
	AUTO_FD dir = open_dir(state);
	struct err err = {0};
	struct journal *j = NULL;
	int r = 0;

	if (journal_open(dir, "j", JOURNAL_SCHEMA, &j, NULL) < 0)
		r = journal_create(dir, "j", JOURNAL_SCHEMA, &j, &err);
	if (r < 0)
		return r;
	journal_patience(j, (uint64_t)WRITER_LIFE_S * 1000000000u); /* hundreds want the lock */
	for (unsigned i = 0; !r && i < n; i++) {
		struct jw *w = journal_begin(j, "run-1", "note", KNOWN_STATED);

		jw_str(w, "text", "a \"quoted\" text, \xe2\x80\xae and more");
		jw_uint(w, "i", i);
		r = journal_commit(j, false, &err);
	}
	journal_close(j);
	return r;
}

static void append(void **state, unsigned n)
{
	assert_int_equal(try_append(state, n), 0);
}

/* In a child: its status is 0, or an errno. */
static void __attribute__((noreturn)) be_writer(void **state, unsigned n)
{
	alarm(WRITER_LIFE_S);
	_exit(-try_append(state, n));
}

static size_t load(void **state, char **text)
{
	ssize_t n = file_read_all_at(AT_FDCWD, scratch_path(state, "j"), 16u << 20, text);

	assert_true(n >= 0);
	return (size_t)n;
}

static void store(void **state, const char *text, size_t len)
{
	int fd = open(scratch_path(state, "j"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

static struct journal_verdict verdict_on(void **state, const struct journal_head *heads, size_t n)
{
	struct journal_reading what = {
		.name = "j", .schema = JOURNAL_SCHEMA, .heads = heads, .n_heads = n};
	AUTO_FD dir = open_dir(state);
	AUTO_FD fd = -1;
	struct journal_verdict v;
	struct err err = {0};

	assert_int_equal(journal_open_read(dir, "j", &fd, &err), 0);
	assert_int_equal(journal_read(fd, &what, &v, &err), 0);
	return v;
}

static struct journal_verdict verdict(void **state)
{
	return verdict_on(state, NULL, 0);
}

/* Where line n (from 1) begins; one past the last: the end. */
static size_t line_at(const char *text, unsigned n)
{
	const char *at = text;

	while (--n)
		at = strchr(at, '\n') + 1;
	return (size_t)(at - text);
}

static void events_are_chained_in_order(void **state)
{
	AUTO_FREE char *text = NULL;
	struct journal_verdict v;

	append(state, 3);
	append(state, 2);
	v = verdict(state);
	assert_int_equal(v.fault, JOURNAL_HOLDS);
	assert_int_equal(v.seq, 5);
	assert_int_equal(v.torn_bytes, 0);
	load(state, &text);
	assert_non_null(strstr(text, "{\"schema\":\"stray.journal/1\",\"seq\":1,\"at\":\""));
	assert_non_null(
		strstr(text, ",\"run\":\"run-1\",\"event\":\"note\",\"known\":\"stated\","));
	assert_non_null(strstr(text, ",\"prev\":\"" CHAIN_START "\",\"hash\":\""));
	assert_int_equal(text[strlen(text) - 1], '\n');
}

struct lines {
	unsigned n, events;
	size_t bytes;
};

static int take_line(void *ctx, const char *line, size_t len, struct err *err)
{
	struct lines *l = ctx;

	(void)err;
	assert_int_equal(line[0], '{');
	assert_int_equal(line[len - 1], '}');
	assert_int_equal(l->n, l->events);
	l->n++;
	l->bytes += len + 1;
	return 0;
}

static int take_event(void *ctx, const json_t *event, struct err *err)
{
	(void)event;
	(void)err;
	((struct lines *)ctx)->events++;
	return 0;
}

static void each_line_is_handed_over_before_its_event(void **state)
{
	struct lines l = {0};
	struct journal_reading what = {.name = "j",
				       .schema = JOURNAL_SCHEMA,
				       .fn = take_event,
				       .line = take_line,
				       .ctx = &l};
	AUTO_FD dir = open_dir(state);
	AUTO_FD fd = -1;
	AUTO_FREE char *text = NULL;
	struct journal_verdict v;
	struct err err = {0};

	append(state, 3);
	assert_int_equal(journal_open_read(dir, "j", &fd, &err), 0);
	assert_int_equal(journal_read(fd, &what, &v, &err), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.bytes, load(state, &text));
}

static void a_journal_cut_at_any_byte_holds_so_far_and_goes_on(void **state)
{
	AUTO_FREE char *text = NULL;
	size_t len;

	append(state, 3);
	len = load(state, &text);
	for (size_t cut = 0; cut < len; cut++) {
		unsigned whole = 0;
		struct journal_verdict v;
		size_t torn;

		for (size_t i = 0; i < cut; i++)
			whole += text[i] == '\n';
		torn = cut - line_at(text, whole + 1);
		/* a line that lacks nothing but its newline lacks nothing */
		if (text[cut] == '\n') {
			whole++;
			torn = 0;
		}
		store(state, text, cut);
		v = verdict(state);
		assert_int_equal(v.fault, JOURNAL_HOLDS);
		assert_int_equal(v.seq, whole);
		assert_int_equal(v.torn_bytes, torn);
		append(state, 2); /* by one writer: it closes the tail once */
		v = verdict(state);
		assert_int_equal(v.fault, JOURNAL_HOLDS);
		assert_int_equal(v.torn_bytes, 0);
		assert_int_equal(v.torn_closed, torn > 0);
		assert_int_equal(v.seq, whole + (torn > 0) + 2);
	}
}

/* The writer that closes a torn tail dies on the way, too: wherever it does. */
static void a_tail_torn_while_it_was_closed_is_closed_again(void **state)
{
	AUTO_FREE char *text = NULL;
	size_t len, torn;

	append(state, 2);
	len = load(state, &text);
	torn = len - 20;
	store(state, text, torn);
	append(state, 1);
	free(text);
	len = load(state, &text);
	for (size_t cut = torn; cut < len; cut++) {
		struct journal_verdict v;

		store(state, text, cut);
		v = verdict(state);
		assert_int_equal(v.fault, JOURNAL_HOLDS);
		append(state, 1);
		v = verdict(state);
		assert_int_equal(v.fault, JOURNAL_HOLDS);
		assert_int_equal(v.torn_bytes, 0);
		assert_true(v.torn_closed >= 1);
	}
}

static void any_flipped_bit_is_found_and_its_line_named(void **state)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	unsigned line = 1;

	append(state, 3);
	len = load(state, &text);
	for (size_t i = 0; i < len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			struct journal_verdict v;

			text[i] = (char)(text[i] ^ 1 << bit);
			store(state, text, len);
			v = verdict(state);
			assert_int_equal(v.fault, JOURNAL_CHANGED);
			assert_int_equal(v.line, line);
			assert_int_equal(v.seq, line - 1);
			text[i] = (char)(text[i] ^ 1 << bit);
		}
		line += text[i] == '\n';
	}
}

static void what_follows_a_changed_last_line_does_not_heal_it(void **state)
{
	AUTO_FREE char *text = NULL;
	struct journal_verdict v;
	size_t len;

	append(state, 3);
	len = load(state, &text);
	text[len - 100] ^= 1;
	store(state, text, len);
	append(state, 1);
	v = verdict(state);
	assert_int_equal(v.fault, JOURNAL_CHANGED);
	assert_int_equal(v.line, 3);
}

static void changed_torn_bytes_are_found(void **state)
{
	AUTO_FREE char *text = NULL;
	size_t len, begin, end;

	append(state, 2);
	len = load(state, &text);
	begin = line_at(text, 2);
	store(state, text, len - 20);
	end = len - 20;
	append(state, 1);
	free(text);
	len = load(state, &text);
	for (size_t i = begin; i < end; i++) {
		text[i] ^= 1;
		store(state, text, len);
		assert_int_equal(verdict(state).fault, JOURNAL_CHANGED);
		text[i] ^= 1;
	}
}

static void lines_dropped_doubled_or_swapped_are_told_apart(void **state)
{
	static const struct {
		const char *order; /* of lines 1 to 5 */
		enum journal_fault fault;
		unsigned line;
	} cases[] = {
		{"12345", JOURNAL_HOLDS, 0},     {"2345", JOURNAL_MISSING, 1},
		{"1345", JOURNAL_MISSING, 2},    {"125", JOURNAL_MISSING, 3},
		{"112345", JOURNAL_DOUBLED, 2},  {"1232345", JOURNAL_DOUBLED, 4},
		{"123451", JOURNAL_DOUBLED, 6},  {"21345", JOURNAL_REORDERED, 1},
		{"13245", JOURNAL_REORDERED, 2}, {"12354", JOURNAL_REORDERED, 4},
		{"1234", JOURNAL_HOLDS, 0},
	};
	AUTO_FREE char *text = NULL;

	append(state, 5);
	load(state, &text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char mixed[8192];
		size_t len = 0;
		struct journal_verdict v;

		for (const char *c = cases[i].order; *c; c++) {
			size_t from = line_at(text, (unsigned)(*c - '0'));
			size_t to = line_at(text, (unsigned)(*c - '0') + 1);

			memcpy(mixed + len, text + from, to - from);
			len += to - from;
		}
		store(state, mixed, len);
		v = verdict(state);
		assert_int_equal(v.fault, cases[i].fault);
		assert_int_equal(v.line, cases[i].line);
	}
}

static void a_cut_to_a_valid_prefix_shows_where_a_later_head_is_known(void **state)
{
	struct journal_head head = {.from = "the ledger"};
	AUTO_FREE char *text = NULL;
	struct journal_verdict v;

	append(state, 3);
	v = verdict(state);
	head.seq = v.seq;
	memcpy(head.hash, v.head, sizeof(head.hash));
	assert_int_equal(verdict_on(state, &head, 1).fault, JOURNAL_HOLDS);
	append(state, 1); /* goes on: no fault */
	assert_int_equal(verdict_on(state, &head, 1).fault, JOURNAL_HOLDS);
	load(state, &text);
	store(state, text, line_at(text, 3));
	assert_int_equal(verdict_on(state, &head, 1).fault, JOURNAL_CUT);
	head.seq = 0; /* --head HASH: where it stands is not known */
	assert_int_equal(verdict_on(state, &head, 1).fault, JOURNAL_CUT);
	append(state, 2); /* another event 3 */
	head.seq = 3;
	v = verdict_on(state, &head, 1);
	assert_int_equal(v.fault, JOURNAL_REWRITTEN);
	assert_int_equal(v.line, 3);
}

static void another_version_is_named_and_not_read(void **state)
{
	AUTO_FD dir = open_dir(state);
	struct err err = {0};
	struct journal *j = NULL;
	struct journal_verdict v;

	assert_int_equal(journal_create(dir, "j", "stray.journal/2", &j, &err), 0);
	journal_begin(j, NULL, "note", KNOWN_SEEN);
	assert_int_equal(journal_commit(j, false, &err), 0);
	journal_close(j);
	v = verdict(state);
	assert_int_equal(v.fault, JOURNAL_OTHER);
	assert_non_null(strstr(v.why, "stray.journal/2"));
}

static void no_file_makes_it_crash(void **state)
{
	static const char *const files[] = {
		"",  "\n",     "\n\n\n", "{}\n",       "{}",
		"x", "null\n", " \n",    "\xff\xfe\n", "{\"prev\":\"\",\"hash\":\"\"}\n"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		store(state, files[i], strlen(files[i]));
		assert_int_equal(verdict(state).seq, 0);
		append(state, 1);
		assert_true(verdict(state).seq <= 2);
	}
}

static void two_hundred_writers_at_once_make_one_chain(void **state)
{
	struct journal_verdict v;

	append(state, 1);
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			be_writer(state, EACH);
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	v = verdict(state);
	assert_int_equal(v.fault, JOURNAL_HOLDS);
	assert_int_equal(v.seq, 1 + WRITERS * EACH);
}

static void a_line_that_is_being_written_is_no_torn_tail(void **state)
{
	pid_t pid;
	int status;

	append(state, 1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_writer(state, 3000);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct journal_verdict v = verdict(state);

		assert_int_equal(v.fault, JOURNAL_HOLDS);
		assert_int_equal(v.torn_bytes, 0);
	}
	assert_int_equal(status, 0);
	assert_int_equal(verdict(state).seq, 3001);
}

static void who_cannot_have_the_lock_in_time_says_so(void **state)
{
	AUTO_FD dir = open_dir(state);
	AUTO_FD other = -1;
	struct err err = {0};
	struct journal *j = NULL;

	append(state, 1);
	other = openat(dir, "j", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	assert_int_equal(journal_open(dir, "j", JOURNAL_SCHEMA, &j, &err), 0);
	journal_patience(j, 20000000);
	journal_begin(j, NULL, "note", KNOWN_SEEN);
	assert_int_equal(journal_commit(j, false, &err), -ETIMEDOUT);
	flock(other, LOCK_UN);
	err_clear(&err);
	journal_begin(j, NULL, "note", KNOWN_SEEN);
	assert_int_equal(journal_commit(j, false, &err), 0);
	assert_int_equal(journal_seq(j), 2);
	journal_close(j);
}

static void a_file_that_others_had_a_hand_in_is_not_written_to(void **state)
{
	AUTO_FD dir = open_dir(state);
	struct journal *j = NULL;
	struct err err = {0};

	append(state, 1);
	assert_int_equal(symlinkat("j", dir, "link"), 0);
	assert_int_equal(journal_open(dir, "link", JOURNAL_SCHEMA, &j, &err), -ELOOP);
	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
	assert_int_equal(journal_open(dir, "fifo", JOURNAL_SCHEMA, &j, NULL), -EPERM);
	assert_int_equal(fchmodat(dir, "j", 0620, 0), 0);
	assert_int_equal(journal_open(dir, "j", JOURNAL_SCHEMA, &j, NULL), -EPERM);
	assert_int_equal(fchmodat(dir, "j", 0600, 0), 0);
	assert_int_equal(journal_create(dir, "j", JOURNAL_SCHEMA, &j, NULL), -EEXIST);
	if (geteuid() != 0) {
		print_message("not root: another owner's file is not tried\n");
		return;
	}
	assert_int_equal(fchownat(dir, "j", 65534, 65534, 0), 0);
	assert_int_equal(journal_open(dir, "j", JOURNAL_SCHEMA, &j, NULL), -EPERM);
}

static void a_removed_file_is_said(void **state)
{
	AUTO_FD dir = open_dir(state);
	struct journal *j = NULL;
	struct err err = {0};

	append(state, 1);
	assert_int_equal(journal_open(dir, "j", JOURNAL_SCHEMA, &j, &err), 0);
	assert_int_equal(unlinkat(dir, "j", 0), 0);
	journal_begin(j, NULL, "note", KNOWN_SEEN);
	assert_int_equal(journal_commit(j, true, &err), -ESTALE);
	journal_close(j);
}

static void a_full_disk_tears_a_line_and_room_heals_it(void **state)
{
	AUTO_FD dir = -1;
	AUTO_FD fd = -1;
	struct journal_reading what = {.name = "j", .schema = JOURNAL_SCHEMA};
	struct journal *j = NULL;
	struct journal_verdict v;
	struct err err = {0};
	char big[6000];

	if (!scratch_small_fs(state, 65536))
		skip_for("no file system of our own can be mounted");
	dir = open(scratch_path(state, "small"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(journal_create(dir, "j", JOURNAL_SCHEMA, &j, &err), 0);
	journal_begin(j, NULL, "note", KNOWN_SEEN);
	assert_int_equal(journal_commit(j, true, &err), 0);
	scratch_fill(state, 0);
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	jw_str(journal_begin(j, NULL, "note", KNOWN_SEEN), "text", big);
	assert_int_equal(journal_commit(j, true, &err), -ENOSPC);
	assert_int_equal(unlinkat(dir, "filler", 0), 0);
	err_clear(&err);
	journal_begin(j, NULL, "note", KNOWN_SEEN);
	assert_int_equal(journal_commit(j, true, &err), 0);
	journal_close(j);
	assert_int_equal(journal_open_read(dir, "j", &fd, &err), 0);
	assert_int_equal(journal_read(fd, &what, &v, &err), 0);
	assert_int_equal(v.fault, JOURNAL_HOLDS);
	assert_int_equal(v.torn_closed, 1);
	assert_int_equal(v.seq, 3);
}

static int count_end(void *ctx, const json_t *event, struct err *err)
{
	(void)event;
	(void)err;
	++*(unsigned *)ctx;
	return 0;
}

/* How many of the last lines were read, and whether they hold. */
static unsigned end_of(void **state, bool *holds)
{
	unsigned n = 0;
	struct journal_reading what = {.name = "j", .fn = count_end, .ctx = &n};
	AUTO_FD dir = open_dir(state);
	AUTO_FD fd = -1;

	assert_int_equal(journal_open_read(dir, "j", &fd, NULL), 0);
	assert_int_equal(journal_read_end(fd, &what, holds, NULL), 0);
	return n;
}

static void the_end_alone_holds_only_where_each_line_stands_on_the_one_before(void **state)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *other = NULL;
	size_t len, first;
	bool holds;
	unsigned n;

	append(state, 3);
	assert_int_equal(end_of(state, &holds), 3);
	assert_true(holds);
	append(state, 40); /* of which the end holds some */
	n = end_of(state, &holds);
	assert_in_range(n, 5, 42);
	assert_true(holds);
	len = load(state, &text);

	store(state, text, len - 1); /* no newline */
	end_of(state, &holds);
	assert_false(holds);

	text[len - 300] ^= 1; /* in the last line */
	store(state, text, len);
	assert_int_equal(end_of(state, &holds), n - 1);
	assert_false(holds);
	text[len - 300] ^= 1;

	other = malloc(2 * len); /* sealed, and upon none of these */
	assert_non_null(other);
	first = line_at(text, 2);
	memcpy(other, text, len);
	memcpy(other + len, text, first);
	store(state, other, len + first);
	end_of(state, &holds);
	assert_false(holds);

	memset(other, 'x', 2 * len); /* none begins in the last of it */
	other[2 * len - 1] = '\n';
	store(state, other, 2 * len);
	assert_int_equal(end_of(state, &holds), 0);
	assert_false(holds);
	store(state, "", 0);
	assert_int_equal(end_of(state, &holds), 0);
	assert_false(holds);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(events_are_chained_in_order),
		T(each_line_is_handed_over_before_its_event),
		T(a_journal_cut_at_any_byte_holds_so_far_and_goes_on),
		T(a_tail_torn_while_it_was_closed_is_closed_again),
		T(any_flipped_bit_is_found_and_its_line_named),
		T(what_follows_a_changed_last_line_does_not_heal_it),
		T(changed_torn_bytes_are_found),
		T(lines_dropped_doubled_or_swapped_are_told_apart),
		T(a_cut_to_a_valid_prefix_shows_where_a_later_head_is_known),
		T(another_version_is_named_and_not_read),
		T(no_file_makes_it_crash),
		T(two_hundred_writers_at_once_make_one_chain),
		T(a_line_that_is_being_written_is_no_torn_tail),
		T(who_cannot_have_the_lock_in_time_says_so),
		T(a_file_that_others_had_a_hand_in_is_not_written_to),
		T(a_removed_file_is_said),
		T(a_full_disk_tears_a_line_and_room_heals_it),
		T(the_end_alone_holds_only_where_each_line_stands_on_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
