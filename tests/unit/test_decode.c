#include "tui/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ULL

static struct decode decode;
static uint64_t now;
static char events[2048];

static int fresh(void **state)
{
	(void)state;
	decode = (struct decode){0};
	now = 1000 * MS;
	events[0] = '\0';
	return 0;
}

static void note(const struct input *in)
{
	size_t used = strlen(events);

	if (used)
		events[used++] = ' ';
	input_format(in, events + used, sizeof(events) - used);
}

/* Characters that arrive at once; \1 and \2 begin and end a paste. */
static void arrive(const char *bytes)
{
	struct input in;

	for (; *bytes; bytes++) {
		uint32_t code = (unsigned char)*bytes;

		if (code == 1)
			code = DECODE_PASTE_BEGIN;
		else if (code == 2)
			code = DECODE_PASTE_END;
		if (decode_feed(&decode, code, now, &in))
			note(&in);
	}
}

static void after(unsigned ms)
{
	struct input in;

	now += ms * MS;
	if (decode_pause(&decode, now, &in))
		note(&in);
}

static void characters_are_keys(void **state)
{
	(void)state;
	arrive("aZ /\r\n\t\x7f\x08\x03\x1a");
	after(0);
	assert_string_equal(events, "a Z Space / Enter Enter Tab Backspace Backspace ^C ^Z");
}

static void escape_alone_is_a_key(void **state)
{
	(void)state;
	arrive("\033");
	assert_string_equal(events, "");
	after(0);
	assert_string_equal(events, "Esc");
	arrive("\033\033");
	after(0);
	arrive("x");
	assert_string_equal(events, "Esc Esc Esc x");
}

static void an_unknown_sequence_never_acts_as_its_letters(void **state)
{
	static const char *const sequences[] = {
		"\033[1;5K",                                        /* Ctrl and some key */
		"\033[K",       "\033OK",    "\033[[K",    "\033K", /* Alt K */
		"\033[<0;5;6M", "\033[M TK", "\033[57;9u",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		fresh(NULL);
		arrive(sequences[i]);
		after(0);
		assert_string_equal(events, "");
		arrive("z");
		assert_string_equal(events, "z");
	}
}

static void a_sequence_may_arrive_in_pieces(void **state)
{
	(void)state;
	arrive("\033[1;");
	after(60);
	arrive("5");
	after(60);
	arrive("Kz");
	assert_string_equal(events, "z");
	/* But not for ever. */
	arrive("\033[1;");
	assert_int_equal(decode_timeout(&decode, now), DECODE_SEQUENCE_QUIET_NS);
	after(100);
	assert_int_equal(decode_timeout(&decode, now), UINT64_MAX);
	arrive("K");
	assert_string_equal(events, "z K");
}

static void a_paste_is_one_event(void **state)
{
	(void)state;
	arrive("a\001T\rK\ty\x1b[A\002b");
	after(0);
	assert_string_equal(events, "a Paste<T K y[A> b");
}

static void a_paste_may_arrive_in_pieces(void **state)
{
	(void)state;
	arrive("\001one ");
	after(400);
	arrive("two");
	assert_int_equal(decode_timeout(&decode, now), DECODE_PASTE_QUIET_NS);
	after(400);
	arrive("\002");
	assert_string_equal(events, "Paste<one two>");
}

static void a_paste_without_an_end_ends_when_it_is_quiet(void **state)
{
	(void)state;
	arrive("\001text");
	after(499);
	assert_string_equal(events, "");
	after(1);
	arrive("x");
	assert_string_equal(events, "Paste<text> x");
}

static void a_discarded_paste_is_swallowed_to_its_end(void **state)
{
	(void)state;
	arrive("\001T");
	decode_discard(&decode);
	arrive("K\r");
	after(100);
	arrive("yes\r\002n");
	assert_string_equal(events, "n");
	/* The next one counts again. */
	arrive("\001new\002");
	assert_string_equal(events, "n Paste<new>");
}

static void a_long_paste_is_cut(void **state)
{
	(void)state;
	arrive("\001");
	for (int i = 0; i < 2 * INPUT_TEXT_MAX; i++)
		arrive("x");
	arrive("\002");
	assert_in_range(strlen(events), INPUT_TEXT_MAX - 4, INPUT_TEXT_MAX + 8);
}

static void what_is_no_text_is_no_key(void **state)
{
	static const uint32_t codes[] = {0, 0x9b, 0x202e, 0x200b, DECODE_UNKNOWN, DECODE_PASTE_END};
	struct input in;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_false(decode_feed(&decode, codes[i], now, &in));
}

#define WITH_DECODE(test) cmocka_unit_test_setup(test, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODE(characters_are_keys),
		WITH_DECODE(escape_alone_is_a_key),
		WITH_DECODE(an_unknown_sequence_never_acts_as_its_letters),
		WITH_DECODE(a_sequence_may_arrive_in_pieces),
		WITH_DECODE(a_paste_is_one_event),
		WITH_DECODE(a_paste_may_arrive_in_pieces),
		WITH_DECODE(a_paste_without_an_end_ends_when_it_is_quiet),
		WITH_DECODE(a_discarded_paste_is_swallowed_to_its_end),
		WITH_DECODE(a_long_paste_is_cut),
		WITH_DECODE(what_is_no_text_is_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
