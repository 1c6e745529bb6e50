#include "tui/decode.h"

#include "base/text.h"

#define ESCAPE 0x1b

/* A plain character or key; false for what is nothing to us. */
static bool key_event(uint32_t code, struct input *in)
{
	switch (code) {
	case '\r':
	case '\n':
		code = INPUT_ENTER;
		break;
	case '\t':
		code = INPUT_TAB;
		break;
	case 0x08:
	case 0x7f:
		code = INPUT_BACKSPACE;
		break;
	case 0:
	case DECODE_UNKNOWN:
		return false;
	default:
		if (code >= ' ' && code < INPUT_UP && text_width_cp(code) < 0)
			return false;
	}
	*in = input_key(code);
	return true;
}

static void paste_begin(struct decode *d)
{
	d->state = DECODE_PASTE;
	d->discard = false;
	d->used = 0;
}

static bool paste_end(struct decode *d, struct input *in)
{
	d->state = DECODE_PLAIN;
	if (d->discard)
		return false;
	*in = (struct input){.kind = INPUT_PASTE};
	for (size_t i = 0; i < d->used; i++)
		in->text[i] = d->text[i];
	return true;
}

/* Line ends and tabs become blanks; what is no text is left off. */
static void paste_add(struct decode *d, uint32_t code)
{
	if (code == '\r' || code == '\n' || code == '\t' || code == INPUT_ENTER)
		code = ' ';
	if (code < ' ' || code >= INPUT_UP || text_width_cp(code) < 0)
		return;
	if (d->used + 4 <= INPUT_TEXT_MAX)
		d->used += (size_t)text_encode(code, d->text + d->used);
}

static bool feed_plain(struct decode *d, uint32_t code, struct input *in)
{
	if (code == ESCAPE) {
		d->state = DECODE_ESCAPE;
		return false;
	}
	if (code == DECODE_PASTE_BEGIN) {
		paste_begin(d);
		return false;
	}
	if (code == DECODE_PASTE_END)
		return false;
	return key_event(code, in);
}

static void skip(struct decode *d, int codes)
{
	d->state = DECODE_SKIP;
	d->skip = codes;
}

/* ECMA-48: parameters and intermediates, then one final byte. */
static void feed_csi(struct decode *d, uint32_t code)
{
	if (code >= 0x20 && code <= 0x3f) {
		d->params = true;
		return;
	}
	d->state = DECODE_PLAIN;
	if (code == '[') /* the Linux console's function keys: ESC [ [ A */
		skip(d, 1);
	else if (code == 'M' && !d->params) /* a mouse report: button, column, row */
		skip(d, 3);
}

/* What follows an Escape without a pause: the rest of a sequence, or Alt and a key. */
static bool feed_escape(struct decode *d, uint32_t code, struct input *in)
{
	d->state = DECODE_PLAIN;
	if (code == '[') {
		d->state = DECODE_CSI;
		d->params = false;
	} else if (code == 'O') {
		skip(d, 1);
	} else if (code == ESCAPE || code == DECODE_PASTE_BEGIN) {
		feed_plain(d, code, in);
		*in = input_key(INPUT_ESC);
		return true;
	}
	return false;
}

bool decode_feed(struct decode *d, uint32_t code, uint64_t now_ns, struct input *in)
{
	d->last_ns = now_ns;
	switch (d->state) {
	case DECODE_PLAIN:
		break;
	case DECODE_ESCAPE:
		return feed_escape(d, code, in);
	case DECODE_CSI:
		feed_csi(d, code);
		return false;
	case DECODE_SKIP:
		if (--d->skip == 0)
			d->state = DECODE_PLAIN;
		return false;
	case DECODE_PASTE:
		if (code == DECODE_PASTE_END)
			return paste_end(d, in);
		paste_add(d, code);
		return false;
	}
	return feed_plain(d, code, in);
}

/* How long what has begun may be silent. */
static uint64_t patience(const struct decode *d)
{
	switch (d->state) {
	case DECODE_CSI:
	case DECODE_SKIP:
		return DECODE_SEQUENCE_QUIET_NS;
	case DECODE_PASTE:
		return DECODE_PASTE_QUIET_NS;
	case DECODE_PLAIN:
	case DECODE_ESCAPE: /* the driver has waited its ESCDELAY */
		break;
	}
	return 0;
}

bool decode_pause(struct decode *d, uint64_t now_ns, struct input *in)
{
	enum decode_state state = d->state;

	if (now_ns - d->last_ns < patience(d))
		return false;
	if (state == DECODE_PASTE)
		return paste_end(d, in);
	d->state = DECODE_PLAIN;
	if (state != DECODE_ESCAPE)
		return false;
	*in = input_key(INPUT_ESC);
	return true;
}

void decode_discard(struct decode *d)
{
	if (d->state == DECODE_PASTE)
		d->discard = true;
	else if (d->state == DECODE_ESCAPE)
		d->state = DECODE_PLAIN;
}

uint64_t decode_timeout(const struct decode *d, uint64_t now_ns)
{
	uint64_t quiet = now_ns - d->last_ns;

	if (d->state == DECODE_PLAIN)
		return UINT64_MAX;
	return quiet < patience(d) ? patience(d) - quiet : 0;
}
