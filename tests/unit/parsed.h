/*
 * What our writers write, read by another hand: jansson, strictly.
 */
#ifndef STRAY_TESTS_UNIT_PARSED_H
#define STRAY_TESTS_UNIT_PARSED_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* A stream into memory: close it with parsed_end, which hands over the value.
 * One at a time. */
FILE *parsed_begin(void);
/* Fails the test where it is not exactly one strict JSON value and a newline. */
json_t *parsed_end(FILE *stream);

/* The JSON in a file, as strictly. */
json_t *parsed_file(const char *path);

/* Fails the test unless the value, written on one line, is this text. */
void assert_json(const json_t *value, const char *text);

/* Shorter: the member of an object, which must be there. */
json_t *member(const json_t *o, const char *key);

#endif
