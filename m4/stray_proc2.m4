# STRAY_PROC2: the name by which the loader knows the libproc2 that is built against, since
# it is loaded when it is first needed (src/source/pids.c).  Defines STRAY_PROC2_SONAME.
AC_DEFUN([STRAY_PROC2], [
  AC_CHECK_TOOL([OBJDUMP], [objdump], [objdump])
  AC_CACHE_CHECK([the name of the shared libproc2], [stray_cv_proc2_soname], [
    stray_save_LIBS=$LIBS
    LIBS="-Wl,--no-as-needed $PROC2_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [
      stray_cv_proc2_soname=`$OBJDUMP -p conftest$EXEEXT |
        sed -n 's/^ *NEEDED *\(libproc2\..*\)/\1/p'`
    ])
    LIBS=$stray_save_LIBS
  ])
  AS_IF([test "x$stray_cv_proc2_soname" = x],
    [AC_MSG_ERROR([the shared libproc2 cannot be linked])])
  AC_DEFINE_UNQUOTED([STRAY_PROC2_SONAME], ["$stray_cv_proc2_soname"],
    [The shared libproc2 that is loaded])
])
