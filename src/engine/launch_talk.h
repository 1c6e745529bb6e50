/*
 * What front and warden say to each other, over a socket that keeps messages apart.
 *
 * A side that is gone is told by the socket's end.  Nothing here waits but for room in the socket,
 * where the other side does not read.
 */
#ifndef STRAY_ENGINE_LAUNCH_TALK_H
#define STRAY_ENGINE_LAUNCH_TALK_H

#include "engine/launch.h"

#define TALK_OTHERS_MAX 300

enum talk_kind {
	/* the warden's */
	TALK_FAILED,  /* nothing was started: text, error, status */
	TALK_READY,   /* from here on it hears whatever process comes and goes, if it can */
	TALK_HELD,    /* the command is made, and held; id: it; unit: by what */
	TALK_STARTED, /* it runs */
	TALK_SAY,     /* text: a line for the person */
	TALK_OTHERS,  /* n of those that are not the run's and came or went since READY */
	TALK_OVER,    /* the run is closed: the rest */
	/* the front's */
	TALK_GO,     /* let it go */
	TALK_CANCEL, /* do not */
	TALK_END,    /* end the run; signal: for which signal's sake; a second time: KILL now */
	TALK_PASS,   /* pass signal on to the command */
};

struct talk {
	enum talk_kind kind;
	int error, status, signal;
	bool exited; /* the command ended by itself: wait_status */
	int wait_status;
	enum run_state state;
	uint64_t elapsed_ns;
	bool others_known; /* OVER: those told are all */
	struct identity id;
	enum unit_kind unit;
	unsigned n;
	union {
		char text[1200];
		pid_t others[TALK_OTHERS_MAX];
	};
};

/* 0 or -errno (-EPIPE: the other side is gone). */
int talk_send(int fd, const struct talk *t);

/* 1: *t is one; 0: none waits; -EPIPE: the other side is gone; -errno. */
int talk_receive(int fd, struct talk *t);

#endif
