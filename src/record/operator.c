#include "record/operator.h"

#include "base/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t read_login_uid(void)
{
	char text[32];
	uint32_t uid;

	if (file_read_at(AT_FDCWD, "/proc/self/loginuid", text, sizeof(text)) < 0 ||
	    sscanf(text, "%" SCNu32, &uid) != 1)
		return -2;
	return uid == UINT32_MAX ? -1 : (int64_t)uid;
}

/* The controlling terminal by whichever of 0, 1, 2 is a terminal. */
static void read_tty(char *out, size_t size)
{
	char path[32]; /* "/dev/pts/1048575" is the longest that a kernel has */

	for (int fd = 0; fd < 3; fd++) {
		if (ttyname_r(fd, path, sizeof(path)) != 0)
			continue;
		snprintf(out, size, "%s", path + (strncmp(path, "/dev/", 5) == 0 ? 5 : 0));
		return;
	}
}

struct operator operator_current(void)
{
	struct operator o = {.uid = geteuid(), .login_uid = read_login_uid()};
	const char *sudo_user = getenv("SUDO_USER");

	if (sudo_user)
		snprintf(o.sudo_user, sizeof(o.sudo_user), "%s", sudo_user);
	read_tty(o.tty, sizeof(o.tty));
	return o;
}

void operator_json(struct jw *j, const char *key, const struct operator* o)
{
	jw_object(j, key);
	jw_uint(j, "uid", o->uid);
	if (o->login_uid < -1)
		jw_null(j, "login_uid");
	else
		jw_int(j, "login_uid", o->login_uid);
	jw_str(j, "sudo_user", *o->sudo_user ? o->sudo_user : NULL);
	jw_str(j, "tty", *o->tty ? o->tty : NULL);
	jw_object_end(j);
}

int operator_read(const json_t *o, struct operator* out, struct err *err)
{
	int64_t uid = 0;
	int r;

	*out = (struct operator){.login_uid = -2};
	r = json_get_int(o, "uid", 0, UINT32_MAX, &uid, NULL, err);
	out->uid = (uid_t)uid;
	if (!r)
		r = json_get_int(o, "login_uid", -1, UINT32_MAX, &out->login_uid, NULL, err);
	if (!r)
		r = json_get_text(o, "sudo_user", out->sudo_user, sizeof(out->sudo_user), err);
	return r ? r : json_get_text(o, "tty", out->tty, sizeof(out->tty), err);
}
