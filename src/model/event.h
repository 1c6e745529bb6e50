/*
 * What the kernel said that a process did, the moment it did it.
 *
 * A source of events (source/netlink.h) hands these on in the order in which
 * they came.  They name processes by PID: who that was, the fold knows
 * (model/kin.h).  Threads are no processes; of theirs only the end is told, for
 * the process whose main thread ended first.  Pure data.
 *
 * What may be read of a process beside its event is read after it, by who hands
 * it on (netlink_complete()): the PID may be another's by then, so that start
 * times come with it.
 */
#ifndef STRAY_MODEL_EVENT_H
#define STRAY_MODEL_EVENT_H

#include "model/identity.h"

enum event_kind {
	EVENT_FORK,   /* pid made child */
	EVENT_EXEC,   /* pid runs another program */
	EVENT_EXIT,   /* the main thread of pid ended; others of it may live on */
	EVENT_THREAD, /* another thread of pid ended */
	EVENT_SID,    /* pid called setsid(2) */
	EVENT_LOST,   /* some events between the one before and the one after are missing */
};

struct event {
	enum event_kind kind;
	uint64_t boot_ns; /* when, CLOCK_BOOTTIME */
	pid_t pid;
	pid_t child;          /* FORK */
	uint64_t child_start; /* FORK: start time of the child, ticks; 0: not read */
	bool start_read;      /* child_start was read from /proc; else it follows from boot_ns */
	uint64_t pid_start;   /* FORK: start time of who has pid, ticks; 0: not read */
	uint64_t alive_start; /* EXIT, THREAD: start time of who has pid and lives; 0: none does */
	int status;           /* EXIT, THREAD: as of wait(2) */
	uint64_t lost;        /* LOST: how many; 0: not known */
};

#endif
