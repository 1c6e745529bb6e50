# STRAY_WARNINGS: the warnings this project builds with, as far as the
# compiler knows them.  --enable-werror makes them errors.
AC_DEFUN([STRAY_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
    [], [enable_werror=no])
  STRAY_CFLAGS=
  for stray_flag in -std=gnu17 -Wall -Wextra -Wshadow -Wstrict-prototypes \
      -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wformat=2 -Wvla \
      -Wundef -Wimplicit-fallthrough -Werror=implicit-function-declaration -fno-common -fstack-protector-strong; do
    stray_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $stray_flag"
    AC_MSG_CHECKING([whether $CC takes $stray_flag])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); STRAY_CFLAGS="$STRAY_CFLAGS $stray_flag"],
      [AC_MSG_RESULT([no])])
    CFLAGS=$stray_save_CFLAGS
  done
  AS_IF([test "x$enable_werror" = xyes], [STRAY_CFLAGS="$STRAY_CFLAGS -Werror"])
  AC_SUBST([STRAY_CFLAGS])
])
