/*
 * A journal of any bytes is read without harm, and a writer that adds to it neither breaks one
 * that holds nor mends one that does not.
 *
 * Hashes are not to be guessed: where the first byte is '#' each line that follows is sealed
 * upon the one before, so that what stands in it is read.
 */
#include "tests/fuzz/fuzz.h"

#include "record/journal.h"
#include "record/journal_read.h"
#include "record/story.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int take(void *ctx, const json_t *event, struct err *err)
{
	return story_event(ctx, event, err);
}

static void read_it(int fd, struct journal_verdict *v)
{
	struct story story = {0};
	struct journal_reading what = {
		.name = "fuzz", .schema = JOURNAL_SCHEMA, .fn = take, .ctx = &story};
	struct err err = {0};
	int r;

	memset(v, 0, sizeof(*v));
	r = journal_read(fd, &what, v, &err);
	/* a member of another type than it should be of is an error, not a crash */
	fuzz_must(r == 0 || r == -EINVAL);
	if (r)
		v->fault = JOURNAL_OTHER;
	story_alive(&story);
	story_clear(&story);
}

static char *seal(const char *data, size_t size, size_t *len)
{
	char prev[CHAIN_HEX] = CHAIN_START, *out = NULL;
	FILE *f = open_memstream(&out, len);

	fuzz_must(f != NULL);
	while (size) {
		const char *nl = memchr(data, '\n', size);
		size_t n = nl ? (size_t)(nl - data) : size, line_len;
		struct chain_seal s;
		char *line;

		fuzz_must(chain_seal(data, n, prev, &line, &line_len, &s, NULL) == 0);
		fuzz_must(fwrite(line, 1, line_len, f) == line_len);
		memcpy(prev, s.hash, sizeof(prev));
		free(line);
		data += n + (nl ? 1 : 0);
		size -= n + (nl ? 1 : 0);
	}
	fuzz_must(fclose(f) == 0);
	return out;
}

static char folder[] = "/tmp/stray-fuzz-XXXXXX";
static int dir = -1;

static void clean_up(void)
{
	unlinkat(dir, "journal.jsonl", 0);
	rmdir(folder);
}

/* The same bytes where a writer finds them. */
static int put_file(const void *data, size_t size)
{
	int fd;

	if (dir < 0) {
		fuzz_must(mkdtemp(folder) != NULL);
		dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		atexit(clean_up);
	}
	fd = openat(dir, "journal.jsonl", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fuzz_must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

static void add_to_it(int fd, const struct journal_verdict *before)
{
	struct journal_verdict after;
	struct journal *j = NULL;
	struct err err = {0};
	uint64_t torn = before->torn_bytes ? 1 : 0;

	fuzz_must(journal_open(dir, "journal.jsonl", JOURNAL_SCHEMA, &j, &err) == 0);
	fuzz_must(journal_begin(j, "run", "note", KNOWN_STATED) != NULL);
	fuzz_must(journal_commit(j, false, &err) == 0);
	read_it(fd, &after);
	fuzz_must((before->fault == JOURNAL_HOLDS) == (after.fault == JOURNAL_HOLDS));
	if (after.fault == JOURNAL_HOLDS) {
		fuzz_must(after.seq == before->seq + 1 + torn && after.torn_bytes == 0);
		fuzz_must(after.torn_closed == before->torn_closed + torn);
		fuzz_must(strcmp(after.head, journal_head(j)) == 0);
	}
	journal_close(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal_verdict v;
	char *sealed = NULL;
	size_t len = size;
	int fd;

	if (size && data[0] == '#')
		sealed = seal((const char *)data + 1, size - 1, &len);
	fd = put_file(sealed ? sealed : (const char *)data, len);
	read_it(fd, &v);
	add_to_it(fd, &v);
	close(fd);
	free(sealed);
	return 0;
}
