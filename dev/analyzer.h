/*
 * For the analysers alone (clang-tidy's, gcc's): what they cannot see from one file.
 *
 * err_set() and its like never return 0; believing that they might, they follow
 * paths that do not exist.
 */
#include "base/err.h"

static inline int analyzer_negative(int r)
{
	return r < 0 ? r : -1;
}

#define err_set(err, code, ...) analyzer_negative(err_set(err, code, __VA_ARGS__))
#define err_errno(err, code, ...) analyzer_negative(err_errno(err, code, __VA_ARGS__))
