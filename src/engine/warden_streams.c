/* Which of the run's streams a process keeps open: warden_parts.h. */
#include "engine/warden_parts.h"

#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FDS_MAX 4096 /* of one process: more are not looked at */

/* What a descriptor is, "pipe:[4711]"; "" where that is not known. */
static void read_link(int dir, const char *fd, char *out, size_t size)
{
	ssize_t n = readlinkat(dir, fd, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
}

static DIR *open_fds(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return opendir(path);
}

void warden_note_streams(struct warden *w)
{
	DIR *d = open_fds(w->cmd.id.pid);

	for (int i = 1; d && i < 3; i++) {
		char *link = w->streams[i], fd[2] = {(char)('0' + i)};

		read_link(dirfd(d), fd, link, sizeof(w->streams[i]));
		/* somebody may wait for the end of these alone */
		if (strncmp(link, "pipe:", 5) != 0 && strncmp(link, "socket:", 7) != 0)
			*link = '\0';
	}
	if (d)
		closedir(d);
}

const char *warden_keeps_open(const struct warden *w, pid_t pid)
{
	static const char *const words[] = {"", ", keeps stdout open", ", keeps stderr open",
					    ", keeps stdout and stderr open"};
	bool any = *w->streams[1] || *w->streams[2];
	DIR *d = any ? open_fds(pid) : NULL;
	const struct dirent *e;
	unsigned found = 0, looked = 0;

	while (d && looked < FDS_MAX && (e = readdir(d))) {
		char link[WARDEN_STREAM_MAX];

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		looked++;
		read_link(dirfd(d), e->d_name, link, sizeof(link));
		for (unsigned i = 1; *link && i < 3; i++)
			if (strcmp(link, w->streams[i]) == 0)
				found |= i;
	}
	if (d)
		closedir(d);
	return words[found];
}
