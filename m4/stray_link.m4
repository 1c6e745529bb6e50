# STRAY_LINK: how programs are linked, as far as the linker knows it.  All functions are bound at
# the start: what is forked afterwards (a run's warden, its command) looks none up again, and the
# table of them can be made read-only.
AC_DEFUN([STRAY_LINK], [
  STRAY_LDFLAGS=
  for stray_flag in -Wl,-z,relro,-z,now; do
    stray_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS $stray_flag"
    AC_MSG_CHECKING([whether the linker takes $stray_flag])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); STRAY_LDFLAGS="$STRAY_LDFLAGS $stray_flag"],
      [AC_MSG_RESULT([no])])
    LDFLAGS=$stray_save_LDFLAGS
  done
  AC_SUBST([STRAY_LDFLAGS])
])
