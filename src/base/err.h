/*
 * Errors as values.
 *
 * A function that can fail returns 0 or a negative errno and says why in a
 * struct err that its caller owns.  The struct has a fixed size, so that even
 * ENOMEM can be reported.  This module never prints and never exits.
 */
#ifndef STRAY_BASE_ERR_H
#define STRAY_BASE_ERR_H

#include <errno.h>
#include <stdarg.h>

struct err {
	int code;       /* errno, positive; 0: no error */
	char text[300]; /* one line, "what: why", without a newline */
};

/*
 * Stores the formatted text and returns -code.  err may be NULL.  The first
 * error stays: a call on an err that already holds one changes nothing but
 * still returns -code, so undoing after a failure never hides its cause.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with ": " and strerror(code) behind the text. */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ENOMEM, for want of which the process need not end.  Inline: analysers see that it is no 0. */
static inline int err_nomem(struct err *err)
{
	err_set(err, ENOMEM, "out of memory");
	return -ENOMEM;
}

/* The name of an errno ("EACCES"), or "E?" where it has none. */
const char *err_name(int code);

void err_clear(struct err *err);

#endif
