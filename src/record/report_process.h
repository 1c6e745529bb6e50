/*
 * One process in a record: a list item that tells who it was, why it is in the
 * record and what became of it.  Private to report.c.
 */
#ifndef STRAY_RECORD_REPORT_PROCESS_H
#define STRAY_RECORD_REPORT_PROCESS_H

#include "record/report.h"

/* 0 or -ENOMEM. */
int report_process(FILE *out, const struct report *r, const struct report_item *item);

#endif
