/*
 * What front and warden say to each other, over a socket that keeps messages apart.
 *
 * Nothing here waits: a side that is gone is told by the socket's end.
 */
#ifndef STRAY_ENGINE_LAUNCH_TALK_H
#define STRAY_ENGINE_LAUNCH_TALK_H

#include "engine/launch.h"

#define STATUS_FAILED 125 /* of stray run itself, as timeout(1) */

enum talk_kind {
	/* the warden's */
	TALK_FAILED,  /* nothing was started: text, error, status */
	TALK_READY,   /* from here on it hears whatever process comes and goes, if it can */
	TALK_HELD,    /* the command is made, and held; id: it */
	TALK_STARTED, /* it runs */
	TALK_SAY,     /* text: a line for the person */
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
	bool nobody_else; /* OVER: none but the run's came or went since READY */
	struct identity id;
	char text[1200];
};

/* 0 or -errno (-EPIPE: the other side is gone). */
int talk_send(int fd, const struct talk *t);

/* 1: *t is one; 0: none waits; -EPIPE: the other side is gone; -errno. */
int talk_receive(int fd, struct talk *t);

#endif
