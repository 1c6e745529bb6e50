#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int set(struct err *err, int code, int with_errno, const char *fmt, va_list ap)
{
	int used;

	if (!err || err->code)
		return -code;
	err->code = code;
	used = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	if (used < 0) {
		err->text[0] = '\0';
		used = 0;
	}
	if (with_errno && (size_t)used < sizeof(err->text))
		snprintf(err->text + used, sizeof(err->text) - (size_t)used, ": %s",
			 strerror(code));
	return -code;
}

/* In parentheses: dev/analyzer.h has macros of these names. */
int(err_set)(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = set(err, code, 0, fmt, ap);
	va_end(ap);
	return r;
}

int(err_errno)(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = set(err, code, 1, fmt, ap);
	va_end(ap);
	return r;
}

const char *err_name(int code)
{
	const char *name = strerrorname_np(code);

	return name ? name : "E?";
}

void err_clear(struct err *err)
{
	if (!err)
		return;
	err->code = 0;
	err->text[0] = '\0';
}
