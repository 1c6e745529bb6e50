/*
 * Who acts: what a record says of the person at the keyboard.
 *
 * Read, not asked: uids and the terminal of this process.  sudo(8) names its
 * caller in an environment variable, which root could have set otherwise; the
 * login uid comes from the kernel and an ordinary user cannot change it.
 */
#ifndef STRAY_RECORD_OPERATOR_H
#define STRAY_RECORD_OPERATOR_H

#include "base/json_read.h"
#include "base/json_write.h"

#include <stdint.h>
#include <sys/types.h>

struct operator
{
	uid_t uid;          /* effective */
	int64_t login_uid;  /* /proc/self/loginuid; -1: unset; -2: not known */
	char sudo_user[64]; /* "": none */
	char tty[32];       /* "pts/2"; "": none */
};

/* Of this process.  What cannot be read is said to be not known. */
struct operator operator_current(void);

/* {"uid","login_uid","sudo_user","tty"}: null where none or not known; an unset
 * login uid is -1. */
void operator_json(struct jw *j, const char *key, const struct operator* o);

/* The same read back; what o lacks is not known.  -EINVAL. */
int operator_read(const json_t *o, struct operator* out, struct err *err);

#endif
