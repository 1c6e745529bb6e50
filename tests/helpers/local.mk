check_PROGRAMS += mkproc
mkproc_SOURCES = %D%/mkproc.c %D%/mkproc_shapes.c %D%/mkproc_storm.c %D%/mkproc.h \
	%D%/mkproc_storm.h

# Unit tests that start mkproc: #include "tests/helpers/made.h", link libmade.a.
check_LIBRARIES += libmade.a
libmade_a_CPPFLAGS = $(UNIT_CPPFLAGS)
libmade_a_SOURCES = %D%/made.c %D%/made.h %D%/skip.h

check_PROGRAMS += test_mkproc
TESTS += test_mkproc
test_mkproc_SOURCES = %D%/test_mkproc.c
test_mkproc_CPPFLAGS = $(UNIT_CPPFLAGS)
test_mkproc_LDADD = libmade.a $(UNIT_LIBADD)

check_PROGRAMS += tuidemo
tuidemo_SOURCES = %D%/tuidemo.c
tuidemo_CPPFLAGS = $(UNIT_CPPFLAGS)
tuidemo_LDADD = libtui.a libbase.a $(NCURSESW_LIBS)
