/*
 * The hash chain of a journal: how a line is sealed, and told from one that
 * was changed or never finished.
 *
 * A sealed line is an object whose last two members are prev and hash: hash is
 * the SHA-256 of the line's bytes before `,"hash":"`, closed with '}'; prev is
 * the hash of the line before, 64 zeros in the first.  So sha256sum(1) checks
 * it (doc/verify.sh).  The line of a writer that died on the way ends without
 * its newline; who closes it writes CHAIN_CLOSER behind it, which no sealed
 * line ends with.  Bytes in, bytes out: no file is read or written.
 */
#ifndef STRAY_RECORD_CHAIN_H
#define STRAY_RECORD_CHAIN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define CHAIN_HEX 65 /* 64 digits and a NUL */
#define CHAIN_START "0000000000000000000000000000000000000000000000000000000000000000"
#define CHAIN_CLOSER " \n" /* behind a torn line */

struct chain_seal {
	char prev[CHAIN_HEX], hash[CHAIN_HEX];
};

/*
 * Seals body, a JSON object on one line without its closing brace
 * ({"schema":…,"run":"x"): *line is owned, ends with a newline, and seal tells
 * its hash.  0; -ENOMEM; -EIO where libsodium cannot be used.
 */
int chain_seal(const char *body, size_t len, const char prev[static CHAIN_HEX], char **line,
	       size_t *line_len, struct chain_seal *seal, struct err *err);

/* Whether line (without its newline) is sealed and its hash is its own. */
bool chain_check(const char *line, size_t len, struct chain_seal *seal);

/* SHA-256 of bytes, in hex.  0 or -EIO. */
int chain_digest(const char *data, size_t len, char hex[static CHAIN_HEX], struct err *err);

#endif
