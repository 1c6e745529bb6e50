#!/usr/bin/env python3
"""Prints width_table.c: which characters do not take one cell.

Run by hand, with a Python whose unicodedata has the Unicode version that the
C library of the oldest supported system has (3.11: Unicode 14, glibc 2.36):
a character that ncurses does not know must be escaped here, not measured.

    python3 width_table.py > width_table.c
"""
import sys
import unicodedata

ESCAPED = -1

# Default_Ignorable_Code_Point: invisible by design.  Among them are U+200D and
# the variation selectors, which some terminals let widen or merge cells.
IGNORABLE = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E),
    (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]
# No ignorables, but blank (Braille), or joined to the emoji before them by
# some terminals only (skin tones).
UNFIT = [(0x2800, 0x2800), (0x1F3FB, 0x1F3FF)]
# Ambiguous or narrow by UAX #11, drawn wide by glibc: circled numbers on black
# squares, hexagrams.
WIDE = [(0x3248, 0x324F), (0x4DC0, 0x4DFF)]
# Vowels and final consonants that the C library gives no cell of their own.
JAMO = [(0x1160, 0x11FF), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB)]


def within(cp, ranges):
    return any(first <= cp <= last for first, last in ranges)


def width(cp):
    char = chr(cp)
    category = unicodedata.category(char)
    if category[0] == "C" or category in ("Zl", "Zp"):
        return ESCAPED
    if category == "Zs" and cp != 0x20:
        return ESCAPED
    if within(cp, IGNORABLE) or within(cp, UNFIT):
        return ESCAPED
    if category in ("Mn", "Me") or within(cp, JAMO):
        return 0
    if unicodedata.east_asian_width(char) in "WF" or within(cp, WIDE):
        return 2
    return 1


def ranges():
    first, last, w = 0, 0, width(0)
    for cp in range(1, 0x110000):
        now = width(cp)
        if now != w:
            if w != 1:
                yield first, last, w
            first, w = cp, now
        last = cp
    if w != 1:
        yield first, last, w


def main():
    print(f"""/*
 * Characters that do not take one cell, sorted: Unicode {unicodedata.unidata_version}.
 * Made by width_table.py; do not edit.
 */
#include "base/width_table.h"

/* clang-format off */
const struct width_range width_table[] = {{""")
    items = [f"{{0x{a:X}, 0x{b:X}, {w}}}," for a, b, w in ranges()]
    for i in range(0, len(items), 4):
        print("\t" + " ".join(items[i:i + 4]))
    print("""};

const size_t width_table_len = sizeof(width_table) / sizeof(width_table[0]);""")


if __name__ == "__main__":
    sys.exit(main())
