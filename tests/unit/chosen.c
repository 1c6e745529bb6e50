#include "tests/unit/chosen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void chosen_find(struct chosen *c, const char *target, const char *host)
{
	struct selector s;
	struct err err = {0};

	hosts_track(&c->k, host);
	assert_int_equal(selector_parse(target, &s, &err), 0);
	if (run_choose(&c->run, &s, c->k.now, &err) < 0)
		fail_msg("%s: %s", target, err.text);
	selector_free(&s);
}

void chosen_watch(struct chosen *c)
{
	struct err err = {0};

	assert_int_equal(tracker_set_run(&c->k, &c->run, &err), 0);
}

void chosen_end(struct chosen *c)
{
	run_clear(&c->run);
	tracker_free(&c->k);
}

void chosen_expect(const struct chosen *c, const char *what, const char *evidence)
{
	char got[HOSTS_TEXT];

	hosts_evidence(c->k.now, got);
	if (strcmp(got, evidence) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", what, got, evidence);
}
