/*
 * For clang-tidy alone: what its analyzer cannot see from one file.
 *
 * err_set() and its like never return 0; believing that they might, it follows
 * paths that do not exist.
 */
#include "base/err.h"

#define err_set(err, code, ...) (err_set(err, code, __VA_ARGS__), -1)
#define err_errno(err, code, ...) (err_errno(err, code, __VA_ARGS__), -1)
#define err_nomem(err) (err_nomem(err), -1)
