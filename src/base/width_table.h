/*
 * The data behind text_width_cp(): a range for each run of characters that do
 * not take exactly one cell.  Only text.c includes this; width_table.py makes
 * the table.
 */
#ifndef STRAY_BASE_WIDTH_TABLE_H
#define STRAY_BASE_WIDTH_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct width_range {
	uint32_t first, last;
	int width; /* -1: never on a terminal, 0, or 2 */
};

extern const struct width_range width_table[]; /* sorted, without overlap */
extern const size_t width_table_len;

#endif
