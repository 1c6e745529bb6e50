/*
 * A thread that no signal goes to: they are for the thread that waits for them.
 */
#ifndef STRAY_BASE_THREAD_H
#define STRAY_BASE_THREAD_H

#include <pthread.h>

/* 0, or a positive errno (pthread_create(3)). */
int thread_start(pthread_t *out, void *(*run)(void *), void *ctx);

#endif
