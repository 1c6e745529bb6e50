/* What is read from a snapshot, written and read again, is written in the same bytes. */
#include "tests/fuzz/fuzz.h"

#include "record/snapshot.h"
#include "source/replay.h"

#include <stdlib.h>
#include <string.h>

static struct table *read_it(const void *data, size_t size)
{
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	struct table *t = NULL;

	if (!in)
		return NULL;
	replay_read(in, "fuzz", &t, NULL);
	fclose(in);
	return t;
}

static char *write_it(const struct table *t, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	struct err err = {0};

	fuzz_must(out != NULL);
	fuzz_must(snapshot_write(out, t, NULL, 0, NULL, &err) == 0);
	fuzz_must(fclose(out) == 0);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table *t = read_it(data, size), *again;
	size_t len, len_again;
	char *text, *text_again;

	if (!t)
		return 0;
	t->host.wall_ns -= t->host.wall_ns % 1000; /* as exact as it is written */
	text = write_it(t, &len);
	table_free(t);
	again = read_it(text, len);
	fuzz_must(again != NULL);
	text_again = write_it(again, &len_again);
	table_free(again);
	fuzz_must(len == len_again && memcmp(text, text_again, len) == 0);
	free(text);
	free(text_again);
	return 0;
}
