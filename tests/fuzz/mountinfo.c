/* The texts of /proc/PID/mountinfo and /proc/PID/cgroup. */
#include "tests/fuzz/fuzz.h"

#include "contain/cgroup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const controllers[] = {NULL, "freezer", ""};
	static struct cgroup_mount m;
	char *text = malloc(size + 1), path[64];

	fuzz_must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++) {
		if (cgroup_find_mount(text, controllers[i], &m) == 0)
			fuzz_must(strlen(m.point) < sizeof(m.point) &&
				  strlen(m.root) < sizeof(m.root));
		if (cgroup_find_path(text, controllers[i], path, sizeof(path)) == 0)
			fuzz_must(strlen(path) < sizeof(path) && !strchr(path, '\n'));
	}
	free(text);
	return 0;
}
