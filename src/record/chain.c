#include "record/chain.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREV ",\"prev\":\""
#define HASH "\",\"hash\":\""
#define END "\"}"
#define HEX 64
/* of PREV HEX HASH HEX END at the end of a line */
#define SEAL_LEN (sizeof(PREV) - 1 + HEX + sizeof(HASH) - 1 + HEX + sizeof(END) - 1)

int chain_digest(const char *data, size_t len, char hex[static CHAIN_HEX], struct err *err)
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	if (sodium_init() < 0)
		return err_set(err, EIO, "libsodium cannot be used");
	crypto_hash_sha256(hash, (const unsigned char *)data, len);
	sodium_bin2hex(hex, CHAIN_HEX, hash, sizeof(hash));
	return 0;
}

int chain_seal(const char *body, size_t len, const char prev[static CHAIN_HEX], char **line,
	       size_t *line_len, struct chain_seal *seal, struct err *err)
{
	char *out = malloc(len + SEAL_LEN + 2);
	size_t hashed;
	int r;

	if (!out)
		return err_nomem(err);
	memcpy(out, body, len);
	hashed = len + (size_t)sprintf(out + len, PREV "%s" END, prev);
	r = chain_digest(out, hashed, seal->hash, err);
	if (r < 0) {
		free(out);
		return r;
	}
	memcpy(seal->prev, prev, CHAIN_HEX);
	/* the two characters of END give way to what follows */
	*line_len = hashed - 2 + (size_t)sprintf(out + hashed - 2, HASH "%s" END "\n", seal->hash);
	*line = out;
	return 0;
}

/* 64 digits as sha256sum(1) writes them, copied to out. */
static bool take_hex(const char *at, char out[static CHAIN_HEX])
{
	if (strspn(at, "0123456789abcdef") < HEX)
		return false;
	memcpy(out, at, HEX);
	out[HEX] = '\0';
	return true;
}

bool chain_check(const char *line, size_t len, struct chain_seal *seal)
{
	char tail[SEAL_LEN + 1], actual[CHAIN_HEX];
	const char *prev = tail + sizeof(PREV) - 1, *hash = prev + HEX + sizeof(HASH) - 1;
	unsigned char digest[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;

	if (len <= SEAL_LEN || line[0] != '{' || sodium_init() < 0)
		return false;
	memcpy(tail, line + len - SEAL_LEN, SEAL_LEN);
	tail[SEAL_LEN] = '\0';
	if (memcmp(tail, PREV, sizeof(PREV) - 1) != 0 ||
	    memcmp(prev + HEX, HASH, sizeof(HASH) - 1) != 0 || strcmp(hash + HEX, END) != 0 ||
	    !take_hex(prev, seal->prev) || !take_hex(hash, seal->hash))
		return false;
	crypto_hash_sha256_init(&state);
	/* up to and with the quote that closes prev */
	crypto_hash_sha256_update(&state, (const unsigned char *)line,
				  len - (sizeof(HASH) - 2) - HEX - (sizeof(END) - 1));
	crypto_hash_sha256_update(&state, (const unsigned char *)"}", 1);
	crypto_hash_sha256_final(&state, digest);
	sodium_bin2hex(actual, sizeof(actual), digest, sizeof(digest));
	return strcmp(actual, seal->hash) == 0;
}
