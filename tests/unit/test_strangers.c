/* Which PIDs a list of forks and exits leaves to be looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/strangers.h"

/* "+5" one forked with PID 5, "-5" its exit. */
static void told(struct strangers *s, const char *events)
{
	char sign;
	int pid, len;

	for (; sscanf(events, " %c%d%n", &sign, &pid, &len) == 2; events += len) {
		struct event e = {.kind = sign == '+' ? EVENT_FORK : EVENT_EXIT, .pid = pid};

		if (sign == '+') {
			e.pid = 1;
			e.child = pid;
		}
		strangers_note(s, &e);
	}
}

static void list(const struct strangers *s, char *out, size_t size)
{
	pid_t pids[16];
	size_t n = strangers_list(s, pids, 16);

	snprintf(out, size, n == SIZE_MAX ? "unknown" : "");
	for (size_t i = 0; n != SIZE_MAX && i < n; i++)
		snprintf(out + strlen(out), size - strlen(out), "%d ", (int)pids[i]);
}

static void who_came_or_went_is_listed(void **state)
{
	static const struct {
		const char *events, *changed, *came;
	} examples[] = {
		{"", "", ""},
		{"+5", "5 ", "5 "},
		{"-5", "5 ", ""},
		{"+5 -5", "", ""},      /* came and went: as before */
		{"-5 +5", "5 ", "5 "},  /* another has its number */
		{"-5 +5 -5", "5 ", ""}, /* who had it at first is gone */
		{"+9 +8 +7 -1", "1 7 8 9 ", "7 8 9 "},
		{"+32000 +64 -63", "63 64 32000 ", "64 32000 "},
		{"+999999999", "", ""}, /* no PID */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		struct strangers s;
		char text[256], came[256] = "";

		strangers_open(&s);
		assert_true(strangers_followed(&s));
		told(&s, examples[i].events);
		list(&s, text, sizeof(text));
		assert_string_equal(text, examples[i].changed);
		for (pid_t pid = 0; (pid = strangers_next(&s, pid));)
			snprintf(came + strlen(came), sizeof(came) - strlen(came), "%d ", (int)pid);
		assert_string_equal(came, examples[i].came);
		strangers_close(&s);
	}
}

static void too_many_are_not_known(void **state)
{
	struct strangers s;
	char text[256];

	(void)state;
	strangers_open(&s);
	told(&s, "+1 +2 +3 +4 +5 +6 +7 +8 +9 +10 +11 +12 +13 +14 +15 +16");
	list(&s, text, sizeof(text));
	assert_string_equal(text, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 ");
	told(&s, "-17");
	list(&s, text, sizeof(text));
	assert_string_equal(text, "unknown");
	strangers_close(&s);
	list(&s, text, sizeof(text));
	assert_string_equal(text, "unknown");
	assert_int_equal(strangers_next(&s, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_came_or_went_is_listed),
		cmocka_unit_test(too_many_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
