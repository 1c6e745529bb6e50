/*
 * A directory for one test, removed with all that is in it, and a file system
 * that is soon full.
 */
#ifndef STRAY_TESTS_UNIT_SCRATCH_H
#define STRAY_TESTS_UNIT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* cmocka setup and teardown: *state is the directory's path, a char *. */
int scratch_setup(void **state);
int scratch_teardown(void **state);

/* "DIR/name", in a buffer that is used again after four calls. */
const char *scratch_path(void **state, const char *name);

/*
 * Mounts a file system of that many bytes at DIR/small, seen by this process
 * alone (mount_namespaces(7)).  false: not root, or not permitted.
 */
bool scratch_small_fs(void **state, size_t bytes);

/* Writes until the file system of DIR/small is full, but for `left` bytes. */
void scratch_fill(void **state, size_t left);

/* How many files and directories are in the directory at path, not below it. */
int scratch_count(const char *path);

#endif
