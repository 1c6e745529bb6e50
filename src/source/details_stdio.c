#include "source/details_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int details_read_stdio(struct details_reader *r, int dir, struct process *p, struct detail *d)
{
	bool open_tty = false, closed = false;

	for (int i = 0; i < 3; i++) {
		char name[16];
		ssize_t n;

		snprintf(name, sizeof(name), "fd/%d", i);
		n = readlinkat(dir, name, r->buf, DETAILS_LINK_MAX);
		if (n < 0 && errno == ENOENT)
			continue; /* closed */
		if (n < 0)
			return -errno;
		r->buf[n] = '\0';
		if (strncmp(r->buf, "/dev/pts/", 9) == 0) {
			if (strstr(r->buf, DETAILS_DELETED))
				closed = true;
			else
				open_tty = true;
		}
		if (!bytes_set(&d->stdio[i], r->buf, (size_t)n))
			return -ENOMEM;
	}
	p->tty_closed = closed && !open_tty;
	return 0;
}
