#include "base/disk_sync.h"

#include "base/thread.h"

#include <errno.h>
#include <unistd.h>

static void *sync_it(void *arg)
{
	struct disk_sync *s = arg;

	if (fsync(s->fd) < 0 && errno != EINVAL)
		s->r = -errno;
	return NULL;
}

void disk_sync_begin(struct disk_sync *s, int fd)
{
	*s = (struct disk_sync){.fd = fd};
	s->begun = thread_start(&s->thread, sync_it, s) == 0;
	if (!s->begun)
		sync_it(s);
}

int disk_sync_end(struct disk_sync *s)
{
	int r;

	if (s->begun)
		pthread_join(s->thread, NULL);
	r = s->r;
	*s = (struct disk_sync){0};
	return r;
}
