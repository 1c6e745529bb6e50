#include "tests/unit/judged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void judged_check(const struct judged_example *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tracker k;
		char suspects[HOSTS_TEXT], explained[HOSTS_TEXT];
		size_t count = 0;

		hosts_track(&k, cases[i].host);
		hosts_suspects(k.now, suspects);
		hosts_explained(k.now, explained);
		if (strcmp(suspects, cases[i].suspects) != 0)
			fail_msg("%s: suspects \"%s\", not \"%s\"", cases[i].what, suspects,
				 cases[i].suspects);
		if (strcmp(explained, cases[i].explained) != 0)
			fail_msg("%s: explained \"%s\", not \"%s\"", cases[i].what, explained,
				 cases[i].explained);
		for (size_t p = 0; p < k.now->procs.n; p++)
			count += k.now->procs.v[p].suspect != 0;
		assert_int_equal(k.suspects, count);
		tracker_free(&k);
	}
}
