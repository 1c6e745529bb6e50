/*
 * A file put on the disk while the caller goes on, by a thread: who has a second one, or something
 * else to do meanwhile, waits once.
 *
 * This module orders nothing: what must be on the disk before the next is written is waited for
 * in between.
 */
#ifndef STRAY_BASE_DISK_SYNC_H
#define STRAY_BASE_DISK_SYNC_H

#include <pthread.h>
#include <stdbool.h>

/* Stays where it is from begin to end; zeros: nothing was begun. */
struct disk_sync {
	int fd;
	int r; /* 0 or -errno; the thread's while there is one */
	bool begun;
	pthread_t thread;
};

/* As fsync(2) of fd, which stays open until the end.  Where no thread can be had it is done here
 * and now. */
void disk_sync_begin(struct disk_sync *s, int fd);

/* Waits until it is done.  0, also of a file system that has nothing to sync (EINVAL), or
 * -errno. */
int disk_sync_end(struct disk_sync *s);

#endif
