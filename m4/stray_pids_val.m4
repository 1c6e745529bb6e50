# STRAY_PIDS_VAL: libproc2's PIDS_VAL() takes 4 arguments in 4.0.2 (the last
# is the context) and 3 in later releases.  Defines STRAY_PIDS_VAL_ARGS.
AC_DEFUN([STRAY_PIDS_VAL], [
  AC_CACHE_CHECK([how many arguments PIDS_VAL takes], [stray_cv_pids_val_args], [
    stray_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $PROC2_CFLAGS"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <stddef.h>
#include <libproc2/pids.h>
]], [[struct pids_stack *s = NULL; return s ? PIDS_VAL(0, s_int, s) : 0;]])],
      [stray_cv_pids_val_args=3], [stray_cv_pids_val_args=4])
    CPPFLAGS=$stray_save_CPPFLAGS
  ])
  AC_DEFINE_UNQUOTED([STRAY_PIDS_VAL_ARGS], [$stray_cv_pids_val_args],
    [Number of arguments of libproc2's PIDS_VAL])
])
