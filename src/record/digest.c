#include "record/digest.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

static int digest(int dirfd, const char *name, int flags, char *hex, uint64_t *size,
		  struct err *err)
{
	/* not to hang on a FIFO that stands in its place */
	AUTO_FD fd = openat(dirfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;
	unsigned char buf[16384];
	uint64_t total = 0;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, errno, "%.150s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%.150s: not a regular file", name);
	if (sodium_init() < 0)
		return err_set(err, EIO, "libsodium cannot be used");
	crypto_hash_sha256_init(&state);
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "%.150s", name);
		crypto_hash_sha256_update(&state, buf, (unsigned long long)n);
		total += (uint64_t)n;
	}
	crypto_hash_sha256_final(&state, hash);
	sodium_bin2hex(hex, DIGEST_HEX, hash, sizeof(hash));
	if (size)
		*size = total;
	return 0;
}

int digest_file(int dirfd, const char *name, char hex[static DIGEST_HEX], uint64_t *size,
		struct err *err)
{
	return digest(dirfd, name, O_NOFOLLOW, hex, size, err);
}

int digest_link(int dirfd, const char *name, char hex[static DIGEST_HEX], struct err *err)
{
	return digest(dirfd, name, 0, hex, NULL, err);
}
