/*
 * A thread that runs as soon as it has something to do, however busy the host is.
 *
 * Who is to end a storm of processes is one of hundreds that want the CPU, and gets it every few
 * seconds; with a real-time priority (sched(7)) it is next.  That needs CAP_SYS_NICE or an
 * RLIMIT_RTPRIO, and where it is refused all goes on as it is.  What such a thread makes,
 * processes and threads, has no part in it.
 */
#ifndef STRAY_CONTAIN_PROMPT_H
#define STRAY_CONTAIN_PROMPT_H

#include <pthread.h>
#include <stdbool.h>

/* Whether it could be. */
bool prompt_thread(pthread_t thread);

#endif
