/*
 * Key scripts into the state of the view, on hosts that change: the first byte says which host,
 * the second how large the screen is, then come lines of keys, and after each a scan.
 */
#include "tests/fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/view_world.h"

#define LINES_MAX 64

/* As the app does, but a script that means nothing ends there. */
static void press(struct world *w, const char *script)
{
	struct input_script s = {.at = script};
	struct input in;

	while (input_script_next(&s, &in, NULL) == 1) {
		enum request request;

		if (in.kind == INPUT_RESIZE) {
			if (in.y < 1 || in.x < 1 || in.y > 200 || in.x > 400)
				continue; /* the driver gives none of these */
			fuzz_must(grid_resize(&w->grid, in.y, in.x, NULL) == 0);
		}
		request = view_update(&w->view, &in);
		view_draw(&w->view, &w->grid);
		if (request == REQUEST_FLUSH)
			view_dialog_drawn(&w->view, NULL);
	}
}

static struct table *host(unsigned which, unsigned scan)
{
	struct table *t = which % 2 ? world_incident() : world_calm();

	world_age(t, scan);
	if (which & 2 && scan % 3 == 1)
		world_without(t, 4171);
	if (which & 8 && scan % 2)
		world_without(t, 4150);
	else if (which & 8 && which % 2) /* its number comes again and again */
		table_pid(t, 4150)->id.start += scan;
	if (which & 4 && scan % 2)
		world_add(t, 5000 + (pid_t)(scan % 7), 1, 5000, 5000, "sh -c x", "/usr/bin/dash");
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w;
	unsigned which, scan = 0;
	char *script, *line, *rest;

	if (size < 2)
		return 0;
	which = data[0];
	world_start(&w, 1 + data[1] % 50, 1 + data[1] * 7 % 150);
	world_scan(&w, host(which, scan++));
	script = rest = strndup((const char *)data + 2, size - 2);
	fuzz_must(script != NULL);
	while ((line = strsep(&rest, "\n")) && scan < LINES_MAX) {
		press(&w, line);
		world_scan(&w, host(which, scan++));
	}
	free(script);
	world_end(&w);
	return 0;
}
