/*
 * What the fuzz targets share.  Each is one file with LLVMFuzzerTestOneInput(): bytes in, a
 * crash where something is wrong.  `make fuzz` links it with libFuzzer; `make check` with the
 * main() of fuzz.c, which feeds it its corpus.
 */
#ifndef STRAY_TESTS_FUZZ_H
#define STRAY_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file of these bytes that is on no disk (memfd_create(2)); the caller closes it. */
int fuzz_file(const void *data, size_t size);

/* Ends the program, with where, unless what must hold does. */
#define fuzz_must(holds) fuzz_must_at((holds), #holds, __FILE__, __LINE__)
void fuzz_must_at(bool holds, const char *what, const char *file, int line);

#endif
