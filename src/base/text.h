/*
 * Text that goes to a screen: made safe, measured in cells, cut to fit.
 *
 * Every byte that came from a process is shown through this module: control
 * characters, C1, bidi controls, other invisible or unassigned characters and
 * invalid UTF-8 become visible escapes: \x1b for a byte (or a control
 * character below U+0100 in its encoded form: \x9b), \u202e, \U000e0001 for
 * a character; \n, \r and \t for those three; \\ stays a plain backslash.
 * So do characters that terminals measure differently (U+200D, variation
 * selectors, skin tones), blanks that are no U+0020, combining marks without
 * a base before them, and those beyond TEXT_COMBINING_MAX.
 * Widths come from a table of our own, not from the C library, whose wcwidth
 * depends on the locale.  This module never reads the locale.
 */
#ifndef STRAY_BASE_TEXT_H
#define STRAY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Combining marks in one cell, besides the base.  ncurses holds 4 (CCHARW_MAX,
 * curses.h); stacks of them are made to spill over other lines. */
#define TEXT_COMBINING_MAX 3

/*
 * Decodes one character of strict UTF-8 (RFC 3629: no overlongs, no
 * surrogates, nothing above U+10FFFF).  Returns its length in bytes, 1 to 4,
 * or 0 where s does not start a valid character (then one byte is invalid).
 */
int text_decode(const char *s, size_t len, uint32_t *cp);

/* Encodes cp (valid by contract); returns 1 to 4. */
int text_encode(uint32_t cp, char out[static 4]);

/*
 * Where text_decode() returns 0: how many bytes (at least 1, at most len) are
 * to become one U+FFFD.  As Unicode recommends (chapter 3.9), the longest part
 * that could have started a valid character.
 */
size_t text_invalid_len(const char *s, size_t len);

bool text_utf8_valid(const char *s, size_t len);

/*
 * Cells that cp takes on a terminal: 0 combining or zero width, 1, or 2 wide.
 * -1 where it must not reach a terminal at all (controls, C1, bidi controls,
 * other format characters, variation selectors, blanks other than U+0020,
 * surrogates, noncharacters, private use, unassigned in Unicode 14).
 */
int text_width_cp(uint32_t cp);

/*
 * Writes s made safe into out (size bytes, NUL included; size >= 1).  With
 * ascii, every character above U+007F becomes an escape too.  What does not
 * fit is left off at a character's border.  Returns the length written.
 */
size_t text_safe(char *out, size_t size, const char *s, size_t len, bool ascii);

/* The length text_safe() needs for the whole of s, without the NUL. */
size_t text_safe_len(const char *s, size_t len, bool ascii);

/* Cells that a string that is already safe takes. */
int text_cells(const char *safe);

/*
 * Cuts a safe string in place so that it takes at most cells; where something
 * was cut its last cell is an ellipsis ("…", or "." with ascii).  A wide
 * character is never split: a blank takes the cell that is left over.
 * size is the room in buf, of which an ellipsis may need 3 bytes.
 */
void text_cut(char *buf, size_t size, int cells, bool ascii);

/*
 * As text_cut, but keeps the head and the tail, with the ellipsis between:
 * for command lines whose telling part is their end.
 */
void text_cut_middle(char *buf, size_t size, int cells, bool ascii);

#endif
