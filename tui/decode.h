/*
 * From what a terminal sends to events.
 *
 * The driver's library already knows the keys of the terminal's description;
 * what it does not know arrives as single characters that begin with Escape.
 * Here such a sequence is swallowed whole, so that an unknown key never acts
 * as the letters it is sent as.  A bracketed paste becomes one event, never
 * keys.  Pure: the clock is handed in.
 */
#ifndef STRAY_TUI_DECODE_H
#define STRAY_TUI_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/input.h"

/* Codes beside characters and the keys of tui/input.h. */
enum {
	DECODE_PASTE_BEGIN = INPUT_KEY_END,
	DECODE_PASTE_END,
	DECODE_UNKNOWN, /* a key without a meaning here */
};

/* A paste whose end mark never comes is over when nothing came for this long. */
#define DECODE_PASTE_QUIET_NS 500000000ULL

/* The rest of a sequence that has begun is waited for this long (a slow link). */
#define DECODE_SEQUENCE_QUIET_NS 100000000ULL

enum decode_state {
	DECODE_PLAIN,
	DECODE_ESCAPE,
	DECODE_CSI,
	DECODE_SKIP, /* the next skip codes mean nothing */
	DECODE_PASTE,
};

struct decode {
	enum decode_state state;
	int skip;
	bool params;  /* the sequence has some */
	bool discard; /* the paste under way is not wanted */
	uint64_t last_ns;
	size_t used;
	char text[INPUT_TEXT_MAX + 1];
};

/* One code; true where it completes an event. */
bool decode_feed(struct decode *d, uint32_t code, uint64_t now_ns, struct input *in);

/* Nothing more has arrived by now_ns; true where that completes an event. */
bool decode_pause(struct decode *d, uint64_t now_ns, struct input *in);

/* What has begun is thrown away, a paste up to its end. */
void decode_discard(struct decode *d);

/* ns from now_ns until decode_pause() should be called; UINT64_MAX: never. */
uint64_t decode_timeout(const struct decode *d, uint64_t now_ns);

#endif
