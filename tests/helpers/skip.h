/*
 * For tests in C that cannot run here: to say why, in the one form that tests/driver.pl reads.
 *
 * Include it behind cmocka.h.
 */
#ifndef STRAY_TESTS_SKIP_H
#define STRAY_TESTS_SKIP_H

#include <stdlib.h>

static inline void __attribute__((noreturn)) skip_for(const char *why)
{
	print_message("%s\n", why);
	skip();
	abort();
}

#endif
