noinst_LIBRARIES += librecord.a
librecord_a_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
librecord_a_SOURCES = \
	%D%/outfile.c %D%/outfile.h \
	%D%/statedir.c %D%/statedir.h \
	%D%/statedir_walk.c %D%/statedir_walk.h
