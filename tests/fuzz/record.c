/* A run record that is read, written and read again is written in the same bytes. */
#include "tests/fuzz/fuzz.h"

#include "record/run_record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_it(const void *data, size_t size, struct run_record *out)
{
	struct err err = {0};
	int fd = fuzz_file(data, size), r = run_record_read(fd, "fuzz", out, &err);

	close(fd);
	fuzz_must((r < 0) == (err.code != 0));
	return r == 0;
}

static char *write_it(const struct run_record *r, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	struct err err = {0};

	fuzz_must(out != NULL);
	fuzz_must(run_record_write(out, r, &err) == 0);
	fuzz_must(fclose(out) == 0);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_record r = {0}, again = {0};
	char *text, *text_again;
	size_t len, len_again;

	if (read_it(data, size, &r)) {
		text = write_it(&r, &len);
		fuzz_must(read_it(text, len, &again));
		text_again = write_it(&again, &len_again);
		fuzz_must(len == len_again && memcmp(text, text_again, len) == 0);
		free(text);
		free(text_again);
	}
	run_record_clear(&r);
	run_record_clear(&again);
	return 0;
}
