# STRAY_ARCHIVES([PREFIX...]): of the libraries in PREFIX_LIBS those of which there is an archive
# become part of the programs.  Who copies stray to a host that is under suspicion takes it whole,
# and five libraries fewer are loaded each time (a tenth of `stray run -- true`).  Of glibc there is
# no archive that knows a host's users.
AC_DEFUN([STRAY_ARCHIVES], [
  AC_ARG_ENABLE([archives],
    [AS_HELP_STRING([--disable-archives],
      [load all libraries at run time, as distributions want it])],
    [], [enable_archives=yes])
  m4_foreach_w([stray_prefix], [$1], [
    AS_IF([test "x$enable_archives" = xyes], [
      AC_MSG_CHECKING([whether there is an archive of $stray_prefix[]_LIBS])
      stray_archives=`AS_ECHO(["$stray_prefix[]_LIBS"]) | sed 's/-l\([[a-z]][[^ ]]*\)/-l:lib\1.a/g'`
      stray_save_LIBS=$LIBS
      LIBS="-Wl,--whole-archive $stray_archives -Wl,--no-whole-archive $LIBS"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes]); stray_prefix[]_LIBS=$stray_archives],
        [AC_MSG_RESULT([no])])
      LIBS=$stray_save_LIBS
    ])
  ])
])
