noinst_LIBRARIES += libbase.a
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libbase_a_SOURCES = \
	%D%/bytes.h \
	%D%/clock.c %D%/clock.h \
	%D%/err.c %D%/err.h \
	%D%/file.c %D%/file.h \
	%D%/vec.h
