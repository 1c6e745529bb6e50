noinst_LIBRARIES += libsource.a
libsource_a_CPPFLAGS = $(AM_CPPFLAGS) $(PROC2_CFLAGS)
libsource_a_SOURCES = \
	%D%/source.c
