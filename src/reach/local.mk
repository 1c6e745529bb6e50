noinst_LIBRARIES += libreach.a
libreach_a_CPPFLAGS = $(AM_CPPFLAGS)
libreach_a_SOURCES = \
	%D%/diag.c %D%/diag.h \
	%D%/ends.c %D%/ends.h \
	%D%/fds.c %D%/fds.h \
	%D%/reach.c %D%/reach.h \
	%D%/sock.c %D%/sock.h \
	%D%/spoken.c %D%/spoken.h
