/*
 * What all records for people say in the same words: times, signals, who acted,
 * why something lives.
 *
 * Formats what it is given, in Markdown; text of others passes markdown_text().
 */
#ifndef STRAY_RECORD_PHRASE_H
#define STRAY_RECORD_PHRASE_H

#include "record/operator.h"

#include <stdio.h>

/* A time in RFC 3339; 0: "not known". */
void phrase_time(FILE *out, uint64_t wall_ns);

/* "1.25 s" */
void phrase_seconds(FILE *out, uint64_t ns);

/* "TERM"; "signal 40" for one without a name. */
void phrase_signal(FILE *out, int signal);

/* A reason of doc/FORMATS.md for being alive ("ignores_term"), as a sentence goes on:
 * "it ignores TERM"; name itself where it is none.  A literal, or borrowed. */
const char *phrase_why_alive(const char *name);

/* The whole text, made safe.  0 or -ENOMEM. */
int phrase_text(FILE *out, const char *text);

/* "- label: text" as an item of a list; nothing for NULL and "".  0 or -ENOMEM. */
int phrase_item(FILE *out, const char *label, const char *text);

/* "uid 0, login uid 1000, sudo from op, terminal pts/2".  0 or -ENOMEM. */
int phrase_operator(FILE *out, const struct operator* o);

#endif
