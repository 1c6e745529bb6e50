#include "engine/look.h"

#include <string.h>

int look_open(struct look *look, const struct source_options *options, struct err *err)
{
	memset(look, 0, sizeof(*look));
	tracker_init(&look->tracker);
	return source_open(options, &look->source, err);
}

void look_close(struct look *look)
{
	tracker_free(&look->tracker);
	source_close(look->source);
	look->source = NULL;
}

int look_again(struct look *look, struct err *err)
{
	struct table *scan;
	int r = source_scan(look->source, &scan, err);

	if (!r)
		r = tracker_fold(&look->tracker, scan, err);
	return r;
}
