/* A snapshot of anywhere becomes a table, and that one the lineage, reasons and rows of a scan. */
#include "tests/fuzz/fuzz.h"

#include "model/tracker.h"
#include "model/tree.h"
#include "source/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	struct table *t = NULL;
	struct tracker k;
	struct tree tree = {0};
	struct err err = {0};
	int r;

	if (!in)
		return 0;
	r = replay_read(in, "fuzz", &t, &err);
	fclose(in);
	fuzz_must((r < 0) == (err.code != 0));
	if (r < 0)
		return 0;
	tracker_init(&k);
	fuzz_must(tracker_fold(&k, t, &err) == 0);
	fuzz_must(tree_build(k.now, &(struct tree_options){0}, &tree, &err) == 0);
	tree_free(&tree);
	tracker_free(&k);
	return 0;
}
