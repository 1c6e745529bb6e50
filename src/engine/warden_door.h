/*
 * A socket in the directory of a running run, at which its warden answers.
 *
 * Who ends the run tells so before its first signal, and says when it is done; meanwhile the warden
 * watches and writes down, and ends nothing; should the caller die, or leave before it is done, it
 * goes on in its place.  So it does where the run is to end for a reason of its own: then the
 * caller is sent away by the end of its socket, and the warden closes the run.
 * Who asks whether the run may still act is answered by the one process that knows, and the
 * answer is in the journal, in its place, before it is given.
 * Only root and who runs the warden are heard.  No side waits longer than DOOR_WAIT_MS.
 */
#ifndef STRAY_ENGINE_WARDEN_DOOR_H
#define STRAY_ENGINE_WARDEN_DOOR_H

#include "base/err.h"
#include "model/run_state.h"
#include "record/operator.h"
#include "record/rundir.h"

#define DOOR_WAIT_MS 1000
#define DOOR_ACTION_MAX 800

enum door_kind {
	DOOR_END = 'e',   /* I end it; answered by DOOR_YES, and DOOR_DONE follows */
	DOOR_DONE = 'd',  /* it is over: state */
	DOOR_CHECK = 'c', /* may it act: action, operator; answered by DOOR_STATE */
	DOOR_YES = 'y',
	DOOR_STATE = 's', /* error: could not be recorded; else state */
};

struct door_word {
	enum door_kind kind;
	enum run_state state;
	int error;
	bool has_action;
	char action[DOOR_ACTION_MAX]; /* masked */
	struct operator operator;
};

/* --- the warden's side; descriptors are owned by the caller --- */

/* A listening socket in the directory `dir`, or -errno. */
int door_open(int dir, struct err *err);

/* Takes who came: a descriptor; -EAGAIN: nobody; -EPERM: of another user, turned away. */
int door_let_in(int door, pid_t *who);

/* What the visitor says: 1 and *word; 0: nothing yet; -EPIPE: it is gone. */
int door_hear(int visitor, struct door_word *word);

/* --- either side --- */

int door_say(int visitor, const struct door_word *word);

/* --- the caller's side --- */

/*
 * Says word and waits for the answer: a descriptor, to be kept as long as the visit; -ENOENT,
 * -ECONNREFUSED: no warden is there; -ETIMEDOUT: it does not answer.
 */
int door_visit(int dir, const struct door_word *word, struct door_word *answer, struct err *err);

#endif
