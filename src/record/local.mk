noinst_LIBRARIES += librecord.a
librecord_a_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
librecord_a_SOURCES = \
	%D%/diff_json.c %D%/diff_json.h \
	%D%/host_json.c %D%/host_json.h \
	%D%/outfile.c %D%/outfile.h \
	%D%/process_json.c %D%/process_json.h \
	%D%/snapshot.c %D%/snapshot.h \
	%D%/statedir.c %D%/statedir.h \
	%D%/statedir_walk.c %D%/statedir_walk.h
